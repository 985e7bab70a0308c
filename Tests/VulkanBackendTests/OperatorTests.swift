import DeviceSupport
import ModelGraph
import TestSupport
import Testing
import VulkanBackend
import VulkanCompute

/// Ways to read activations and weights beside precisions: every variant of the shaders.
let variants: [(readPath: ReadPath, precision: StoragePrecision)] = ReadPath.allCases.flatMap { readPath in
    StoragePrecision.allCases.map { (readPath, $0) }
}

@Suite("Operators on Vulkan", .serialized, .needsVulkan)
struct OperatorTests {
    @Test("agree with the float64 reference", arguments: variants)
    func reference(readPath: ReadPath, precision: StoragePrecision) throws {
        let backend = try ValidatedDevice.backend(precision, readPath: readPath)
        let rules: TestSupport.Precision = precision == .float32 ? .float32 : .float16
        var failures: [OperatorFailure] = []
        for row in OperatorCase.table {
            if let failure = check(backend, try row.prepared(rules)) { failures.append(failure) }
        }
        for failure in failures.prefix(20) { Issue.record("\(failure)") }
        #expect(failures.count == 0)
        try ValidatedDevice.expectSilence()
    }

    @Test("A convolution that is huge without its groups is refused before memory is taken for it")
    func groups() throws {
        let channels = 32_768
        var graph = Graph(name: "groups")
        let input = graph.addInput("input", Shape(height: 1, width: 1, channels: channels))
        let weights = Weights(shape: [channels, 1, 1, 1], values: [Float](repeating: 1, count: channels))
        graph.outputs = [
            try graph.append("wide", .convolution(Convolution(weights: weights, groups: channels)), [input])
        ]
        let backend = try ValidatedDevice.backend()
        let error = #expect(throws: VulkanError.self) { try backend.compile(graph, batch: 1) }
        #expect("\(try #require(error))".contains("wide"))
    }
}
