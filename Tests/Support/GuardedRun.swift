import ModelGraph

/// How a run broke its bounds.
package enum GuardedRunError: Error, CustomStringConvertible {
    /// Values before or behind an output were written.
    case wroteOutside(output: String)
    /// An input was changed.
    case wroteInput(String)

    /// One line: which buffer, and how.
    package var description: String {
        switch self {
        case .wroteOutside(let output): "wrote outside the output \(output)"
        case .wroteInput(let input): "changed the input \(input)"
        }
    }
}

extension CompiledGraph {
    /// Runs the network once between guard values.
    ///
    /// Outputs start as NaNs, so that a value that is never written is seen, and lie between guards; they are aligned
    /// to four bytes only, as a caller's may be.
    package func runGuarded(_ inputs: [Tensor]) throws -> [Tensor] {
        try guarding(inputs) { try run($0, into: $1) }.results
    }

    /// Runs the network once between guard values and gives the seconds of each layer too.
    package func profileGuarded(_ inputs: [Tensor]) throws -> (results: [Tensor], seconds: [Double]) {
        try guarding(inputs) { try profile($0, into: $1) }
    }

    private func guarding<Report>(
        _ inputs: [Tensor],
        _ body: ([UnsafeBufferPointer<Float>], [UnsafeMutableBufferPointer<Float>]) throws -> Report
    ) throws -> (results: [Tensor], Report) {
        let sources = inputs.map { GuardedBuffer($0.values) }
        let targets = graph.outputs.map {
            GuardedBuffer([Float](repeating: .nan, count: batch * graph.shape(of: $0).elementCount))
        }
        let report = try body(sources.map { UnsafeBufferPointer($0.values) }, targets.map(\.values))
        for (id, (source, input)) in zip(graph.inputs, zip(sources, inputs)) {
            guard source.guardsAreWhole, source.holds(input.values) else {
                throw GuardedRunError.wroteInput(graph[id].name)
            }
        }
        let results = try zip(graph.outputs, targets).map { id, target in
            guard target.guardsAreWhole else { throw GuardedRunError.wroteOutside(output: graph[id].name) }
            return Tensor(batch: batch, shape: graph.shape(of: id), values: Array(target.values))
        }
        return (results, report)
    }
}

/// Values between two strips of guards, none of them aligned to more than a float.
private final class GuardedBuffer {
    let values: UnsafeMutableBufferPointer<Float>
    private let all: UnsafeMutableBufferPointer<Float>
    // One value more than a cache line, so that neither the values nor what is behind them begins at a round address.
    private static let margin = 17
    private static let mark = Float(bitPattern: 0x7fa5_c3e1)

    init(_ contents: [Float]) {
        all = .allocate(capacity: contents.count + 2 * Self.margin)
        all.initialize(repeating: Self.mark)
        values = UnsafeMutableBufferPointer(rebasing: all[Self.margin..<Self.margin + contents.count])
        _ = values.update(fromContentsOf: contents)
    }

    deinit { all.deallocate() }

    var guardsAreWhole: Bool {
        (all.prefix(Self.margin) + all.suffix(Self.margin)).allSatisfy { $0.bitPattern == Self.mark.bitPattern }
    }

    func holds(_ contents: [Float]) -> Bool {
        zip(values, contents).allSatisfy { $0.bitPattern == $1.bitPattern }
    }
}
