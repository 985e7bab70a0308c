import ModelGraph
import Silhouette
import VulkanBackend
import VulkanCompute

/// The Vulkan device that a benchmark was asked to run on, or none.
struct BenchTarget {
    /// Nil: the processor.
    private let vulkan: (physical: PhysicalDevice, instance: VulkanInstance)?

    /// Finds the device.
    ///
    /// - Throws: `UsageError` where it cannot compute as asked.
    init(_ settings: BenchSettings) throws {
        let choice = try DeviceChoice(settings.device)
        switch choice.outcome {
        case .processor:
            vulkan = nil
            try settings.precision.check(on: .cpu)
        case .vulkan(let physical, let instance): vulkan = (physical, instance)
        }
    }

    /// The device's name; nil for the processor.
    var name: String? { vulkan?.physical.name }

    /// The device's driver; nil for the processor.
    var driver: String? { vulkan?.physical.driver }

    /// Opens the device; nil for the processor.
    func makeBackend(_ precision: StoragePrecision) throws -> VulkanBackend? {
        guard let vulkan else { return nil }
        return try VulkanBackend(Device(vulkan.physical, instance: vulkan.instance), precision: precision)
    }
}
