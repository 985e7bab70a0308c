import VulkanCompute

/// How activations are stored on a device. All arithmetic is float32.
public enum StoragePrecision: String, Sendable, CaseIterable {
    /// 32 bits a value.
    case float32 = "fp32"
    /// 16 bits a value, weights rounded to float16 too.
    case float16 = "fp16"

    /// Bytes of a block of 4 channels at one pixel.
    var blockByteCount: Int { self == .float32 ? 16 : 8 }

    package var texelFormat: TexelFormat { self == .float32 ? .float32x4 : .float16x4 }
}
