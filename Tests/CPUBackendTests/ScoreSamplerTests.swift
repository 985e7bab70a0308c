import CPUBackend
import ModelGraph
import TestSupport
import Testing

/// Masks sampled from small maps of scores, against full-size scores in float64.
@Suite("Score sampler", .serialized)
struct ScoreSamplerTests {
    /// Scores of a trunk, what the model does to them, and the size of the mask.
    struct Sample: Sendable, CustomTestStringConvertible {
        var scores: Shape
        var resizes: [ScoreHead.Resize] = []
        var activation: ScoreHead.Activation = .none
        var kind: OutputKind = .logits
        var target: Extent

        var head: ScoreHead { ScoreHead(resizes: resizes, activation: activation) }
        var testDescription: String {
            let steps = resizes.map { "\($0.extent) \($0.convention)" } + ["\(activation)", "\(kind)", "\(target)"]
            return "\(scores) > " + steps.joined(separator: " > ")
        }

        /// The model's output at the target's size, computed step by step.
        func reference(_ input: Tensor) throws -> ReferenceTensor {
            var graph = Graph(name: "sampler")
            var position = graph.addInput("scores", scores)
            for (index, resize) in resizes.enumerated() {
                position = try graph.append(
                    "resize\(index)", .resizeBilinear(resize.extent, resize.convention), [position])
            }
            switch activation {
            case .none: break
            case .softmax: position = try graph.append("softmax", .softmax, [position])
            case .sigmoid: position = try graph.append("sigmoid", .activation, [position], activation: .sigmoid)
            }
            if graph.shape(of: position).extent != target {
                position = try graph.append("target", .resizeBilinear(target, .halfPixel), [position])
            }
            return Reference.run(graph, [input])[position.index]
        }
    }

    static let samples: [Sample] = {
        func resize(_ extent: Extent, _ convention: ResizeConvention) -> ScoreHead.Resize {
            ScoreHead.Resize(extent: extent, convention: convention)
        }
        let alignedToModel = [resize(65, .alignCorners)]
        return [
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: 65),
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [97, 130]),
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [31, 17]),
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [1, 1]),
            Sample(
                scores: [9, 9, 21], resizes: [resize(9, .alignCorners), resize(65, .alignCorners)], target: [64, 80]),
            Sample(
                scores: [7, 9, 5], resizes: [resize([14, 18], .halfPixel), resize([40, 50], .asymmetric)], target: 77),
            Sample(scores: [17, 13, 21], resizes: [resize([33, 40], .halfPixel)], target: [33, 40]),
            Sample(scores: [17, 13, 3], resizes: [resize([33, 40], .asymmetric)], target: [66, 21]),
            Sample(scores: [17, 13, 21], target: [17, 13]),
            Sample(scores: [17, 13, 2], target: [51, 26]),
            Sample(scores: [1, 1, 21], target: [5, 7]),
            Sample(scores: [1, 1, 4], resizes: [resize(3, .alignCorners)], target: [5, 7]),
            Sample(scores: [33, 33, 60], target: [40, 300]),
            Sample(scores: [16, 12, 21], kind: .probabilities, target: [30, 30]),
            Sample(
                scores: [9, 9, 21], resizes: alignedToModel, activation: .softmax, kind: .probabilities, target: 65),
            Sample(
                scores: [9, 9, 21], resizes: alignedToModel, activation: .softmax, kind: .probabilities,
                target: [90, 40]),
            Sample(scores: [24, 32, 1], target: [24, 32]),
            Sample(scores: [24, 32, 1], target: [50, 50]),
            Sample(scores: [24, 32, 1], kind: .probabilities, target: [50, 50]),
            Sample(
                scores: [24, 32, 1], resizes: [resize([48, 64], .halfPixel)], activation: .sigmoid,
                kind: .probabilities, target: [48, 64]),
            Sample(
                scores: [24, 32, 1], resizes: [resize([48, 64], .halfPixel)], activation: .sigmoid,
                kind: .probabilities, target: [100, 90]),
        ]
    }()

    /// Scores that vary slowly over the map, so that there are wide fields of one class, and borders between them.
    private func scores(_ sample: Sample) -> Tensor {
        var generator = SeededGenerator(seed: 5)
        let coarse: Shape = [
            (sample.scores.height + 3) / 4, (sample.scores.width + 3) / 4, sample.scores.channels,
        ]
        let range: ClosedRange<Float> = sample.kind == .probabilities && sample.activation == .none ? 0...1 : -6...6
        let seeds = generator.tensor(coarse, range)
        var graph = Graph(name: "smooth")
        let input = graph.addInput("seeds", coarse)
        guard
            let smooth = try? graph.append(
                "smooth", .resizeBilinear(sample.scores.extent, .halfPixel), [input])
        else { preconditionFailure("a resize fits every map") }
        return Reference.run(graph, [seeds])[smooth.index].rounded
    }

    @Test("gives the categories of the full-size scores", arguments: samples)
    func categories(_ sample: Sample) throws {
        let scores = scores(sample)
        let expected = try sample.reference(scores)
        for (set, threads) in ways {
            let backend = try CPUBackend(threads: threads, instructionSet: set)
            let sampler = ScoreSampler(
                scores: sample.scores, head: sample.head, kind: sample.kind, target: sample.target, backend: backend)
            let result = sampler.run(scores)
            var differing = 0
            for pixel in 0..<sample.target.height * sample.target.width {
                let values = expected.values[pixel * expected.shape.channels..<(pixel + 1) * expected.shape.channels]
                let isProbability = sample.kind == .probabilities
                // A single channel is the subject where it reaches one half, as a logit zero.
                let all = values.count == 1 ? [isProbability ? 0.5 : 0, values.first!] : Array(values)
                // Where two classes are as close as rounding, either may win.
                guard Int(result[pixel]) < all.count, all.max()! - all[Int(result[pixel])] <= 1e-4 else {
                    Issue.record("\(backend.deviceName): pixel \(pixel) is \(result[pixel]) of \(all)")
                    return
                }
                if all[Int(result[pixel])] != all.max()! { differing += 1 }
            }
            #expect(differing <= 1 + sample.target.height * sample.target.width / 1000)
        }
    }

    @Test("gives confidences and scores at any size", arguments: samples)
    func confidences(_ sample: Sample) throws {
        let scores = scores(sample)
        let expected = try sample.reference(scores)
        let channels = sample.scores.channels
        let expectedConfidences = try sample.confidences(of: expected)
        for (set, threads) in ways {
            let backend = try CPUBackend(threads: threads, instructionSet: set)
            let sampler = ScoreSampler(
                scores: sample.scores, head: sample.head, kind: sample.kind, target: sample.target, backend: backend)
            let all = sampler.scores(of: scores, channels: channels)
            #expect(expected.largestDifference(from: all) <= 1e-4, "\(backend.deviceName)")

            // In another order than the channels'.
            let classes = Array((0..<max(2, channels)).reversed())
            for (plane, index) in zip(sampler.confidences(of: scores, classes: classes), classes) {
                let wrong = plane.indices.first {
                    !(abs(Double(plane[$0]) - expectedConfidences[$0 * classes.count + index]) <= 1e-4)
                }
                #expect(wrong == nil, "\(backend.deviceName), class \(index)")
            }
        }
    }

    @Test("takes the lowest of equal classes")
    func ties() throws {
        for (set, threads) in ways {
            let backend = try CPUBackend(threads: threads, instructionSet: set)
            let sample = Sample(scores: [3, 3, 21], target: [20, 20])
            let sampler = ScoreSampler(
                scores: sample.scores, head: sample.head, kind: .logits, target: sample.target, backend: backend)
            let equal = Tensor(shape: sample.scores, values: [Float](repeating: 1, count: 9 * 21))
            #expect(sampler.run(equal).allSatisfy { $0 == 0 }, "\(backend.deviceName)")
            var two = equal
            for pixel in 0..<9 {
                two.values[pixel * 21 + 7] = 2
                two.values[pixel * 21 + 19] = 2
            }
            #expect(sampler.run(two).allSatisfy { $0 == 7 }, "\(backend.deviceName)")
        }
    }
}

