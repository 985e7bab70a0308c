import DeviceSupport
import Foundation
import Glibc
import Silhouette
import TestSupport
import Testing

@Suite("Endurance of a device", .serialized, .needsVulkan, .takesMinutes, .childProcess)
struct EnduranceTests {
    private func engine(_ warnings: Warnings) throws -> any SegmentationEngine {
        try EngineChoice(model: VulkanTests.model, options: VulkanTests.options(warnings).baseOptions).engine
    }

    @Test("A thousand frames take no more memory than the first fifty, and give the same bytes")
    func frames() throws {
        let warnings = Warnings()
        let engine = try engine(warnings)
        // So large that one mask left behind by each frame would be ten times the bound.
        let picture = try VulkanTests.picture(width: 320, height: 240)
        let first = try engine.segment(picture)
        for _ in 0..<50 { _ = try engine.segment(picture) }
        let before = residentByteCount
        for _ in 0..<1000 {
            let masks = try engine.segment(picture)
            guard masks.categories == first.categories else {
                Issue.record("a repeated frame has other masks")
                return
            }
        }
        let growth = residentByteCount - before
        print("memory after 1,000 frames: \(growth / 1024) KiB more than after 50")
        #expect(growth < (8 << 20) * testMemoryFactor)
        #expect(warnings.all.isEmpty)
    }

    @Test("Two hundred changes of size take no more memory than the first twenty")
    func sizes() throws {
        let warnings = Warnings()
        let engine = try engine(warnings)
        func segment(_ index: Int) throws {
            // So large that one picture left behind by each would be four times the bound.
            let picture = try VulkanTests.picture(width: 160 + index % 7 * 64, height: 160 + index % 5 * 96)
            _ = try engine.segment(picture)
        }
        for index in 0..<35 { try segment(index) }
        let before = residentByteCount
        for index in 35..<235 { try segment(index) }
        let growth = residentByteCount - before
        print("memory after 200 changes of size: \(growth / 1024) KiB more than after 35")
        #expect(growth < (24 << 20) * testMemoryFactor)
        #expect(warnings.all.isEmpty)
    }

    @Test("Twenty engines, one after another, each with and without a fault, leave nothing behind")
    func engines() throws {
        func run(_ index: Int) throws {
            let warnings = Warnings()
            let engine = try EngineChoice(
                model: VulkanTests.model, options: VulkanTests.options(warnings).baseOptions,
                faults: .init(index % 2 == 0 ? [] : [.deviceLost(at: "vkQueueSubmit", after: 3)])
            ).engine
            for _ in 0..<3 { _ = try engine.segment(VulkanTests.picture()) }
            #expect(warnings.all.count == index % 2)
        }
        for index in 0..<4 { try run(index) }
        let before = residentByteCount
        for index in 4..<24 { try run(index) }
        let growth = residentByteCount - before
        print("memory after 20 engines: \(growth / 1024) KiB more than after 4")
        #expect(growth < (64 << 20) * testMemoryFactor)
    }
}
