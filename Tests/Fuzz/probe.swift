// modules: Base Imaging Video
//
// Fuzzes what ffprobe and ffmpeg tell in words, in which a film's maker has a say: the description of a film, complaints, and
// the clock that goes by them.
//
// What is read must be possible; two readings are the same; a clock's times rise and stay near those of the film.
//
// The first bytes of an input are numbers for the clock, the rest is text.

func fuzz(_ input: [UInt8]) {
    var input = InputReader(input)
    let steps = input.bytes(8)
    let text = String(decoding: input.rest, as: UTF8.self)
    for line in text.split(whereSeparator: \.isNewline) {
        let cleaned = Complaints.cleaned(String(line))
        precondition(cleaned.count <= 200 && !cleaned.hasPrefix(" "))
    }
    if let rational = Rational(text[...]) {
        precondition(Rational(rational.description[...]) == rational && rational.inverse.inverse == rational)
    }
    guard let info = VideoInfo(probed: text) else { return }
    precondition(VideoInfo(probed: text) == info, "a second reading is another")
    precondition(info.width > 0 && info.height > 0 && info.otherVideoCount >= 0)
    if let duration = info.duration { precondition(duration > 0 && duration < 1e9) }
    for (start, limit) in [(0, nil), (1.5, nil), (0, 3600), (1e9, 1e-9)] as [(Double, Double?)] {
        if let count = info.expectedFrameCount(start: start, limit: limit) { precondition(count > 0) }
    }
    run(FilmClock(source: info.timeBase, rate: info.rate), of: info.timeBase, steps)
}

private func run(_ clock: FilmClock, of source: Rational, _ steps: [UInt8]) {
    var clock = clock
    var timestamp = 0
    var last = -1
    var lateness = 0.0
    for step in steps {
        let elapsed = Double(timestamp) * source.value
        let time = clock.time(of: timestamp)
        precondition(time > last && clock.microseconds(time) >= 0, "a time that does not rise")
        // What is moved up behind an earlier time may push the next one.
        lateness += clock.timeBase.value
        if elapsed < 5e9 {
            let error = Double(time) * clock.timeBase.value - elapsed
            precondition(
                error > -(source.value + clock.timeBase.value) * 1.01
                    && error < source.value * 1.01 + lateness + clock.timeBase.value + elapsed * 1e-12,
                "a frame at \(elapsed) s is put at \(Double(time) * clock.timeBase.value)")
        }
        last = time
        timestamp += Int(step & 15) << Int(step >> 4)
    }
}

private func stream(_ index: Int, _ values: KeyValuePairs<String, String>) -> String {
    values.map { "streams.stream.\(index).\($0)=\($1)\n" }.joined()
}

private let films: [String] = [
    stream(
        0,
        [
            "index": "0", "codec_name": "\"h264\"", "codec_type": "\"video\"", "width": "640", "height": "360",
            "pix_fmt": "\"yuva420p\"", "sample_aspect_ratio": "\"4:3\"", "time_base": "\"1/90000\"",
            "r_frame_rate": "\"30000/1001\"", "avg_frame_rate": "\"30/1\"", "nb_frames": "\"90\"",
            "duration": "\"3.0\"",
            "color_space": "\"bt709\"", "color_primaries": "\"unknown\"", "disposition.attached_pic": "0",
            "side_data_list.side_data.0.rotation": "-90", "tags.alpha_mode": "\"1\"",
        ]) + stream(1, ["index": "1", "codec_name": "\"aac\"", "codec_type": "\"audio\""])
        + "format.duration=\"3.02\"\n",
    stream(
        2,
        [
            "index": "2", "codec_type": "\"video\"", "width": "2", "height": "2", "r_frame_rate": "\"25/1\"",
            "time_base": "\"1/1000\"", "duration": "\"N/A\"",
        ])
        + stream(3, ["index": "3", "codec_type": "\"video\"", "disposition.attached_pic": "1"])
        + stream(4, ["index": "4", "codec_type": "\"subtitle\""]) + "format.duration=\"1e3\"\n",
]
let seeds: [[UInt8]] = [
    [33, 33, 34, 33, 0, 250, 1, 1] + films[0].utf8, [40, 40, 40, 40, 40, 40, 40, 40] + films[1].utf8,
    [0, 0, 0, 0, 0, 0, 0, 0] + "[mov @ 0x55b6] [h264 @ 0x1]  a line\n30000/1001".utf8,
    [1, 2, 3, 4, 5, 6, 7, 8] + "16:9".utf8,
]
