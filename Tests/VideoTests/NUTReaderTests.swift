import Foundation
import TestSupport
import Testing
import Video

/// Reads bytes in pieces of a few, so that every field is cut somewhere.
private func stream(_ bytes: [UInt8], pieces: Int = 1 << 20) -> ByteStream {
    var rest = bytes[...]
    return ByteStream { buffer in
        let piece = rest.prefix(min(buffer.count, pieces))
        rest = rest.dropFirst(piece.count)
        buffer.copyBytes(from: piece)
        return piece.count
    }
}

@Suite("Frames from ffmpeg", .needsFFmpeg)
struct NUTReaderTests {
    /// A stream of five tiny frames with uneven times.
    private func film(_ format: String, size: String = "6x4") throws -> [UInt8] {
        try withScratchFolder { folder in
            let path = try FFmpeg.make(
                "\(folder)/a.nut", "-f", "lavfi", "-i", "testsrc=s=\(size):r=10:d=0.5", "-vf",
                "settb=1/90000,setpts=PTS+N*N*7,format=\(format)", "-c:v", "rawvideo", "-fps_mode", "passthrough",
                "-enc_time_base", "1/90000", "-write_index", "0")
            return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    private func frames(_ bytes: [UInt8], pieces: Int = 1 << 20) throws -> [NUTReader.Frame] {
        var reader = try #require(try NUTReader(stream(bytes, pieces: pieces)))
        var frames: [NUTReader.Frame] = []
        while let frame = try reader.next() { frames.append(frame) }
        return frames
    }

    @Test("Sizes, pixels and exact times", arguments: ["rgb24", "rgba"])
    func frames(format: String) throws {
        let bytes = try film(format)
        let channels = format == "rgba" ? 4 : 3
        let reader = try #require(try NUTReader(stream(bytes)))
        #expect(reader.track.width == 6 && reader.track.height == 4 && reader.track.frameByteCount == 24 * channels)
        let unit = reader.track.timeBase.value
        let found = try frames(bytes)
        #expect(found.map { (Double($0.timestamp) * unit * 90_000).rounded() } == [0, 9007, 18_028, 27_063, 36_112])
        #expect(found.allSatisfy { $0.bytes.count == 6 * 4 * channels })
        #expect(Set(found.map(\.bytes)).count >= 1)
        #expect(try frames(bytes, pieces: 1) == found)
        #expect(try frames(bytes, pieces: 7) == found)
    }

    @Test("Nothing is no film")
    func nothing() throws {
        #expect(try NUTReader(stream([])) == nil)
    }

    @Test("A stream that ends anywhere gives its whole frames, then an error or the end", .childProcess)
    func truncation() throws {
        let bytes = try film("rgb24")
        let whole = try frames(bytes)
        for count in 1..<bytes.count {
            guard var reader = try? NUTReader(stream(Array(bytes.prefix(count)))) else { continue }
            var found: [NUTReader.Frame] = []
            while let frame = try? reader.next() { found.append(frame) }
            #expect(found == Array(whole.prefix(found.count)))
        }
    }

    @Test("Any damage is an error or other frames, all of the right size", .childProcess)
    func damage() throws {
        let bytes = try film("rgb24")
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: 0..<damaged.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard var reader = try? NUTReader(stream(damaged)) else { continue }
            let size = reader.track.frameByteCount ?? 0
            // More than a header can claim of so few bytes is not given memory for.
            guard size < 1 << 26 else { continue }
            while let frame = try? reader.next() { #expect(frame.bytes.count == size) }
        }
    }
}

@Suite("Frames to ffmpeg")
struct MatroskaWriterTests {
    private func film(hasAlpha: Bool) -> [UInt8] {
        var bytes = MatroskaWriter.header(width: 3, height: 1, hasAlpha: hasAlpha, rate: Rational(30_000, 1001))
        for index in 0..<3 {
            let frame = [UInt8](repeating: UInt8(index + 1), count: hasAlpha ? 12 : 9)
            bytes += MatroskaWriter.frameHeader(microseconds: index * 33_367 + index * index, byteCount: frame.count)
            bytes += frame
        }
        return bytes
    }

    @Test("Every frame is the cluster that it should be, to the byte")
    func bytes() {
        #expect(
            MatroskaWriter.frameHeader(microseconds: 258, byteCount: 9) == [
                0x1f, 0x43, 0xb6, 0x75, 1, 0, 0, 0, 0, 0, 0, 39,
                0xe7, 1, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 2,
                0xa3, 1, 0, 0, 0, 0, 0, 0, 13, 0x81, 0, 0, 0x80,
            ])
    }

    @Test("ffmpeg reads what was meant", .needsFFmpeg, arguments: [false, true])
    func reading(hasAlpha: Bool) throws {
        try withScratchFolder { folder in
            let path = "\(folder)/a.mkv"
            try makeFile(path, film(hasAlpha: hasAlpha))
            let stream = try #require(FFmpeg.streams(path, "v", "width,height,pix_fmt,avg_frame_rate").first)
            #expect(stream["width"] == "3" && stream["height"] == "1")
            #expect(stream["pix_fmt"] == (hasAlpha ? "rgba" : "rgb24"))
            #expect(stream["avg_frame_rate"] == "30000/1001")
            #expect(try FFmpeg.times(path) == [0, 0.033368, 0.066738])
        }
    }
}
