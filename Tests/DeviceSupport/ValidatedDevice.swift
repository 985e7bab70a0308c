import Testing
import VulkanBackend
import VulkanCompute

/// A device that the tests of a process share; the validation layers listen where they are installed.
package enum ValidatedDevice {
    private static let shared = Result { try open() }

    private static func open() throws -> LogicalDevice {
        do { return try TestDevice.open(validation: true) } catch { return try TestDevice.open() }
    }

    /// A backend of its own for each test, on one device.
    package static func backend(_ precision: StoragePrecision = .float32, readPath: ReadPath? = nil) throws
        -> VulkanBackend
    {
        VulkanBackend(try shared.get(), precision: precision, readPath: readPath, chooser: nil)
    }

    /// Records an issue for everything that the validation layers have said.
    package static func expectSilence() throws {
        for message in try shared.get().instance.validationMessages.prefix(5) { Issue.record("\(message)") }
    }
}
