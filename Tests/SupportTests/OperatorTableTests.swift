import ModelGraph
import TestSupport
import Testing

@Suite("Operator table")
struct OperatorTableTests {
    /// Rows that take no time even where every value is computed in plain loops.
    static let small: [PreparedCase] =
        OperatorCase.table.filter { try! $0.macCount() < 100_000 }.map { try! $0.prepared() }

    @Test("holds no row twice, and every row is a layer that can be")
    func rows() throws {
        let rows = OperatorCase.table
        #expect(Set(rows).count == rows.count)
        #expect(Set(rows.map(\.description)).count == rows.count)
        #expect(rows.count > 300)
        for row in rows { #expect(throws: Never.self, "\(row)") { try row.macCount() } }
    }

    @Test("passes on the reference itself, in both precisions", arguments: Precision.allCases)
    func reference(_ precision: Precision) {
        let rows = OperatorCase.table.filter { try! $0.macCount() < 1_000_000 }
        let failures = check(ReferenceBackend(), rows, precision)
        #expect(failures.isEmpty, "\(failures.first?.description ?? "")")
    }

    @Test("has values on every piece of every activation")
    func activationPieces() throws {
        for activation in Activation.allCases where activation != .none {
            let prepared = try OperatorCase(.activation, [15, 7, 21], activation: activation).prepared()
            let values = prepared.inputs[0].values
            #expect(values.contains { $0 < -3 } && values.contains { abs($0) < 3 } && values.contains { $0 > 3 })
        }
        let large = try OperatorCase(.activation, [33, 33, 8], activation: .relu6, values: .large).prepared()
        #expect(large.expected.values.contains(6))
    }

    static let faults: [FaultyBackend] =
        [
            .changingConvolution("ignores the bias") { $0.bias = nil },
            .changingConvolution("pads above what belongs below") {
                ($0.padding.top, $0.padding.bottom) = ($0.padding.bottom, $0.padding.top)
            },
            .changingConvolution("pads left what belongs right") {
                ($0.padding.left, $0.padding.right) = ($0.padding.right, $0.padding.left)
            },
            .changingConvolution("turns kernels round") { convolution in
                let kernel = convolution.kernel
                convolution.weights = convolution.weights.movingTaps { (kernel.height - 1 - $0, kernel.width - 1 - $1) }
            },
            .changingConvolution("transposes kernels") { convolution in
                guard convolution.kernel.height == convolution.kernel.width else { return }
                convolution.weights = convolution.weights.movingTaps { ($1, $0) }
            },
            .changingConvolution("ignores the dilation") { convolution in
                let kernel = convolution.kernel
                let dilation = convolution.dilation
                // As much padding less as the window is smaller, so that the result keeps its size.
                convolution.padding.top -= (kernel.height - 1) * (dilation.height - 1) / 2
                convolution.padding.bottom -= (kernel.height - 1) * (dilation.height - 1) / 2
                convolution.padding.left -= (kernel.width - 1) * (dilation.width - 1) / 2
                convolution.padding.right -= (kernel.width - 1) * (dilation.width - 1) / 2
                convolution.dilation = 1
            },
            .changingConvolution("takes groups in the wrong order") { convolution in
                guard convolution.groups > 1 else { return }
                let values = convolution.weights.floats()
                let count = values.count / convolution.groups
                convolution.weights = Weights(
                    shape: convolution.weights.shape, values: Array(values.dropFirst(count) + values.prefix(count)))
            },
            .changingPool("pads pools on the other side") {
                let padding = $0.padding
                $0.padding = [padding.bottom, padding.right, padding.top, padding.left]
            },
            .changingPool("counts the padding") { $0.countsPadding = true },
            .changingPool("never counts the padding") { $0.countsPadding = false },
            .changing("ignores the residual") { $0.residual = nil },
            .changing("ignores the picture bias") { $0.pictureBias = nil },
            .changing("takes products for sums") { if case .multiply = $0.operation { $0.operation = .add } },
            .changing("takes averages for maxima") {
                if case .averagePool(let pool) = $0.operation { $0.operation = .maxPool(pool) }
            },
            .changing("turns concatenations round") {
                if case .concatenate = $0.operation { $0.inputs.reverse() }
            },
            .confusing(Activation.relu, .none), .confusing(Activation.relu6, .relu),
            .confusing(Activation.hardSwish, .relu), .confusing(Activation.hardSigmoid, .sigmoid),
            .confusing(Activation.sigmoid, .hardSigmoid), .confusing(Activation.none, .relu),
            .activatingTooEarly, .leavingTheLast, .writingPastTheEnd, .changingItsInput, .repeatingThePicture,
            .forgettingTheTail, .takingTheLastOfEquals, .remembering(),
        ]
        + ResizeConvention.allCases.flatMap { real in
            ResizeConvention.allCases.filter { $0 != real }.map { .confusing(real, $0) }
        }

    @Test("catches every fault that a backend may have", arguments: faults.indices)
    func fault(_ index: Int) throws {
        let backend = Self.faults[index]
        let failure = Self.small.lazy.compactMap { check(backend, $0) }.first
        #expect(failure != nil, "no row notices a backend that \(backend.name)")
    }

    @Test("prints a failure as the row that makes it, with the place, what came and what should have come")
    func failureLine() throws {
        let row = OperatorCase(
            .convolution(to: 2, kernel: 3, stride: [2, 1], padding: [0, 0, 1, 1], bias: false), [5, 5, 3],
            activation: .relu6, residual: true, batch: 3, values: .large, seed: 9)
        let failure = try #require(check(FaultyBackend.leavingTheLast, [row]).first)
        let line =
            "OperatorCase(.convolution(to: 2, kernel: 3, stride: [2, 1], padding: [0, 0, 1, 1], bias: false), "
            + "[5, 5, 3], activation: .relu6, residual: true, batch: 3, values: .large, seed: 9), "
            + "// reference that leaves the last value unwritten: "
            + "at picture 2, row 1, column 3, channel 1 of 2x4x2: nan, expected "
        #expect(failure.description.hasPrefix(line), "\(failure)")
        #expect(failure.description.hasSuffix(" (float32)"))
        #expect(check(ReferenceBackend(), [row]).isEmpty)
    }

    @Test("says so when a row is no case, and when a backend refuses")
    func refusals() throws {
        let row = OperatorCase(.convolution(to: 2, kernel: 7), [5, 5, 3])
        let failure = try #require(check(ReferenceBackend(), [row]).first)
        #expect(failure.reason == "is no case: layer layer: has a window larger than its padded input 5x5x3")
        struct Refusing: InferenceBackend {
            let deviceName = "none"
            func compile(_ graph: Graph, batch: Int) throws -> any CompiledGraph {
                throw GraphError(layer: "layer", "is refused")
            }
        }
        let refusal = try #require(check(Refusing(), [OperatorCase(.softmax, [1, 1, 2])]).first)
        #expect(refusal.description == "OperatorCase(.softmax, [1, 1, 2]), // none: layer layer: is refused")
    }
}
