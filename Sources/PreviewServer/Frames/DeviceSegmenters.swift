import Base
import Silhouette

/// A model's segmenters on other devices than its first one, each made when somebody first asks for it.
final class DeviceSegmenters: Sendable {
    typealias Make = @Sendable (Device) throws(ImageSegmenterError) -> ImageSegmenter

    private let make: Make
    private let made = Locked<[String: ImageSegmenter]>([:])

    init(_ make: @escaping Make) { self.make = make }

    /// The segmenter of a device. Nil: it has to be prepared.
    subscript(id: String) -> ImageSegmenter? { made.withLock { $0[id] } }

    /// Makes the segmenter of a device, which may take seconds.
    ///
    /// - Throws: Where the device cannot be used; it may be asked for again.
    func prepare(_ id: String) throws(ImageSegmenterError) {
        guard self[id] == nil else { return }
        guard let device = Device(id) else { throw .unusableDevice("there is no device \(id)") }
        let segmenter = try make(device)
        // One that fails is replaced by the processor, which is not what was asked for.
        if let failure = segmenter.deviceFailure { throw .unusableDevice(failure) }
        made.withLock { $0[id] = segmenter }
    }
}
