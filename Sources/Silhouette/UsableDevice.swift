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

    /// The processor, and every Vulkan device that can be used.
    ///
    /// - Parameter threads: Threads of the processor's path.
    package static func all(threads: Int?) -> [UsableDevice] {
        var devices: [UsableDevice] = []
        if let processor = try? CPUBackend(threads: threads) {
            devices.append(UsableDevice(id: "cpu", name: processor.deviceName))
        }
        let found = (try? VulkanInstance(validation: false).physicalDevices()) ?? []
        return devices
            + found.filter { $0.obstacle == nil }.map { UsableDevice(id: "vulkan:\($0.index)", name: $0.name) }
    }
}
