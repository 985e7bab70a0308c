import CVulkan
import VulkanCompute

extension FaultInjector {
    /// What a driver gives for what it cannot make.
    package static let initializationFailed = VK_ERROR_INITIALIZATION_FAILED.rawValue
}

extension FaultInjector.Fault {
    package static func deviceLost(at call: String, after: Int = 0) -> Self {
        Self(call, after: after, times: .max, result: VK_ERROR_DEVICE_LOST.rawValue)
    }

    package static func outOfDeviceMemory(at call: String, after: Int = 0) -> Self {
        Self(call, after: after, times: .max, result: VK_ERROR_OUT_OF_DEVICE_MEMORY.rawValue)
    }

    package static func outOfHostMemory(at call: String, after: Int = 0) -> Self {
        Self(call, after: after, times: .max, result: VK_ERROR_OUT_OF_HOST_MEMORY.rawValue)
    }

    /// A fence is not signalled in time.
    package static func timeOut(after: Int = 0) -> Self {
        Self("vkWaitForFences", after: after, times: .max, result: VK_TIMEOUT.rawValue)
    }

    /// A device that nobody has waited for does not finish.
    package static var hang: Self { Self("\(FaultInjector.lastWait)", times: .max, result: VK_TIMEOUT.rawValue) }
}
