import VulkanImaging
import ModelGraph
import DeviceSupport
import Glibc
import Silhouette
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// One row of the table of faults: what fails, and when.
struct FaultCase: Sendable, CustomTestStringConvertible {
    /// When the fault is armed.
    enum Moment: Sendable {
        /// Before the device is opened.
        case start
        /// After the first picture.
        case afterFirstFrame
        /// After the first picture, and the next one has another size.
        case newSize
    }

    var moment: Moment
    var fault: FaultInjector.Fault
    /// Words of the warning.
    var warning: String

    var testDescription: String { "\(fault.call) gives \(fault.result) after \(fault.after) calls, \(moment)" }

    static let table: [FaultCase] =
        (0..<6).map { .init(moment: .start, fault: .deviceLost(at: "vkQueueSubmit", after: $0), warning: "lost") }
        + (0..<2).map {
            .init(moment: .afterFirstFrame, fault: .deviceLost(at: "vkQueueSubmit", after: $0), warning: "lost")
        }
        + [
            .init(moment: .start, fault: .deviceLost(at: "vkWaitForFences"), warning: "lost"),
            .init(moment: .afterFirstFrame, fault: .deviceLost(at: "vkWaitForFences"), warning: "lost"),
            .init(moment: .afterFirstFrame, fault: .timeOut(), warning: "in time"),
            .init(moment: .afterFirstFrame, fault: .timeOut(after: 1), warning: "in time"),
        ]
        + (0..<8).map {
            .init(
                moment: .start, fault: .outOfDeviceMemory(at: "vkAllocateMemory", after: $0),
                warning: "out of device memory")
        }
        + (0..<3).map {
            .init(
                moment: .newSize, fault: .outOfDeviceMemory(at: "vkAllocateMemory", after: $0),
                warning: "out of device memory")
        }
        + [
            "vkCreateDevice", "vkCreateBuffer", "vkAllocateMemory", "vkMapMemory", "vkCreateDescriptorPool",
            "vkAllocateDescriptorSets", "vkCreateCommandPool", "vkAllocateCommandBuffers", "vkEndCommandBuffer",
            "vkCreateFence", "vkCreateShaderModule", "vkCreateComputePipelines", "vkCreatePipelineLayout",
            "vkCreateDescriptorSetLayout",
        ].map { .init(moment: .start, fault: .outOfHostMemory(at: $0), warning: "out of host memory") }
        + ["vkCreateBuffer", "vkAllocateMemory", "vkCreateDescriptorPool", "vkCreateCommandPool", "vkCreateFence"].map {
            .init(moment: .newSize, fault: .outOfHostMemory(at: $0), warning: "out of host memory")
        }
        + [0, 5].map {
            .init(
                moment: .start,
                fault: .init(
                    "vkCreateComputePipelines", after: $0, times: .max, result: FaultInjector.initializationFailed),
                warning: "initialisation failed")
        }
}

@Suite("Faults of a device", .serialized, .needsVulkan, .childProcess)
struct FaultTests {
    private func engine(_ faults: FaultInjector, _ warnings: Warnings) throws -> any SegmentationEngine {
        try EngineChoice(model: VulkanTests.model, options: VulkanTests.options(warnings).baseOptions, faults: faults)
            .engine
    }

    /// How long the frame may take that fails on the device. A sanitiser makes everything ten times slower.
    private static let takeoverLimit: Duration = getenv("TSAN_OPTIONS") == nil ? .seconds(1) : .seconds(10)

