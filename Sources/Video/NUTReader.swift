/// The one stream of pictures in a NUT file, bare or as JPEG, which ffmpeg writes into a pipe.
///
/// NUT and not Matroska: it keeps the timestamps of the film as they are, where ffmpeg's Matroska rounds them to
/// milliseconds. As in https://ffmpeg.org/nut.txt; checksums are passed over, as nothing is lost in a pipe. No length
/// that the stream tells is believed: headers are short, a bare frame has the size that its picture needs, and a JPEG file's is
/// limited.
package struct NUTReader {
    /// How pictures are written.
    package enum Content: Equatable {
        /// Row by row, without anything between.
        case rgb
        case rgba
        /// As files.
        case jpeg
    }

    /// What the stream holds.
    package struct Track: Equatable {
        /// Columns.
        package var width: Int
        /// Rows.
        package var height: Int
        /// What a frame's bytes are.
        package var content: Content
        /// The unit of timestamps, in seconds.
        package var timeBase: Rational

        /// Bytes of every frame. Nil: they vary.
        package var frameByteCount: Int? {
            switch content {
            case .rgb: width * height * 3
            case .rgba: width * height * 4
            case .jpeg: nil
            }
        }
    }

    /// A picture and when it is shown, in units of the time base.
    package struct Frame: Equatable {
        /// As the track says.
        package var bytes: [UInt8]
        /// When it is shown.
        package var timestamp: Int
    }

    private struct FrameCode {
        var flags = FrameFlags.invalid
        var timestampStep = 0
        var stream = 0
        var sizeFactor = 0
        var sizeRemainder = 0
        var reservedCount = 0
        var header = 0
    }

    private struct FrameFlags {
        static let codedTimestamp = 8
        static let streamID = 16
        static let codedSize = 32
        static let checksum = 64
        static let reserved = 128
        static let sideData = 256
        static let header = 1024
        static let matchTime = 2048
        static let coded = 4096
        static let invalid = 8192
    }

    /// The second byte of a start code.
    private enum Packet {
        static let main = UInt8(ascii: "M")
        static let stream = UInt8(ascii: "S")
        static let syncPoint = UInt8(ascii: "K")
        static let index = UInt8(ascii: "X")
        static let info = UInt8(ascii: "I")
        static let codes: [UInt8: [UInt8]] = [
            main: [0x7a, 0x56, 0x1f, 0x5f, 0x04, 0xad], stream: [0x11, 0x40, 0x5b, 0xf2, 0xf9, 0xdb],
            syncPoint: [0xe4, 0xad, 0xee, 0xca, 0x45, 0x69], index: [0xdd, 0x67, 0x2f, 0x23, 0xe6, 0x4e],
            info: [0xab, 0x68, 0xb5, 0x96, 0xba, 0x78],
        ]
    }

    /// The first bytes of a file.
    static let signature = Array("nut/multimedia container\0".utf8)
    /// Bytes of a header that is read, where the largest that ffmpeg writes has a few hundred.
    private static let headerLimit = 1 << 16
    /// Frames larger than this have no bytes that are left out.
    private static let elisionLimit = 4096

    private var stream: ByteStream
    private let fileByteLimit: Int
    private var codes: [FrameCode] = []
    private var elided: [[UInt8]] = [[]]
    private var timeBases: [Rational] = []
    private var timestampBits = 0
    private var lastTimestamp = 0
    /// What the stream holds.
    package let track: Track

    /// Reads the headers.
    ///
    /// - Parameter fileByteLimit: Bytes that a JPEG file may have.
    /// - Returns: Nil where the stream is empty.
    package init?(_ stream: ByteStream, fileByteLimit: Int = 1 << 26) throws(VideoError) {
        var stream = stream
        self.fileByteLimit = fileByteLimit
        guard let first = try stream.next() else { return nil }
        let rest = Array(Self.signature.dropFirst())
        guard first == Self.signature[0], try stream.bytes(rest.count) == rest else {
            throw Self.damage("it does not begin as NUT does")
        }
        var main: MainHeader?
        var found: (track: Track, timestampBits: Int)?
        while found == nil {
            guard let byte = try stream.next() else { throw Self.damage("it ends in its header") }
            guard byte == UInt8(ascii: "N") else { throw Self.damage("a frame comes before its header") }
            guard let (kind, length) = try Self.packet(&stream) else { throw Self.damage("it ends in its header") }
            guard kind == Packet.main || kind == Packet.stream else {
                guard try stream.skip(length) else { throw Self.damage("it ends in its header") }
                continue
            }
            var fields = try Self.header(&stream, length)
            if kind == Packet.main {
                main = try MainHeader(&fields)
                continue
            }
            guard let main else { throw Self.damage("a stream comes before the header") }
            found = try Self.track(&fields, main)
        }
        guard let main, let found else { return nil }
        codes = main.codes
        elided = main.elided
        timeBases = main.timeBases
        (track, timestampBits) = found
        self.stream = stream
    }

    /// The next picture; nil at the end of the stream.
    package mutating func next() throws(VideoError) -> Frame? {
        while let byte = try stream.next() {
            guard byte == UInt8(ascii: "N") else { return try frame(codes[Int(byte)]) }
            guard let (kind, length) = try Self.packet(&stream) else { throw Self.damage("it ends in a packet") }
            if kind == Packet.syncPoint {
                var fields = try Self.header(&stream, length)
                let code = try fields.number()
                let base = timeBases[code % timeBases.count]
                lastTimestamp = try Self.converted(code / timeBases.count, from: base, to: track.timeBase)
            } else if try !stream.skip(length) {
                throw Self.damage("it ends in a packet")
            }
        }
        return nil
    }

    private mutating func frame(_ code: FrameCode) throws(VideoError) -> Frame {
        guard code.flags & FrameFlags.invalid == 0 else { throw Self.damage("an unknown kind of frame") }
        var code = code
        if code.flags & FrameFlags.coded != 0 { code.flags ^= try number() }
        if code.flags & FrameFlags.streamID != 0 { code.stream = try number() }
        guard code.stream == 0, code.flags & FrameFlags.sideData == 0 else {
            throw Self.damage("a frame of another stream")
        }
        let timestamp: Int
        if code.flags & FrameFlags.codedTimestamp != 0 {
            let coded = try number()
            let span = 1 << timestampBits
            if coded < span {
                let start = lastTimestamp - (span - 1) / 2
                timestamp = (coded - start) & (span - 1) + start
            } else {
                timestamp = coded - span
            }
        } else {
            timestamp = lastTimestamp + code.timestampStep
        }
        // Far from where sums would overflow.
        guard abs(timestamp) < 1 << 60 else { throw Self.damage("an impossible timestamp") }
        lastTimestamp = timestamp
        var size = code.sizeRemainder
        if code.flags & FrameFlags.codedSize != 0 {
            let (product, overflow) = try number().multipliedReportingOverflow(by: code.sizeFactor)
            guard !overflow, product < 1 << 60 else { throw Self.damage("an impossible size") }
            size += product
        }
        if code.flags & FrameFlags.matchTime != 0 { _ = try number() }
        if code.flags & FrameFlags.header != 0 { code.header = try number() }
        if code.flags & FrameFlags.reserved != 0 { code.reservedCount = try number() }
        guard code.reservedCount < 256 else { throw Self.damage("too many fields") }
        for _ in 0..<code.reservedCount { _ = try number() }
        if code.flags & FrameFlags.checksum != 0, try !stream.skip(4) { throw Self.damage("it ends in a frame") }

        if let byteCount = track.frameByteCount {
            guard size == byteCount else {
                throw Self.damage("a frame of \(size) bytes where there must be \(byteCount)")
            }
        } else {
            guard size <= fileByteLimit else { throw VideoError("a frame of more than \(fileByteLimit) bytes") }
        }
        guard elided.indices.contains(code.header) else { throw Self.damage("an unknown start of a frame") }
        let start = size > Self.elisionLimit ? [] : elided[code.header]
        guard start.count <= size, let bytes = try stream.bytes(size - start.count, after: start) else {
            throw Self.damage("it ends in a frame")
        }
        return Frame(bytes: bytes, timestamp: timestamp)
    }

    private mutating func number() throws(VideoError) -> Int {
        var value = 0
        while true {
            guard let byte = try stream.next() else { throw Self.damage("it ends in a frame") }
            guard value < 1 << 55 else { throw Self.damage("an impossible number") }
            value = value << 7 | Int(byte & 0x7f)
            if byte & 0x80 == 0 { return value }
        }
    }
}

