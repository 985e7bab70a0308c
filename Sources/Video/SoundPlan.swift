/// Takes the sound of a film out of it while its frames are read.
///
/// Only for films that come through a pipe, which can be read once; that of others is taken from the film itself.
package struct SoundExtraction: Sendable {
    /// A file that is open for writing.
    let descriptor: Int32
    let sounds: [VideoInfo.Sound]

    /// ffmpeg's output of the sound, from descriptor 3 on.
    var arguments: [String] {
        // Times stay what they are: a codec's silent start lies before 0.
        var arguments = sounds.flatMap { ["-map", "0:\($0.index)"] }
        for (position, sound) in sounds.enumerated() {
            let codec = OutputFormat.mkv.soundCodecs.contains(sound.codec) ? "copy" : "flac"
            arguments += ["-c:a:\(position)", codec]
        }
        arguments += ["-avoid_negative_ts", "disabled", "-f", "matroska", "file:/dev/fd/3"]
        return arguments
    }
}

/// What becomes of a film's sound.
struct SoundPlan: Equatable {
    /// For each stream of sound, what ffmpeg is to encode it with: `copy` where the container takes it as it is.
    let codecs: [String]
    /// What the user should know.
    let notices: [String]

    init(_ sounds: [VideoInfo.Sound], for format: OutputFormat) {
        var codecs: [String] = []
        var notices: [String] = []
        for sound in sounds {
            if format.soundCodecs.contains(sound.codec) {
                codecs.append("copy")
            } else {
                codecs.append(format.soundEncoder)
                let notice =
                    "the sound is \(sound.codec), which does not go into .\(format.rawValue): it is encoded anew as "
                    + format.soundEncoderTitle
                if !notices.contains(notice) { notices.append(notice) }
            }
        }
        self.codecs = codecs
        self.notices = notices
    }

    /// ffmpeg's options, for the sound of its second input.
    var arguments: [String] {
        var arguments = ["-map", "1:a"]
        for (position, codec) in codecs.enumerated() {
            arguments += ["-c:a:\(position)", codec]
            // Lossy encoders: more than anybody hears.
            if codec == "aac" { arguments += ["-b:a:\(position)", "192k"] }
            if codec == "libopus" { arguments += ["-b:a:\(position)", "160k"] }
        }
        return arguments
    }
}
