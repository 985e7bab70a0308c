import CPUBackend
import VulkanCompute

/// A device that networks can run on.
package struct UsableDevice: Sendable, Equatable {
    /// What `-d` takes: `cpu`, `vulkan:0`.
    package let id: String
    /// What people call it.
    package let name: String

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// The processor, and every Vulkan device that can be used. Vulkan's drivers are loaded only where `device` is one of theirs,
    /// or there is a graphics processor.
    ///
    /// - Parameters:
    ///   - device: What is used already.
    ///   - threads: Threads of the processor's path.
    package static func all(besides device: Device, threads: Int?) -> [UsableDevice] {
        var devices: [UsableDevice] = []
        if let processor = try? CPUBackend(threads: threads) {
            devices.append(UsableDevice(id: "cpu", name: processor.deviceName))
        }
        let isVulkan = if case .vulkan = device { true } else { GraphicsNodes.exist }
        guard isVulkan else { return devices }
        let found = (try? VulkanInstance(validation: false).physicalDevices()) ?? []
        return devices
            + found.filter { $0.obstacle == nil }.map { UsableDevice(id: "vulkan:\($0.index)", name: $0.name) }
    }
}
