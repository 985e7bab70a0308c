import CPUBackend
import VulkanBackend
import VulkanCompute

/// What the command line of `silhouette devices` asks for.
package struct DevicesSettings: Sendable {
    package var printsJSON = false

    package init() {}
}

extension Subcommand<DevicesSettings> {
    /// `silhouette devices`.
    package static let devices = Subcommand(
        name: "devices",
        abstract: "list what networks can run on",
        operands: "",
        introduction: """
            Lists the processor and every Vulkan device: what it is, what of it matters here, how shaders would use it, \
            and why -d auto picks it or does not. What is named first is what -d takes.
            """,
        details: "",
        options: [.flag("json", nil, "Print one JSON object.", \.printsJSON)],
        addOperand: { _, operand throws(UsageError) in throw UsageError("takes no operand: '\(operand)'") },
        check: { _ in })
}

/// Runs `silhouette devices`.
func listDevices(_ settings: DevicesSettings) throws -> ExitCode {
    let processor = try CPUBackend()
    var report = DeviceReport(
        instructionSet: processor.instructionSet.description, threads: processor.threadCount, vulkanProblem: nil,
        entries: [])
    do throws(VulkanError) {
        let devices = try VulkanInstance().physicalDevices()
        if devices.isEmpty { report.vulkanProblem = "the loader knows no device; \(driverAdvice)" }
        let picked = try? DeviceRequest.bestRealDevice.choose(among: devices)
        report.entries = devices.map { DeviceReport.Entry($0, picked: picked) }
    } catch {
        report.vulkanProblem = "\(error); \(driverAdvice)"
    }
    Console.print(settings.printsJSON ? report.json : report.text)
    return .success
}

private let driverAdvice = "install the card's driver, or mesa-vulkan-drivers"

extension DeviceReport.Entry {
    fileprivate init(_ device: PhysicalDevice, picked: (device: PhysicalDevice, reason: String)?) {
        let limits = device.limits
        let isPicked = device.index == picked?.device.index
        let reason: String =
            if let picked, isPicked {
                picked.reason
            } else if device.obstacle != nil {
                "it cannot be used"
            } else if device.kind == .software {
                "software is only used when it is named"
            } else {
                "vulkan:\(picked?.device.index ?? 0) comes first"
            }
        self.init(
            index: device.index, name: device.name, kind: device.kind.rawValue, driver: device.driver,
            apiVersion: device.apiVersion.description, memoryByteCount: device.memoryByteCount,
            access: VulkanBackend.readPathDescription(for: limits), obstacle: device.obstacle, isPicked: isPicked,
            reason: reason,
            limits: [
                ("storage_buffer_bytes", limits.storageBufferRange),
                ("uniform_buffer_bytes", limits.uniformBufferRange),
                ("uniform_buffers", limits.uniformBuffersPerStage), ("texel_elements", limits.texelBufferElements),
                ("workgroup_invocations", limits.workgroupInvocations),
                ("shared_memory_bytes", limits.sharedMemoryByteCount),
                ("subgroup_size", limits.subgroupSize),
            ], timestampPeriod: device.hasTimestamps ? Double(limits.timestampPeriod) : nil)
    }
}
