import Testing
import VulkanCompute

/// The device that tests run on: the first one, llvmpipe where there is no other.
package enum TestDevice {
    /// Opens it; with validation, the layers' messages are in its instance.
    package static func open(validation: Bool = false, faults: FaultInjector? = nil) throws -> LogicalDevice {
        let instance = try VulkanInstance(validation: validation, faults: faults)
        guard let physical = try instance.physicalDevices().first(where: { $0.obstacle == nil }) else {
            throw VulkanError("vkEnumeratePhysicalDevices", .unavailable("there is no Vulkan device"))
        }
        return try LogicalDevice(physical, instance: instance)
    }

    fileprivate static let obstacle = reason { try open() }
    fileprivate static let validationObstacle = reason { try open(validation: true) }

    /// Why there is none; nil where there is.
    private static func reason(_ body: () throws -> LogicalDevice) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no Vulkan device.
    package static var needsVulkan: Self {
        .enabled(if: TestDevice.obstacle == nil, "\(TestDevice.obstacle ?? "")")
    }

    /// Skips where the Khronos validation layer is not installed.
    package static var needsValidation: Self {
        .enabled(if: TestDevice.validationObstacle == nil, "\(TestDevice.validationObstacle ?? "")")
    }
}
