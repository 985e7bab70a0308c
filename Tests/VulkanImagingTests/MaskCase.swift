import VulkanImaging
import CPUBackend
import Imaging
import ModelGraph
import TestSupport
import VulkanBackend

/// A network's output and what is to be made of it.
struct MaskCase: Sendable, CustomStringConvertible {
    var scores: Extent
    var channels: Int
    var resizes: [ScoreHead.Resize] = []
    var activation: HeadActivation = .none
    var kind: OutputKind = .logits
    var picture: PixelSize
    var fit: Fit = .stretch
    var maskSize: MaskSize = .source

    var description: String {
        let steps = resizes.map { "\($0.extent) \($0.convention)" } + ["\(activation)", "\(kind)"]
        return "\(scores)x\(channels) > " + steps.joined(separator: " > ") + ", \(fit) of \(picture), \(maskSize)"
    }

    static let table: [MaskCase] = {
        func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }
        func resize(_ extent: Extent, _ convention: ResizeConvention) -> ScoreHead.Resize {
            ScoreHead.Resize(extent: extent, convention: convention)
        }
        let aligned = [resize(65, .alignCorners)]
        var cases: [MaskCase] = []
        for fit in Fit.allCases {
            for picture in [size(130, 97), size(61, 90), size(65, 65), size(17, 31), size(1, 1), size(3, 200)] {
                cases.append(MaskCase(scores: 9, channels: 21, resizes: aligned, picture: picture, fit: fit))
            }
        }
        for maskSize in MaskSize.allCases {
            for (activation, kind) in [
                (HeadActivation.none, OutputKind.logits), (.none, .probabilities), (.softmax, .probabilities),
                (.sigmoid, .probabilities),
            ] {
                for channels in [1, 2, 5] where channels > 1 || activation != .softmax {
                    cases.append(
                        MaskCase(
                            scores: [16, 12], channels: channels, resizes: [resize([30, 26], .halfPixel)],
                            activation: activation, kind: kind, picture: size(51, 44), fit: .letterbox,
                            maskSize: maskSize))
                }
            }
        }
        cases += [
            MaskCase(
                scores: [7, 9], channels: 5, resizes: [resize([14, 18], .halfPixel), resize([40, 50], .asymmetric)],
                picture: size(77, 77)),
            MaskCase(scores: [17, 13], channels: 3, picture: size(13, 17)),
            MaskCase(scores: [17, 13], channels: 4, picture: size(5, 6), fit: .crop),
            MaskCase(scores: [1, 1], channels: 21, picture: size(7, 5)),
            MaskCase(scores: [60, 90], channels: 21, picture: size(11, 7)),
            MaskCase(scores: [33, 33], channels: 60, picture: size(300, 40)),
            MaskCase(scores: [33, 33], channels: 256, picture: size(40, 30)),
            MaskCase(scores: [65, 65], channels: 21, resizes: [resize(513, .alignCorners)], picture: size(640, 427)),
        ]
        return cases
    }()

    /// How the device's masks differ from the processor's.
    ///
    /// - Parameter network: Who computes the scores that the processor makes its masks of.
    func difference(
        on backend: VulkanBackend, _ processor: CPUBackend, network: (any InferenceBackend)? = nil
    ) throws -> FrameDifference {
        let model = try FrameModel.classes(
            scores, channels: channels, resizes: resizes, activation: activation, kind: kind)
        // In another order than the channels'.
        let classes = channels > 60 ? [channels - 1, 3] : Array((0..<max(2, channels)).reversed())
        let format = SegmentationFormat(
            picture: picture, fit: fit, maskSize: maskSize,
            outputs: SegmentationOutputs(confidenceClasses: classes, scores: true))
        let image = TestPicture.make(picture)
        let result = try model.program(backend, format).makeSlot().run([image])[0]
        let withoutScores = SegmentationFormat(
            picture: picture, fit: fit, maskSize: maskSize, outputs: SegmentationOutputs(confidenceClasses: classes))
        // Raw scores may take another way through the network than masks alone.
        let masks = try model.program(backend, withoutScores).makeSlot().run([image])[0]
        let reference = try model.reference(image, format, on: processor, network: network)
        let isLogit = kind == .logits && activation == .none
        var difference = FrameDifference(
            masks, from: reference, isSubjectOnly: channels == 1, threshold: isLogit ? 0 : 0.5)
        let both = FrameDifference(
            result, from: reference, isSubjectOnly: channels == 1, threshold: isLogit ? 0 : 0.5)
        difference.clearlyOther = max(difference.clearlyOther, both.clearlyOther)
        difference.other = max(difference.other, both.other)
        difference.confidence = max(difference.confidence, both.confidence)
        difference.score = both.score
        return difference
    }
}
