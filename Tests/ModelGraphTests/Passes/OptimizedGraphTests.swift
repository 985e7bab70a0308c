import ModelGraph
import TestSupport
import Testing

@Suite("All passes") struct OptimizedGraphTests {
    @Test("Every pass keeps the values of random graphs", arguments: 0..<20 as Range<UInt64>)
    func randomGraphs(block: UInt64) throws {
        for seed in block * 50..<(block + 1) * 50 {
            var random = SeededGenerator(seed: seed)
            let graph = try random.graph(layerCount: random.integer(4...24))
            let passes: [(String, Graph)] = [
                ("removingDeadLayers", graph.removingDeadLayers()),
                ("recognizingGlobalPools", graph.recognizingGlobalPools()),
                ("droppingIdentities", graph.droppingIdentities()),
                ("delayingBroadcasts", graph.delayingBroadcasts()),
                ("delayingResizes", graph.delayingResizes()),
                ("fusingActivations", graph.fusingActivations()),
                ("foldingConstantBranches", graph.foldingConstantBranches()),
                ("fusingResidualAdds", graph.fusingResidualAdds()),
                ("optimized", graph.optimized()),
            ]
            for (name, result) in passes { try expectSameValues(result, graph, seed: seed, "\(name), seed \(seed)") }
        }
    }

    @Test("The random graphs hold something for every pass to do") func coverage() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<1_000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let graph = try random.graph(layerCount: random.integer(4...24)).removingDeadLayers()
            func count(_ pass: String, _ isChanged: Bool) { counts[pass, default: 0] += isChanged ? 1 : 0 }
            func changes(_ result: Graph) -> Bool { result.layers.map(\.name) != graph.layers.map(\.name) }
            let optimized = graph.optimized()
            count("global pools", operators(graph.recognizingGlobalPools()) != operators(graph))
            count("identities", changes(graph.droppingIdentities()))
            count("broadcasts", changes(graph.delayingBroadcasts()))
            count("resizes", changes(graph.delayingResizes()))
            count("activations", changes(graph.fusingActivations()))
            count("constant branches", optimized.layers.contains { $0.pictureBias != nil })
            count("residual additions", optimized.layers.contains { $0.residual != nil })
        }
        #expect(counts.count == 7)
        for (pass, count) in counts { #expect(count >= 20, "\(pass): \(count)") }
    }

    @Test("Members name layers of the original, and every layer that has work to do is named") func members() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let graph = try random.graph(layerCount: 16).removingDeadLayers()
            let names = Set(graph.layers.map(\.name))
            let members = graph.optimized().layers.flatMap(\.members)
            #expect(Set(members).isSubset(of: names), "seed \(seed)")
            // What only copies the picture belongs to no layer any more.
            let missing = names.subtracting(members)
            for layer in graph.layers where missing.contains(layer.name) {
                #expect(layer.convolution == nil, "seed \(seed): \(layer.name)")
            }
        }
    }

    @Test("DeepLabV3 at 257x257: 58 layers instead of 70, 654 million multiply-adds instead of 726") func deepLab()
        throws
    {
        let graph = try SmallGraphs.deepLab257()
        #expect(graph.layers.count == 70)
        #expect(graph.macCount == 725_849_344)
        let optimized = graph.optimized()
        #expect(optimized.layers.count == 58)
        #expect(optimized.macCount == 654_546_176)
        #expect(optimized.layers.count { $0.residual != nil } == 10)
        #expect(optimized.layers.count { $0.pictureBias != nil } == 1)
        let (trunk, head) = optimized.separatingHead()
        #expect(trunk.layers.count == 57)
        #expect(trunk.shape(of: trunk.outputs[0]) == [33, 33, 21])
        #expect(head.resizes == [.init(extent: [257, 257], convention: .alignCorners)])
        #expect(head.members == ["ResizeBilinear_3"])
        #expect(
            Dictionary(grouping: operators(trunk), by: \.self).mapValues(\.count)
                == ["conv2d 3x3": 1, "depthwiseConv2d 3x3": 17, "conv2d 1x1": 38, "globalAveragePool": 1])
        #expect(Set(trunk.layers.flatMap(\.members) + head.members) == Set(graph.layers.map(\.name)))
    }

    @Test("Passes find nothing more to do in their own result") func repetition() throws {
        let once = try SmallGraphs.deepLab257().optimized()
        #expect(once.optimized().layers.map(\.name) == once.layers.map(\.name))
    }
}
