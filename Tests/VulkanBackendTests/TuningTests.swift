import DeviceSupport
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

@Suite("Tuning on a device", .serialized, .needsVulkan)
struct TuningTests {
    private let graph: Graph
    private let input: Tensor

    init() throws {
        graph = try TuningGraph.make()
        var random = SeededGenerator(seed: 8)
        input = random.tensor(graph.shape(of: graph.inputs[0]), -1...1)
    }

    private func run(_ backend: VulkanBackend) throws -> [UInt32] {
        try backend.compile(graph, batch: 1).run([input])[0].values.map(\.bitPattern)
    }

    @Test(
        "A tuned network gives the same bytes, and the next one needs no measurements",
        arguments: StoragePrecision.allCases)
    func sameBytes(precision: StoragePrecision) throws {
        try withScratchFolder { folder in
            let device = try ValidatedDevice.backend().device
            let expected = try run(ValidatedDevice.backend(precision))
            for level in [TuningLevel.quick, .full, .full] {
                let backend = VulkanBackend(device, precision: precision, cacheFolder: folder, tuning: level)
                #expect(try run(backend) == expected)
                let summary = try #require(backend.tuningSummary)
                #expect(summary.measuredCount + summary.rememberedCount + summary.standardCount == 5)
                #expect(summary.failedCount == 0)
                #expect(summary.seconds < 90)
            }
            try ValidatedDevice.expectSilence()
        }
    }

    @Test("Memory that runs out while tuning leaves the device as it is", arguments: [0, 1, 2, 5, 9])
    func shortage(after: Int) throws {
        let expected = try run(ValidatedDevice.backend())
        let faults = FaultInjector()
        let device = try TestDevice.open(faults: faults)
        faults.inject(
            .init(
                "vkAllocateMemory", after: after, times: 1, result: FaultInjector.Fault.outOfDeviceMemory(at: "").result
            ))
        #expect(try run(VulkanBackend(device, precision: .float32, tuning: .quick)) == expected)
        #expect(faults.injectedCount == 1)
    }

    @Test("A device that is lost while tuning is lost; the next start does without tuning")
    func lost() throws {
        try withScratchFolder { folder in
            let faults = FaultInjector()
            let device = try TestDevice.open(faults: faults)
            faults.inject(.deviceLost(at: "vkQueueSubmit", after: 2))
            let error = #expect(throws: VulkanError.self) {
                try run(VulkanBackend(device, precision: .float32, cacheFolder: folder, tuning: .quick))
            }
            #expect(error?.isDeviceLost == true)
            let next = VulkanBackend(try TestDevice.open(), precision: .float32, cacheFolder: folder, tuning: .quick)
            #expect(try run(next) == run(ValidatedDevice.backend()))
            #expect(next.tuningSummary?.measuredCount == 0)
            #expect(next.tuningSummary?.rememberedCount == 0)
            #expect(next.tuningSummary?.abandonedCount == 5)
        }
    }
}
