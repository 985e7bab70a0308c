// modules: Base
// files: Video/NUTReader.swift Video/ByteStream.swift Video/Rational.swift Video/VideoError.swift
//
// Fuzzes the stream in which ffmpeg gives frames.
//
// In pieces of any length the same frames come out and the same complaint. A stream that is written here of the input's
// bytes must be read as its frames, with their times.
//
// The first byte of an input says which: a stream, read in pieces of the second byte's length, or frames to be written.

private let fileByteLimit = 1 << 12

func fuzz(_ input: [UInt8]) {
    guard input.count >= 2 else { return }
    let rest = Array(input[2...])
    if input[0] % 4 != 0 {
        let (whole, inPieces) = (read(rest, pieceLength: 1 << 16), read(rest, pieceLength: Int(input[1]) + 1))
        precondition(
            whole.frames == inPieces.frames && whole.complaint == inPieces.complaint, "the pieces change the film")
        if let complaint = whole.complaint { precondition(fault(inLine: complaint) == nil) }
    } else {
        checkWriter(rest, kind: input[1])
    }
}

/// The frames up to the first damage, and what is said of that.
private func read(
    _ bytes: [UInt8], pieceLength: Int
) -> (track: NUTReader.Track?, frames: [NUTReader.Frame], complaint: String?) {
    var rest = bytes[...]
    let stream = ByteStream { buffer in
        let piece = rest.prefix(min(buffer.count, pieceLength))
        rest = rest.dropFirst(piece.count)
        buffer.copyBytes(from: piece)
        return piece.count
    }
    var track: NUTReader.Track?
    var frames: [NUTReader.Frame] = []
    do throws(VideoError) {
        guard var reader = try NUTReader(stream, fileByteLimit: fileByteLimit) else {
            precondition(bytes.isEmpty)
            return (nil, [], nil)
        }
        track = reader.track
        // Memory for a bare frame is what its header claims.
        guard reader.track.frameByteCount ?? 0 <= 1 << 16 else { return (track, [], nil) }
        while let frame = try reader.next() {
            precondition(frame.bytes.count == reader.track.frameByteCount ?? frame.bytes.count)
            precondition(frame.bytes.count <= max(fileByteLimit, reader.track.frameByteCount ?? 0))
            precondition(abs(frame.timestamp) < 1 << 60)
            frames.append(frame)
            if frames.count == 4096 { break }
        }
    } catch {
        return (track, frames, error.description)
    }
    return (track, frames, nil)
}

/// Numbers as NUT writes them: seven bits a byte, the highest first.
private func number(_ value: Int) -> [UInt8] {
    var bytes = [UInt8(value & 0x7f)]
    var rest = value >> 7
    while rest > 0 {
        bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
        rest >>= 7
    }
    return bytes
}

private func packet(_ code: [UInt8], _ contents: [UInt8]) -> [UInt8] {
    [UInt8(ascii: "N")] + code + number(contents.count + 4) + contents + [0, 0, 0, 0]
}

/// A stream in which every frame codes its time and its size.
private func film(_ track: NUTReader.Track, _ frames: [NUTReader.Frame]) -> [UInt8] {
    let flags = 8 + 32  // time and size are coded
    let main =
        number(3) + number(1) + number(65_536) + number(1) + number(track.timeBase.numerator)
        + number(track.timeBase.denominator)
        // All 256 codes but that of start codes: no step of time, sizes as they are, stream 0.
        + number(flags) + number(6) + number(0) + number(1) + number(0) + number(0) + number(0) + number(1)
        + number(flags) + number(6) + number(0) + number(1) + number(0) + number(0) + number(0) + number(254)
    let fourCC: [UInt8] =
        switch track.content {
        case .rgb: Array("RGB\u{18}".utf8)
        case .rgba: Array("RGBA".utf8)
        case .jpeg: Array("MJPG".utf8)
        }
    let stream =
        number(0) + number(0) + number(4) + fourCC + number(0) + number(7) + number(1) + number(0) + number(0)
        + number(0) + number(track.width) + number(track.height) + number(1) + number(1) + number(0)
    var bytes = NUTReader.signature
    bytes += packet([0x4d, 0x7a, 0x56, 0x1f, 0x5f, 0x04, 0xad], main)
    bytes += packet([0x53, 0x11, 0x40, 0x5b, 0xf2, 0xf9, 0xdb], stream)
    bytes += packet([0x4b, 0xe4, 0xad, 0xee, 0xca, 0x45, 0x69], number(0) + number(0))
    for frame in frames {
        // A time that is written whole has one unit of the coded span on top.
        bytes += [0] + number(frame.timestamp + 128)
        bytes += sized(frame.bytes)
    }
    return bytes
}

/// The first code of the table has the remainder 0, and its factor is 1.
private func sized(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

private func checkWriter(_ bytes: [UInt8], kind: UInt8) {
    var input = InputReader(bytes)
    let content = [NUTReader.Content.jpeg, .rgb, .rgba][Int(kind % 3)]
    let (width, height) = (1 + input.below(5), 1 + input.below(5))
    let timeBase = Rational(1 + Int(input.byte()), 1 + Int(input.byte()) * 357)!
    let track = NUTReader.Track(width: width, height: height, content: content, timeBase: timeBase)
    var frames: [NUTReader.Frame] = []
    var timestamp = 0
    while !input.rest.isEmpty, frames.count < 64 {
        timestamp += 1 + Int(input.byte()) << (input.below(4) * 12)
        var bytes = input.bytes(track.frameByteCount ?? input.below(200))
        if let count = track.frameByteCount { bytes += [UInt8](repeating: 0, count: count - bytes.count) }
        frames.append(NUTReader.Frame(bytes: bytes, timestamp: timestamp))
    }
    let found = read(film(track, frames), pieceLength: 1 + Int(kind))
    precondition(found.track == track && found.complaint == nil, "\(found.complaint ?? "another track")")
    precondition(found.frames == frames, "other frames than were written")
}

private let example = film(
    NUTReader.Track(width: 2, height: 1, content: .rgb, timeBase: Rational(1, 90_000)!),
    [0, 3_003, 6_006].map { NUTReader.Frame(bytes: [1, 2, 3, 4, 5, 6], timestamp: $0) })
private let pictures = film(
    NUTReader.Track(width: 640, height: 480, content: .jpeg, timeBase: Rational(1, 25)!),
    [1, 2, 300].map { NUTReader.Frame(bytes: [0xff, 0xd8, 0xff, 0xd9], timestamp: $0) })

let seeds: [[UInt8]] = [
    [1, 3] + example, [2, 0] + pictures, [3, 200] + example + example.suffix(20),
    [0, 0, 1, 2, 0, 24, 1, 0, 3] + [1, 2, 3, 4, 5, 6, 7], [0, 1, 1, 0, 3, 2] + [UInt8](0..<40),
]
