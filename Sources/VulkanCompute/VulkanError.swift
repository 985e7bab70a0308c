import CVulkan

/// A Vulkan call that failed, or something that the device lacks.
package struct VulkanError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, in the terms of the specification.
    package enum Cause: Sendable, Hashable {
        case result(Int32)
        /// There is no Vulkan driver, or no device that fits: the rest of the sentence.
        case unavailable(String)
        /// A limit or a feature of the device is not enough: the rest of the sentence.
        case unsupported(String)
        /// The device did not finish in time.
        case timedOut
    }

    /// The call, as in `vkQueueSubmit`.
    package let call: String
    package let cause: Cause

    package init(_ call: String, _ cause: Cause) {
        self.call = call
        self.cause = cause
    }

    init(_ call: StaticString, _ result: VkResult) {
        self.init("\(call)", .result(result.rawValue))
    }

    /// Whether the device is of no further use: it must be made anew, or left alone.
    package var isDeviceLost: Bool { cause == .result(VK_ERROR_DEVICE_LOST.rawValue) || cause == .timedOut }

    /// Whether more was asked for than the device has room for. It works, and can do less.
    package var isOutOfResources: Bool {
        switch cause {
        case .unsupported: true
        case .result(let code):
            [
                VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_TOO_MANY_OBJECTS,
                VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY, VK_ERROR_MEMORY_MAP_FAILED,
            ].contains(VkResult(rawValue: code))
        case .unavailable, .timedOut: false
        }
    }

    /// One line: what failed and why.
    package var description: String {
        switch cause {
        case .result(let code): "\(call) failed: \(Self.name(of: code))"
        case .unavailable(let reason), .unsupported(let reason): reason
        case .timedOut: "\(call): the device did not finish in time"
        }
    }

    private static func name(of code: Int32) -> String {
        switch VkResult(rawValue: code) {
        case VK_ERROR_OUT_OF_HOST_MEMORY: "out of host memory"
        case VK_ERROR_OUT_OF_DEVICE_MEMORY: "out of device memory"
        case VK_ERROR_INITIALIZATION_FAILED: "initialisation failed"
        case VK_ERROR_DEVICE_LOST: "the device was lost"
        case VK_ERROR_MEMORY_MAP_FAILED: "memory could not be mapped"
        case VK_ERROR_LAYER_NOT_PRESENT: "a layer is not installed"
        case VK_ERROR_EXTENSION_NOT_PRESENT: "an extension is not there"
        case VK_ERROR_FEATURE_NOT_PRESENT: "a feature is not there"
        case VK_ERROR_INCOMPATIBLE_DRIVER:
            "no Vulkan driver is installed (Debian has mesa-vulkan-drivers; some cards need their maker's)"
        case VK_ERROR_TOO_MANY_OBJECTS: "too many objects"
        case VK_ERROR_FRAGMENTED_POOL, VK_ERROR_OUT_OF_POOL_MEMORY: "a descriptor pool is exhausted"
        case VK_TIMEOUT: "timed out"
        default: "result \(code)"
        }
    }
}
