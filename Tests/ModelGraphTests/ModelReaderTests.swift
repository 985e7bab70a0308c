import Base
import Glibc
import ModelGraph
import TestSupport
import Testing

@Suite("Model reader") struct ModelReaderTests {
    @Test("A model is read as it was written") func roundTrip() throws {
        let graph = try SmallGraphs.pyramid()
        var writer = ModelFileWriter(graph, kind: .probabilities, labels: ["sky", "wall", "ground"])
        writer.document["palette"] = [[0, 0, 0], [255, 1, 2], [3, 4, 5]]
        writer.document["source"] = ["file": "a.tflite", "sha256": "00ff", "licence": "MIT", "upstream": "https://b.c"]
        let model = try Model(bytes: writer.bytes, name: "m")

        #expect(model.name == "pyramid")
        #expect(
            model.input
                == ModelInput(
                    width: 7, height: 9, order: .rgb, scale: [0.0078125, 0.0078125, 0.0078125], bias: [-1, -1, -1]))
        #expect(model.input.shape == graph.shape(of: graph.inputs[0]))
        #expect(model.outputKind == .probabilities)
        #expect(model.labels == ["sky", "wall", "ground"])
        #expect(model.palette?[1] == PaletteColor(red: 255, green: 1, blue: 2))
        #expect(model.source == ModelSource(file: "a.tflite", sha256: "00ff", licence: "MIT", upstream: "https://b.c"))
        #expect(model.graph.layers.map(\.name) == graph.layers.map(\.name))
        #expect(model.graph.layers.map(\.members) == graph.layers.map(\.members))
        #expect(model.graph.tensors.map(\.name) == graph.tensors.map(\.name))
        #expect(model.graph.tensors.map(\.shape) == graph.tensors.map(\.shape))
        try model.graph.check()
    }

    @Test("Weights are held against their digest where the file has one, to the last bit") func digest() throws {
        var writer = ModelFileWriter(try SmallGraphs.pyramid())
        let data = writer.tensors.flatMap(\.bytes)
        let digits = data.withUnsafeBytes { SHA256.digits(of: $0) }
        writer.document["digest"] = .string("sha256:" + digits)
        let good = writer.bytes
        _ = try Model(bytes: good, name: "m")
        for place in [good.count - data.count, good.count - data.count / 2, good.count - 1] {
            var bytes = good
            bytes[place] ^= 1
            let error = #expect(throws: ModelError.self) { try Model(bytes: bytes, name: "m") }
            #expect(error?.reason.contains("damaged") == true, "byte \(place): \(error?.reason ?? "")")
        }
        for form in [digits, "sha256:" + digits.uppercased(), "sha256:" + digits.dropLast(), "md5:" + digits, ""] {
            writer.document["digest"] = .string(form)
            let error = #expect(throws: ModelError.self) { try Model(bytes: writer.bytes, name: "m") }
            #expect(error?.reason.contains("digest") == true)
        }
    }

    @Test("A model computes what the graph computes that was written") func values() throws {
        let graph = try SmallGraphs.pyramid()
        var random = SeededGenerator(seed: 5)
        let input = random.tensor(graph.shape(of: graph.inputs[0]))
        let read = try Model(bytes: ModelFileWriter(graph).bytes, name: "m").graph
        let expected = Reference.run(graph, [input])[graph.outputs[0].index]
        #expect(Reference.run(read, [input])[read.outputs[0].index] == expected)
    }

    @Test("Random graphs survive writing and reading") func randomGraphs() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var graph = try random.graph(layerCount: 12)
            graph.outputs = [graph.outputs[0]]
            // The format knows pictures of one channel and of three.
            guard [1, 3].contains(graph.shape(of: graph.inputs[0]).channels) else { continue }
            let input = random.tensor(graph.shape(of: graph.inputs[0]))
            let read = try Model(bytes: ModelFileWriter(graph).bytes, name: "seed \(seed)").graph
            let expected = Reference.run(graph, [input])[graph.outputs[0].index]
            let result = Reference.run(read, [input])[read.outputs[0].index]
            // By bits: a NaN, where one comes of an overflow, is equal to itself too.
            #expect(result.values.map(\.bitPattern) == expected.values.map(\.bitPattern), "seed \(seed)")
        }
    }

    @Test("Half-precision weights are read as the values they are") func halfPrecision() throws {
        let graph = try SmallGraphs.pyramid()
        let read = try Model(bytes: ModelFileWriter(graph, format: .float16).bytes, name: "m").graph
        for (layer, original) in zip(read.layers, graph.layers) {
            #expect(
                layer.convolution?.weights.floats() == original.convolution?.weights.floats().map { Float(Float16($0)) }
            )
        }
    }

    @Test("One channel has two labels, other outputs one a channel") func labels() throws {
        var graph = Graph(name: "one channel")
        let input = graph.addInput("picture", Shape(height: 4, width: 4, channels: 1))
        graph.outputs = [try graph.append("sigmoid", .activation, [input], activation: .sigmoid)]
        let model = try Model(bytes: ModelFileWriter(graph, labels: ["background", "person"]).bytes, name: "m")
        #expect(model.labels == ["background", "person"])
        #expect(model.input.order == .gray)
        #expect(throws: ModelError.self) {
            try Model(bytes: ModelFileWriter(graph, labels: ["person"]).bytes, name: "m")
        }
    }

    @Test("A file is mapped, and its weights outlive the model and the file's name") func mapping() throws {
        let path = "/tmp/silhouette-reader-\(getpid()).safetensors"
        let graph = try SmallGraphs.pyramid()
        try write(ModelFileWriter(graph).bytes, to: path)
        defer { unlink(path) }
        let weights = try #require(try Model(path: path).graph.layers[0].convolution?.weights)
        unlink(path)
        #expect(weights.floats() == graph.layers[0].convolution?.weights.floats())
    }

    @Test("Paths that are no model files") func paths() throws {
        let folder = "/tmp/silhouette-reader-paths-\(getpid())"
        try #require(mkdir(folder, 0o700) == 0)
        defer { rmdir(folder) }
        func reason(_ path: String) -> String? {
            do {
                _ = try Model(path: path)
                return nil
            } catch {
                #expect(error.file == path)
                #expect(error.description == "\(path): \(error.reason)")
                return error.reason
            }
        }
        #expect(reason(folder + "/none") == "cannot be opened: No such file or directory")
        #expect(reason(folder) == "is not a regular file")
        #expect(reason("/dev/zero") == "is not a regular file")
        #expect(reason("") == "cannot be opened: No such file or directory")
        // A pipe that nobody writes to is not waited for.
        let pipe = folder + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        #expect(reason(pipe) == "is not a regular file")

        let file = folder + "/file"
        defer { unlink(file) }
        try write([], to: file)
        #expect(reason(file) == "is empty")
        try write(Array("TFL3".utf8), to: file)
        #expect(
            reason(file)
                == "is no safetensors file: it has only 4 bytes; "
                + "other kinds of model are converted by Weights/convert.py"
        )
        // A file past the limit is refused by its size; it has holes only.
        try #require(truncate(file, ModelLimits.memoryByteCount + 1) == 0)
        #expect(reason(file) == "takes up to 1025 MiB of memory, more than the limit of 1024 MiB")
    }

    @Test("Pooling over huge windows counts as work")
    func hugePools() throws {
        var random = SeededGenerator(seed: 2)
        for (side, isRefused) in [(33, false), (2047, true)] {
            var graph = Graph(name: "pool")
            let input = graph.addInput("picture", Shape(height: 1024, width: 1024, channels: 3))
            let pool = Pool(kernel: Extent(side), stride: Extent(1), padding: Padding(side / 2))
            let pooled = try graph.append("pool", .maxPool(pool), [input])
            let convolution = Convolution(weights: random.weights([2, 3, 1, 1], fanIn: 3), bias: random.bias(2))
            graph.outputs = [try graph.append("scores", .convolution(convolution), [pooled])]
            let writer = ModelFileWriter(graph)
            do {
                _ = try Model(bytes: writer.bytes, name: "pool")
                #expect(!isRefused)
            } catch {
                #expect(isRefused && "\(error)".contains("brings the work for one picture to"), "\(error)")
            }
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
    }
}
