import Foundation
import Imaging
import TestSupport
import Testing
import Video

/// An encoder that dies is an error in these tests, too, and not their end.
private let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

private func read(_ path: String, _ change: (inout ReadingOptions) -> Void = { _ in }) throws -> (
    film: Film, frames: [VideoFrame], ending: VideoReader.Ending
) {
    ignoresBrokenPipes
    var options = ReadingOptions()
    change(&options)
    let film = try Film(FilmSource(path: path), options: options)
    let reader = try VideoReader(film)
    var frames: [VideoFrame] = []
    while let frame = try reader.next() { frames.append(frame) }
    return (film, frames, reader.finish())
}

/// Copies a film frame by frame.
private func copy(_ path: String, to target: String, hasAlpha: Bool = false) throws {
    ignoresBrokenPipes
    let film = try Film(FilmSource(path: path))
    let stream = EncodedStream(of: film, hasAlpha: hasAlpha)
    let writer = try FilmWriter(
        target, format: try #require(OutputFormat(path: target)), stream: stream, soundOf: film)
    let reader = try VideoReader(film, sound: writer.extraction)
    var clock = FilmClock(of: film)
    var delay: Double?
    while let frame = try reader.next() {
        delay = delay ?? Double(frame.timestamp) * film.info.timeBase.value
        try writer.write(frame.image, microseconds: clock.microseconds(clock.time(of: frame.timestamp)))
    }
    #expect(reader.finish() == .whole)
    #expect(try writer.finish(delay: delay ?? 0, length: nil) == nil)
}

@Suite("Reading films", .needsFFmpeg)
struct FilmReadingTests {
    @Test("A film that is turned comes upright")
    func rotation() throws {
        try withScratchFolder { folder in
            // Red on the left; a player turns it so that red is at the top.
            try FFmpeg.make(
                "\(folder)/flat.mp4", "-f", "lavfi", "-i", "color=red:s=32x48:r=5:d=1", "-f", "lavfi", "-i",
                "color=blue:s=32x48:r=5:d=1", "-filter_complex", "hstack", "-c:v", "libx264", "-pix_fmt", "yuv420p")
            let film = try FFmpeg.make(
                "\(folder)/a.mp4", "-i", "\(folder)/flat.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90")
            let (_, frames, ending) = try read(film)
            #expect(ending == .whole && frames.count == 5)
            let image = try #require(frames.first).image
            #expect(image.width == 48 && image.height == 64)
            let top = image.bytes[(8 * 48 + 24) * 3]
            let bottom = image.bytes[(56 * 48 + 24) * 3]
            #expect(abs(Int(top) - Int(bottom)) > 200)
        }
    }

    @Test("Odd sizes, uneven times, parts of a film")
    func parts() throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i", "testsrc=s=33x17:r=10:d=2", "-c:v", "ffv1", "-pix_fmt", "bgr0")
            let all = try read(film)
            #expect(all.frames.count == 20)
            #expect(all.frames.allSatisfy { $0.image.width == 33 && $0.image.height == 17 })
            let part = try read(film) {
                $0.start = 0.5
                $0.duration = 0.7
            }
            #expect(part.frames.count == 7)
            #expect(part.frames[0].image == all.frames[5].image)
            let looped = try VideoReader(
                Film(
                    FilmSource(path: film),
                    options: {
                        var options = ReadingOptions()
                        options.isLooped = true
                        options.frameSize = FittedSize(width: 20, height: 20, showsAll: false)
                        return options
                    }()))
            var times: [Int] = []
            for _ in 0..<45 {
                let frame = try #require(try looped.next())
                #expect(frame.image.width == 20 && frame.image.height == 20)
                times.append(frame.timestamp)
            }
            #expect(times == times.sorted() && Set(times).count == 45)
            looped.stop()
            #expect(looped.finish() == .whole)
        }
    }

    @Test("Of a long film that fills a small size the middle is seen")
    func filling() throws {
        try withScratchFolder { folder in
            let film = "\(folder)/long.mkv"
            try FFmpeg.make(
                film, "-f", "lavfi", "-i", "color=black:s=16000x2:r=5:d=1", "-vf", "drawbox=7000:0:2000:2:white:fill",
                "-c:v", "ffv1", "-pix_fmt", "yuv444p")
            let (_, frames, ending) = try read(film) {
                $0.frameSize = FittedSize(width: 400, height: 300, showsAll: false)
            }
            #expect(frames.count == 5 && ending == .whole)
            let image = try #require(frames.first).image
            #expect(image.width == 400 && image.height == 300)
            #expect(image.bytes.allSatisfy { $0 > 240 })
        }
    }

    @Test("A film that changes its size keeps the first one")
    func sizeChange() throws {
        try withScratchFolder { folder in
            for (name, size) in [("a", "48x32"), ("b", "32x48")] {
                try FFmpeg.make(
                    "\(folder)/\(name).mjpeg", "-f", "lavfi", "-i", "color=white:s=\(size):r=5:d=1", "-f", "mjpeg")
            }
            let both = try ["a", "b"].flatMap { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0).mjpeg")) }
            try makeFile("\(folder)/c.mjpeg", both)
            let (_, frames, _) = try read("\(folder)/c.mjpeg")
            #expect(frames.count == 10)
            #expect(frames.allSatisfy { $0.image.width == 48 && $0.image.height == 32 })
            // What was high stands in the middle, black beside it.
            let row = frames[9].image.bytes[(16 * 48 * 3)..<(17 * 48 * 3)]
            #expect(row.first! < 10 && row[row.startIndex + 24 * 3] > 240 && row.last! < 10)
        }
    }

    @Test("Numbered pictures, from the number that is there")
    func sequence() throws {
        try withScratchFolder { folder in
            try FFmpeg.make(
                "\(folder)/p-%03d.png", "-f", "lavfi", "-i", "testsrc=s=8x6:r=10:d=0.4", "-start_number", "17")
            let (film, frames, ending) = try read("\(folder)/p-%03d.png") { $0.inputRate = 4 }
            #expect(frames.count == 4 && ending == .whole)
            #expect(Double(frames[3].timestamp) * film.info.timeBase.value == 0.75)
        }
    }

    @Test("Sound alone, a cover, text, nothing and a folder are no film: one line each")
    func refusals() throws {
        try withScratchFolder { folder in
            let sound = try FFmpeg.make("\(folder)/a.wav", "-f", "lavfi", "-i", "sine=d=0.1")
            let picture = try FFmpeg.make("\(folder)/p.png", "-f", "lavfi", "-i", "color=red:s=8x8", "-frames:v", "1")
            let song = try FFmpeg.make(
                "\(folder)/a.mp3", "-i", sound, "-i", picture, "-map", "0", "-map", "1", "-disposition:v",
                "attached_pic")
            try makeFile("\(folder)/t.mp4", Array("text".utf8))
            try makeFile("\(folder)/e.mp4")
            for path in [sound, song, "\(folder)/t.mp4", "\(folder)/e.mp4", folder, "\(folder)/absent"] {
                let error = #expect(throws: VideoError.self) { try read(path) }
                #expect(error?.description.hasPrefix(path + ": ") == true, "\(String(describing: error))")
                #expect(error?.description.contains("\n") == false)
            }
        }
    }

    @Test("Of a film that is cut off the frames that are there are read")
    func truncated() throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mp4", "-f", "lavfi", "-i", "testsrc=s=160x120:r=10:d=3", "-c:v", "libx264", "-pix_fmt",
                "yuv420p", "-g", "5", "-movflags", "+faststart")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: film))
            try makeFile("\(folder)/b.mp4", Array(bytes.prefix(bytes.count * 2 / 3)))
            let (_, frames, ending) = try read("\(folder)/b.mp4")
            #expect((5..<30).contains(frames.count))
            guard case .damaged = ending else {
                Issue.record("the damage was not noticed")
                return
            }
        }
    }
}

