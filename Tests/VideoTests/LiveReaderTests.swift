import Base
import Foundation
import TestSupport
import Testing
import Video

@Suite("Pictures from ffmpeg as they come", .needsFFmpeg)
struct LiveReaderTests {
    /// Half a second of ten pictures a second, as a stream of JPEG files.
    private func withStream(_ body: (String) throws -> Void) throws {
        try withScratchFolder { folder in
            try body(
                try FFmpeg.make(
                    "\(folder)/a.nut", "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.5", "-pix_fmt", "yuvj420p",
                    "-c:v", "mjpeg", "-write_index", "0"))
        }
    }

    private func reader(
        _ script: String, byteLimit: Int = 1 << 20, isWanted: @escaping () -> Bool = { true }
    ) throws -> LiveReader {
        try LiveReader(["sh", "-c", script], fileByteLimit: byteLimit, isWanted: isWanted)
    }

    private func pictures(_ reader: LiveReader) throws -> [LiveReader.Picture] {
        var pictures: [LiveReader.Picture] = []
        while let picture = try reader.next() { pictures.append(picture) }
        return pictures
    }

    @Test("Pictures come out as files of the stream's size, also in a stream that comes slowly")
    func files() throws {
        try withStream { path in
            let found = try pictures(try reader("cat \(path)"))
            #expect(found.count == 5)
            for picture in found {
                #expect(picture.width == 64 && picture.height == 48)
                #expect(picture.file.starts(with: [0xff, 0xd8]) && picture.file.suffix(2) == [0xff, 0xd9])
            }
            #expect(Set(found.map(\.file)).count > 1)
            // The first picture is cut in two.
            #expect(try pictures(try reader("head -c 700 \(path); sleep 0.3; tail -c +701 \(path)")) == found)
        }
    }

    @Test("A film is played over and over, made smaller where it is too wide")
    func film() throws {
        try withScratchFolder { folder in
            let path = try FFmpeg.make("\(folder)/a.mkv", "-f", "lavfi", "-i", "testsrc=s=160x120:r=25:d=0.2")
            let reader = try LiveReader(
                .film(path), widthLimit: 80, rateLimit: 30, fileByteLimit: 1 << 20, isWanted: { true })
            for _ in 0..<12 {
                let next = try reader.next()
                let picture = try #require(next)
                #expect(picture.width == 80 && picture.height == 60)
            }
        }
    }

    @Test("A picture of more bytes than it may have is an error")
    func tooLarge() throws {
        try withStream { path in
            let error = #expect(throws: VideoError.self) { try reader("cat \(path)", byteLimit: 100).next() }
            #expect(error?.description == "a frame of more than 100 bytes")
        }
    }

    @Test("Where the program ends in the middle, whole pictures come and then what it complained of last")
    func truncation() throws {
        try withStream { path in
            for count in [0, 10, 60, 400, 3000] {
                let reader = try reader(
                    "head -c \(count) \(path); echo first >&2; echo '[nut @ 0x5a] gone' >&2; exit 1")
                #expect(try pictures(reader).count < 5)
                #expect(reader.complaint == "gone")
            }
        }
    }

    @Test("What is no NUT is an error, whatever the program does afterwards", .timeLimit(.minutes(1)))
    func noise() throws {
        let reader = try reader("head -c 100000 /dev/zero; sleep 100")
        #expect(throws: VideoError.self) { try reader.next() }
    }

    @Test("Whether more is wanted is asked while nothing comes, and the program is ended", .timeLimit(.minutes(1)))
    func unwanted() throws {
        let asked = Locked(0)
        let start = ContinuousClock.now
        do {
            let reader = try reader("sleep 100") {
                asked.withLock { asked in
                    asked += 1
                    return asked < 5
                }
            }
            #expect(try reader.next() == nil)
            // It is not waited for.
            #expect(reader.complaint == nil)
        }
        #expect(asked.withLock { $0 } == 5)
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
