import VulkanCompute

/// The variant that was chosen for a shape, and how.
package struct TunedVariant: Sendable, Hashable {
    package enum Status: String, Sendable {
        /// Measuring began, and never came to an end: the device or the program did first. The variant is the standard one.
        case begun
        case quick, full

        init(_ level: TuningLevel) { self = level == .full ? .full : .quick }

        /// Whether nothing is to be gained from measuring anew. What was begun is only tried again where everything is wanted.
        func suffices(for level: TuningLevel) -> Bool { self == .full || level != .full }
    }

    package var variant: KernelVariant
    package var status: Status

    package init(variant: KernelVariant, status: Status) {
        self.variant = variant
        self.status = status
    }
}

/// Which variants were found to be the fastest, kept between runs in a file for each device and driver beside its compiled
/// shaders.
///
/// A file that is damaged, missing, another driver's or cannot be written only means that shapes are measured again. A line is:
///
///     0123456789abcdef quick texels 2x2 64        hash of shape, precision and shaders; how it was measured; variant
package struct TuningRecord: Sendable {
    private let folder: DeviceCacheFolder?
    private let identity: PhysicalDevice.CacheIdentity
    private var entries: [String: TunedVariant] = [:]
    /// Keys, oldest first.
    private var order: [String] = []
    /// Keys that this process has changed: others keep what another process has found.
    private var changed: Set<String> = []
    private static let entryLimit = 4096

    /// Reads the file of a device and driver.
    ///
    /// - Parameter folder: Where compiled shaders are kept; nil for nowhere.
    package init(folder: String?, identity: PhysicalDevice.CacheIdentity) {
        self.folder = folder.map { DeviceCacheFolder(path: $0, fileExtension: "tuning", fileByteLimit: 1 << 20) }
        self.identity = identity
        let text = String(decoding: self.folder?.data(for: identity) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n").prefix(Self.entryLimit) {
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, let status = TunedVariant.Status(rawValue: String(words[1])),
                let variant = KernelVariant(words[2])
            else { continue }
            let key = String(words[0])
            guard entries.updateValue(TunedVariant(variant: variant, status: status), forKey: key) == nil else {
                continue
            }
            order.append(key)
        }
    }

    /// How many measurements have begun and never come to an end.
    package var unfinishedCount: Int { entries.values.count { $0.status == .begun } }

    package subscript(_ key: String) -> TunedVariant? {
        get { entries[key] }
        set {
            if entries[key] != nil { order.removeAll { $0 == key } }
            entries[key] = newValue
            if newValue != nil { order.append(key) }
            changed.insert(key)
        }
    }

    /// Writes the file, in one step, with what other processes have written since this one has read it.
    package func save() {
        guard let folder else { return }
        var latest = Self(folder: folder.path, identity: identity)
        for key in order where changed.contains(key) { latest[key] = entries[key] }
        for key in changed where entries[key] == nil { latest[key] = nil }
        let lines = latest.order.suffix(Self.entryLimit).compactMap { key in
            latest.entries[key].map { "\(key) \($0.status.rawValue) \($0.variant)\n" }
        }
        folder.store(Array(lines.joined().utf8), for: identity)
    }
}
