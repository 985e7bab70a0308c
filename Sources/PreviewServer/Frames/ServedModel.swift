import Imaging
import ModelGraph
import PreviewProtocol
import Silhouette

/// A model that pages may choose, ready to run.
package struct ServedModel: Sendable {
    /// What settings call it.
    package let id: String
    /// What people call it.
    package let name: String
    /// The colours of its classes.
    package let palette: Palette
    /// Columns and rows of its masks.
    let maskSize: PixelSize
    /// On the device that is used unless a page chooses another one. All others of that device share its memory.
    let segmenter: ImageSegmenter
    private let others: DeviceSegmenters?

    /// What it runs on: `CPU (AVX2, 2 threads)`.
    package var deviceName: String { segmenter.deviceName }
    /// Why it runs on that.
    package var deviceReason: String { segmenter.deviceReason }
    /// Which variants of its shaders the device has found to be the fastest, in words. Nil: it has not looked.
    package var deviceTuning: String? { segmenter.deviceTuning }
    /// Names of the classes, by index.
    package var labels: [String] { segmenter.labels }

    /// Loads a model.
    ///
    /// - Parameters:
    ///   - id: Distinct from those of the other models.
    ///   - options: The device; nothing else is looked at.
    package init(id: String, model: Model, options: BaseOptions) throws(ImageSegmenterError) {
        var segmenterOptions = ImageSegmenterOptions()
        // Masks are asked for by each connection; here only what every model can give.
        segmenterOptions.shouldOutputCategoryMask = false
        segmenterOptions.shouldOutputConfidenceMasks = true
        segmenterOptions.confidenceClasses = [0]
        segmenterOptions.maskSize = .model
        let common = segmenterOptions
        let make: DeviceSegmenters.Make = { device throws(ImageSegmenterError) in
            var segmenterOptions = common
            segmenterOptions.baseOptions = options
            segmenterOptions.baseOptions.device = device
            return try ImageSegmenter(options: segmenterOptions, model: model)
        }
        self.init(
            id: id, name: model.name, palette: Palette(of: model), maskSize: ModelOutput(model).size,
            segmenter: try make(options.device), others: DeviceSegmenters(make))
    }

    /// A model on any segmenter.
    ///
    /// - Parameter make: Makes its segmenter on another device. Nil: it stays on its own.
    package init(
        id: String, name: String, palette: Palette, maskSize: PixelSize, segmenter: ImageSegmenter,
        makingOthers make: (@Sendable (Device) throws(ImageSegmenterError) -> ImageSegmenter)? = nil
    ) {
        self.init(
            id: id, name: name, palette: palette, maskSize: maskSize, segmenter: segmenter,
            others: make.map { DeviceSegmenters($0) })
    }

    private init(
        id: String, name: String, palette: Palette, maskSize: PixelSize, segmenter: ImageSegmenter,
        others: DeviceSegmenters?
    ) {
        self.id = id
        self.name = name
        self.palette = palette
        self.maskSize = maskSize
        self.segmenter = segmenter
        self.others = others
    }

    /// The segmenter on a device. Nil: it has to be prepared.
    func segmenter(on device: String?) -> ImageSegmenter? {
        guard let device, device != segmenter.deviceID else { return segmenter }
        return others?[device]
    }

    /// Prepares the model on a device, which may take seconds.
    func prepare(on device: String) throws(ImageSegmenterError) {
        guard let others else { throw .unusableDevice("the model cannot be run on \(device)") }
        try others.prepare(device)
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
