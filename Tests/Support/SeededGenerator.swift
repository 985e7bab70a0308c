import ModelGraph

/// Random numbers that are the same on every machine and in every run: SplitMix64.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose numbers follow from `seed` alone.
    package init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number of the range, both ends included, each bound exact.
    ///
    /// The standard library's `random(in:using:)` is free to draw otherwise in another release; this is not.
    package mutating func uniform(_ range: ClosedRange<Float>) -> Float {
        let unit = Float(next() >> 40) / Float((1 << 24) - 1)
        return range.lowerBound * (1 - unit) + range.upperBound * unit
    }

    /// An integer of the range, both ends included.
    package mutating func integer(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// One of the elements.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[integer(0...elements.count - 1)]
    }

    /// A tensor of uniformly drawn values.
    package mutating func tensor(batch: Int = 1, _ shape: Shape, _ range: ClosedRange<Float> = -4...4) -> Tensor {
        Tensor(batch: batch, shape: shape, values: (0..<batch * shape.elementCount).map { _ in uniform(range) })
    }

    /// Uniformly drawn weights of variance 2 / `fanIn`, so that a rectified layer's output is about as large as its input.
    ///
    /// Source: He et al., "Delving deep into rectifiers", ICCV 2015, equation 10.
    package mutating func weights(_ shape: [Int], fanIn: Int) -> Weights {
        let bound = (6 / Float(fanIn)).squareRoot()
        return Weights(shape: shape, values: (0..<shape.reduce(1, *)).map { _ in uniform(-bound...bound) })
    }

    /// A bias in -1...1.
    package mutating func bias(_ count: Int) -> Weights {
        Weights(shape: [count], values: (0..<count).map { _ in uniform(-1...1) })
    }
}