@Suite("Writing films", .needsFFmpeg)
struct FilmWritingTests {
    @Test("Times of a varying rate are kept to the tick", arguments: ["mp4", "mov"])
    func varyingRate(ending: String) throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mp4", "-f", "lavfi", "-i", "testsrc=s=64x48:r=30:d=1", "-vf",
                "settb=1/90000,setpts=PTS+N*N*13", "-fps_mode", "passthrough", "-enc_time_base", "1/90000",
                "-video_track_timescale", "90000", "-c:v", "libx264", "-pix_fmt", "yuv420p")
            try copy(film, to: "\(folder)/b.\(ending)")
            #expect(try FFmpeg.times("\(folder)/b.\(ending)") == FFmpeg.times(film))
        }
    }

    @Test("A constant rate that Matroska has rounded is constant again")
    func constantRate() throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i", "testsrc=s=64x48:r=30000/1001:d=2", "-c:v", "libx264",
                "-pix_fmt", "yuv420p")
            try copy(film, to: "\(folder)/b.mp4")
            let stream = try #require(
                FFmpeg.streams("\(folder)/b.mp4", "v", "r_frame_rate,avg_frame_rate,nb_frames").first)
            #expect(stream["r_frame_rate"] == "30000/1001" && stream["avg_frame_rate"] == "30000/1001")
            #expect(stream["nb_frames"] == "60")
        }
    }

    /// Colours of bars with every hue; tags that a film has, and that it gets.
    @Test(
        "A frame looks the same afterwards, and its colours are labelled",
        arguments: [
            ("128x96", "bt709", "tv", "bt709"), ("128x96", "smpte170m", "tv", "smpte170m"),
            ("128x96", "bt470bg", "pc", "bt470bg"), ("128x96", "", "tv", "smpte170m"), ("1280x720", "", "tv", "bt709"),
        ])
    func colors(size: String, matrix: String, range: String, tag: String) throws {
        try withScratchFolder { folder in
            let filter =
                "scale=out_color_matrix=\(tag == "bt470bg" ? "bt470" : tag):out_range=\(range):flags=accurate_rnd"
            var arguments = [
                "-f", "lavfi", "-i", "rgbtestsrc=s=\(size):r=5:d=0.4,format=rgb24,boxblur=2", "-vf",
                filter + ",format=yuv444p", "-c:v", "libx264", "-qp", "1", "-color_range", range,
            ]
            if !matrix.isEmpty { arguments += ["-colorspace", matrix] }
            let film = "\(folder)/a.mp4"
            try FFmpeg.make(film, arguments)
            try copy(film, to: "\(folder)/b.mp4")
            let stream = try #require(FFmpeg.streams("\(folder)/b.mp4", "v", "color_space,color_range").first)
            #expect(stream["color_space"] == tag && stream["color_range"] == "tv")
            // Both as this program sees them.
            let (before, after) = (try read(film).frames[0].image, try read("\(folder)/b.mp4").frames[0].image)
            let differences = zip(before.bytes, after.bytes).map { abs(Int($0) - Int($1)) }
            #expect(Double(differences.reduce(0, +)) / Double(differences.count) < 3)
            // And as it was drawn: the middles of the three bars, which grow from black to their colours.
            let (width, height) = (before.width, before.height)
            for (bar, color) in [[128, 0, 0], [0, 128, 0], [0, 0, 128]].enumerated() {
                let pixel = ((height * (2 * bar + 1) / 6) * width + width / 2) * 3
                for channel in 0..<3 { #expect(abs(Int(after.bytes[pixel + channel]) - color[channel]) <= 6) }
            }
        }
    }

    @Test("Transparency goes into what can hold it", arguments: ["webm", "mov", "mkv"])
    func transparency(ending: String) throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i",
                "color=red:s=65x47:r=5:d=0.6,format=rgba,geq=r=200:g=100:b=50:a='if(lt(X,32),255,0)'", "-c:v", "ffv1",
                "-pix_fmt", "bgra")
            let target = "\(folder)/b.\(ending)"
            try copy(film, to: target, hasAlpha: true)
            let (_, frames, _) = try read(target)
            #expect(frames.count == 3)
            let image = try #require(frames.last).image
            #expect(image.width == 65 && image.height == 47 && image.format == .rgba)
            let (left, right) = ((20 * 65 + 10) * 4, (20 * 65 + 50) * 4)
            #expect(image.bytes[left + 3] > 250 && image.bytes[right + 3] < 5)
            for (channel, value) in [200, 100, 50].enumerated() {
                #expect(abs(Int(image.bytes[left + channel]) - value) <= 6)
            }
        }
    }

    @Test("Pixels that are not square stay so, and a film of one frame is a film")
    func aspect() throws {
        try withScratchFolder { folder in
            let film = try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.1,setsar=4/3", "-c:v", "ffv1")
            try copy(film, to: "\(folder)/b.mp4")
            let stream = try #require(FFmpeg.streams("\(folder)/b.mp4", "v", "sample_aspect_ratio,nb_frames").first)
            #expect(stream["sample_aspect_ratio"] == "4:3" && stream["nb_frames"] == "1")
        }
    }
}