// MARK: - Headers

extension NUTReader {
    private static func damage(_ what: String) -> VideoError {
        VideoError("what ffmpeg gives cannot be read: \(what)")
    }

    /// A timestamp in units of another time base, rounded down.
    private static func converted(_ value: Int, from: Rational, to: Rational) throws(VideoError) -> Int {
        if from == to { return value }
        // Each part has 31 bits.
        let (product, overflow) = value.multipliedReportingOverflow(by: from.numerator * to.denominator)
        guard !overflow else { throw damage("an impossible timestamp") }
        return product / (from.denominator * to.numerator)
    }

    /// The kind of a packet and the bytes that follow, after the first byte of its start code. Nil: the stream ends.
    private static func packet(_ stream: inout ByteStream) throws(VideoError) -> (kind: UInt8, length: Int)? {
        guard let code = try stream.bytes(7) else { return nil }
        guard let expected = Packet.codes[code[0]], code.dropFirst().elementsEqual(expected) else {
            throw damage("an unknown packet")
        }
        var length = 0
        while true {
            guard let byte = try stream.next() else { return nil }
            guard length < 1 << 40 else { throw damage("an impossible length") }
            length = length << 7 | Int(byte & 0x7f)
            if byte & 0x80 == 0 { break }
        }
        if length > 4096, try !stream.skip(4) { return nil }
        return (code[0], length)
    }

