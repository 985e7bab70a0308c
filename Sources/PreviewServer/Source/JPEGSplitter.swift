/// Cuts a stream of JPEG files, one behind the other, into its files.
///
/// A pure value: bytes in, files out. The end of a file is found by its markers; a thumbnail inside a segment does not
/// count, as segments are passed over by their length.
package struct JPEGSplitter {
    /// A file, and the size that its header tells.
    package struct File {
        /// `room` zeros, then the file's bytes.
        package var bytes: [UInt8]
        /// Columns.
        package var width: Int
        /// Rows.
        package var height: Int
    }

    /// Bytes that a file may have.
    package let byteLimit: Int
    /// Bytes to leave free before each file.
    package let room: Int
    private var buffer: [UInt8] = []
    /// Everything before it is known to be inside of the file that begins with the buffer.
    private var position = 0
    private var isInScan = false
    private var size = (width: 0, height: 0)

    /// Creates a splitter.
    package init(byteLimit: Int, room: Int = 0) {
        self.byteLimit = byteLimit
        self.room = room
    }

    /// Adds bytes of the stream.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

    /// The next whole file. Nil: more bytes are needed.
    ///
    /// - Throws: `ServerError` where the stream is not JPEG files, or one is too long.
    package mutating func next() throws(ServerError) -> File? {
        guard buffer.count >= 4 else { return nil }
        if position == 0 {
            guard buffer[0] == 0xff, buffer[1] == 0xd8 else { throw ServerError("the stream is no JPEG") }
            position = 2
        }
        while true {
            guard let isEnd = try step() else {
                guard buffer.count <= byteLimit else { throw ServerError("a frame of more than \(byteLimit) bytes") }
                return nil
            }
            if isEnd { return cut() }
        }
    }

    /// Passes over a segment or a part of the scan. True: the file ends; nil: more bytes are needed.
    private mutating func step() throws(ServerError) -> Bool? {
        if isInScan {
            while position + 1 < buffer.count {
                // 0xff 0 is a byte of the scan, 0xff 0xd0 to 0xd7 restart it.
                if buffer[position] == 0xff, buffer[position + 1] != 0, !(0xd0...0xd7).contains(buffer[position + 1]),
                    buffer[position + 1] != 0xff
                {
                    isInScan = false
                    return false
                }
                position += 1
            }
            return nil
        }
        guard position + 1 < buffer.count else { return nil }
        guard buffer[position] == 0xff else { throw ServerError("the stream is damaged JPEG") }
        let marker = buffer[position + 1]
        if marker == 0xd9 {
            position += 2
            return true
        }
        if marker == 0xff {  // a fill byte
            position += 1
            return false
        }
        guard position + 9 < buffer.count else { return nil }
        let length = Int(buffer[position + 2]) << 8 | Int(buffer[position + 3])
        guard length >= 2 else { throw ServerError("the stream is damaged JPEG") }
        // Start of frame, whatever the kind; c4, c8 and cc are tables.
        if (0xc0...0xcf).contains(marker), marker != 0xc4, marker != 0xc8, marker != 0xcc {
            size.height = Int(buffer[position + 5]) << 8 | Int(buffer[position + 6])
            size.width = Int(buffer[position + 7]) << 8 | Int(buffer[position + 8])
        }
        guard position + 2 + length <= buffer.count else { return nil }
        position += 2 + length
        isInScan = marker == 0xda
        return false
    }

    private mutating func cut() -> File {
        var bytes = [UInt8](repeating: 0, count: room)
        bytes += buffer[..<position]
        buffer.removeSubrange(..<position)
        defer {
            position = 0
            size = (0, 0)
        }
        return File(bytes: bytes, width: size.width, height: size.height)
    }
}