@Suite("Sound of films", .needsFFmpeg)
struct FilmSoundTests {
    private func film(_ folder: String, _ name: String, _ codec: String) throws -> String {
        try FFmpeg.make(
            "\(folder)/\(name)", "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1",
            "-c:v",
            "libx264", "-pix_fmt", "yuv420p", "-c:a", codec)
    }

    @Test("What the container takes is copied, byte for byte and with its times", arguments: ["mp4", "mov"])
    func copied(ending: String) throws {
        try withScratchFolder { folder in
            let source = try film(folder, "a.mp4", "aac")
            let target = "\(folder)/b.\(ending)"
            try copy(source, to: target)
            #expect(try FFmpeg.sound(target) == FFmpeg.sound(source))
            #expect(try FFmpeg.times(target, "a") == FFmpeg.times(source, "a"))
            #expect(try FFmpeg.times(target) == FFmpeg.times(source))
        }
    }

    @Test("What it does not take is encoded anew, and said", arguments: [("mp4", "aac"), ("webm", "opus")])
    func encoded(ending: String, codec: String) throws {
        try withScratchFolder { folder in
            let source = try film(folder, "a.mkv", "pcm_s16le")
            let target = "\(folder)/b.\(ending)"
            let writer = try FilmWriter(
                target, format: try #require(OutputFormat(path: target)),
                stream: EncodedStream(of: try Film(FilmSource(path: source)), hasAlpha: false),
                soundOf: Film(FilmSource(path: source)))
            #expect(writer.notices.count == 1 && writer.notices[0].contains("pcm_s16le"))
            try copy(source, to: target)
            #expect(try FFmpeg.streams(target, "a", "codec_name").first?["codec_name"] == codec)
        }
    }

