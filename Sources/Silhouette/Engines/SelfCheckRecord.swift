import Base
import Glibc
import Imaging
import ModelGraph
import VulkanBackend
import VulkanCompute

/// Remembers which self-checks have been passed, in this process and in a file beside the compiled shaders.
///
/// The file has a line of 16 hexadecimal digits for each. One that is damaged, missing or cannot be written only means that a
/// check is run again.
package struct SelfCheckRecord {
    private static let passedHere = Locked<Set<String>>([])
    private static let lineLimit = 128

    private let path: String?
    private let key: String

    /// - Parameters:
    ///   - folder: Where compiled shaders are kept; nil for nowhere.
    ///   - shaders: The digest of the shaders.
    package init(
        folder: String?, model: Model, identity: PhysicalDevice.CacheIdentity, precision: StoragePrecision,
        shaders: String
    ) {
        path = folder.map { $0 + "/self-checks.txt" }
        var hash = FNV1a()
        hash.add(
            "\(identity.vendor) \(identity.device) \(identity.driverVersion) \(identity.uuid) \(precision) \(shaders)")
        // The kernels in use depend on the layers and their shapes. Tuning may choose others later, but only such that it has seen
        // give the same bytes.
        hash.add(ModelSummary(model).layerTable)
        hash.add("\(model.input.shape) \(model.outputKind)")
        // Another build may run the same shaders on other memory.
        var program = stat()
        if stat("/proc/self/exe", &program) == 0 { hash.add("\(program.st_size) \(program.st_mtim.tv_sec)") }
        key = hash.digits
    }

    /// Whether the check has been passed before.
    package var isPassed: Bool { Self.passedHere.withLock { $0.contains(key) } || lines.contains(key) }

    /// Remembers that it has been.
    package func notePassed() {
        _ = Self.passedHere.withLock { $0.insert(key) }
        guard let path else { return }
        // What has the name may be a pipe: opening one to write waits for a reader. Or a link, and where that leads is not ours.
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return }
        let text = (lines.suffix(Self.lineLimit - 1) + [key]).map { $0 + "\n" }.joined()
        try? OutputFile.write(Array(text.utf8), to: path)
    }

    private var lines: [String] {
        guard let path else { return [] }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.lineLimit * 17)
        let count = read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return text.split(separator: "\n").map(String.init).filter { $0.count == 16 && $0.allSatisfy(\.isHexDigit) }
    }
}
