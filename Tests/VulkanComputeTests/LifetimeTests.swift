import DeviceSupport
import TestSupport
import Testing
import VulkanCompute

@Suite("Lifetimes under validation", .serialized, .needsVulkan, .needsValidation, .childProcess)
struct LifetimeTests {
    /// Something that takes about a tenth of a second.
    private func slow(_ device: LogicalDevice, _ buffer: Buffer) throws -> CommandBuffer {
        let pipeline = try TestShader.slow.pipeline(device)
        return try CommandBuffer(
            device,
            [
                .dispatch(
                    .init(
                        name: "slow", pipeline, [.storage(buffer.all)], pushConstants: [20_000_000],
                        workgroups: (1, 1, 1), reads: [buffer.all], writes: [buffer.all]))
            ])
    }

    @Test("Everything may be let go in any order", arguments: 0..<8)
    func orders(rotation: Int) throws {
        let instance = try VulkanInstance(validation: true)
        do {
            var device: LogicalDevice? = try LogicalDevice(
                try #require(try instance.physicalDevices().first), instance: instance)
            let open = try #require(device)
            var objects: [AnyObject] = []
            let buffer = try Buffer.of([3], open)
            let target = try Buffer(open, byteCount: 4, .readback)
            let view = try TexelBufferView(try Buffer(open, byteCount: 64, .device).all, .float16x4)
            let cache = PipelineCache(open)
            let pipeline = try TestShader.scale.pipeline(open, constants: [64, 2], cache: cache)
            let recorded = try CommandBuffer(open, [.scale(pipeline, buffer.all, to: target.all)])
            let submission = try Submission(open)
            try submission.submit(recorded)
            try submission.wait(nanoseconds: 20_000_000_000)
            objects = [open, buffer, target, view, cache, pipeline, recorded, submission]
            device = nil
            objects = Array(objects[rotation...] + objects[..<rotation])
            while !objects.isEmpty { objects.removeFirst() }
        }
        #expect(instance.validationMessages == [])
    }

    @Test("What is submitted may be let go while the device works on it")
    func inFlight() throws {
        let instance = try VulkanInstance(validation: true)
        do {
            let device = try LogicalDevice(try #require(try instance.physicalDevices().first), instance: instance)
            for keepsCommands in [false, true] {
                let submission = try Submission(device)
                let commands = try slow(device, try Buffer.of([1], device))
                try submission.submit(commands)
                if keepsCommands { try submission.wait(nanoseconds: 60_000_000_000) }
            }
        }
        #expect(instance.validationMessages == [])
    }

    @Test("A device in use is waited for: its last owner may go while it works")
    func deviceInFlight() throws {
        let instance = try VulkanInstance(validation: true)
        do {
            let device = try LogicalDevice(try #require(try instance.physicalDevices().first), instance: instance)
            try Submission(device).submit(try slow(device, try Buffer.of([1], device)))
        }
        #expect(instance.validationMessages == [])
    }

    @Test("Who lets go of a device that hangs does not wait for good, and nothing that it works on is destroyed")
    func hanging() throws {
        let instance = try VulkanInstance(validation: true, faults: FaultInjector([.hang]))
        weak var kept: LogicalDevice?
        do {
            let device = try LogicalDevice(try #require(try instance.physicalDevices().first), instance: instance)
            kept = device
            try Submission(device).submit(try slow(device, try Buffer.of([1], device)))
        }
        let device = try #require(kept)
        // It only seemed to hang: nothing may be at work when the process ends.
        try device.giveUp()
        let submission = try Submission(device)
        let commands = try slow(device, try Buffer.of([1], device))
        #expect(throws: VulkanError.self) { try submission.submit(commands) }
        #expect(instance.validationMessages == [])
    }

    @Test("The layers are heard: work behind a missing barrier is reported, and with it nothing is")
    func canary() throws {
        for omitted in [nil, 0] {
            let instance = try VulkanInstance(validation: true)
            let device = try LogicalDevice(try #require(try instance.physicalDevices().first), instance: instance)
            let buffers = try (0..<3).map { _ in try Buffer.of([1, 2], device) }
            let pipeline = try TestShader.scale.pipeline(device, constants: [64, 2])
            let recorded = try CommandBuffer(
                device,
                [
                    .scale(pipeline, buffers[0].all, to: buffers[1].all),
                    .scale(pipeline, buffers[1].all, to: buffers[2].all),
                ], timestamps: nil, omittedBarrier: omitted)
            #expect(recorded.barrierCount == 1)
            let submission = try Submission(device)
            try submission.submit(recorded)
            try submission.wait(nanoseconds: 20_000_000_000)
            #expect(instance.validationMessages.contains { $0.contains("SYNC-HAZARD") } == (omitted == 0))
        }
    }
}
