import Glibc
import VulkanCompute

/// The device that a request leads to, and why.
package struct DeviceChoice {
    /// What was chosen.
    package enum Outcome {
        /// The processor.
        case processor
        /// A Vulkan device, not opened yet.
        case vulkan(PhysicalDevice, VulkanInstance)
    }

    /// What was chosen.
    package let outcome: Outcome
    /// Why, as the end of a sentence.
    package let reason: String

    /// Chooses.
    ///
    /// - Parameter faults: Makes Vulkan calls fail, for tests.
    /// - Throws: `unusableDevice` where a Vulkan device was asked for that does not exist.
    package init(_ device: Device, faults: FaultInjector? = nil) throws(ImageSegmenterError) {
        switch device {
        case .cpu: self.init(.processor, "as asked for")
        case .automatic:
            guard GraphicsNodes.exist else {
                self.init(.processor, "auto: no graphics processor was found")
                return
            }
            do throws(VulkanError) {
                self = try Self.find(.bestRealDevice, faults, explanation: "auto: ")
            } catch {
                self.init(.processor, "auto: \(error)")
            }
        case .vulkan(let request):
            do throws(VulkanError) {
                self = try Self.find(request, faults, explanation: "")
            } catch {
                throw .unusableDevice("\(error)")
            }
        }
    }

    private init(_ outcome: Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }

    private static func find(_ request: DeviceRequest, _ faults: FaultInjector?, explanation: String)
        throws(VulkanError) -> DeviceChoice
    {
        let instance = try VulkanInstance(validation: false, faults: faults)
        let (device, reason) = try request.choose(among: instance.physicalDevices())
        return DeviceChoice(.vulkan(device, instance), explanation + reason)
    }
}

/// What Linux shows of graphics processors.
///
/// Loading Vulkan's drivers takes 50 ms and 76 MiB: not where there can be no device.
enum GraphicsNodes {
    /// Whether there is anything that a driver of a real device could open.
    static var exist: Bool {
        let names = ["/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0", "/dev/pvr_sync"]
        return names.contains { access($0, F_OK) == 0 }
    }
}
