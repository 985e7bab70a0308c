import VulkanBackend
import VulkanCompute

/// Which Vulkan device is meant: the best, or one by its index or name.
public typealias VulkanDevice = DeviceRequest

/// How the activations of a network are stored on a Vulkan device. The processor always computes in float32.
public typealias Precision = StoragePrecision

/// How much time goes into finding the fastest variants of a Vulkan device's shaders. Results are the same, byte for byte.
public typealias Tuning = TuningLevel

/// What a network runs on.
public enum Device: Hashable, Sendable {
    /// The best real graphics processor (discrete before integrated before virtual), else the processor. A Vulkan driver that
    /// is software is only used when it is asked for.
    case automatic
    /// The processor. No Vulkan driver is loaded.
    case cpu
    /// A Vulkan device.
    case vulkan(VulkanDevice)

    /// Reads `auto`, `cpu`, `vulkan`, `vulkan:INDEX` or `vulkan:NAME`; nil for anything else.
    public init?(_ text: String) {
        switch text {
        case "auto": self = .automatic
        case "cpu": self = .cpu
        case "vulkan": self = .vulkan(.best)
        default:
            guard text.hasPrefix("vulkan:") else { return nil }
            let name = String(text.dropFirst("vulkan:".count))
            guard !name.isEmpty else { return nil }
            self = .vulkan(name.allSatisfy { $0.isASCII && $0.isNumber } ? .index(Int(name) ?? .max) : .name(name))
        }
    }
}
