import ModelGraph
import VulkanBackend
import VulkanCompute

/// The engine for a device that was asked for, and why it is this one.
package struct EngineChoice {
    /// Runs frames.
    package let engine: any SegmentationEngine
    /// The device as `-d` takes it: `cpu`, `vulkan:0`.
    package let deviceID: String
    /// Why it runs on what it does, as the end of a sentence.
    package let reason: String

    /// Chooses and prepares a device.
    ///
    /// A Vulkan device that was asked for and does not exist is an error. One that exists and fails is replaced by the
    /// processor, with a warning.
    ///
    /// - Parameters:
    ///   - device: The choice that the options lead to, where it has been made. Nil: it is made here.
    ///   - faults: Makes Vulkan calls fail, for tests.
    ///   - shaders: Others than the project's, for tests.
    package init(
        model: Model, options: BaseOptions, on device: DeviceChoice? = nil, faults: FaultInjector? = nil,
        shaders: ShaderLibrary = .shared
    ) throws(ImageSegmenterError) {
        let choice = if let device { device } else { try DeviceChoice(options.device, faults: faults) }
        reason = choice.reason
        switch choice.outcome {
        case .processor:
            deviceID = "cpu"
            engine = try CPUEngine(model: model, options: options)
        case .vulkan(let physical, let instance):
            deviceID = "vulkan:\(physical.index)"
            engine = try VulkanEngine(
                name: physical.name,
                start: { try VulkanRunner.start(model, options, on: physical, of: instance, shaders: shaders) },
                substitute: { () throws(ImageSegmenterError) in try CPUEngine(model: model, options: options) },
                warn: options.warningHandler)
        }
    }
}
