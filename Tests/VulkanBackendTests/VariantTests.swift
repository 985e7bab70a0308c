import Base
import DeviceSupport
import Foundation
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// Has every convolution computed in one variant at a time, where a device can; without one, in the standard variants.
final class ForcedVariant: VariantChooser {
    let variant = Locked<KernelVariant?>(nil)
    let limits: DeviceLimits

    init(on device: LogicalDevice) { limits = device.physical.limits }

    func variants(for graph: Graph, _ settings: PlanSettings) -> [ConvolutionShape: KernelVariant] {
        guard let variant = variant.withLock(\.self) else { return [:] }
        let shapes = graph.layers.compactMap { ConvolutionShape($0, in: graph, batch: settings.batch) }
        let possible = shapes.filter { variant.isPossible(for: $0, settings, on: limits) }
        return Dictionary(possible.map { ($0, variant) }) { first, _ in first }
    }
}

@Suite("Variants of convolutions", .needsVulkan)
struct VariantTests {
    @Test("Each is compiled, and nothing that is none")
    func names() {
        let shaders: [ConvolutionKind: [String]] = [
            .pointwise: ["pointwise", "pointwise_shared"], .depthwise: ["depthwise"], .dense: ["convolution"],
        ]
        for (kind, names) in shaders {
            let compiled = ShaderLibrary.shared.names.filter { names.contains(String($0.prefix { $0 != " " })) }
            let wanted = [0, 1].flatMap { half in
                KernelVariant.all(kind).map { variant in
                    "\(kind == .dense ? "convolution" : kind.rawValue)\(variant.usesSharedMemory ? "_shared" : "") FLOAT16=\(half) "
                        + "READ_PATH=\(variant.readPath.rawValue) TILE=\(variant.tile.pixels)x\(variant.tile.blocks)"
                }
            }
            #expect(Set(compiled) == Set(wanted))
        }
    }

    /// Rows of the operator table that have variants, with those that are tried: all of them takes many minutes where a driver is
    /// software, so otherwise each precision has every second row, in the variant that had the fewest turns so far.
    private static func rows(_ precision: StoragePrecision, on limits: DeviceLimits) throws
        -> [(prepared: PreparedCase, variants: [KernelVariant])]
    {
        let isFull = ProcessInfo.processInfo.environment["SILHOUETTE_TEST_FULL"] == "1"
        let settings = PlanSettings(batch: 1, precision: precision, readPath: .texels)
        var turns: [KernelVariant: Int] = [:]
        return try OperatorCase.table.enumerated().compactMap { index, row in
            guard isFull || index % 2 == (precision == .float32 ? 0 : 1) else { return nil }
            let prepared = try row.prepared(precision == .float32 ? .float32 : .float16)
            let graph = prepared.graph.isolatingLayer(at: prepared.graph.layers.count - 1).graph
            guard let shape = ConvolutionShape(graph.layers[0], in: graph, batch: row.batch) else { return nil }
            let others = KernelVariant.candidates(for: shape, settings, .full, on: limits).dropFirst()
            guard let rarest = others.min(by: { turns[$0, default: 0] < turns[$1, default: 0] }) else { return nil }
            let variants = (isFull ? Array(others) : [rarest]).map { variant in
                let turn = turns[variant, default: 0]
                turns[variant] = turn + 1
                var sized = variant
                if !variant.usesSharedMemory { sized.localSize = [64, 128, 32, 256][turn % 4] }
                return sized
            }
            return (prepared, variants)
        }
    }

    @Test("All give the same bytes, whatever the layer", arguments: StoragePrecision.allCases)
    func sameBytes(precision: StoragePrecision) throws {
        let device = try ValidatedDevice.backend(precision).device
        // One backend for all: it compiles no shader twice.
        let chooser = ForcedVariant(on: device)
        let backend = VulkanBackend(device, precision: precision, chooser: chooser)
        var tried: Set<KernelVariant> = []
        var failures: [String] = []
        for (prepared, variants) in try Self.rows(precision, on: device.physical.limits) {
            let batch = prepared.row.batch
            func values(_ variant: KernelVariant?) throws -> [Float] {
                chooser.variant.withLock { $0 = variant }
                return try backend.compile(prepared.graph, batch: batch).run(prepared.inputs)[0].values
            }
            let expected = try values(nil)
            for variant in variants {
                tried.insert(KernelVariant(variant.readPath, variant.tile, usesSharedMemory: variant.usesSharedMemory))
                let found = try values(variant)
                let isSame = found.elementsEqual(expected) { $0.bitPattern == $1.bitPattern }
                if !isSame { failures.append("\(variant): \(prepared.row)") }
            }
        }
        for failure in failures.prefix(20) { Issue.record("\(failure)") }
        #expect(failures.count == 0)
        let all = ConvolutionKind.allCases.flatMap { KernelVariant.all($0) }
        #expect(tried == Set(all), "every variant had a turn")
        try ValidatedDevice.expectSilence()
    }
}
