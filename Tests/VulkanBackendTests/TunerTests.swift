import Base
import DeviceSupport
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

@Suite("Tuning, with times made up", .needsVulkan)
struct TunerTests {
    private let graph: Graph
    private let shapes: Set<ConvolutionShape>
    private let settings = TuningGraph.settings
    private let identity: PhysicalDevice.CacheIdentity
    private let target = KernelVariant(.storage, Tile(1, 1))
    private let shortage = VulkanError("vkAllocateMemory", .unsupported("too large"))
    private let lost = VulkanError("vkWaitForFences", .timedOut)

    init() throws {
        graph = try TuningGraph.make()
        shapes = try TuningGraph.shapes()
        identity = try TestDevice.open().physical.cacheIdentity
    }

    private func record(_ folder: String? = nil, _ identity: PhysicalDevice.CacheIdentity? = nil) -> TuningRecord {
        TuningRecord(folder: folder, identity: identity ?? self.identity)
    }

    /// A device on which `target` takes this share of the time of all others.
    private func device(_ share: Double = 0.5, cost: Double = 0.001) -> FakeTiming {
        let target = target
        return FakeTiming(cost: cost) { _, variant in variant == target ? share : 1 }
    }

    @Test("The fastest is taken, for each shape once, the heaviest first", arguments: [TuningLevel.quick, .full])
    func fastest(level: TuningLevel) throws {
        let device = device()
        let tuner = try device.tuner(level, record())
        let chosen = try tuner.variants(for: graph, settings)
        #expect(chosen.count == shapes.count && shapes.count == 5)
        #expect(chosen.values.allSatisfy { $0 == target })
        #expect(device.state.withLock(\.timerCount) == shapes.count)
        #expect(device.measured[0].shape.kind == .dense)
        #expect(device.measured.last?.shape.hasResidual == true)
        // Nothing is measured again in the same process.
        let count = device.measured.count
        #expect(try tuner.variants(for: graph, settings) == chosen)
        #expect(device.measured.count == count)
        #expect(tuner.summary.text.contains("5 of 5 shapes computed faster"))
    }

    @Test("What has been chosen can be asked while measurements are under way")
    func summary() throws {
        let tuners = Locked<[Tuner]>([])
        let device = FakeTiming { _, _ in
            let summary = tuners.withLock(\.first)?.summary
            #expect(summary?.measuredCount == 0)
            return 1
        }
        let tuner = try device.tuner(.quick, record())
        tuners.withLock { $0 = [tuner] }
        // The device holds the tuner and the tuner the device.
        defer { tuners.withLock { $0 = [] } }
        _ = try tuner.variants(for: graph, settings)
        #expect(tuner.summary.measuredCount == shapes.count)
    }

    @Test("Quick tries ways to read in a few tiles; full tries all that is possible")
    func candidates() throws {
        let (quick, full) = (device(), device())
        _ = try quick.tuner(.quick, record()).variants(for: graph, settings)
        _ = try full.tuner(.full, record()).variants(for: graph, settings)
        #expect(quick.measured.allSatisfy { !$0.variant.usesSharedMemory && $0.variant.readPath != .uniform })
        let tried = Set(full.measured.map(\.variant).filter { $0.localSize == 64 })
        let all = ConvolutionKind.allCases.flatMap { KernelVariant.all($0) }
        #expect(tried == Set(all))
        #expect(full.measured.contains { $0.variant.localSize == 128 })
    }

    @Test("What is not clearly faster than the standard variant is not taken")
    func ties() throws {
        let chosen = try device(0.98).tuner(.full, record()).variants(for: graph, settings)
        #expect(chosen.allSatisfy { $0.value == .standard(for: $0.key, settings) })
        let clear = try device(0.96).tuner(.full, record()).variants(for: graph, settings)
        #expect(clear.values.allSatisfy { $0 == target })
    }

    @Test("What gives other bytes is not taken, however fast")
    func otherBytes() throws {
        let target = target
        let device = FakeTiming { _, variant in variant == target ? nil : variant.tile == Tile(4, 2) ? 1 : 2 }
        let chosen = try device.tuner(.quick, record()).variants(for: graph, settings)
        #expect(chosen.values.allSatisfy { $0 != target })
    }

    @Test("When the time is over, the rest is standard, and has its turn the next time")
    func cap() throws {
        try withScratchFolder { folder in
            let device = device(cost: 0.3)
            let tuner = try device.tuner(.quick, record(folder))
            let chosen = try tuner.variants(for: graph, settings)
            #expect(chosen.count == 1 && chosen.keys.allSatisfy { $0.kind == .dense })
            // One that began before the end, and the last two.
            #expect(device.state.withLock(\.time) <= 1.0 + 3 * 0.3)
            let count = device.measured.count
            #expect(try tuner.variants(for: graph, settings) == chosen)
            #expect(device.measured.count == count, "there is no time left in this process")
            for known in 2...shapes.count {
                #expect(try device.tuner(.quick, record(folder)).variants(for: graph, settings).count == known)
            }
        }
    }

    @Test("What was found is known the next time; what only quick has found is measured again by full")
    func remembered() throws {
        try withScratchFolder { folder throws in
            func measurements(_ level: TuningLevel, _ share: Double = 0.5) throws -> Int {
                let device = device(share)
                let tuner = try device.tuner(level, record(folder))
                let chosen = try tuner.variants(for: graph, settings)
                #expect(chosen.count == shapes.count && chosen.values.allSatisfy { $0 == target })
                #expect((tuner.summary.rememberedCount == shapes.count) == device.measured.isEmpty)
                return device.measured.count
            }
            #expect(try measurements(.quick) > 0)
            #expect(try measurements(.quick, 2) == 0)
            #expect(try measurements(.full) > 0)
            #expect(try measurements(.full, 2) == 0)
            #expect(try measurements(.quick, 2) == 0)
        }
    }