extension ScoreSamplerTests.Sample {
    /// Confidences of all classes at every pixel, classes innermost, from the model's output at the target's size.
    func confidences(of scores: ReferenceTensor) throws -> [Double] {
        let isLogit = kind == .logits && activation == .none
        if scores.shape.channels == 1 {
            return scores.values.flatMap { score in
                let subject = isLogit ? Reference.apply(.sigmoid, to: score) : score
                return [1 - subject, subject]
            }
        }
        guard isLogit else { return scores.values }
        var graph = Graph(name: "softmax")
        let input = graph.addInput("scores", scores.shape)
        let output = try graph.append("softmax", .softmax, [input])
        return Reference.run(graph, [scores.rounded])[output.index].values
    }
}

extension ScoreSampler {
    fileprivate func run(_ scores: Tensor) -> [UInt8] {
        var categories = [UInt8](repeating: 255, count: target.height * target.width)
        scores.values.withUnsafeBufferPointer { scores in
            categories.withUnsafeMutableBufferPointer { self.categories(scores, into: $0) }
        }
        return categories
    }

    fileprivate func scores(of scores: Tensor, channels: Int) -> Tensor {
        var result = Tensor(zeros: Shape(height: target.height, width: target.width, channels: channels))
        scores.values.withUnsafeBufferPointer { scores in
            result.values.withUnsafeMutableBufferPointer { self.scores(scores, into: $0) }
        }
        return result
    }

    fileprivate func confidences(of scores: Tensor, classes: [Int]) -> [[Float]] {
        let planes = classes.map { _ in
            UnsafeMutableBufferPointer<Float>.allocate(capacity: target.height * target.width)
        }
        defer { planes.forEach { $0.deallocate() } }
        planes.forEach { $0.initialize(repeating: .nan) }
        scores.values.withUnsafeBufferPointer { confidences($0, classes: classes, into: planes) }
        return planes.map { Array($0) }
    }
}
