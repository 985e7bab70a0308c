/// Bounds on what a model may ask for: products of sizes cannot overflow, and memory is bounded before it is taken.
package enum ModelLimits {
    /// Rows or columns of a map.
    package static let side = 16_384
    package static let channels = 65_536
    /// Values of one tensor: 1 GiB of float32.
    package static let elements = 1 << 28
    /// Rows or columns of a kernel; also strides, dilations and paddings.
    package static let window = 4_096

    /// Bytes that a model may take, its file among them, where nothing else is said (`ModelMemory`). The largest DeepLabV3 in use,
    /// on ResNet-101, has a file of 244 MB.
    package static let memoryByteCount = 1 << 30
    /// What may be said: far above every network of this family, far below a server's memory.
    package static let mostMemoryByteCount = 8 << 30
    /// Bytes of all grouped convolutions, which a device stores as dense ones.
    package static let groupedByteCount = 2 << 30
    package static let headerByteCount = 16 << 20
    package static let layers = 4_096
    package static let storedTensors = 16_384
    /// Bytes, as float32, of all tensors that are alive at one layer.
    package static let liveByteCount = 4 << 30
    /// Multiply-accumulate operations for one picture, and what pooling costs in them: some minutes of a large machine.
    package static let work = 1 << 46
    /// UTF-8 bytes of a name.
    package static let nameByteCount = 512
}
