/// The positions of the classes that a list names, in its order, each once.
///
/// - Parameters:
///   - names: Labels (any case) or indices in decimal digits.
///   - labels: The model's labels.
///   - flag: For messages.
package func classIndices(
    _ names: [String], in labels: [String], flag: String = "classes"
) throws(UsageError) -> [Int] {
    var indices: [Int] = []
    for name in names {
        let index: Int
        // A label wins over an index: some models have classes that are called by numbers.
        if let found = labels.firstIndex(where: { $0.lowercased() == name.lowercased() }) {
            index = found
        } else if let number = Int(name) {
            guard labels.indices.contains(number) else {
                throw UsageError("--\(flag): there is no class \(number); the model has 0 to \(labels.count - 1)")
            }
            index = number
        } else {
            let hint =
                nearest(to: name, among: labels).map { "; did you mean \($0)?" }
                ?? "; it knows " + labels.prefix(30).joined(separator: ", ") + (labels.count > 30 ? " ..." : "")
            throw UsageError("--\(flag): the model has no class '\(name)'\(hint)")
        }
        if !indices.contains(index) { indices.append(index) }
    }
    return indices
}

/// The classes that two lists leave: those that are kept, or all but background and those that are dropped.
///
/// - Returns: Nil where there is neither list.
package func chosenClasses(
    keeping kept: [String]?, dropping dropped: [String]?, in labels: [String]
) throws(UsageError) -> [Int]? {
    if let kept { return try classIndices(kept, in: labels) }
    guard let dropped else { return nil }
    let absent = Set(try classIndices(dropped, in: labels, flag: "drop-classes"))
    let rest = labels.indices.dropFirst().filter { !absent.contains($0) }
    guard !rest.isEmpty else { throw UsageError("--drop-classes leaves no class but background") }
    return rest
}

/// Refuses two lists where one says it all.
func checkClassLists(_ kept: [String]?, _ dropped: [String]?) throws(UsageError) {
    guard kept == nil || dropped == nil else {
        throw UsageError("--classes and --drop-classes say the same thing in two ways; give one of them")
    }
}
