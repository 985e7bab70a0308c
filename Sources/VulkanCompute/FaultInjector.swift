import CVulkan
import Synchronization

/// Lets tests make a Vulkan call fail: every call that can fail passes by here.
///
/// Drivers fail rarely and never on demand, so the paths behind a failure are only known to work where they have been walked.
package final class FaultInjector: Sendable {
    /// A call that is to fail.
    package struct Fault: Sendable {
        /// As in `vkQueueSubmit`.
        package var call: String
        /// How many of these calls succeed before.
        package var after: Int
        /// How many fail then.
        package var times: Int
        /// What they return, as in `VK_ERROR_DEVICE_LOST.rawValue`.
        package var result: Int32

        package init(_ call: String, after: Int = 0, times: Int = 1, result: Int32) {
            self.call = call
            self.after = after
            self.times = times
            self.result = result
        }
    }

    private let faults: Mutex<[Fault]>

    package init(_ faults: [Fault] = []) { self.faults = Mutex(faults) }

    /// Adds a fault.
    package func inject(_ fault: Fault) { faults.withLock { $0.append(fault) } }

    /// The result that a call is to give instead of being made.
    func result(of call: StaticString) -> VkResult? {
        faults.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.call == "\(call)" && $0.times > 0 }) else { return nil }
            if faults[index].after > 0 {
                faults[index].after -= 1
                return nil
            }
            faults[index].times -= 1
            return VkResult(rawValue: faults[index].result)
        }
    }
}

/// Makes a Vulkan call and throws unless it succeeds.
@discardableResult
func call(
    _ name: StaticString, _ faults: FaultInjector?, accepting: VkResult = VK_SUCCESS, _ body: () -> VkResult
) throws(VulkanError) -> VkResult {
    let result = faults?.result(of: name) ?? body()
    guard result == VK_SUCCESS || result == accepting else { throw VulkanError(name, result) }
    return result
}
