import Base
import DeviceSupport
import Dispatch
import Glibc
import Silhouette
import Testing

/// A device that fails at one of its frames, counted from 0.
private final class FailingRunner: FrameRunner {
    struct Failure: Error, CustomStringConvertible { let description = "it was struck by lightning" }

    let deviceName = "fake card"
    private let isIdle: DispatchSemaphore?
    private let failingFrame: Int
    private let count = Locked(0)
    private let whenGone: @Sendable () -> Void

    /// - Parameter isIdle: What the device waits for before it is idle; nil where it is at once.
    init(failingAt frame: Int, isIdle: DispatchSemaphore? = nil, whenGone: @escaping @Sendable () -> Void = {}) {
        failingFrame = frame
        self.isIdle = isIdle
        self.whenGone = whenGone
    }

    deinit { whenGone() }

    var frameCount: Int { count.withLock(\.self) }

    func segment(_ image: Image, _ request: MaskRequest) throws -> Masks {
        let frame = count.withLock { count in
            defer { count += 1 }
            return count
        }
        if image.width == 999 {
            throw ImageSegmenterError.resultTooLarge(width: 999, height: 1, channels: 1, byteCount: 1)
        }
        if image.width == 998 { throw PictureTooLarge(reason: "it is a small card") }
        if frame >= failingFrame { throw Failure() }
        return Masks(
            width: image.width, height: 1, deviceName: deviceName,
            timings: Timings(preprocessMilliseconds: 0, inferenceMilliseconds: 0, postprocessMilliseconds: 0))
    }

    func draw(_ drawing: PictureDrawing) -> Image { drawing.drawn() }

    func giveUp() { isIdle?.wait() }
}

@Suite("The engine that outlives its device")
struct VulkanEngineTests {
    private let warnings = Warnings()

    private func engine(_ start: @escaping () throws -> any FrameRunner) throws -> VulkanEngine {
        let warnings = warnings
        return try VulkanEngine(
            name: "fake card", start: start,
            substitute: { () throws(ImageSegmenterError) in FakeEngine(isGated: false) }, warn: { warnings.add($0) })
    }

    @Test("Frames run on the device until it fails; that frame and all later ones on the processor, with one warning")
    func takesOver() throws {
        let runner = FailingRunner(failingAt: 2)
        let engine = try engine { runner }
        var devices: [String] = []
        for width in 1...5 {
            let masks = try engine.segment(frame(width: width))
            #expect(masks.width == width)
            devices.append(masks.deviceName)
        }
        #expect(devices == ["fake card", "fake card", "fake", "fake", "fake"])
        // The device is not asked again.
        #expect(runner.frameCount == 3)
        #expect(engine.deviceName == "fake")
        #expect(engine.deviceFailure == "it was struck by lightning")
        #expect(warnings.all.count == 1)
        #expect(warnings.all[0].contains("fake card") && warnings.all[0].contains("lightning"))
        #expect(warnings.all[0].contains("processor"))
    }

    @Test("A device that does not start is replaced at once")
    func doesNotStart() throws {
        let engine = try engine { throw FailingRunner.Failure() }
        #expect(engine.deviceName == "fake")
        #expect(engine.deviceFailure != nil)
        #expect(warnings.all.count == 1)
        #expect(try engine.segment(frame(width: 3)).width == 3)
    }

    @Test("A request that no device could fulfil is an error and no reason to give up the device")
    func requestAtFault() throws {
        let engine = try engine { FailingRunner(failingAt: 9) }
        #expect(throws: ImageSegmenterError.self) { try engine.segment(frame(width: 999)) }
        #expect(engine.deviceFailure == nil && warnings.all.isEmpty)
        #expect(try engine.segment(frame(width: 2)).deviceName == "fake card")
    }

    @Test("A picture that the device has no room for is the processor's, with one warning; others stay the device's")
    func tooLarge() throws {
        let engine = try engine { FailingRunner(failingAt: 9) }
        let devices = try [5, 998, 998, 5].map { try engine.segment(frame(width: $0)).deviceName }
        #expect(devices == ["fake card", "fake", "fake", "fake card"])
        #expect(engine.deviceFailure == nil && engine.deviceName == "fake card")
        #expect(warnings.all.count == 1)
        #expect(warnings.all[0].contains("998x") && warnings.all[0].contains("small card"))
    }

    @Test("Of many frames that fail at once, each gets its result and one speaks")
    func failTogether() throws {
        let engine = try engine { FailingRunner(failingAt: 0) }
        let wrong = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 16) { width in
            let masks = try? engine.segment(frame(width: width + 1))
            if masks?.width != width + 1 || masks?.deviceName != "fake" { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(warnings.all.count == 1)
    }

    @Test("What a failed device had is given back when it has stopped, before the engine is gone")
    func givesBack() throws {
        let flag = Flag()
        var engine: VulkanEngine? = try engine { FailingRunner(failingAt: 0) { flag.raise() } }
        _ = try engine?.segment(frame(width: 1))
        engine = nil
        #expect(flag.isRaised)
    }

    @Test("A device that hangs is left alone: the engine goes away, and nothing is given back when it stops after all")
    func hangs() throws {
        let flag = Flag()
        let isIdle = DispatchSemaphore(value: 0)
        var engine: VulkanEngine? = try engine { FailingRunner(failingAt: 0, isIdle: isIdle) { flag.raise() } }
        _ = try engine?.segment(frame(width: 1))
        engine = nil
        #expect(!flag.isRaised)
        isIdle.signal()
        // Long enough for the thread that waited for it.
        usleep(200_000)
        #expect(!flag.isRaised)
    }
}

/// Something that happened on another thread.
private final class Flag: Sendable {
    private let value = Locked(false)
    var isRaised: Bool { value.withLock(\.self) }
    func raise() { value.withLock { $0 = true } }
}
