/// Which Vulkan device is meant.
public enum DeviceRequest: Hashable, Sendable {
    /// The best real graphics processor; never one that is software.
    case bestRealDevice
    /// The best of all, software where there is nothing else.
    case best
    /// The device at a position of the loader's list.
    case index(Int)
    /// The device whose name contains these letters, in any case.
    case name(String)
}

/// What must be known of a device to choose it.
package protocol DeviceCandidate {
    /// Position among the loader's devices.
    var index: Int { get }
    var name: String { get }
    var kind: DeviceKind { get }
    /// Bytes of its largest memory of its own.
    var memoryByteCount: Int { get }
    /// Why it cannot be used; nil where it can.
    var obstacle: String? { get }
}

extension PhysicalDevice: DeviceCandidate {}

extension DeviceKind {
    /// Place in the order of preference: a card of its own first, software last.
    package var rank: Int {
        switch self {
        case .discrete: 0
        case .integrated: 1
        case .virtual: 2
        case .other: 3
        case .software: 4
        }
    }

    /// For people, as in `discrete graphics processor`.
    package var noun: String { self == .software ? "software device" : "\(rawValue) graphics processor" }
}

extension DeviceRequest {
    /// Chooses a device. Of two of one kind the one with more memory is better, then the earlier one.
    ///
    /// - Returns: The device, and why this one, as the end of a sentence: `the only discrete graphics processor`.
    /// - Throws: `VulkanError` that says what there is instead.
    package func choose<Candidate: DeviceCandidate>(
        among candidates: [Candidate]
    ) throws(VulkanError) -> (device: Candidate, reason: String) {
        func fail(_ reason: String) -> VulkanError { VulkanError("vkEnumeratePhysicalDevices", .unavailable(reason)) }
        guard !candidates.isEmpty else { throw fail("there is no Vulkan device") }
        let list = candidates.map { "\($0.index) \($0.name)" }.joined(separator: ", ")
        switch self {
        case .index(let index):
            guard let device = candidates.first(where: { $0.index == index }) else {
                throw fail("there is no Vulkan device \(index); there is \(list)")
            }
            return (try device.usable(), "chosen by its index")
        case .name(let name):
            let matches = candidates.filter { $0.name.lowercased().contains(name.lowercased()) }
            // A whole name wins over the longer ones that it is a part of.
            let exact = matches.filter { $0.name.lowercased() == name.lowercased() }
            let found = exact.isEmpty ? matches : exact
            guard let device = found.first else {
                throw fail("no Vulkan device is called '\(name)'; there is \(list)")
            }
            guard found.count == 1 else {
                let indices = found.map { "vulkan:\($0.index)" }.joined(separator: ", ")
                throw fail("'\(name)' is the name of several Vulkan devices: \(indices)")
            }
            return (try device.usable(), "chosen by its name")
        case .best, .bestRealDevice:
            let allowed = candidates.filter { self == .best || $0.kind != .software }
            let usable = allowed.filter { $0.obstacle == nil }.sorted {
                ($0.kind.rank, -$0.memoryByteCount, $0.index) < ($1.kind.rank, -$1.memoryByteCount, $1.index)
            }
            guard let device = usable.first else {
                if let device = allowed.first { _ = try device.usable() }
                throw fail("the only Vulkan devices are software: \(list)")
            }
            let isAlone = usable.count(where: { $0.kind == device.kind }) == 1
            return (
                device, isAlone ? "the only \(device.kind.noun)" : "the first choice of several \(device.kind.noun)s"
            )
        }
    }
}

extension DeviceCandidate {
    fileprivate func usable() throws(VulkanError) -> Self {
        if let obstacle {
            throw VulkanError("vkCreateDevice", .unsupported("\(name) cannot be used: \(obstacle)"))
        }
        return self
    }
}
