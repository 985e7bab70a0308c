import Base
import CVulkan

/// Lets tests make a Vulkan call fail, and see which are made: every call that can fail passes by here, and so do barriers and the end of memory.
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

    private struct State {
        var faults: [Fault]
        var injectedCount = 0
        var callCounts: [String: Int] = [:]
    }

    private let state: Locked<State>

    package init(_ faults: [Fault] = []) { state = Locked(State(faults: faults)) }

    package func inject(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }

    /// Calls that have failed on demand so far.
    package var injectedCount: Int { state.withLock(\.injectedCount) }

    /// How often each call has been asked for so far, failed on demand or made.
    package var callCounts: [String: Int] { state.withLock(\.callCounts) }

    /// Counts a call that cannot fail.
    func note(_ call: StaticString) { state.withLock { $0.callCounts["\(call)", default: 0] += 1 } }

    /// The result that a call is to give instead of being made.
    func result(of call: StaticString) -> VkResult? {
        state.withLock { state in
            state.callCounts["\(call)", default: 0] += 1
            guard let index = state.faults.firstIndex(where: { $0.call == "\(call)" && $0.times > 0 }) else {
                return nil
            }
            if state.faults[index].after > 0 {
                state.faults[index].after -= 1
                return nil
            }
            state.faults[index].times -= 1
            state.injectedCount += 1
            return VkResult(rawValue: state.faults[index].result)
        }
    }
}

extension FaultInjector {
    /// The wait of a submission that goes away.
    ///
    /// It keeps alive what the device works on, so it has a name of its own: no other fault skips it.
    package static let lastWait: StaticString = "vkWaitForFences, the last"
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
