/// What is in a film, as far as it matters to those who make another of it.
package struct VideoInfo: Equatable, Sendable {
    /// How colours are stored; ffmpeg's names, empty where the film does not say.
    package struct Colors: Equatable, Sendable {
        /// The matrix between RGB and YCbCr: `bt709`.
        package var matrix = ""
        /// The primaries: `bt709`.
        package var primaries = ""
        /// The transfer function: `bt709`.
        package var transfer = ""
    }

    /// A stream of sound.
    package struct Sound: Equatable, Sendable {
        /// Its position among all streams.
        package var index: Int
        /// ffmpeg's name of its codec: `aac`.
        package var codec: String

        /// Creates a stream's description.
        package init(index: Int, codec: String) {
            self.index = index
            self.codec = codec
        }
    }

    /// The position of the film's pictures among all streams.
    package var streamIndex = 0
    /// ffmpeg's name of the codec: `h264`.
    package var codec = ""
    /// Columns of an upright picture.
    package var width = 0
    /// Rows of an upright picture.
    package var height = 0
    /// Width of a pixel over its height. Nil: they are square, or the film does not say.
    package var pixelAspect: Rational?
    /// Whether pictures have transparent parts.
    package var hasAlpha = false
    /// The unit of timestamps in seconds.
    package var timeBase = Rational(1, 1000)!
    /// The rate that all timestamps fit; nil where ffmpeg has found none.
    package var rate: Rational?
    /// Frames over duration, where both are known.
    package var averageRate: Rational?
    /// Number of frames, where the film says it.
    package var frameCount: Int?
    /// Seconds, where the film says it.
    package var duration: Double?
    /// How its colours are stored.
    package var colors = Colors()
    /// The sound that goes with it.
    package var sounds: [Sound] = []
    /// Streams of subtitles.
    package var subtitleCount = 0
    /// Further streams of pictures, covers not counted.
    package var otherVideoCount = 0

    /// Whether it is stored as VP9 or VP8 with a second stream for its transparency, which only libvpx decodes.
    package var needsVPXDecoder = false

    init() {}

    /// The size of an upright picture, for people.
    package var sizeText: String { "\(width)x\(height)" }

    /// Frames that will come, by the film's own account and so about.
    ///
    /// - Parameters:
    ///   - start: Seconds that are passed over.
    ///   - limit: Seconds that are taken at most.
    package func expectedFrameCount(start: Double = 0, limit: Double? = nil) -> Int? {
        if start == 0, limit == nil, let frameCount { return frameCount }
        guard let rate = averageRate ?? rate else { return nil }
        var seconds = duration.map { max(0, $0 - start) }
        if let limit { seconds = min(seconds ?? limit, limit) }
        guard let seconds, seconds * rate.value < 1e12 else { return nil }
        return max(1, Int((seconds * rate.value).rounded()))
    }
}

extension VideoInfo {
    /// What ffprobe is asked to tell.
    static let probedEntries =
        "stream=index,codec_type,codec_name,width,height,pix_fmt,sample_aspect_ratio,time_base,r_frame_rate,"
        + "avg_frame_rate,nb_frames,duration,color_space,color_primaries,color_transfer"
        + ":stream_disposition=attached_pic:stream_tags=alpha_mode:stream_side_data=rotation:format=duration"

    /// Reads what ffprobe writes with `-of flat`.
    ///
    /// Nil where there are no moving pictures; a cover does not count.
    package init?(probed text: String) {
        let streams = ProbedStream.all(in: text)
        let videos = streams.filter { $0["codec_type"] == "video" && $0["disposition.attached_pic"] != "1" }
        guard let video = videos.first, let index = video.number("index"), let width = video.number("width"),
            let height = video.number("height"), width > 0, height > 0
        else { return nil }
        streamIndex = index
        codec = video["codec_name"] ?? ""
        self.width = width
        self.height = height
        pixelAspect = video["sample_aspect_ratio"].flatMap { Rational($0[...]) }
        if pixelAspect == Rational(1, 1) { pixelAspect = nil }
        // A quarter turn: what lies is shown upright. Where several are told, the first counts.
        let rotations = video.values.filter { $0.key.hasSuffix(".rotation") }
        let rotation = rotations.min { $0.key < $1.key }.flatMap { Double($0.value) } ?? 0
        if abs(rotation.truncatingRemainder(dividingBy: 180)).rounded() == 90 {
            swap(&self.width, &self.height)
            pixelAspect = pixelAspect?.inverse
        }
        needsVPXDecoder = video["tags.alpha_mode"] == "1" && (codec == "vp9" || codec == "vp8")
        hasAlpha = needsVPXDecoder || Self.hasAlpha(video["pix_fmt"] ?? "")
        if let base = video["time_base"].flatMap({ Rational($0[...]) }) { timeBase = base }
        rate = video["r_frame_rate"].flatMap { Rational($0[...]) }
        averageRate = video["avg_frame_rate"].flatMap { Rational($0[...]) }
        frameCount = video.number("nb_frames").flatMap { $0 > 0 ? $0 : nil }
        let whole = ProbedStream.value("format.duration", in: text)
        duration = [video["duration"], whole].compactMap { $0.flatMap(Double.init) }.first { $0 > 0 && $0 < 1e9 }
        func known(_ name: String) -> String {
            let value = video[name] ?? ""
            return ["unknown", "N/A", "reserved", "unspecified"].contains(value) ? "" : value
        }
        colors = Colors(
            matrix: known("color_space"), primaries: known("color_primaries"), transfer: known("color_transfer"))
        sounds = streams.filter { $0["codec_type"] == "audio" }.compactMap { stream in
            stream.number("index").map { Sound(index: $0, codec: stream["codec_name"] ?? "unknown") }
        }
        subtitleCount = streams.count { $0["codec_type"] == "subtitle" }
        otherVideoCount = videos.count - 1
    }

    /// Whether a pixel format of ffmpeg's has transparency.
    private static func hasAlpha(_ format: String) -> Bool {
        ["yuva", "gbrap", "rgba", "bgra", "argb", "abgr", "ya8", "ya16", "pal8"].contains { format.hasPrefix($0) }
    }
}

/// One stream in the lines of ffprobe: `streams.stream.0.codec_name="h264"`.
private struct ProbedStream {
    var values: [String: String] = [:]

    subscript(name: String) -> String? { values[name] }

    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    static func all(in text: String) -> [ProbedStream] {
        var streams: [Int: ProbedStream] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("streams.stream.") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let key = line[..<equals].dropFirst("streams.stream.".count)
            guard let dot = key.firstIndex(of: "."), let number = Int(key[..<dot]) else { continue }
            streams[number, default: ProbedStream()].values[String(key[key.index(after: dot)...])] = unquoted(
                line[line.index(after: equals)...])
        }
        return streams.sorted { $0.key < $1.key }.map(\.value)
    }

    static func value(_ key: String, in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix(key + "=") }.map { unquoted($0.dropFirst(key.count + 1)) }
    }

    private static func unquoted(_ text: Substring) -> String {
        let isQuoted = text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
        return String(isQuoted ? text.dropFirst().dropLast() : text)
    }
}
