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
        var activation: HeadActivation = .none
        var kind: OutputKind = .logits
        var target: Extent
        var region: ScoreRegion?

        var head: ScoreHead { ScoreHead(resizes: resizes, activation: activation) }
        var testDescription: String {
            let steps = resizes.map { "\($0.extent) \($0.convention)" } + ["\(activation)", "\(kind)", "\(target)"]
            let part = region.map { region in
                " rows \(region.rows.source) at \(region.rows.target), "
                    + "columns \(region.columns.source) at \(region.columns.target)"
            }
            return "\(scores) > " + steps.joined(separator: " > ") + (part ?? "")
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
            if region == nil, graph.shape(of: position).extent != target {
                position = try graph.append("target", .resizeBilinear(target, .halfPixel), [position])
            }
            let output = Reference.run(graph, [input])[position.index]
            return try region.map { try shown($0, of: output) } ?? output
        }

        /// What a region shows, by its definition: the part cut out of the model's output, resized, laid on zeros.
        private func shown(_ region: ScoreRegion, of output: ReferenceTensor) throws -> ReferenceTensor {
            let (rows, columns) = (region.rows, region.columns)
            let part: Shape = [
                Int(rows.source.upperBound - rows.source.lowerBound),
                Int(columns.source.upperBound - columns.source.lowerBound), output.shape.channels,
            ]
            let (top, left) = (Int(rows.source.lowerBound), Int(columns.source.lowerBound))
            var graph = Graph(name: "region")
            let input = graph.addInput("part", part)
            let resized = try graph.append(
                "resize", .resizeBilinear([rows.target.count, columns.target.count], .halfPixel), [input])
            let cut = ReferenceTensor(batch: 1, shape: part) { output[0, top + $1, left + $2, $3] }
            let seen = Reference.run(graph, [cut.rounded])[resized.index]
            return ReferenceTensor(batch: 1, shape: [target.height, target.width, part.channels]) { _, y, x, channel in
                guard rows.target.contains(y), columns.target.contains(x) else { return 0 }
                return seen[0, y - rows.target.lowerBound, x - columns.target.lowerBound, channel]
            }
        }

        /// Whether the network has seen a pixel of the mask.
        func sees(_ pixel: Int) -> Bool {
            guard let region else { return true }
            return region.rows.target.contains(pixel / target.width)
                && region.columns.target.contains(pixel % target.width)
        }

        func sampler(_ backend: CPUBackend) -> ScoreSampler {
            ScoreSampler(scores: scores, head: head, kind: kind, target: target, region: region, backend: backend)
        }
    }

    static let samples: [Sample] = {
        func resize(_ extent: Extent, _ convention: ResizeConvention) -> ScoreHead.Resize {
            ScoreHead.Resize(extent: extent, convention: convention)
        }
        func region(_ y: Range<Double>, at rows: Range<Int>, _ x: Range<Double>, at columns: Range<Int>) -> ScoreRegion
        {
            ScoreRegion(rows: .init(source: y, target: rows), columns: .init(source: x, target: columns))
        }
        let alignedToModel = [resize(65, .alignCorners)]
        // A letterboxed picture, wide and tall; a cropped one; both at once; less than a pixel of the scores.
        let wide = region(16..<49, at: 0..<60, 0..<65, at: 0..<120)
        let tall = region(0..<65, at: 0..<120, 20..<45, at: 0..<46)
        let cropped = region(0..<65, at: 0..<70, 0..<65, at: 33..<103)
        let both = region(3..<64, at: 5..<20, 10..<41, at: 1..<77)
        let sliver = region(0..<65, at: 0..<300, 32..<33, at: 0..<1)
        let subject = region(4..<20, at: 3..<47, 5..<29, at: 0..<50)
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
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [60, 120], region: wide),
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [120, 46], region: tall),
            Sample(scores: [9, 9, 21], resizes: alignedToModel, target: [70, 130], region: cropped),
            Sample(scores: [9, 9, 60], resizes: alignedToModel, target: [80, 80], region: both),
            Sample(scores: [9, 9, 5], resizes: alignedToModel, target: [300, 1], region: sliver),
            Sample(scores: [65, 65, 5], target: [65, 90], region: both),
            Sample(
                scores: [9, 9, 21], resizes: alignedToModel, activation: .softmax, kind: .probabilities,
                target: [80, 80], region: both),
            Sample(scores: [24, 32, 1], target: [50, 50], region: subject),
            Sample(scores: [24, 32, 1], kind: .probabilities, target: [50, 50], region: subject),
            Sample(
                scores: [12, 16, 1], resizes: [resize([24, 32], .halfPixel)], activation: .sigmoid,
                kind: .probabilities, target: [50, 50], region: subject),
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
            let result = sample.sampler(backend).run(scores)
            var differing = 0
            for pixel in 0..<sample.target.height * sample.target.width {
                guard sample.sees(pixel) else {
                    if result[pixel] != 0 { differing += sample.target.height * sample.target.width }
                    continue
                }
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
            let sampler = sample.sampler(backend)
            let all = sampler.scores(of: scores, channels: channels)
            #expect(expected.largestDifference(from: all) <= 1e-4, "\(backend.deviceName)")

            // In another order than the channels'.
            let classes = Array((0..<max(2, channels)).reversed())
            for (plane, index) in zip(sampler.confidences(of: scores, classes: classes), classes) {
                let wrong = plane.indices.first {
                    let expected = sample.sees($0) ? expectedConfidences[$0 * classes.count + index] : 0
                    return !(abs(Double(plane[$0]) - expected) <= 1e-4)
                }
                #expect(wrong == nil, "\(backend.deviceName), class \(index)")
            }
        }
    }

    /// Scores that rise by one a column and by ten a row tell where they were read.
    @Test("keeps half a pixel inside a region's edges, wherever they lie")
    func regionEdges() throws {
        let backend = try CPUBackend(threads: 1)
        func positions(_ source: Range<Double>, count: Int) -> [Float] {
            let sample = Sample(
                scores: [3, 8, 2], target: [3, count],
                region: ScoreRegion(
                    rows: .init(source: 0..<3, target: 0..<3), columns: .init(source: source, target: 0..<count)))
            var ramp = Tensor(zeros: sample.scores)
            for pixel in 0..<24 { ramp.values[2 * pixel] = Float(pixel % 8 + pixel / 8 * 10) }
            let scores = sample.sampler(backend).scores(of: ramp, channels: 2)
            return (0..<count).map { scores.values[2 * (count + $0)] - 10 }
        }
        #expect(positions(2..<6, count: 8) == [2, 2.25, 2.75, 3.25, 3.75, 4.25, 4.75, 5])
        #expect(positions(1.5..<5.5, count: 8) == [1.5, 1.75, 2.25, 2.75, 3.25, 3.75, 4.25, 4.5])
        #expect(positions(0..<0.5, count: 3) == [0, 0, 0])
        #expect(positions(3.25..<3.75, count: 2) == [3, 3])
        #expect(positions(7.5..<8, count: 2) == [7, 7])
    }

    @Test("takes the lowest of equal classes")
    func ties() throws {
        for (set, threads) in ways {
            let backend = try CPUBackend(threads: threads, instructionSet: set)
            let sample = Sample(scores: [3, 3, 21], target: [20, 20])
            let sampler = sample.sampler(backend)
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
