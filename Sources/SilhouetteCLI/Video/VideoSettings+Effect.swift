import Silhouette

extension Option<VideoSettings> {
    /// `--classes`.
    static func classes(_ member: WritableKeyPath<VideoSettings, [String]?> & Sendable) -> Option {
        value(
            "classes", nil, "LIST",
            """
            Only these classes, by name or index, with commas in between: person,8. Others count as background. \
            (default: all but background)
            """
        ) { settings, value throws(UsageError) in
            let names = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard names.allSatisfy({ !$0.isEmpty }) else {
                throw UsageError("needs names or indices with commas in between, not '\(value)'")
            }
            settings[keyPath: member] = names
        }
    }

    /// `--fit`.
    static func fit(_ member: WritableKeyPath<VideoSettings, Fit> & Sendable) -> Option {
        choice(
            "fit", nil,
            """
            How a frame comes into the network's square.
            stretch: the whole, its proportions changed.
            letterbox: the whole, with grey bars.
            crop: the middle; what lies outside is background.
            """,
            member, default: .stretch)
    }
}
