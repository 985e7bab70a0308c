import DeviceSupport
import Silhouette
import Testing
import VulkanCompute

@Suite("Frames after the first of a size", .serialized, .needsVulkan)
struct FrameCallTests {
    /// The calls that a piece of work makes of those that can fail: every one that makes, allocates, records or waits.
    private func calls(_ counter: FaultInjector, _ work: () throws -> Void) rethrows -> [String: Int] {
        let before = counter.callCounts
        try work()
        return counter.callCounts.merging(before, uniquingKeysWith: -).filter { $0.value != 0 }
    }

    @Test("Each is one submission and one wait: nothing is made, allocated or recorded")
    func calls() throws {
        let counter = FaultInjector()
        var options = VulkanTests.options()
        options.shouldOutputConfidenceMasks = true
        options.shouldOutputScores = true
        let engine = try EngineChoice(model: VulkanTests.model, options: options.baseOptions, faults: counter).engine
        let pictures = try [(65, 65), (90, 41)].map { try VulkanTests.picture(width: $0, height: $1) }
        for picture in pictures {
            let first = try calls(counter) { _ = try engine.segment(picture, options) }
            #expect(first["vkAllocateMemory", default: 0] > 0, "the counter counts nothing")
        }
        // Both sizes are kept.
        let later = try calls(counter) { for index in 0..<6 { _ = try engine.segment(pictures[index % 2], options) } }
        #expect(later == ["vkResetFences": 6, "vkQueueSubmit": 6, "vkWaitForFences": 6])
        #expect(engine.deviceFailure == nil)
    }
}
