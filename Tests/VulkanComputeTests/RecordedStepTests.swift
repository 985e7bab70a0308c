import DeviceSupport
import Testing
import VulkanCompute

@Suite("Recorded steps", .needsVulkan)
struct RecordedStepTests {
    @Test("A barrier before the first command, one towards the host after the last, one where bytes conflict")
    func sequence() throws {
        let device = try TestDevice.open()
        let buffers = try (0..<4).map { _ in try Buffer(device, byteCount: 64, .device) }
        func copy(_ from: Int, _ to: Int) -> Command { .copy(from: buffers[from].all, to: buffers[to].all) }
        #expect(RecordedStep.sequence(for: []) == [.deviceBarrier, .hostBarrier])
        #expect(
            RecordedStep.sequence(for: [copy(0, 1)]) == [.deviceBarrier, .command(0), .hostBarrier])
        #expect(
            RecordedStep.sequence(for: [copy(0, 1), copy(2, 3), .timestamp(index: 0), copy(1, 2), copy(2, 0)]) == [
                .deviceBarrier, .command(0), .command(1), .command(2), .deviceBarrier, .command(3), .deviceBarrier,
                .command(4), .hostBarrier,
            ])
    }

    @Test("All of them are recorded, the outer ones too", arguments: [1, 2, 5])
    func recorded(count: Int) throws {
        let faults = FaultInjector()
        let device = try TestDevice.open(faults: faults)
        let buffers = try (0...count).map { _ in try Buffer(device, byteCount: 64, .device) }
        let commands = (0..<count).map { Command.copy(from: buffers[$0].all, to: buffers[$0 + 1].all) }
        let recorded = try CommandBuffer(device, commands)
        #expect(recorded.barrierCount == count - 1)
        #expect(faults.callCounts["vkCmdPipelineBarrier"] == count + 1)
    }
}
