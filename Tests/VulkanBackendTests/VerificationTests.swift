import CPUBackend
import DeviceSupport
import ModelGraph
import TestSupport
import Testing
import Verification
import VulkanBackend
import VulkanCompute

@Suite("Verification on Vulkan", .serialized, .needsVulkan)
struct VulkanVerificationTests {
    private let graph: Graph
    private let input: Tensor

    init() throws {
        graph = try SmallGraphs.pyramid().optimized()
        var random = SeededGenerator(seed: 5)
        input = random.tensor(graph.shape(of: graph.inputs[0]), -1...1)
    }

    private func verdicts(_ candidate: VulkanBackend) throws -> [LayerVerdict] {
        var layers: [LayerVerdict] = []
        let storage: Weights.Format = candidate.precision == .float32 ? .float32 : .float16
        try Verifier(
            graph, .logits, reference: try CPUBackend(threads: 1), candidate: candidate, storage: storage
        ).verifyLayers(on: input) { layers.append($0) }
        return layers
    }

    @Test("Every layer passes, and the network", arguments: StoragePrecision.allCases)
    func agreement(precision: StoragePrecision) throws {
        let candidate = VulkanBackend(try TestDevice.open(), precision: precision)
        #expect(try verdicts(candidate).allSatisfy(\.passes))
        let storage: Weights.Format = precision == .float32 ? .float32 : .float16
        let verifier = Verifier(
            graph, .logits, reference: try CPUBackend(threads: 1), candidate: candidate, storage: storage)
        let rounded = try verifier.verifyLayers(on: input) { _ in }
        let network = try verifier.verifyNetwork(on: input, rounded: rounded)
        #expect(network.passes, "\(network)")
    }

    @Test("A broken shader: exactly the layers that run it are named", arguments: ["depthwise", "global_average_pool"])
    func broken(shader: String) throws {
        let device = try TestDevice.open()
        var library = ShaderLibrary.shared
        for name in library.names where name.hasPrefix(shader + " ") {
            library = library.replacing(name, with: SPIRV.breaking(library.code(name)))
        }
        let failed = try verdicts(VulkanBackend(device, precision: .float32, shaders: library)).filter { !$0.passes }
        let expected = graph.layers.filter { layer in
            switch layer.operation {
            case .depthwiseConvolution: shader == "depthwise"
            case .globalAveragePool: shader == "global_average_pool"
            default: false
            }
        }
        #expect(!expected.isEmpty)
        #expect(failed.map(\.members) == expected.map(\.members))
    }
}

@Suite("Kept pipelines", .serialized, .needsVulkan)
struct KeptPipelineTests {
    private func run(_ folder: String) throws {
        let device = try TestDevice.open()
        let graph = try SmallGraphs.pyramid().optimized()
        var random = SeededGenerator(seed: 5)
        let input = random.tensor(graph.shape(of: graph.inputs[0]), -1...1)
        let expected = try CPUBackend(threads: 1).compile(graph, batch: 1).run([input])[0]
        let found = try VulkanBackend(device, cacheFolder: folder).compile(graph, batch: 1).run([input])[0]
        #expect(Deviation(of: found, from: expected).error < 1e-4)
    }

    @Test(
        "Compiling leaves a file, which is read the next time; a bad one is replaced, an impossible folder done without"
    )
    func folder() throws {
        let identity = try TestDevice.open().physical.cacheIdentity
        try withScratchFolder { scratch in
            let folder = DeviceCacheFolder(path: "\(scratch)/pipelines")
            try run(folder.path)
            let kept = folder.data(for: identity)
            #expect(!kept.isEmpty)
            try run(folder.path)
            #expect(folder.data(for: identity).count >= kept.count)

            try makeFile(folder.file(for: identity), [1, 2, 3])
            try run(folder.path)
            #expect(!folder.data(for: identity).isEmpty)

            try makeFile("\(scratch)/file")
            try run("\(scratch)/file/pipelines")
            #expect(try fileNames(in: scratch) == ["file", "pipelines"])
        }
    }
}