    private static func header(_ stream: inout ByteStream, _ length: Int) throws(VideoError) -> Fields {
        guard length <= headerLimit else { throw damage("a header of \(length) bytes") }
        guard let bytes = try stream.bytes(length) else { throw damage("it ends in its header") }
        // The last four are a checksum.
        return Fields(bytes: bytes.dropLast(4))
    }

    /// The numbers of a header.
    private struct Fields {
        var bytes: ArraySlice<UInt8>

        mutating func number() throws(VideoError) -> Int {
            var value = 0
            while let byte = bytes.popFirst() {
                guard value < 1 << 55 else { throw damage("an impossible number") }
                value = value << 7 | Int(byte & 0x7f)
                if byte & 0x80 == 0 { return value }
            }
            throw damage("a header is too short")
        }

        mutating func signedNumber() throws(VideoError) -> Int {
            let value = try number() + 1
            return value & 1 != 0 ? -(value >> 1) : value >> 1
        }

        mutating func data() throws(VideoError) -> [UInt8] {
            let count = try number()
            guard count <= bytes.count else { throw damage("a header is too short") }
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }

        mutating func rational() throws(VideoError) -> Rational {
            guard let value = Rational(try number(), try number()) else { throw damage("an impossible time base") }
            return value
        }
    }

    private struct MainHeader {
        var timeBases: [Rational] = []
        var codes = [FrameCode](repeating: FrameCode(), count: 256)
        var elided: [[UInt8]] = [[]]

        init(_ fields: inout Fields) throws(VideoError) {
            let version = try fields.number()
            guard version == 3 || version == 4 else { throw damage("version \(version) of NUT") }
            if version > 3 { _ = try fields.number() }
            guard try fields.number() == 1 else { throw damage("more than one stream") }
            _ = try fields.number()  // bytes between two synchronisation points
            let timeBaseCount = try fields.number()
            guard (1...256).contains(timeBaseCount) else { throw damage("\(timeBaseCount) time bases") }
            for _ in 0..<timeBaseCount { timeBases.append(try fields.rational()) }
            try readCodes(&fields)
            if !fields.bytes.isEmpty {
                let count = try fields.number()
                guard count < 128 else { throw damage("too many starts of frames") }
                for _ in 0..<count { elided.append(try fields.data()) }
            }
        }

        /// The table that a frame's first byte points into, written as runs.
        private mutating func readCodes(_ fields: inout Fields) throws(VideoError) {
            var code = FrameCode()
            var index = 0
            while index < 256 {
                code.flags = try fields.number()
                let fieldCount = try fields.number()
                guard fieldCount < 256 else { throw damage("too many fields") }
                if fieldCount > 0 { code.timestampStep = try fields.signedNumber() }
                if fieldCount > 1 { code.sizeFactor = try fields.number() }
                if fieldCount > 2 { code.stream = try fields.number() }
                code.sizeRemainder = fieldCount > 3 ? try fields.number() : 0
                code.reservedCount = fieldCount > 4 ? try fields.number() : 0
                let count = fieldCount > 5 ? try fields.number() : code.sizeFactor - code.sizeRemainder
                if fieldCount > 6 { _ = try fields.signedNumber() }
                if fieldCount > 7 { code.header = try fields.number() }
                for _ in 8..<max(8, fieldCount) { _ = try fields.number() }
                guard (1...256).contains(count) || index == 0x4e, abs(code.timestampStep) < 1 << 40,
                    code.sizeRemainder < 1 << 40
                else { throw damage("a damaged table of frames") }
                var rest = count
                while rest > 0 || index == 0x4e, index < 256 {
                    // The byte of start codes stands for no frame.
                    if index != 0x4e {
                        codes[index] = code
                        code.sizeRemainder += 1
                        rest -= 1
                    }
                    index += 1
                }
            }
        }
    }

    private static func track(
        _ fields: inout Fields, _ main: MainHeader
    ) throws(VideoError) -> (Track, timestampBits: Int) {
        guard try fields.number() == 0, try fields.number() == 0 else { throw damage("its stream is no video") }
        let content: Content
        switch try fields.data() {
        case Array("RGB\u{18}".utf8): content = .rgb
        case Array("RGBA".utf8): content = .rgba
        case Array("MJPG".utf8): content = .jpeg
        default: throw damage("its pictures are neither RGB nor RGBA nor JPEG")
        }
        let base = try fields.number()
        guard main.timeBases.indices.contains(base) else { throw damage("an unknown time base") }
        let bits = try fields.number()
        guard bits < 16 else { throw damage("an impossible number") }
        for _ in 0..<3 { _ = try fields.number() }  // largest step, delay of the decoder, flags
        _ = try fields.data()
        let (width, height) = (try fields.number(), try fields.number())
        guard (1...65_535).contains(width), (1...65_535).contains(height) else {
            throw damage("a picture of \(width)x\(height)")
        }
        let track = Track(width: width, height: height, content: content, timeBase: main.timeBases[base])
        return (track, bits)
    }
}
