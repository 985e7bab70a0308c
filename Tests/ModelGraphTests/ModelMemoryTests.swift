import Glibc
import JSONText
import ModelGraph
import TestSupport
import Testing

/// The memory of a model as it is computed before a weight is read.
@Suite("Memory of a model")
struct ModelMemoryTests {
    private func reason(_ bytes: [UInt8], limit: Int) -> String? {
        do throws(ModelError) {
            _ = try Model(bytes: bytes, name: "m", memoryLimit: limit)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("File, packed weights, arena and the threads' own memory are counted, by hand") func parts() throws {
        var graph = Graph(name: "parts")
        let input = graph.addInput("picture", Shape(height: 10, width: 7, channels: 3))
        func zeros(_ shape: [Int]) -> Weights {
            Weights(shape: shape, values: Array(repeating: 0, count: shape.reduce(1, *)))
        }
        let wide = try graph.append(
            "wide", .convolution(Convolution(weights: zeros([20, 3, 3, 3]), padding: Padding(1))), [input])
        let deep = try graph.append(
            "deep", .depthwiseConvolution(Convolution(weights: zeros([20, 1, 3, 3]), padding: Padding(1))), [wide])
        let scores = try graph.append("scores", .convolution(Convolution(weights: zeros([2, 20, 1, 1]))), [deep])
        graph.outputs = [
            try graph.append("large", .resizeBilinear(Extent(height: 400, width: 700), .halfPixel), [scores])
        ]

        let memory = ModelMemory(graph, fileByteCount: 1000, threadCount: 3)
        #expect(memory.fileByteCount == 1000)
        // 20 channels take 32 lanes, 3 and 2 take 16; a row more for the bias.
        #expect(memory.weightByteCount == 4 * ((9 * 16 + 1) * 32 + 10 * 32 + (32 + 1) * 16) + 4 * 20 * 3 * 9)
        // Two maps of 32 lanes at once; tiles of 48 pixels with 512 channels and a place.
        #expect(memory.arenaByteCount == 2 * (4 * 70 * 32) + 3 * 4 * 48 * 513)
        #expect(memory.pictureByteCount == 70 * (5 * 3 + 4 * 2))
        // One that is made and four that are kept, of 16 lanes.
        #expect(memory.samplingByteCount == 5 * (4 * 70 * 16))
        #expect(memory.byteCount(batch: 5) - memory.byteCount() == 4 * memory.pictureByteCount)
        // The resize at the end is done while masks are sampled, but for those who compare layers.
        let whole = ModelMemory(graph, fileByteCount: 1000, threadCount: 3, isWhole: true)
        #expect(whole.pictureByteCount == 5 * 70 * 3 + 4 * 280_000 * 2)
        #expect(whole.arenaByteCount > 4 * 280_000 * 16)
    }

    @Test("A small file that asks for much is refused before a weight is read") func unread() throws {
        var writer = ModelFileWriter(try SmallGraphs.grouped(layerCount: 4, channels: 512))
        for index in writer.tensors.indices {
            writer.tensors[index].bytes.replaceSubrange(0..<4, with: [0, 0, 0xc0, 0x7f])
        }
        let bytes = writer.bytes
        // Four layers of 9 x 512 x 512 floats.
        #expect(bytes.count < 1 << 18)
        let refusal = try #require(reason(bytes, limit: 36 << 20))
        #expect(refusal.hasPrefix("takes up to ") && refusal.hasSuffix(" MiB of memory, more than the limit of 36 MiB"))
        #expect(reason(bytes, limit: 64 << 20)?.contains("is not a finite number") == true)
        writer.document["digest"] = .string("sha256:" + String(repeating: "0", count: 64))
        #expect(reason(writer.bytes, limit: 36 << 20)?.hasPrefix("takes up to ") == true)
        #expect(reason(writer.bytes, limit: 64 << 20)?.hasPrefix("is damaged") == true)
    }

    @Test(
        "Probabilities of the model's size are counted where they are made, and of large ones no more than two are there"
    )
    func probabilities() {
        let scores = Shape(height: 33, width: 33, channels: 21)
        let large = ScoreHead.Resize(extent: Extent(height: 1000, width: 2000), convention: .halfPixel)
        let plain = ModelMemory.samplerByteCount(scores, ScoreHead(resizes: [large]))
        #expect(plain == 4 * 33 * 33 * 32)
        #expect(
            ModelMemory.samplerByteCount(scores, ScoreHead(resizes: [large], activation: .softmax))
                == plain + 4 * 2_000_000 * (32 + 21))
    }

    @Test("A large map of probabilities, of a small file, is refused") func largeProbabilities() throws {
        var graph = Graph(name: "large")
        let input = graph.addInput("picture", Shape(height: 8, width: 8, channels: 3))
        let weights = Weights(shape: [1, 3, 1, 1], values: [0, 0, 0])
        let scores = try graph.append("scores", .convolution(Convolution(weights: weights)), [input])
        let large = try graph.append("large", .resizeBilinear(Extent(height: 4096, width: 4096), .halfPixel), [scores])
        graph.outputs = [try graph.append("sigmoid", .activation, [large], activation: .sigmoid)]
        let bytes = ModelFileWriter(graph).bytes
        // Twice 17 floats for each of 2^24 pixels.
        #expect(reason(bytes, limit: 1 << 30) == "takes up to 2177 MiB of memory, more than the limit of 1024 MiB")
    }

    @Test("A model may take its limit, and not a byte more") func limit() throws {
        let bytes = ModelFileWriter(try SmallGraphs.pyramid()).bytes
        let memory = try Model(bytes: bytes, name: "m").memory
        #expect(memory.fileByteCount == bytes.count)
        #expect(reason(bytes, limit: memory.byteCount()) == nil)
        #expect(reason(bytes, limit: memory.byteCount() - 1)?.hasPrefix("takes up to ") == true)
    }

    @Test("Weights that many layers share are packed for each") func shared() throws {
        let one = ModelFileWriter(try SmallGraphs.grouped(layerCount: 1, channels: 256))
        var many = ModelFileWriter(try SmallGraphs.grouped(layerCount: 9, channels: 256))
        var layers = try #require(many.document["layers"])
        for index in 2..<10 { layers[index]["weight"] = "grouped 0/weight" }
        many.document["layers"] = layers
        many.tensors.removeAll { $0.name.hasPrefix("grouped ") && $0.name != "grouped 0/weight" }
        let (few, lots) = (
            try Model(bytes: one.bytes, name: "1").memory, try Model(bytes: many.bytes, name: "9").memory
        )
        #expect(lots.weightByteCount - few.weightByteCount == 8 * 4 * (9 * 256 + 1) * 256)
    }

    @Test("A file of 2.5 GiB is refused by its size, and a higher limit lets it be looked at") func largeFile() throws {
        let path = "/tmp/silhouette-model-memory-\(getpid()).safetensors"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { unlink(path) }
        // Nothing but holes.
        try #require(ftruncate(descriptor, 5 << 29) == 0 && close(descriptor) == 0)
        do throws(ModelError) {
            _ = try Model(path: path)
            Issue.record("it was read")
        } catch {
            #expect(error.reason == "takes up to 2560 MiB of memory, more than the limit of 1024 MiB")
            #expect(error.isPastMemoryLimit)
        }
        do throws(ModelError) {
            _ = try Model(path: path, memoryLimit: 3 << 30)
            Issue.record("it was read")
        } catch {
            #expect(error.reason.hasPrefix("header: ") && !error.isPastMemoryLimit, "\(error)")
        }
    }
}
