import DeviceSupport
import Testing
import VulkanCompute

@Suite("Shaders", .serialized, .needsVulkan)
struct ShaderTests {
    @Test("Specialisation and push constants reach the shader", arguments: [TestShader.scale, .scaleBackwards])
    func constants(shader: TestShader) throws {
        let device = try TestDevice.open()
        let values = Array(UInt32(1)...200)
        let source = try Buffer.of(values, device)
        let target = try Buffer(device, byteCount: source.byteCount, .readback)
        let pipeline = try shader.pipeline(device, constants: [64, 3])
        try device.run([.scale(pipeline, source.all, to: target.all, offset: 10)])
        let order = shader == .scale ? values : values.reversed()
        #expect(target.words == order.map { $0 * 3 + 10 })
    }

    @Test("What is not specialised has the shader's own value")
    func defaults() throws {
        let device = try TestDevice.open()
        let source = try Buffer.of([4, 5], device)
        let target = try Buffer(device, byteCount: 8, .readback)
        let pipeline = try TestShader.scale.pipeline(device, constants: [64])
        try device.run([.scale(pipeline, source.all, to: target.all)])
        #expect(target.words == [4, 5])
    }

    @Test("Texels are float32 whatever they are stored as, and begin where their range does")
    func texels() throws {
        let device = try TestDevice.open()
        let alignment = device.physical.limits.bindingAlignment
        let source = try Buffer(device, byteCount: alignment + 16, .upload)
        let target = try Buffer(device, byteCount: 32, .readback)
        let pipeline = try TestShader.texels.pipeline(device)
        func read(_ format: TexelFormat) throws -> [Float] {
            target.write([0, 0, 0, 0, 0, 0, 0, 0])
            let view = try TexelBufferView(source.range(alignment, 16), format)
            try device.run([
                .dispatch(
                    .init(
                        name: "texels", pipeline, [.storage(target.all), .texels(view)],
                        pushConstants: [UInt32(16 / format.byteCount)],
                        workgroups: (1, 1, 1), reads: [view.range], writes: [target.all]))
            ])
            return target.words.map(Float.init(bitPattern:))
        }
        let place = try #require(source.contents) + alignment
        place.copyMemory(from: [Float(1), -2, 0.5, 1e30], byteCount: 16)
        #expect(try read(.float32x4) == [1, -2, 0.5, 1e30, 0, 0, 0, 0])
        // 1, -2, 0.5, 65504, and the smallest subnormal, -0, infinity, 0 as float16.
        let halves: [UInt16] = [0x3c00, 0xc000, 0x3800, 0x7bff, 0x0001, 0x8000, 0x7c00, 0x0000]
        place.copyMemory(from: halves, byteCount: 16)
        #expect(try read(.float16x4) == [1, -2, 0.5, 65_504, 0x1p-24, -0.0, .infinity, 0])
        #expect(TexelFormat.float32x4.byteCount == 16 && TexelFormat.float16x4.byteCount == 8)
    }

    @Test("An array of uniform blocks: each its own range, a short list filled up with its last")
    func uniformBlocks() throws {
        let device = try TestDevice.open()
        let alignment = device.physical.limits.bindingAlignment
        let size = max(alignment, 256)
        let constants = try Buffer(device, byteCount: 3 * size, .upload)
        for index in 0..<3 {
            constants.contents?.storeBytes(of: UInt32(index + 70), toByteOffset: index * size, as: UInt32.self)
        }
        let target = try Buffer(device, byteCount: 12, .readback)
        let pipeline = try TestShader.blocks.pipeline(device)
        func read(_ ranges: [BufferRange]) throws -> [UInt32] {
            try device.run([
                .dispatch(
                    .init(
                        name: "blocks", pipeline, [.storage(target.all), .uniform(ranges)], pushConstants: [],
                        workgroups: (3, 1, 1), reads: [], writes: [target.all]))
            ])
            return target.words
        }
        let ranges = (0..<3).map { constants.range($0 * size, 256) }
        #expect(try read(ranges) == [70, 71, 72])
        #expect(try read([ranges[2], ranges[0]]) == [72, 70, 70])
    }

    @Test("Commands are recorded once and may be submitted again and again")
    func replay() throws {
        let device = try TestDevice.open()
        let values = try Buffer.of([1], device)
        let other = try Buffer(device, byteCount: 4, .device)
        let pipeline = try TestShader.scale.pipeline(device, constants: [64, 2])
        let recorded = try CommandBuffer(
            device, [.scale(pipeline, values.all, to: other.all), .copy(from: other.all, to: values.all)])
        #expect(recorded.dispatchCount == 1)
        #expect(recorded.barrierCount == 1)
        let submission = try Submission(device)
        for _ in 0..<10 {
            try submission.submit(recorded)
            try submission.wait(nanoseconds: 20_000_000_000)
        }
        #expect(values.words == [1024])
    }

