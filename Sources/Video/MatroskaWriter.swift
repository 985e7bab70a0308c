/// Uncompressed pictures as a Matroska file, for ffmpeg to read from a pipe.
///
/// Matroska and not NUT: it tells the film's usual frame rate, which encoders plan by, beside each frame's own time. Times
/// are in microseconds. As in RFC 9559; every frame has a cluster of its own, so that no time is relative to another.
package enum MatroskaWriter {
    /// The bytes before the first frame.
    ///
    /// - Parameters:
    ///   - hasAlpha: Whether frames are RGBA and not RGB.
    ///   - rate: Frames a second, where that is known.
    package static func header(width: Int, height: Int, hasAlpha: Bool, rate: Rational?) -> [UInt8] {
        var video = number(0xb0, width) + number(0xba, height)
        video += element([0x2e, 0xb5, 0x24], hasAlpha ? Array("RGBA".utf8) : Array("RGB\u{18}".utf8))
        var track = number(0xd7, 1) + number(0x73c5, 1) + number(0x83, 1)
        if let rate {
            let nanoseconds = (1e9 / rate.value).rounded()
            if nanoseconds >= 1, nanoseconds < 1e15 { track += number(0x23e383, Int(nanoseconds)) }
        }
        track += element([0x86], Array("V_UNCOMPRESSED".utf8)) + element([0xe0], video)
        let name = Array("silhouette".utf8)
        let kind = element([0x42, 0x82], Array("matroska".utf8)) + number(0x4287, 4) + number(0x4285, 2)
        return element([0x1a, 0x45, 0xdf, 0xa3], kind)
            // The segment is as long as the pipe is open.
            + [0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
            + element(
                [0x15, 0x49, 0xa9, 0x66],
                number(0x2ad7b1, 1000) + element([0x4d, 0x80], name) + element([0x57, 0x41], name))
            + element([0x16, 0x54, 0xae, 0x6b], element([0xae], track))
    }

    /// The bytes between two frames.
    ///
    /// - Parameter microseconds: When the frame that follows is shown.
    package static func frameHeader(microseconds: Int, byteCount: Int) -> [UInt8] {
        let time = number(0xe7, microseconds)
        // Track 1, no time relative to the cluster's, a key frame.
        let block: [UInt8] = [0x81, 0, 0, 0x80]
        let blockStart = [0xa3] + size(block.count + byteCount) + block
        return [0x1f, 0x43, 0xb6, 0x75] + size(time.count + blockStart.count + byteCount) + time + blockStart
    }

    private static func element(_ id: [UInt8], _ contents: [UInt8]) -> [UInt8] { id + size(contents.count) + contents }

    private static func number(_ id: Int, _ value: Int) -> [UInt8] {
        element(bigEndian(id).drop { $0 == 0 } + [], bigEndian(value))
    }

    /// A length, always in eight bytes.
    private static func size(_ count: Int) -> [UInt8] { bigEndian(count | 1 << 56) }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    }
}
