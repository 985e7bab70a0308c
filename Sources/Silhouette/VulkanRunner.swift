import ModelGraph
import Synchronization
import VulkanBackend
import VulkanCompute

/// Runs the network of each frame on a Vulkan device and everything around it on the processor.
final class VulkanRunner: FrameRunner {
    let deviceName: String
    private let device: VulkanCompute.Device
    private let pipeline: Mutex<CPUPipeline>

    init(
        model: Model, options: ImageSegmenterOptions, _ physical: PhysicalDevice, _ instance: VulkanInstance
    ) throws {
        device = try VulkanCompute.Device(physical, instance: instance)
        let backend = try VulkanBackend(device, precision: options.baseOptions.precision)
        deviceName = backend.deviceName
        pipeline = Mutex(try CPUPipeline(model: model, options: options, on: backend))
    }

    func segment(_ image: Image) throws -> Masks { try pipeline.withLock { try $0.segment(image) } }

    func waitUntilIdle() { try? device.waitUntilIdle() }
}
