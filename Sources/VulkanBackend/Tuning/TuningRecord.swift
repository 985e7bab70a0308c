import VulkanCompute

/// Which variants were found to be the fastest, kept between runs in a file for each device and driver beside its compiled
/// shaders.
///
/// A file that is damaged, missing, another driver's or cannot be written only means that shapes are measured again. A line is:
///
///     0123456789abcdef quick texels 2x2 64        hash of shape, precision and shaders; how it was measured; variant
package struct TuningRecord: Sendable {
    /// How a variant was chosen.
    package enum Origin: String, Sendable {
        /// Measuring began, and never came to an end: the device or the program did first. The variant is the standard one.
        case begun
        case quick, full

        init(_ level: TuningLevel) { self = level == .full ? .full : .quick }

        /// Whether nothing is to be gained from measuring anew. What was begun is only tried again where everything is wanted.
        func suffices(for level: TuningLevel) -> Bool { self == .full || level != .full }
    }

    package struct Entry: Sendable, Hashable {
        package var variant: Variant
        package var origin: Origin
    }

    private let folder: PipelineCacheFolder?
    private let identity: PhysicalDevice.CacheIdentity
    private var entries: [String: Entry] = [:]
    /// Keys, oldest first.
    private var order: [String] = []
    private static let entryLimit = 4096

    /// Reads the file of a device and driver.
    ///
    /// - Parameter folder: Where compiled shaders are kept; nil for nowhere.
    package init(folder: String?, identity: PhysicalDevice.CacheIdentity) {
        self.folder = folder.map { PipelineCacheFolder(path: $0, ending: ".tuning", fileByteLimit: 1 << 20) }
        self.identity = identity
        let text = String(decoding: self.folder?.data(for: identity) ?? [], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, let origin = Origin(rawValue: String(words[1])), let variant = Variant(words[2])
            else { continue }
            self[String(words[0])] = Entry(variant: variant, origin: origin)
        }
    }

    package subscript(_ key: String) -> Entry? {
        get { entries[key] }
        set {
            if entries[key] != nil { order.removeAll { $0 == key } }
            entries[key] = newValue
            if newValue != nil { order.append(key) }
        }
    }

    /// Writes the file, in one step.
    package func keep() {
        guard let folder else { return }
        let lines = order.suffix(Self.entryLimit).compactMap { key in
            entries[key].map { "\(key) \($0.origin.rawValue) \($0.variant)\n" }
        }
        folder.store(Array(lines.joined().utf8), for: identity)
    }
}
