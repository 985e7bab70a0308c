import Imaging
import ModelGraph
import PreviewProtocol
import Silhouette

/// A model that pages may choose, ready to run.
public struct ServedModel: Sendable {
    /// What settings call it.
    public let id: String
    /// What people call it.
    public let name: String
    /// The colours of its classes.
    public let palette: Palette
    /// Columns and rows of its masks.
    let maskSize: PixelSize
    /// All others share its device and its memory.
    let segmenter: ImageSegmenter

    /// What it runs on: `CPU (AVX2, 2 threads)`.
    public var deviceName: String { segmenter.deviceName }
    /// Why it runs on that.
    public var deviceReason: String { segmenter.deviceReason }
    /// Names of the classes, by index.
    public var labels: [String] { segmenter.labels }

    /// Loads a model.
    ///
    /// - Parameters:
    ///   - id: Distinct from those of the other models.
    ///   - options: The device; nothing else is looked at.
    public init(id: String, model: Model, options: BaseOptions) throws(ImageSegmenterError) {
        var segmenterOptions = ImageSegmenterOptions()
        segmenterOptions.baseOptions = options
        // Masks are asked for by each connection; here only what every model can give.
        segmenterOptions.shouldOutputCategoryMask = false
        segmenterOptions.shouldOutputConfidenceMasks = true
        segmenterOptions.confidenceClasses = [0]
        segmenterOptions.maskSize = .model
        let segmenter = try ImageSegmenter(options: segmenterOptions, model: model)
        self.init(
            id: id, name: model.name, palette: Palette(of: model), maskSize: ModelOutput(model).size,
            segmenter: segmenter)
    }

    /// A model on any segmenter.
    package init(id: String, name: String, palette: Palette, maskSize: PixelSize, segmenter: ImageSegmenter) {
        self.id = id
        self.name = name
        self.palette = palette
        self.maskSize = maskSize
        self.segmenter = segmenter
    }

    /// All classes but the background.
    var foregroundClasses: [Int] { Array(labels.indices.dropFirst()) }

    /// What a camera's cut-out should keep: who is alive, and not the chair behind them. All but the background where no
    /// class is known to be.
    var subjectClasses: [Int] {
        let living: Set = ["bird", "cat", "cow", "dog", "horse", "person", "sheep"]
        let found = labels.indices.filter { living.contains(labels[$0].lowercased()) }
        return found.isEmpty ? foregroundClasses : found
    }

    /// What pages are told about it.
    var description: Hello.Model {
        Hello.Model(
            id: id, name: name, labels: labels, width: maskSize.width, height: maskSize.height,
            palette: labels.indices.map { [palette[$0].red, palette[$0].green, palette[$0].blue] },
            subjectClasses: subjectClasses)
    }
}