    @Test("A dispatch that the device cannot do is refused before it is recorded")
    func refusals() throws {
        let device = try TestDevice.open()
        let buffer = try Buffer.of([1], device)
        let pipeline = try TestShader.scale.pipeline(device, constants: [64, 2])
        func dispatch(_ workgroups: (Int, Int, Int), push: [UInt32] = [1, 0]) -> Command {
            .dispatch(
                .init(
                    name: "logits", pipeline, [.storage(buffer.all), .storage(buffer.all)], pushConstants: push,
                    workgroups: (workgroups.0, workgroups.1, workgroups.2), reads: [], writes: []))
        }
        for command in [
            dispatch((0, 1, 1)), dispatch((1, 1, device.physical.limits.workgroupCount[2] + 1)),
            dispatch((1, 1, 1), push: [1]), dispatch((1, 1, 1), push: [1, 2, 3]),
        ] {
            let error = #expect(throws: VulkanError.self) { try CommandBuffer(device, [command]) }
            #expect("\(try #require(error))".contains("logits"))
        }
    }

    @Test("So is one with more texels, or more bytes, than the device can bind")
    func sizes() throws {
        let device = try TestDevice.open()
        let buffer = try Buffer(device, byteCount: 64, .device)
        let pipeline = try TestShader.texels.pipeline(device)
        for format in [TexelFormat.float32x4, .float16x4] {
            let view = try TexelBufferView(buffer.all, format)
            let count = 64 / format.byteCount
            let dispatch = Command.Dispatch(
                name: "logits", pipeline, [.storage(buffer.all), .texels(view)], pushConstants: [1],
                workgroups: (1, 1, 1),
                reads: [], writes: [])
            var limits = device.physical.limits
            (limits.storageBufferRange, limits.texelBufferElements) = (64, count)
            try dispatch.check(limits, of: "card")
            limits.texelBufferElements = count - 1
            #expect(throws: VulkanError.self) { try dispatch.check(limits, of: "card") }
            (limits.storageBufferRange, limits.texelBufferElements) = (63, count)
            #expect(throws: VulkanError.self) { try dispatch.check(limits, of: "card") }
        }
    }

    @Test("A shader with more bindings or push constants than the device has room for is known")
    func bindings() throws {
        var limits = try TestDevice.open().physical.limits
        limits.storageBuffersPerStage = 2
        limits.sampledImagesPerStage = 1
        limits.uniformBuffersPerStage = 3
        limits.pushConstantsByteCount = 8
        let fitting = ShaderInterface(
            bindings: [.storageBuffer, .storageBuffer, .texelBuffer, .uniformBuffer(count: 3)],
            pushConstantsByteCount: 8)
        #expect(fitting.obstacle(limits) == nil)
        for binding in [DescriptorType.storageBuffer, .texelBuffer, .uniformBuffer(count: 1)] {
            var interface = fitting
            interface.bindings.append(binding)
            #expect(interface.obstacle(limits) != nil, "\(binding)")
        }
        var interface = fitting
        interface.pushConstantsByteCount = 12
        #expect(interface.obstacle(limits) == "it needs 12 bytes of push constants, of at most 8")
    }

    @Test("Time stamps go up, one interval fewer than there are stamps")
    func timestamps() throws {
        let device = try TestDevice.open()
        guard let stamps = try TimestampPool(device, count: 3) else {
            #expect(!device.physical.hasTimestamps)
            return
        }
        let buffer = try Buffer.of([1], device)
        let pipeline = try TestShader.slow.pipeline(device)
        let slow = Command.dispatch(
            .init(
                name: "slow", pipeline, [.storage(buffer.all)], pushConstants: [2_000_000], workgroups: (1, 1, 1),
                reads: [], writes: [buffer.all]))
        let recorded = try CommandBuffer(
            device, [.timestamp(index: 0), slow, .timestamp(index: 1), .timestamp(index: 2)], timestamps: stamps)
        let submission = try Submission(device)
        let clock = ContinuousClock()
        let elapsed = try clock.measure {
            try submission.submit(recorded)
            try submission.wait(nanoseconds: 60_000_000_000)
        }
        let intervals = try stamps.intervals()
        #expect(intervals.count == 2)
        #expect(intervals[0] > 0 && intervals[0] <= elapsed / .seconds(1))
        #expect(intervals[1] >= 0 && intervals[1] < intervals[0])
    }
}
