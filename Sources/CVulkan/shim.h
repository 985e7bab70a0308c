// Vulkan, and what Swift cannot import of it: function-like macros and functions that must be looked up.

#ifndef SILHOUETTE_VULKAN_SHIM_H
#define SILHOUETTE_VULKAN_SHIM_H

#include <vulkan/vulkan.h>

static inline uint32_t silhouette_vk_version(uint32_t major, uint32_t minor, uint32_t patch) {
    return VK_MAKE_API_VERSION(0, major, minor, patch);
}

static inline VkResult silhouette_vk_create_messenger(VkInstance instance,
                                                      const VkDebugUtilsMessengerCreateInfoEXT *info,
                                                      VkDebugUtilsMessengerEXT *messenger) {
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT");
    return create ? create(instance, info, NULL, messenger) : VK_ERROR_EXTENSION_NOT_PRESENT;
}

static inline void silhouette_vk_destroy_messenger(VkInstance instance, VkDebugUtilsMessengerEXT messenger) {
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT");
    if (destroy) destroy(instance, messenger, NULL);
}

#endif
