/// The positions of the classes that a list names, in its order, each once.
///
/// - Parameters:
///   - names: Labels (any case) or indices in decimal digits.
///   - labels: The model's labels.
package func classIndices(_ names: [String], in labels: [String]) throws(UsageError) -> [Int] {
    var indices: [Int] = []
    for name in names {
        let index: Int
        // A label wins over an index: some models have classes that are called by numbers.
        if let found = labels.firstIndex(where: { $0.lowercased() == name.lowercased() }) {
            index = found
        } else if let number = Int(name) {
            guard labels.indices.contains(number) else {
                throw UsageError("--classes: there is no class \(number); the model has 0 to \(labels.count - 1)")
            }
            index = number
        } else {
            let hint =
                nearest(to: name, among: labels).map { "; did you mean \($0)?" }
                ?? "; it knows " + labels.prefix(30).joined(separator: ", ") + (labels.count > 30 ? " ..." : "")
            throw UsageError("--classes: the model has no class '\(name)'\(hint)")
        }
        if !indices.contains(index) { indices.append(index) }
    }
    return indices
}
