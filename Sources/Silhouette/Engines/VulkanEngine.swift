import Base
import Imaging

/// A picture that a device has no room for. The device works, and can do others.
package struct PictureTooLarge: Error {
    /// What there is too little of.
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// Runs frames on a device that may stop working.
package protocol FrameRunner: AnyObject, Sendable {
    /// What it runs on, for people.
    var deviceName: String { get }
    /// Which variants of its shaders it has found to be the fastest, for people; nil where it has not looked.
    var tuning: String? { get }

    /// Segments one picture.
    ///
    /// - Throws: `ImageSegmenterError.resultTooLarge` where the request is at fault, `PictureTooLarge` where only this picture is;
    ///   anything else is a failure of the device.
    func segment(_ image: Image, _ request: MaskRequest) throws -> Masks

    /// Draws one picture.
    ///
    /// - Throws: `PictureTooLarge` where only this picture is at fault; anything else is a failure of the device.
    func draw(_ drawing: PictureDrawing) throws -> Image

    /// Refuses all later frames, and waits until the device works on nothing any more.
    func giveUp()
}

extension FrameRunner {
    package var tuning: String? { nil }
}

/// Runs frames on a Vulkan device as long as that works, and on the processor from the first failure on.
///
/// Whatever fails (the device is lost, memory runs out, a frame takes too long, a shader does not compile, the self-check
/// finds a wrong answer), the frame that it happened to is computed again from its picture. So no caller sees a failure, and no
/// result comes from a device that has had one. A picture that is too large for the device is computed on the processor, and
/// the next one on the device again.
package final class VulkanEngine: SegmentationEngine, PictureDrawer {
    private struct State {
        /// Nil: the device has failed.
        var runner: (any FrameRunner)?
        var substituteName: String?
        var failure: String?
        var retirement: Retirement?
        var hasToldOfLargePicture = false
    }

    private let state: Locked<State>
    private let processor = Locked<(any SegmentationEngine)?>(nil)
    private let name: String
    private let makeSubstitute: @Sendable () throws(ImageSegmenterError) -> any SegmentationEngine
    private let warn: (@Sendable (String) -> Void)?
    /// How long the end of the engine waits for that. A device that hangs is left alone after it.
    private static let retirementSeconds = 2.0

    /// Starts on the device; where that fails, begins with the processor.
    ///
    /// - Parameters:
    ///   - name: The device, for messages.
    ///   - start: Prepares the device.
    ///   - substitute: Prepares the processor.
    ///   - warn: Told once what failed.
    package init(
        name: String, start: () throws -> any FrameRunner,
        substitute: @escaping @Sendable () throws(ImageSegmenterError) -> any SegmentationEngine,
        warn: (@Sendable (String) -> Void)?
    ) throws(ImageSegmenterError) {
        self.name = name
        self.warn = warn
        makeSubstitute = substitute
        do {
            state = Locked(State(runner: try start()))
        } catch let error as ImageSegmenterError where error.isRequestAtFault {
            throw error
        } catch {
            state = Locked(State(failure: "\(error)"))
            report("\(error)")
            _ = try self.substitute()
        }
    }

    deinit { state.withLock(\.retirement)?.wait(seconds: Self.retirementSeconds) }

    package var deviceName: String { state.withLock { $0.runner?.deviceName ?? $0.substituteName ?? name } }

    package var deviceTuning: String? { state.withLock(\.runner)?.tuning }

    package var deviceFailure: String? { state.withLock(\.failure) }

    package func segment(_ image: Image, _ request: MaskRequest) throws(ImageSegmenterError) -> Masks {
        if let runner = state.withLock(\.runner) {
            do {
                return try runner.segment(image, request)
            } catch let error as ImageSegmenterError where error.isRequestAtFault {
                throw error
            } catch let error as PictureTooLarge {
                tellOfLargePicture(image, error.reason)
            } catch {
                giveUp(runner, "\(error)")
            }
        }
        return try substitute().segment(image, request)
    }

    package var drawer: any PictureDrawer { self }

    package func draw(_ drawing: PictureDrawing) -> Image {
        if let runner = state.withLock(\.runner) {
            do {
                return try runner.draw(drawing)
            } catch let error as PictureTooLarge {
                tellOfLargePicture(drawing.picture, error.reason)
            } catch {
                giveUp(runner, "\(error)")
            }
        }
        return drawing.drawn()
    }

    package func segment(
        _ image: Image, _ request: MaskRequest, inBackground work: BackgroundWork
    ) throws(ImageSegmenterError) -> Masks {
        if state.withLock(\.runner) == nil { return try substitute().segment(image, request, inBackground: work) }
        return try work.callOnDevice { () throws(ImageSegmenterError) in try segment(image, request) }
    }

    /// Stops using the device. Several frames may fail at once: the first one speaks.
    private func giveUp(_ runner: any FrameRunner, _ failure: String) {
        let isFirst = state.withLock { state in
            guard state.runner === runner else { return false }
            state.runner = nil
            state.failure = failure
            state.retirement = Retirement(runner)
            return true
        }
        if isFirst { report(failure) }
    }

    /// Says so once: in a stream every frame is as large as the first.
    private func tellOfLargePicture(_ image: Image, _ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.hasToldOfLargePicture = true }
            return !state.hasToldOfLargePicture
        }
        guard isFirst else { return }
        warn?(
            "\(name) has no room for a picture of \(image.width)x\(image.height): \(reason); such pictures are computed on the "
                + "processor")
    }

    private func report(_ failure: String) {
        warn?("\(name) is not used any more: \(failure); this picture and all later ones are computed on the processor")
    }

    private func substitute() throws(ImageSegmenterError) -> any SegmentationEngine {
        // A lock of its own: whoever asks for the device's name does not wait for a network to be prepared.
        try processor.withLock { processor throws(ImageSegmenterError) in
            if let processor { return processor }
            let made = try makeSubstitute()
            processor = made
            state.withLock { $0.substituteName = made.deviceName }
            return made
        }
    }
}

extension ImageSegmenterError {
    /// Whether another device would refuse as well.
    fileprivate var isRequestAtFault: Bool {
        switch self {
        case .resultTooLarge, .tooManyTiles, .invalidOptions: true
        default: false
        }
    }
}
