import CPUKernels
import ModelGraph

/// Makes masks of any size from the scores that a network's trunk gives.
///
/// The model's own last resize and the resize to the picture are one weighted sum (see `ScoreSums`), so no score exists at
/// full size. For categories, most of a mask is filled a cell at a time: where one class has the largest score at all corners of
/// a cell, it has it everywhere inside.
///
/// Pixels of a mask that the network has not seen (see `ScoreRegion`) are class 0, with a confidence and scores of zero for every
/// class.
///
/// It is not reentrant: one call at a time.
package final class ScoreSampler: @unchecked Sendable {
    /// Size of the masks.
    package let target: Extent
    /// Number of classes: the channels of the scores, or two for a single channel (background and subject).
    package let classCount: Int

    private let shape: Shape
    private let isSubjectOnly: Bool
    private let activation: HeadActivation
    private let kind: OutputKind
    private let backend: CPUBackend
    private let rows, columns: SampleTable
    private let rowWeights, columnWeights: FloatBuffer
    private let columnWeightStride: Int
    private let classStride: Int
    private let padded: FloatBuffer
    private let scratch: FloatBuffer
    private let scratchStride: Int
    /// Activated scores at the model's size, where the picture's come from those.
    private let modelSize: (sampler: ScoreSampler, scores: FloatBuffer)?

    /// - Parameters:
    ///   - shape: Extent of the trunk's output.
    ///   - head: What the model does to it.
    ///   - kind: What the model's output means.
    ///   - target: Size of the masks: the model's own (`head`'s last resize, or the trunk's output), or any other, to which
    ///     the model's output is resampled by half-pixel bilinear without antialiasing.
    ///   - region: Which part of the masks shows which part of the model's output. Nil: the whole shows the whole.
    ///   - backend: Whose threads do the work.
    package init(
        scores shape: Shape, head: ScoreHead, kind: OutputKind, target: Extent, region: ScoreRegion? = nil,
        backend: CPUBackend
    ) {
        self.target = target
        self.kind = kind
        self.backend = backend
        isSubjectOnly = shape.channels == 1
        classCount = max(2, shape.channels)
        let modelExtent = head.resizes.last?.extent ?? shape.extent
        let resamples = target != modelExtent || region != nil
        if head.activation != .none && resamples {
            // A soft-max does not commute with a resize: the model's output must exist before it is resampled.
            let inner = ScoreSampler(scores: shape, head: head, kind: kind, target: modelExtent, backend: backend)
            modelSize = (inner, FloatBuffer(count: modelExtent.height * modelExtent.width * shape.channels))
            self.shape = Shape(height: modelExtent.height, width: modelExtent.width, channels: shape.channels)
            activation = .none
        } else {
            modelSize = nil
            self.shape = shape
            activation = head.activation
        }
        var resizes = modelSize == nil ? head.resizes : []
        if region == nil && resamples { resizes.append(ScoreHead.Resize(extent: target, convention: .halfPixel)) }
        let from = self.shape.extent
        rows = SampleTable(
            ScoreSums(\.height, from: from, by: resizes, showing: region?.rows, to: target), of: target.height)
        columns = SampleTable(
            ScoreSums(\.width, from: from, by: resizes, showing: region?.columns, to: target), of: target.width)

        let lanes = Int(backend.kernels.lanes)
        classStride = (classCount + lanes - 1) / lanes * lanes
        columnWeightStride = target.width + lanes
        rowWeights = FloatBuffer(rows.weights.flatMap(\.self))
        columnWeights = FloatBuffer(count: columns.taps * columnWeightStride)
        for (column, weights) in columns.weights.enumerated() {
            for (tap, weight) in weights.enumerated() {
                columnWeights.pointer[tap * columnWeightStride + column] = weight
            }
        }
        padded = FloatBuffer(count: self.shape.pixelCount * classStride)
        padded.pointer.update(repeating: -.infinity, count: padded.count)
        let forCategories = (2 + columns.taps) * classStride
        let forRows = (self.shape.width + target.width) * classStride
        scratchStride = (max(forCategories, forRows) + 15) / 16 * 16
        scratch = FloatBuffer(count: scratchStride * backend.threadCount)
    }

    /// Class of the largest score at each pixel, the lowest of equals, of at most 256 classes; for a single channel, 1 where its
    /// probability is at least 0.5.
    ///
    /// - Parameters:
    ///   - scores: The trunk's output, height x width x channels.
    ///   - categories: One byte a pixel, `target.height * target.width`.
    package func categories(_ scores: UnsafeBufferPointer<Float>, into categories: UnsafeMutableBufferPointer<UInt8>) {
        precondition(categories.count == target.height * target.width, "a mask of another size")
        precondition(classCount <= 256, "a byte a pixel holds 256 classes, not \(classCount)")
        guard let base = categories.baseAddress else { return }
        load(scores)
        clearUnseen(base)
        let sampler = sampler
        columns.runs.withUnsafeBufferPointer { columns in
            backend.pool.forEach(rows.runs.count) { task, thread in
                withUnsafePointer(to: sampler) { sampler in
                    withUnsafePointer(to: rows.runs[task]) { run in
                        backend.kernels.categories(
                            sampler, run, columns.baseAddress, columns.count, scratch.pointer + thread * scratchStride,
                            base)
                    }
                }
                if isSubjectOnly { invert(base, rows.runs[task]) }
            }
        }
    }

    /// Confidences of some classes, 0 to 1: the soft-max over all classes of the sampled scores, or the scores themselves where
    /// they are probabilities.
    ///
    /// - Parameters:
    ///   - scores: The trunk's output, height x width x channels.
    ///   - classes: Indices below `classCount`.
    ///   - planes: For each of the classes, one float a pixel.
    package func confidences(
        _ scores: UnsafeBufferPointer<Float>, classes: [Int], into planes: [UnsafeMutableBufferPointer<Float>]
    ) {
        precondition(classes.count == planes.count && classes.allSatisfy { (0..<classCount).contains($0) })
        precondition(planes.allSatisfy { $0.count == target.height * target.width }, "a mask of another size")
        let needsSoftmax = !isSubjectOnly && kind == .logits && activation == .none && modelSize == nil
        let needsSigmoid = isSubjectOnly && kind == .logits && activation == .none && modelSize == nil
        for plane in planes { clearUnseen(plane.baseAddress) }
        let count = columns.seen.count
        forEachRow(scores) { pixel, values in
            if needsSoftmax { backend.kernels.softmaxRows(values, classCount, classStride, count) }
            for (plane, index) in zip(planes, classes) {
                guard let row = plane.baseAddress.map({ $0 + pixel }) else { continue }
                let channel = isSubjectOnly ? 0 : index
                for x in 0..<count { row[x] = values[x * classStride + channel] }
                if needsSigmoid { backend.kernels.sigmoid(row, row, count) }
                if isSubjectOnly && index == 0 {
                    for x in 0..<count { row[x] = 1 - row[x] }
                }
            }
        }
    }

    /// The model's output at the target's size: height x width x channels.
    package func scores(_ scores: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>) {
        precondition(output.count == target.height * target.width * shape.channels, "scores of another size")
        guard let base = output.baseAddress else { return }
        clearUnseen(base, channels: shape.channels)
        forEachRow(scores) { pixel, values in
            for x in 0..<columns.seen.count {
                (base + (pixel + x) * shape.channels).update(from: values + x * classStride, count: shape.channels)
            }
        }
    }

    /// By how much the largest score of some classes exceeds the largest of all others at each pixel, as a difference of logits.
    ///
    /// - Parameters:
    ///   - scores: The trunk's output, height x width x channels.
    ///   - subject: Whether each class is one of them, `classCount` values.
    ///   - margins: One float a pixel; infinite where there are no others, and negative infinite where there are none of them or the
    ///     network has not looked.
    ///   - classes: Which of them has the largest score, one byte a pixel.
    package func margins(
        _ scores: UnsafeBufferPointer<Float>, subject: [Bool], into margins: UnsafeMutableBufferPointer<Float>,
        classes: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(subject.count == classCount && classCount <= 256, "a mark for each class")
        precondition(margins.count == target.height * target.width && classes.count == margins.count)
        margins.update(repeating: -.infinity)
        classes.update(repeating: 0)
        let isLogits = modelSize == nil ? activation == .none && kind == .logits : false
        let count = columns.seen.count
        let isSubjectOnly = isSubjectOnly
        forEachRow(scores) { pixel, values in
            for x in 0..<count {
                let margin = SubjectMargin(
                    values + x * classStride, isSubject: subject, isSingle: isSubjectOnly, isLogits: isLogits)
                margins[pixel + x] = margin.value
                classes[pixel + x] = margin.likeliest
            }
        }
    }

    /// Zeros the pixels that the network has not seen.
    private func clearUnseen<Value: Numeric>(_ values: UnsafeMutablePointer<Value>?, channels: Int = 1) {
        guard let values, rows.seen.count < target.height || columns.seen.count < target.width else { return }
        for y in 0..<target.height {
            let row = values + y * target.width * channels
            guard rows.seen.contains(y) else {
                row.update(repeating: 0, count: target.width * channels)
                continue
            }
            row.update(repeating: 0, count: columns.seen.lowerBound * channels)
            (row + columns.seen.upperBound * channels).update(
                repeating: 0, count: (target.width - columns.seen.upperBound) * channels)
        }
    }

    /// Calls `body` with the seen part of each row of sampled and activated scores, on any of the threads.
    ///
    /// - Parameter body: Gets the index of the part's first pixel, and the part as `[column][classStride]`.
    private func forEachRow(
        _ scores: UnsafeBufferPointer<Float>, _ body: (_ pixel: Int, _ values: UnsafeMutablePointer<Float>) -> Void
    ) {
        load(scores)
        let sampler = sampler
        columns.runs.withUnsafeBufferPointer { columns in
            backend.pool.forEach(rows.runs.count) { task, thread in
                let scratch = scratch.pointer + thread * scratchStride
                let row = scratch + shape.width * classStride
                let values = row + self.columns.seen.lowerBound * classStride
                let count = self.columns.seen.count
                let run = rows.runs[task]
                for y in Int(run.output)..<Int(run.output + run.count) {
                    withUnsafePointer(to: sampler) { sampler in
                        withUnsafePointer(to: run) { run in
                            backend.kernels.scoreRow(
                                sampler, y, run, columns.baseAddress, columns.count, scratch, row)
                        }
                    }
                    switch activation {
                    case .none: break
                    case .softmax: backend.kernels.softmaxRows(values, shape.channels, classStride, count)
                    case .sigmoid: backend.kernels.sigmoid(values, values, count * classStride)
                    }
                    body(y * target.width + self.columns.seen.lowerBound, values)
                }
            }
        }
    }

    private var sampler: CKSampler {
        var sampler = CKSampler()
        sampler.scores = UnsafePointer(padded.pointer)
        sampler.width = shape.width
        sampler.classes = classCount
        sampler.classStride = classStride
        sampler.rowTaps = rows.taps
        sampler.rowWeights = UnsafePointer(rowWeights.pointer)
        sampler.columnWeights = UnsafePointer(columnWeights.pointer)
        sampler.columnWeightStride = columnWeightStride
        sampler.outputWidth = target.width
        return sampler
    }

    /// Puts the scores where the kernels read them. A single channel gets the value that it must reach as a second class.
    private func load(_ scores: UnsafeBufferPointer<Float>) {
        guard var source = scores.baseAddress else { return }
        if let modelSize {
            let output = UnsafeMutableBufferPointer(start: modelSize.scores.pointer, count: modelSize.scores.count)
            modelSize.sampler.scores(scores, into: output)
            source = UnsafePointer(modelSize.scores.pointer)
        } else {
            precondition(scores.count == shape.elementCount, "scores of another shape")
        }
        for pixel in 0..<shape.pixelCount {
            (padded.pointer + pixel * classStride).update(from: source + pixel * shape.channels, count: shape.channels)
        }
        if isSubjectOnly {
            // A logit of 0 is a probability of 0.5.
            let bar: Float =
                modelSize == nil && (activation == .sigmoid || (activation == .none && kind == .logits)) ? 0 : 0.5
            for pixel in 0..<shape.pixelCount { padded.pointer[pixel * classStride + 1] = bar }
        }
    }

    /// The subject's channel is the first "class" and wins ties, its bar the second: turn 0 and 1 around.
    private func invert(_ categories: UnsafeMutablePointer<UInt8>, _ run: CKRun) {
        for y in Int(run.output)..<Int(run.output + run.count) {
            let row = categories + y * target.width
            for x in columns.seen { row[x] ^= 1 }
        }
    }
}
