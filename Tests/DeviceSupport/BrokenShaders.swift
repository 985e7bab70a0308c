import TestSupport
import VulkanBackend
import VulkanCompute

extension ShaderLibrary {
    /// The project's shaders with every variant of one broken.
    ///
    /// - Parameter isBroken: Told the variant, as in `FLOAT16=0 READ_PATH=2 TILE=4x2`.
    package static func breaking(_ shader: String, where isBroken: (String) -> Bool = { _ in true }) -> ShaderLibrary {
        var library = shared
        for name in shared.names {
            let words = name.split(separator: " ", maxSplits: 1)
            guard words[0] == shader, isBroken(words.count > 1 ? String(words[1]) : "") else { continue }
            library = library.replacing(name, with: SPIRV.breaking(shared.code(name)))
        }
        return library
    }
}

extension FaultInjector {
    /// Pieces of memory of the device that are held now.
    package var allocationCount: Int {
        let counts = callCounts
        return counts["vkAllocateMemory", default: 0] - counts["vkFreeMemory", default: 0] - injectedCount
    }
}
