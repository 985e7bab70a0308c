import VulkanCompute

/// What is verified.
package enum VerifiedDevice: Sendable, Hashable {
    /// The processor's fastest instructions, against plain ones.
    case cpu
    /// A Vulkan device.
    case vulkan(DeviceRequest)

    /// Reads `cpu`, `vulkan`, `vulkan:INDEX` or `vulkan:NAME`.
    package init?(_ text: String) {
        switch text {
        case "cpu": self = .cpu
        case "vulkan": self = .vulkan(.best)
        default:
            guard text.hasPrefix("vulkan:"), text.count > "vulkan:".count else { return nil }
            let name = String(text.dropFirst("vulkan:".count))
            self = .vulkan(Int(name).map(DeviceRequest.index) ?? .name(name))
        }
    }
}
