/// The word that someone most likely meant, if any is near enough: at most a third of its letters differ.
package func nearest(to word: String, among words: [String]) -> String? {
    let word = word.lowercased()
    if let completion = words.first(where: { word.count >= 3 && $0.hasPrefix(word) }) { return completion }
    let candidates = words.map { (word: $0, distance: editDistance(Array(word), Array($0.lowercased()))) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }),
        best.distance <= max(1, max(word.count, best.word.count) / 3)
    else { return nil }
    return best.word
}

/// Letters to insert, remove, replace or swap with their neighbour until one word is the other
/// (optimal string alignment).
package func editDistance(_ first: [Character], _ second: [Character]) -> Int {
    var rows = [[Int](0...second.count)]
    for i in 0..<first.count {
        var row = [i + 1]
        for j in 0..<second.count {
            var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (first[i] == second[j] ? 0 : 1))
            if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                best = min(best, rows[i - 1][j - 1] + 1)
            }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[first.count][second.count]
}

extension [String] {
    /// The words as a sentence has them: `a, b or c`.
    package func listed(with conjunction: String) -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
    }
}