    @Test("Sound that begins before the pictures does so afterwards")
    func delay() throws {
        try withScratchFolder { folder in
            let source = try FFmpeg.make(
                "\(folder)/a.mkv", "-f", "lavfi", "-i", "sine=d=2", "-itsoffset", "0.5", "-f", "lavfi", "-i",
                "testsrc=s=64x48:r=10:d=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le")
            try copy(source, to: "\(folder)/b.mkv")
            let (video, sound) = (try FFmpeg.times("\(folder)/b.mkv"), try FFmpeg.times("\(folder)/b.mkv", "a"))
            #expect(abs((video[0] - sound[0]) - 0.5) < 0.01)
        }
    }

    @Test("Without finish nothing is left; what was there stays")
    func abandoned() throws {
        try withScratchFolder { folder in
            let source = try film(folder, "a.mp4", "aac")
            try makeFile("\(folder)/b.mp4", [1, 2, 3])
            do {
                ignoresBrokenPipes
                let film = try Film(FilmSource(path: source))
                let stream = EncodedStream(of: film, hasAlpha: false)
                let writer = try FilmWriter("\(folder)/b.mp4", format: .mp4, stream: stream, soundOf: film)
                try writer.write(
                    Image(size: PixelSize(width: 64, height: 48), format: .rgb, color: .black), microseconds: 0)
            }
            #expect(try fileNames(in: folder) == ["a.mp4", "b.mp4"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/b.mp4")) == Data([1, 2, 3]))
        }
    }
}
