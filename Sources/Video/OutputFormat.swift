/// Containers that films are written into, by the ending of the file.
package enum OutputFormat: String, CaseIterable, Sendable {
    /// H.264, what everything plays.
    case mp4
    /// H.264; ProRes 4444 where there is transparency.
    case mov
    /// H.264; FFV1, without loss, where there is transparency.
    case mkv
    /// VP9, with transparency where there is any.
    case webm
    /// 256 colours a frame, no sound.
    case gif

    /// The format of a file by its ending, in any case. Nil: none is called so.
    package init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        self.init(rawValue: name[name.index(after: dot)...].lowercased())
    }

    /// Whether it can hold transparency.
    package var hasAlpha: Bool { self != .mp4 }
    /// Whether it can hold sound.
    package var hasSound: Bool { self != .gif }

    /// The quality that is taken where none is asked for, as the encoder counts: 0 is the best. Nil: there is no choice.
    ///
    /// - Parameter hasAlpha: Whether the film has transparent parts.
    package func standardQuality(hasAlpha: Bool) -> Int? {
        switch self {
        case .mp4: 18
        case .mov, .mkv: hasAlpha ? nil : 18
        case .webm: 24
        case .gif: nil
        }
    }

    /// Whether its colours have to be stored in full, since a side is odd: not every player shows that.
    package func needsFullColor(_ stream: EncodedStream) -> Bool {
        switch self {
        case .mp4: !stream.isEven
        case .mov, .mkv: !stream.isEven && !stream.hasAlpha
        case .webm, .gif: false
        }
    }

    /// Codecs of sound, by ffmpeg's names, that it holds and that players expect in it.
    var soundCodecs: Set<String> {
        let usual: Set = ["aac", "mp3", "ac3", "eac3", "alac"]
        let uncompressed: Set = ["pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le", "pcm_u8"]
        switch self {
        case .mp4: return usual.union(["opus"])
        case .mov: return usual.union(uncompressed).union(["pcm_s16be", "pcm_s24be", "pcm_s32be"])
        case .mkv: return usual.union(uncompressed).union(["opus", "vorbis", "flac", "dts", "truehd", "mp2"])
        case .webm: return ["opus", "vorbis"]
        case .gif: return []
        }
    }

    /// ffmpeg's encoder for sound that it does not hold.
    var soundEncoder: String {
        switch self {
        case .mp4, .mov, .gif: "aac"
        case .mkv: "flac"
        case .webm: "libopus"
        }
    }

    /// The same, for people.
    var soundEncoderTitle: String {
        switch self {
        case .mp4, .mov, .gif: "AAC"
        case .mkv: "FLAC"
        case .webm: "Opus"
        }
    }

    /// ffmpeg's name of the container.
    var muxer: String { self == .mkv ? "matroska" : rawValue }

    /// ffmpeg's options of the container.
    ///
    /// - Parameters:
    ///   - timeBase: The unit of times.
    ///   - isFinal: Whether what is written is what the user gets.
    func muxerArguments(timeBase: Rational, isFinal: Bool) -> [String] {
        switch self {
        case .mp4, .mov:
            // Players start before the whole film has arrived when the index comes first.
            ["-video_track_timescale", "\(Self.timescale(timeBase))"] + (isFinal ? ["-movflags", "+faststart"] : [])
        case .mkv, .webm, .gif: []
        }
    }

    /// Units a second of MP4's timestamps: few would make players believe that times are exact which are not.
    private static func timescale(_ timeBase: Rational) -> Int {
        var scale = timeBase.denominator
        while scale < 10_000 { scale *= 2 }
        return scale
    }

    /// ffmpeg's options of the encoder, its filters included.
    ///
    /// - Parameter quality: As the encoder counts.
    func encoderArguments(_ stream: EncodedStream, quality: Int?) -> [String] {
        let colors = stream.colors
        let quality = (quality ?? standardQuality(hasAlpha: stream.hasAlpha)).map { ["-crf", "\($0)"] } ?? []
        func filters(_ filters: String...) -> [String] {
            ["-vf", (filters + (stream.aspectFilter.map { [$0] } ?? [])).joined(separator: ",")]
        }
        switch self {
        case .mp4, .mov, .mkv:
            if stream.hasAlpha, self == .mkv {
                return filters("format=bgra") + ["-c:v", "ffv1", "-level", "3", "-g", "1", "-slicecrc", "1"]
            }
            if stream.hasAlpha {
                return filters(colors.encodingFilter, "format=yuva444p10le")
                    + ["-c:v", "prores_ks", "-profile:v", "4444", "-vendor", "apl0"] + colors.encodingTags
            }
            // Half as much colour as brightness needs even sides.
            let format = needsFullColor(stream) ? "yuv444p" : "yuv420p"
            return filters(colors.encodingFilter, "format=\(format)") + ["-c:v", "libx264"] + quality
                + colors.encodingTags
        case .webm:
            let alpha = stream.hasAlpha ? ["-auto-alt-ref", "0"] : []
            return filters(colors.encodingFilter, "format=\(stream.hasAlpha ? "yuva420p" : "yuv420p")")
                + ["-c:v", "libvpx-vp9", "-b:v", "0", "-deadline", "good", "-cpu-used", "4", "-row-mt", "1"]
                + quality + alpha + colors.encodingTags
        case .gif:
            // A palette for each frame: one for all would need the whole film in memory.
            return filters(
                "split[a][b];[a]palettegen=stats_mode=single:reserve_transparent=\(stream.hasAlpha ? 1 : 0)[p];[b][p]"
                    + "paletteuse=new=1:dither=bayer:bayer_scale=4")
        }
    }
}

/// What an encoder has to know of the frames that come.
package struct EncodedStream: Equatable, Sendable {
    /// Columns.
    package var width: Int
    /// Rows.
    package var height: Int
    /// Whether frames are RGBA and not RGB.
    package var hasAlpha: Bool
    /// The unit of times.
    var timeBase: Rational
    /// The usual rate.
    var rate: Rational?
    /// Width of a pixel over its height, where they are not square.
    var pixelAspect: Rational?
    /// How colours are stored.
    var colors: VideoColors

    /// Whether both sides are even.
    package var isEven: Bool { width % 2 == 0 && height % 2 == 0 }

    var aspectFilter: String? { pixelAspect.map { "setsar=\($0)" } }

    /// What is made of a film, of the same size, rate and colours.
    ///
    /// - Parameter hasAlpha: Whether frames have transparent parts.
    package init(of film: Film, hasAlpha: Bool) {
        let info = film.info
        let clock = FilmClock(of: film)
        self.init(
            width: info.width, height: info.height, hasAlpha: hasAlpha, timeBase: clock.timeBase,
            rate: clock.rate ?? info.averageRate, pixelAspect: info.pixelAspect, colors: VideoColors(info))
    }

    init(
        width: Int, height: Int, hasAlpha: Bool, timeBase: Rational, rate: Rational?, pixelAspect: Rational?,
        colors: VideoColors
    ) {
        self.width = width
        self.height = height
        self.hasAlpha = hasAlpha
        self.timeBase = timeBase
        self.rate = rate
        self.pixelAspect = pixelAspect
        self.colors = colors
    }
}
