import Testing
import VulkanCompute

/// The device that tests run on: the first one, llvmpipe where there is no other.
enum TestDevice {
    static func open(validation: Bool = false, faults: FaultInjector? = nil) throws -> Device {
        let instance = try VulkanInstance(validation: validation, faults: faults)
        guard let physical = try instance.physicalDevices().first(where: { $0.obstacle == nil }) else {
            throw VulkanError("vkEnumeratePhysicalDevices", .unavailable("there is no Vulkan device"))
        }
        return try Device(physical, instance: instance)
    }

    /// Why there is none; nil where there is.
    static let obstacle: String? = {
        do {
            _ = try open()
            return nil
        } catch {
            return "\(error)"
        }
    }()
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no Vulkan device.
    static var needsVulkan: Self {
        .enabled(if: TestDevice.obstacle == nil, "\(TestDevice.obstacle ?? "")")
    }
}
