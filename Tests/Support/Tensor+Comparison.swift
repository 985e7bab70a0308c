import ModelGraph

extension Tensor {
    /// One picture of the batch.
    package func picture(_ index: Int) -> Tensor {
        let count = shape.elementCount
        return Tensor(shape: shape, values: Array(values[index * count..<(index + 1) * count]))
    }
}

extension [Tensor] {
    /// Whether all values have the same bits: unlike `==`, this tells zeros by their sign and takes a NaN for itself.
    package func hasBytes(of other: [Tensor]) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { mine, theirs in
                mine.batch == theirs.batch && mine.shape == theirs.shape
                    && zip(mine.values, theirs.values).allSatisfy { $0.bitPattern == $1.bitPattern }
            }
    }
}

extension ReferenceTensor {
    /// The largest |x - reference| / max(1, |reference|); infinite where a value is a NaN or the shapes differ.
    package func largestDifference(from result: Tensor) -> Double {
        guard result.batch == batch, result.shape == shape else { return .infinity }
        return zip(result.values, values).reduce(0) { largest, pair in
            let difference = abs(Double(pair.0) - pair.1) / max(1, abs(pair.1))
            return difference.isNaN ? .infinity : max(largest, difference)
        }
    }
}