    @Test("The processor takes over: right masks, one warning, within a second", arguments: FaultCase.table)
    func outcome(row: FaultCase) throws {
        let warnings = Warnings()
        let faults = FaultInjector(row.moment == .start ? [row.fault] : [])
        let engine = try engine(faults, warnings)
        let processor = try CPUEngine(model: VulkanTests.model, options: VulkanTests.options().baseOptions)
        var sizes = [(65, 65), (65, 65), (65, 65)]
        if row.moment == .newSize { sizes = [(65, 65), (80, 48), (65, 65), (33, 70)] }
        for (index, (width, height)) in sizes.enumerated() {
            if index == 1, row.moment != .start {
                #expect(warnings.all.isEmpty)
                faults.inject(row.fault)
            }
            let picture = try VulkanTests.picture(width: width, height: height, seed: UInt64(index))
            let isFailing = index > 0 && warnings.all.isEmpty
            let start = ContinuousClock.now
            let masks = try engine.segment(picture)
            if isFailing, !warnings.all.isEmpty { #expect(ContinuousClock.now - start < Self.takeoverLimit) }
            let expected = try processor.segment(picture)
            if masks.deviceName != processor.deviceName {
                #expect(engine.deviceFailure == nil)
                let same = zip(masks.categories!.categories, expected.categories!.categories).count { $0 == $1 }
                #expect(Double(same) >= 0.999 * Double(width * height))
            } else {
                #expect(masks.categories == expected.categories)
                #expect(!warnings.all.isEmpty)
            }
        }
        #expect(faults.injectedCount > 0, "the call was never made")
        #expect(warnings.all.count == 1, "\(warnings.all)")
        #expect(warnings.all.first?.contains(row.warning) == true, "\(warnings.all)")
        // Memory that is missing for a size of picture says nothing about other sizes; any other failure is the device's end.
        let isPictureOnly = warnings.all.first?.contains("no room") == true
        if row.moment != .start { #expect(isPictureOnly == (row.moment == .newSize)) }
        #expect(isPictureOnly || !row.warning.contains("memory") || row.moment == .start)
        #expect((engine.deviceFailure == nil) == isPictureOnly)
        #expect((engine.deviceName == processor.deviceName) != isPictureOnly)
    }

    @Test("A Vulkan that does not start at all is an error where it was asked for")
    func noInstance() {
        let faults = FaultInjector([.outOfHostMemory(at: "vkCreateInstance")])
        #expect(throws: ImageSegmenterError.unusableDevice("vkCreateInstance failed: out of host memory")) {
            try EngineChoice(model: VulkanTests.model, options: VulkanTests.options().baseOptions, faults: faults)
        }
    }

    @Test("A driver without a pipeline cache does without")
    func optionalCalls() throws {
        let warnings = Warnings()
        let engine = try engine(FaultInjector([.outOfHostMemory(at: "vkCreatePipelineCache")]), warnings)
        _ = try engine.segment(VulkanTests.picture())
        #expect(warnings.all.isEmpty && engine.deviceFailure == nil)
    }

    @Test("Frames of many threads that are inside when the device is lost all get the processor's masks")
    func lostWithManyInside() async throws {
        let warnings = Warnings()
        let faults = FaultInjector()
        let engine = try engine(faults, warnings)
        let picture = try VulkanTests.picture()
        let expected = try engine.segment(picture)
        faults.inject(.deviceLost(at: "vkWaitForFences", after: 4))
        let masks = try await withThrowingTaskGroup(of: Masks.self) { group in
            for _ in 0..<12 { group.addTask { try engine.segment(picture) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(masks.count == 12 && masks.allSatisfy { $0.categories == expected.categories })
        #expect(warnings.all.count == 1)
    }

    @Test("A self-check that was passed is not run again by this driver; one that failed is")
    func selfCheckOnce() throws {
        try withScratchFolder { folder in
            var options = VulkanTests.options().baseOptions
            options.shaderCacheFolder = folder
            var runCount = 0
            func run(_ answer: (Masks) -> Masks, driver: UInt32) throws {
                let identity = PhysicalDevice.CacheIdentity(
                    vendor: 1, device: 2, driverVersion: driver, uuid: [UInt8](repeating: 7, count: 16))
                let check = try SelfCheck(VulkanTests.model, options, identity: identity)
                try check.runOnce { other in
                    if other != nil { runCount += 1 }
                    let engine = try CPUEngine(model: other ?? VulkanTests.model, options: options)
                    return AnsweringRunner(answer: answer(try engine.segment(SelfCheck.picture, check.request)))
                }
            }
            func wrong(_ masks: Masks) -> Masks {
                var masks = masks
                masks.categories = masks.categories.map {
                    CategoryMask(width: $0.width, height: $0.height, categories: $0.categories.map { $0 ^ 1 })
                }
                return masks
            }
            #expect(throws: SelfCheck.Failure.self) { try run(wrong, driver: 3) }
            try run({ $0 }, driver: 3)
            #expect(runCount == 2)
            try run(wrong, driver: 3)
            #expect(runCount == 2)
            #expect(throws: SelfCheck.Failure.self) { try run(wrong, driver: 4) }
            #expect(try fileNames(in: folder) == ["self-checks.txt"])
        }
    }

    @Test(
        "A device that computes wrongly is found out before its first picture",
        arguments: [
            "pointwise", "depthwise", "convolution", "categories", "confidences", "resize_picture",
            "global_average_pool",
        ])
    func wrongAnswers(shader: String) throws {
        let warnings = Warnings()
        let engine = try EngineChoice(
            model: VulkanTests.model, options: VulkanTests.options(warnings).baseOptions, shaders: .breaking(shader)
        ).engine
        let picture = try VulkanTests.picture()
        let processor = try CPUEngine(model: VulkanTests.model, options: VulkanTests.options().baseOptions)
        #expect(try engine.segment(picture).categories == processor.segment(picture).categories)
        #expect(engine.deviceFailure?.contains("not the processor's") == true)
        #expect(warnings.all.count == 1)
    }

    @Test("What was found right with one driver, precision, network or shader says nothing of another")
    func selfCheckKey() throws {
        struct Parts {
            var identity = PhysicalDevice.CacheIdentity(
                vendor: 7001, device: 2, driverVersion: 3, uuid: [UInt8](repeating: 7, count: 16))
            var precision = StoragePrecision.float32
            var shaders = "some"
            var model = VulkanTests.model

            func record(_ folder: String?) -> SelfCheckRecord {
                SelfCheckRecord(
                    folder: folder, model: model, identity: identity, precision: precision, shaders: shaders)
            }
        }
        func identity(
            vendor: UInt32 = 7001, device: UInt32 = 2, driver: UInt32 = 3, uuid: UInt8 = 7
        ) -> PhysicalDevice.CacheIdentity {
            .init(vendor: vendor, device: device, driverVersion: driver, uuid: [UInt8](repeating: uuid, count: 16))
        }
        let changes: [(String, (inout Parts) throws -> Void)] = [
            ("vendor", { $0.identity = identity(vendor: 7002) }), ("device", { $0.identity = identity(device: 3) }),
            ("driver", { $0.identity = identity(driver: 4) }), ("uuid", { $0.identity = identity(uuid: 8) }),
            ("precision", { $0.precision = .float16 }), ("shaders", { $0.shaders = "others" }),
            ("layers", { $0.model = $0.model.replacingGraph(try twoLayers(dilation: 1)) }),
            ("dilation", { $0.model = $0.model.replacingGraph(try twoLayers(dilation: 2)) }),
            ("activation", { $0.model = $0.model.replacingGraph(try twoLayers(dilation: 2, .relu6)) }),
            ("residual", { $0.model = $0.model.replacingGraph(try twoLayers(dilation: 2, .relu6, residual: true)) }),
        ]
        try withScratchFolder { folder in
            Parts().record(folder).notePassed()
            #expect(Parts().record(folder).isPassed && Parts().record(nil).isPassed)
            for (name, change) in changes {
                var parts = Parts()
                try change(&parts)
                // Neither in this process nor in the file.
                #expect(!parts.record(folder).isPassed, "\(name) is no part of the key")
                parts.record(nil).notePassed()
                #expect(parts.record(nil).isPassed)
            }
            #expect(Parts().record(folder).isPassed)
        }
    }

    /// A network of the test model's input and output.
    private func twoLayers(dilation: Int, _ activation: Activation = .relu, residual: Bool = false) throws -> Graph {
        let original = VulkanTests.model.graph
        let (picture, scores) = (original.shape(of: original.inputs[0]), original.shape(of: original.outputs[0]))
        var random = SeededGenerator(seed: 4)
        var graph = Graph(name: original.name)
        let input = graph.addInput("picture", picture)
        func convolution(_ from: Int, _ to: Int, _ dilation: Int) -> Convolution {
            Convolution(
                weights: random.weights([to, from, 3, 3], fanIn: from * 9), bias: random.bias(to),
                dilation: Extent(dilation), padding: Padding(dilation))
        }
        let first = try graph.append("a", .convolution(convolution(picture.channels, 8, 1)), [input])
        let second = try graph.append(
            "b", .convolution(convolution(8, 8, dilation)), [first], activation: activation,
            residual: residual ? first : nil)
        graph.outputs = [try graph.append("c", .convolution(convolution(8, scores.channels, 1)), [second])]
        return graph
    }

    @Test("Memory that was taken for a picture that is too large is let go, wherever there was too little")
    func memoryOfLargePicture() throws {
        let request = try MaskRequest(ImageSegmenterOptions(), of: ModelOutput(VulkanTests.model))
        let small = try VulkanTests.picture(width: 70, height: 70)
        let large = try VulkanTests.picture(width: 300, height: 200)
        var (after, isOver) = (0, false)
        while !isOver {
            let faults = FaultInjector()
            let backend = VulkanBackend(try TestDevice.open(faults: faults), precision: .float32)
            let runner = VulkanRunner(PictureNetwork(backend, model: VulkanTests.model), on: backend)
            _ = try runner.segment(small, request)
            let before = faults.allocationCount
            var shortage = FaultInjector.Fault.outOfDeviceMemory(at: "vkAllocateMemory", after: after)
            shortage.times = 1
            faults.inject(shortage)
            do {
                _ = try runner.segment(large, request)
                isOver = true
            } catch is PictureTooLarge {
                #expect(faults.allocationCount == before, "after \(after)")
                _ = try runner.segment(large, request)
            }
            #expect(faults.injectedCount == (isOver ? 0 : 1))
            after += 1
        }
        // The frame's memory, and what goes up and comes down.
        #expect(after > 3)
    }

    @Test("A wrong answer to the self-check is a failure")
    func selfCheck() throws {
        let check = try SelfCheck(VulkanTests.model, VulkanTests.options().baseOptions, identity: nil)
        let right = try CPUEngine(model: VulkanTests.model, options: BaseOptions()).segment(
            SelfCheck.picture, check.request)
        try check.compare(right, right)
        #expect(Set(right.categories!.categories).count > 1, "a picture of one class proves little")

        var wrong = right
        wrong.categories = CategoryMask(
            width: right.width, height: right.height, categories: right.categories!.categories.map { $0 ^ 1 })
        #expect(throws: SelfCheck.Failure.self) { try check.compare(wrong, right) }
        wrong = right
        wrong.scores = ScoreMap(
            width: right.width, height: right.height, channels: right.scores!.channels,
            values: right.scores!.values.map { $0 * 1.02 })
        #expect(throws: SelfCheck.Failure.self) { try check.compare(wrong, right) }
        wrong.scores = ScoreMap(
            width: right.width, height: right.height, channels: right.scores!.channels,
            values: right.scores!.values.map { _ in .nan })
        #expect(throws: SelfCheck.Failure.self) { try check.compare(wrong, right) }
    }

    @Test("A pipe in the place of the record of self-checks is left alone")
    func recordIsPipe() throws {
        let identity = PhysicalDevice.CacheIdentity(
            vendor: 1, device: 2, driverVersion: 3, uuid: [UInt8](repeating: 4, count: 16))
        try withScratchFolder { folder in
            let path = folder + "/self-checks.txt"
            #expect(mkfifo(path, 0o600) == 0)
            // Somebody reads, so that a write would not wait for ever.
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            let record = SelfCheckRecord(
                folder: folder, model: VulkanTests.model, identity: identity, precision: .float32,
                shaders: "some")
            #expect(!record.isPassed)
            record.notePassed()
            #expect(record.isPassed)
            var byte: UInt8 = 0
            #expect(read(reader, &byte, 1) <= 0, "something was written into the pipe")
        }
    }
}

/// A device with one answer to everything.
private final class AnsweringRunner: FrameRunner {
    let deviceName = "fake card"
    private let answer: Masks

    init(answer: Masks) { self.answer = answer }

    func segment(_ image: Image, _ request: MaskRequest) -> Masks { answer }
    func draw(_ drawing: PictureDrawing) -> Image { drawing.drawn() }
    func giveUp() {}
}
