import ModelGraph
import Silhouette
import VulkanBackend
import VulkanCompute

/// The Vulkan device that a benchmark was asked to run on, or none.
struct BenchTarget {
    private let vulkan: (physical: PhysicalDevice, instance: VulkanInstance)?

    /// Finds the device.
    ///
    /// - Throws: `UsageError` where it cannot compute as asked.
    init(_ settings: BenchSettings) throws {
        let choice = try DeviceChoice(settings.device)
        switch choice.outcome {
        case .processor:
            vulkan = nil
            for precision in settings.precisions { try precision.check(on: .cpu) }
        case .vulkan(let physical, let instance): vulkan = (physical, instance)
        }
    }

    /// The device; nil for the processor.
    var physical: PhysicalDevice? { vulkan?.physical }

    /// Opens the device; nil for the processor.
    ///
    /// Compiled shaders of earlier runs are only looked at where there is tuning, whose results lie beside them.
    func makeBackend(_ precision: StoragePrecision, _ tuning: Tuning?) throws -> VulkanBackend? {
        guard let vulkan else { return nil }
        let tuning = tuning ?? .standard(for: vulkan.physical.kind)
        return try VulkanBackend(
            LogicalDevice(vulkan.physical, instance: vulkan.instance), precision: precision,
            cacheFolder: tuning == .off ? nil : BaseOptions().shaderCacheFolder, tuning: tuning)
    }
}
