/// How a film's colours are turned into RGB and back, so that a frame that is not changed looks the same.
///
/// Matrix, primaries and transfer function stay what they were. What a film does not say is taken as players take it:
/// BT.709 for films of more than 576 rows or 1024 columns, BT.601 for smaller ones. The range becomes the limited one, which
/// every player expects.
struct VideoColors: Equatable, Sendable {
    /// The matrix as the filter `scale` calls it: `bt709`.
    let filterMatrix: String
    /// The matrix as encoders call it.
    let matrix: String
    /// The primaries as encoders call them.
    let primaries: String
    /// The transfer function as encoders call it.
    let transfer: String

    /// Matrices that the filter `scale` knows, and its names for them.
    private static let filterNames = [
        "bt709": "bt709", "smpte170m": "smpte170m", "bt470bg": "bt470", "fcc": "fcc", "smpte240m": "smpte240m",
        "bt2020nc": "bt2020", "bt2020c": "bt2020",
    ]

    init(_ info: VideoInfo) {
        let isLarge = info.height > 576 || info.width > 1024
        let standard = isLarge ? "bt709" : "smpte170m"
        let isKnown = Self.filterNames[info.colors.matrix] != nil
        matrix = isKnown ? info.colors.matrix : standard
        filterMatrix = Self.filterNames[matrix] ?? "bt709"
        primaries = info.colors.primaries.isEmpty ? standard : info.colors.primaries
        transfer = info.colors.transfer.isEmpty ? standard : info.colors.transfer
    }

    /// Exact conversions: without these, swscale is some levels off.
    static let exactly = "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"

    /// The filter from RGB to the encoder's format.
    var encodingFilter: String { "scale=out_color_matrix=\(filterMatrix):out_range=tv:\(Self.exactly)" }

    /// What the encoder writes into its stream.
    var encodingTags: [String] {
        ["-colorspace", matrix, "-color_primaries", primaries, "-color_trc", transfer, "-color_range", "tv"]
    }
}
