import Base
import CVulkan
import Glibc

/// The connection to the Vulkan loader: finds devices, and hears what the validation layers say.
package final class VulkanInstance: Sendable {
    nonisolated(unsafe) let handle: VkInstance
    nonisolated(unsafe) private let messenger: VkDebugUtilsMessengerEXT?
    private let messages: MessageLog
    let faults: FaultInjector?

    /// - Parameter validation: Whether to load the Khronos validation layer, synchronisation validation included.
    /// - Throws: `VulkanError` when there is no loader, no driver, or no validation layer though it was asked for.
    package convenience init(validation: Bool = false) throws(VulkanError) {
        try self.init(validation: validation, faults: nil)
    }

    package init(validation: Bool, faults: FaultInjector?) throws(VulkanError) {
        self.faults = faults
        let messages = MessageLog()
        self.messages = messages

        var application = VkApplicationInfo()
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO
        application.apiVersion = silhouette_vk_version(1, 1, 0)

        let layers = CStrings(validation ? ["VK_LAYER_KHRONOS_validation"] : [])
        let extensions = CStrings(validation ? ["VK_EXT_debug_utils", "VK_EXT_validation_features"] : [])
        let synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT

        var made: VkInstance?
        try withUnsafePointer(to: application) { application throws(VulkanError) in
            try withUnsafePointer(to: synchronization) { enabled throws(VulkanError) in
                var features = VkValidationFeaturesEXT()
                features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT
                features.enabledValidationFeatureCount = 1
                features.pEnabledValidationFeatures = enabled
                try withUnsafePointer(to: features) { features throws(VulkanError) in
                    var info = VkInstanceCreateInfo()
                    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
                    info.pNext = validation ? UnsafeRawPointer(features) : nil
                    info.pApplicationInfo = application
                    info.enabledLayerCount = UInt32(layers.count)
                    info.ppEnabledLayerNames = layers.pointer
                    info.enabledExtensionCount = UInt32(extensions.count)
                    info.ppEnabledExtensionNames = extensions.pointer
                    try call("vkCreateInstance", faults) { vkCreateInstance(&info, nil, &made) }
                }
            }
        }
        guard let made else { throw VulkanError("vkCreateInstance", .unavailable("there is no Vulkan driver")) }
        handle = made

        guard validation else {
            messenger = nil
            return
        }
        var info = VkDebugUtilsMessengerCreateInfoEXT()
        info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT
        info.messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT.rawValue
            | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT.rawValue
        info.messageType =
            VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT.rawValue
            | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT.rawValue
            | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT.rawValue
        // The log outlives the messenger: both belong to this object.
        info.pUserData = Unmanaged.passUnretained(messages).toOpaque()
        info.pfnUserCallback = { _, _, data, log in
            if let text = data?.pointee.pMessage, let log {
                Unmanaged<MessageLog>.fromOpaque(log).takeUnretainedValue().append(String(cString: text))
            }
            return 0
        }
        var madeMessenger: VkDebugUtilsMessengerEXT?
        let result = silhouette_vk_create_messenger(made, &info, &madeMessenger)
        messenger = madeMessenger
        if result != VK_SUCCESS { throw VulkanError("vkCreateDebugUtilsMessengerEXT", result) }
    }

    deinit {
        if let messenger { silhouette_vk_destroy_messenger(handle, messenger) }
        vkDestroyInstance(handle, nil)
    }

    /// What the validation layers have said so far, oldest first.
    package var validationMessages: [String] { messages.all }

    /// Every device, in the loader's order, whether it can be used or not.
    package func physicalDevices() throws(VulkanError) -> [PhysicalDevice] {
        var count: UInt32 = 0
        try call("vkEnumeratePhysicalDevices", faults, accepting: VK_INCOMPLETE) {
            vkEnumeratePhysicalDevices(handle, &count, nil)
        }
        var handles = [VkPhysicalDevice?](repeating: nil, count: Int(count))
        try call("vkEnumeratePhysicalDevices", faults, accepting: VK_INCOMPLETE) {
            vkEnumeratePhysicalDevices(handle, &count, &handles)
        }
        return handles.prefix(Int(count)).compactMap(\.self).enumerated().map {
            PhysicalDevice(handle: $0.element, index: $0.offset, instance: self)
        }
    }
}

/// Messages of the validation layers, which arrive on any thread.
final class MessageLog: Sendable {
    private let lines = Locked<[String]>([])

    func append(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock(\.self) }
}

/// An array of C strings that lives as long as the object.
final class CStrings {
    let count: Int
    let pointer: UnsafePointer<UnsafePointer<CChar>?>
    private let strings: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ values: [String]) {
        count = values.count
        strings = .allocate(capacity: max(1, values.count))
        for (index, value) in values.enumerated() {
            strings.advanced(by: index).initialize(to: UnsafePointer(strdup(value)))
        }
        pointer = UnsafePointer(strings)
    }

    deinit {
        for index in 0..<count { free(UnsafeMutablePointer(mutating: strings[index])) }
        strings.deallocate()
    }
}
