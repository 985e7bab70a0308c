import Silhouette

extension Option {
    /// `--classes` and `--drop-classes`, the same for all commands that have them.
    static func classes(
        _ kept: WritableKeyPath<Settings, ClassSelection?> & Sendable,
        _ dropped: WritableKeyPath<Settings, ClassSelection?> & Sendable,
        default standard: String
    ) -> [Option] {
        func list(
            _ name: String, _ help: String, _ member: WritableKeyPath<Settings, ClassSelection?> & Sendable
        ) -> Option {
            value(name, nil, "LIST", help) { settings, value throws(UsageError) in
                settings[keyPath: member] = try reading { () throws(WordError) in try ClassSelection(texts: [value]) }
            }
        }
        return [
            list(
                "classes",
                """
                Only these classes, by name or index, with commas in between: person,8. Others count as background. \
                (default: \(standard))
                """, kept),
            list("drop-classes", "All classes but these and background.", dropped),
        ]
    }
}

/// The positions of the classes that two options leave: those that are kept, or all but background and those that are dropped.
///
/// - Returns: Nil where neither is given.
package func chosenClasses(
    keeping kept: ClassSelection?, dropping dropped: ClassSelection?, in labels: [String]
) throws(UsageError) -> [Int]? {
    if let kept { return try reading("--classes: ") { () throws(WordError) in try kept.indices(in: labels) } }
    guard let dropped else { return nil }
    let rest = try reading("--drop-classes: ") { () throws(WordError) in
        try ClassSelection.allBut(dropped).indices(in: labels)
    }
    guard !rest.isEmpty else { throw UsageError("--drop-classes leaves no class but background") }
    return rest
}

/// Refuses two lists where one says it all.
func checkClassLists(_ kept: ClassSelection?, _ dropped: ClassSelection?) throws(UsageError) {
    guard kept == nil || dropped == nil else {
        throw UsageError("--classes and --drop-classes say the same thing in two ways; give one of them")
    }
}
