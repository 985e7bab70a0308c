import Silhouette

extension Option {
    /// `--fit` and `--tile-side`, the same for all commands.
    ///
    /// - Parameter picture: What is segmented: `photograph`.
    static func fit(
        of picture: String, _ fit: WritableKeyPath<Settings, Fit> & Sendable,
        _ tileSide: WritableKeyPath<Settings, Int?> & Sendable
    ) -> [Option] {
        [
            .choice(
                "fit", nil,
                """
                How the \(picture) comes into the network's square.
                stretch: the whole, its proportions changed.
                letterbox: the whole, with grey bars.
                crop: the middle; what lies outside is background.
                tile: overlapping parts, one after the other; for wide and for large \(picture)s.
                """,
                fit, default: .stretch),
            .integer(
                "tile-side", in: 16...65_535,
                """
                With --fit tile: the shorter side of a tile in pixels of the \(picture). Smaller tiles find smaller things. \
                (default: the \(picture)'s shorter side, at most 8 times the network's)
                """,
                tileSide),
        ]
    }
}

extension Fit {
    /// Refuses the side of a tile where there are none.
    func check(tileSide: Int?) throws(UsageError) {
        guard tileSide == nil || self == .tile else {
            throw UsageError("--tile-side does not go with --fit \(rawValue); it needs --fit tile")
        }
    }
}
