import ModelGraph
import TestSupport
import Testing

@Suite("Pass: global pools") struct GlobalPoolTests {
    @Test(
        "A pool whose one window covers the map is global unless padding counts",
        arguments: [
            (Pool(kernel: [5, 4], stride: 1), true),
            (Pool(kernel: [5, 4], stride: 33), true),
            (Pool(kernel: [5, 4], stride: 1, countsPadding: true), true),
            (Pool(kernel: [6, 6], stride: 7, padding: [1, 1, 1, 1]), true),
            (Pool(kernel: [6, 6], stride: 7, padding: [1, 1, 1, 1], countsPadding: true), false),
            (Pool(kernel: [4, 4], stride: 9), false),
            (Pool(kernel: [5, 4], stride: 9, padding: [1, 0, 0, 0]), false),
            (Pool(kernel: [2, 2], stride: 1), false),
        ])
    func recognition(pool: Pool, isGlobal: Bool) throws {
        var graph = Graph(name: "pool")
        let input = graph.addInput("input", [5, 4, 3])
        graph.outputs = [try graph.append("pool", .averagePool(pool), [input])]
        let result = graph.recognizingGlobalPools()
        #expect((result.layers[0].operation.name == "globalAveragePool") == isGlobal)
        try expectSameValues(result, graph)
    }
}