    @Test("Another driver, precision, shader or a damaged file: measured again")
    func foreign() throws {
        try withScratchFolder { folder throws in
            func isMeasured(
                _ other: PhysicalDevice.CacheIdentity? = nil, shaders: String = "some",
                _ precision: StoragePrecision = .float32
            ) throws -> Bool {
                let device = device()
                _ = try device.tuner(.quick, record(folder, other), shaders: shaders).variants(
                    for: graph, PlanSettings(batch: 1, precision: precision, readPath: .texels))
                return !device.measured.isEmpty
            }
            #expect(try isMeasured())
            #expect(try !isMeasured())
            let other = PhysicalDevice.CacheIdentity(
                vendor: identity.vendor, device: identity.device, driverVersion: identity.driverVersion + 1,
                uuid: identity.uuid)
            #expect(try isMeasured(other))
            #expect(try isMeasured(shaders: "others"))
            #expect(try isMeasured(nil, .float16))
            #expect(try !isMeasured() && !isMeasured(shaders: "others"))

            let names = try fileNames(in: folder)
            #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".tuning") }, "\(names)")
            for name in names { try makeFile("\(folder)/\(name)", Array("0123 quick texels 1x1 64\n".utf8)) }
            #expect(try isMeasured())
            #expect(try !isMeasured())
        }
    }

    @Test("A device that fails while it is tuned is not tried again, unless everything is asked for")
    func failure() throws {
        try withScratchFolder { folder in
            let (target, lost) = (target, lost)
            let failing = FakeTiming { _, variant throws(VulkanError) in
                if variant == target { throw lost }
                return 1
            }
            let error = #expect(throws: VulkanError.self) {
                try failing.tuner(.quick, record(folder)).variants(for: graph, settings)
            }
            #expect(error?.isDeviceLost == true)
            let next = device()
            let nextTuner = try next.tuner(.quick, record(folder))
            let chosen = try nextTuner.variants(for: graph, settings)
            #expect(chosen.count == shapes.count && next.measured.isEmpty)
            #expect(
                nextTuner.summary.text
                    == "quick, 0 of 5 shapes computed faster; left 5 alone, whose measurement did not end before")
            #expect(chosen.allSatisfy { $0.value == .standard(for: $0.key, settings) })
            #expect(try next.tuner(.full, record(folder)).variants(for: graph, settings).values.contains(target))
        }
    }

    @Test("What quick has found stays, and is used, where full runs out of time")
    func outOfTime() throws {
        try withScratchFolder { folder in
            _ = try device().tuner(.quick, record(folder)).variants(for: graph, settings)
            let slow = device(cost: 20)
            let chosen = try slow.tuner(.full, record(folder)).variants(for: graph, settings)
            #expect(chosen.count == shapes.count)
            #expect(chosen.filter { $0.key.kind != .dense }.values.allSatisfy { $0 == target })
            let next = device(2)
            #expect(try next.tuner(.quick, record(folder)).variants(for: graph, settings) == chosen)
            #expect(next.measured.isEmpty)
        }
    }

    @Test("Two processes at once keep what each has found")
    func twoProcesses() throws {
        try withScratchFolder { folder in
            let (first, second) = (record(folder), record(folder))
            let batches = [1, 2].map { PlanSettings(batch: $0, precision: .float32, readPath: .texels) }
            _ = try device().tuner(.quick, first).variants(for: graph, batches[0])
            _ = try device().tuner(.quick, second).variants(for: graph, batches[1])
            for batch in batches {
                let next = device()
                _ = try next.tuner(.quick, record(folder)).variants(for: graph, batch)
                #expect(next.measured.isEmpty)
            }
        }
    }

    @Test("A process that ends while it measures costs one shape; the third time, quick does not try again")
    func ended() throws {
        try withScratchFolder { folder in
            for attempt in 1...3 {
                var record = record(folder)
                record["unfinished\(attempt)"] = .init(variant: target, status: .begun)
                record.save()
                let device = device()
                _ = try device.tuner(.quick, self.record(folder), shaders: "\(attempt)").variants(for: graph, settings)
                #expect(device.measured.isEmpty == (attempt == 3))
            }
            let full = device()
            _ = try full.tuner(.full, record(folder)).variants(for: graph, settings)
            #expect(!full.measured.isEmpty)
        }
    }

    @Test("What cannot be measured is standard, and is tried again the next time")
    func shortages() throws {
        try withScratchFolder { folder in
            let (target, shortage) = (target, shortage)
            // One variant that does not compile, and all layers of one kind without memory.
            let device = FakeTiming { shape throws(VulkanError) in
                if shape.kind == .depthwise { throw shortage }
            } seconds: { _, variant throws(VulkanError) in
                if variant.tile == Tile(4, 1) { throw shortage }
                return variant == target ? 0.5 : 1
            }
            let chosen = try device.tuner(.quick, record(folder)).variants(for: graph, settings)
            for (shape, variant) in chosen {
                #expect(variant == (shape.kind == .depthwise ? .standard(for: shape, settings) : target))
            }
            let next = self.device()
            _ = try next.tuner(.quick, record(folder)).variants(for: graph, settings)
            #expect(Set(next.measured.map(\.shape.kind)) == [.depthwise])
        }
    }
}
