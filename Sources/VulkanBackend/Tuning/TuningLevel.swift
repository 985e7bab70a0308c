import ModelGraph
import VulkanCompute

/// How much time goes into finding out which variants of the shaders are the fastest on a device.
public enum TuningLevel: String, Sendable, CaseIterable {
    /// None: each layer is computed in its standard variant.
    case off
    /// About a second: ways to read, in a few tiles.
    case quick
    /// About half a minute: every variant.
    case full

    /// What is sensible for a kind of device. A driver that is software has fewer differences to find and takes longer to compile.
    package static func standard(for kind: DeviceKind) -> TuningLevel { kind == .software ? .off : .quick }

    /// Seconds after which no measurement of a process begins, compiling included. One that has begun comes to its end.
    var seconds: Double {
        switch self {
        case .off: 0
        case .quick: 1
        case .full: 30
        }
    }
}

/// Chooses the variants that a graph's convolutions are computed in.
package protocol VariantChooser: AnyObject, Sendable {
    /// The variants of those shapes for which it is another than the standard one.
    func variants(for graph: Graph, _ settings: PlanSettings) throws(VulkanError) -> [ConvolutionShape: KernelVariant]
}
