extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Reads a number.
    ///
    /// - Parameter purpose: What it is for, where a word holds more than the number: `blur's radius`.
    package init(word: String, in range: ClosedRange<Self>, for purpose: String? = nil) throws(WordError) {
        guard let value = Self(word), range.contains(value) else {
            let place = purpose.map { " for \($0)" } ?? ""
            throw WordError(
                "needs a number from \(range.lowerBound.shortText) to \(range.upperBound.shortText)\(place), not '\(word)'"
            )
        }
        self = value
    }

    /// The number without a needless `.0`.
    package var shortText: String { self == rounded() && abs(self) < 1e9 ? "\(Int(self))" : "\(self)" }
}

extension Int {
    /// Reads a whole number.
    package init(word: String, in range: ClosedRange<Int>) throws(WordError) {
        guard let value = Int(word), range.contains(value) else {
            throw WordError("needs a whole number from \(range.lowerBound) to \(range.upperBound), not '\(word)'")
        }
        self = value
    }
}
