import JSONText
import ModelGraph
import TestSupport
import Testing

/// A file that claims something untrue, and what the reader says of it.
struct Lie: Sendable, CustomTestStringConvertible {
    let name: String
    let expected: String
    let bytes: @Sendable (ModelFileWriter) -> [UInt8]

    var testDescription: String { name }

    /// A lie of the document.
    static func document(
        _ name: String, _ expected: String, _ change: @escaping @Sendable (inout JSON) -> Void
    ) -> Lie {
        Lie(name: name, expected: expected) { writer in
            var writer = writer
            change(&writer.document)
            return writer.bytes
        }
    }

    /// A lie of one layer of `SmallGraphs.pyramid`.
    static func layer(
        _ index: Int, _ name: String, _ expected: String, _ change: @escaping @Sendable (inout JSON) -> Void
    ) -> Lie {
        document(name, expected) { document in
            var layers = document["layers"]!
            change(&layers[index])
            document["layers"] = layers
        }
    }

    /// A lie of the container's header.
    static func header(
        _ name: String, _ expected: String, _ change: @escaping @Sendable (inout JSON) -> Void
    ) -> Lie {
        Lie(name: name, expected: expected) { writer in
            var header = writer.header
            change(&header)
            return writer.bytes(header: header)
        }
    }
}

private let stem = 0, depthwise = 1, pool = 4, broadcast = 6, concat = 8, scores = 9, resize = 10

/// What the reader adds for those who give it a file of another kind.
private let convert = "other kinds of model are converted by Weights/convert.py"

private func half(_ bits: UInt16) -> [UInt8] { withUnsafeBytes(of: bits.littleEndian, Array.init) }
private func little(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }

private let containerLies: [Lie] = [
    Lie(
        name: "another kind of file",
        expected:
            "is no safetensors file; \(convert) (its header would have 3696406720755531804 bytes, limit 16777216)"
    ) { _ in
        Array("\u{1c}\0\0\0TFL3............".utf8).enumerated().map { $0.offset == 7 ? 0x33 : $0.element }
    },
    Lie(name: "header past the end", expected: "is cut short: its header has 4096 bytes, the file only 2 after it") {
        _ in
        little(4096) + Array("{}".utf8)
    },
    Lie(
        name: "header past every end",
        expected:
            "is no safetensors file; \(convert) (its header would have 18446744073709551615 bytes, limit 16777216)"
    ) { _ in
        little(.max) + Array("{}".utf8)
    },
    Lie(name: "header that is a list", expected: "header: expected an object") { $0.bytes(headerText: "[]") },
    Lie(name: "header that is no JSON", expected: "header: byte 1: expected a key in quotes") {
        $0.bytes(headerText: "{silhouette")
    },
    Lie(name: "tensor twice", expected: "header: byte 7: the key \"a\" stands twice in one object") {
        $0.bytes(headerText: "{\"a\":1,\"a\":2}")
    },
    Lie(name: "nested without end", expected: "header: byte 160: nested more than 32 deep") {
        $0.bytes(headerText: String(repeating: "{\"a\":", count: 100_000))
    },
    .header("metadata that is a list", "header: __metadata__ is a list, expected an object") {
        $0["__metadata__"] = []
    },
    .header("many tensors of one fault", "tensor \"0\": has the element type \"F64\", expected F32 or F16") { header in
        for index in 0..<9 { header["\(index)"] = ["dtype": "F64", "shape": [], "data_offsets": [0, 8]] }
    },
    .header("many tensors at one place", "tensor \"1\": overlaps another one at byte 0 of the data") { header in
        header = ["__metadata__": header["__metadata__"]!]
        for index in 0..<9 { header["\(index)"] = ["dtype": "F32", "shape": [], "data_offsets": [0, 4]] }
    },
    .header(
        "no document",
        "holds tensors but no network: __metadata__ has no key silhouette; Weights/convert.py writes such files"
    ) {
        $0["__metadata__"] = ["format": "pt"]
    },
    .header(
        "document that is an object",
        "holds tensors but no network: __metadata__ has no key silhouette; Weights/convert.py writes such files"
    ) {
        $0["__metadata__"] = ["silhouette": [:]]
    },
    .header("tensor that is a number", "tensor \"stem/weight\": is a number, expected an object") {
        $0["stem/weight"] = 1
    },
    .header("element type", "tensor \"stem/weight\": has the element type \"BF16\", expected F32 or F16") {
        $0["stem/weight"]!["dtype"] = "BF16"
    },
    .header(
        "shape that is larger than its place",
        "tensor \"stem/weight\": the shape [4, 3, 3, 4] of F32 does not take the 432 bytes of its place"
    ) {
        $0["stem/weight"]!["shape"] = [4, 3, 3, 4]
    },
    .header(
        "shape whose product overflows",
        "tensor \"stem/weight\": the shape [4294967296, 4294967296, 27, 1] of F32 does not take the 432 bytes of its "
            + "place"
    ) {
        $0["stem/weight"]!["shape"] = JSON([1 << 32, 1 << 32, 27, 1])
    },
    .header(
        "negative shape",
        "tensor \"stem/weight\": the shape [-4, -3, 3, 3] of F32 does not take the 432 bytes of its place"
    ) {
        $0["stem/weight"]!["shape"] = [-4, -3, 3, 3]
    },
    .header("shape of fractions", "tensor \"stem/weight\": shape: expected whole numbers") {
        $0["stem/weight"]!["shape"] = [4, 3, 3, 2.5]
    },
    .header("offsets backwards", "tensor \"stem/weight\": data_offsets: expected [begin, end]") {
        $0["stem/weight"]!["data_offsets"] = [432, 0]
    },
    .header("negative offset", "tensor \"stem/weight\": data_offsets: expected [begin, end]") {
        $0["stem/weight"]!["data_offsets"] = [-432, 0]
    },
    .header("offset past any integer", "tensor \"stem/weight\": data_offsets: expected whole numbers") {
        $0["stem/weight"]!["data_offsets"] = [0, 1e300]
    },
    .header("one offset", "tensor \"stem/weight\": data_offsets: expected [begin, end]") {
        $0["stem/weight"]!["data_offsets"] = [0]
    },
    .header("overlap", "tensor \"stem/bias\": overlaps another one at byte 428 of the data") {
        $0["stem/bias"]!["data_offsets"] = [428, 444]
    },
    .header("gap", "tensor \"stem/bias\": leaves a gap before byte 432 of the data") { $0["stem/weight"] = nil },
    .header(
        "gap at the start of an odd place",
        "tensor \"stem/bias\": begins at byte 433, which is no multiple of its element's size"
    ) {
        $0["stem/bias"]!["data_offsets"] = [433, 449]
    },
    .header("past the end", "tensor \"scores/bias\": ends at byte 2568 of the data, the file has only 1820") {
        $0["scores/bias"]!["data_offsets"] = [2544, 2568]
        $0["scores/bias"]!["shape"] = [6]
    },
    .header("unknown key of a tensor", "tensor \"stem/bias\": has an unknown key \"data_offset\"") {
        $0["stem/bias"]!["data_offset"] = [0, 4]
    },
    Lie(name: "something after the last tensor", expected: "has 3 bytes after its last tensor") {
        $0.bytes + [1, 2, 3]
    },
    Lie(
        name: "cut in the last tensor",
        expected: "tensor \"scores/bias\": ends at byte 1820 of the data, the file has only 1819"
    ) {
        $0.bytes.dropLast()
    },
]

private let documentLies: [Lie] = [
    .document("later version", "document: has version 2, this program reads version 1") { $0["version"] = 2 },
    .document("no version", "document: has no version") { $0["version"] = nil },
    .document("version in words", "document: version: expected a whole number") { $0["version"] = "1" },
    .document("unknown key", "document: has an unknown key \"pallete\"") { $0["pallete"] = [] },
    .document("no name", "document: has no name") { $0["name"] = nil },
    .document("empty name", "document: name: \"\" is empty, too long or not printable") { $0["name"] = "" },
    .document("name that clears the screen", "document: name: \"\\u{1b}[2J\" is empty, too long or not printable") {
        $0["name"] = "\u{1b}[2J"
    },
    .document("no input", "document: has no input") { $0["input"] = nil },
    .document("input that is a list", "input: is a list, expected an object") { $0["input"] = [] },
    .document("empty picture", "input: the size 9x0 is empty or past the limits") { $0["input"]!["width"] = 0 },
    .document("huge picture", "input: the size 16384x16384 is empty or past the limits") {
        $0["input"]!["width"] = 16384
        $0["input"]!["height"] = 16384
    },
    .document("picture past any integer", "input: width: expected a whole number") { $0["input"]!["width"] = 1e30 },
    .document("channel order", "input: order: \"RGBA\" is unknown, expected one of RGB, BGR, GRAY") {
        $0["input"]!["order"] = "RGBA"
    },
    .document("too few scales", "input: scale: expected 3 numbers, one for each channel") {
        $0["input"]!["scale"] = [1, 1]
    },
    .document("scale past float32", "input: scale: expected 3 numbers, one for each channel") {
        $0["input"]!["scale"] = [1, 1, 1e39]
    },
    .document("bias of words", "input: bias: expected 3 numbers, one for each channel") {
        $0["input"]!["bias"] = ["0", "0", "0"]
    },
    .document("output kind", "output: kind: \"scores\" is unknown, expected one of logits, probabilities") {
        $0["output"]!["kind"] = "scores"
    },
    .document("output that nobody writes", "output: no layer writes the tensor \"sky\"") {
        $0["output"]!["name"] = "sky"
    },
    .document("output that is the input", "output: no layer writes the tensor \"picture\"") {
        $0["output"]!["name"] = "picture"
    },
    .document("labels", "document: has 2 labels, expected 3 for an output of 3 channels") {
        $0["labels"] = ["a", "b"]
    },
    .document("label of two lines", "document: labels: \"a\\u{a}b\" is empty, too long or not printable") {
        $0["labels"] = ["a\nb", "c", "d"]
    },
    .document("labels that are numbers", "document: labels: is a number, expected a string") {
        $0["labels"] = [1, 2, 3]
    },
    .document("palette too short", "document: palette: has 1 colours, expected one for each of 3 labels") {
        $0["palette"] = [[0, 0, 0]]
    },
    .document("palette of two channels", "document: palette: expected [red, green, blue] for each label") {
        $0["palette"] = [[0, 0]]
    },
    .document("palette out of range", "document: palette: expected whole numbers from 0 to 255") {
        $0["palette"] = [[0, 0, 256]]
    },
    .document("source", "source: file: is a number, expected a string") { $0["source"] = ["file": 1] },
    .document("layers that are an object", "document: layers: is an object, expected a list") { $0["layers"] = [:] },
    .document("no layers", "output: no layer writes the tensor \"resize\"") { $0["layers"] = [] },
    .document("too many layers", "document: has more than 4096 layers") {
        $0["layers"] = .array(
            (0...4096).map {
                ["op": "activation", "name": .string("\($0)"), "inputs": ["picture"], "output": .string("\($0)")]
            })
    },
]

private let layerLies: [Lie] = [
    .layer(stem, "layer that is a string", "layer 0: is a string, expected an object") { $0 = "conv2d" },
    .layer(stem, "layer without a name", "layer 0: has no name") { $0["name"] = nil },
    .layer(depthwise, "name of another layer", "layer \"stem\": is the second layer of this name") {
        $0["name"] = "stem"
    },
    .layer(
        depthwise, "output of another layer", "layer \"depthwise\": writes the tensor \"stem\", which exists already"
    ) {
        $0["output"] = "stem"
    },
    .layer(stem, "output that is the input", "layer \"stem\": writes the tensor \"picture\", which exists already") {
        $0["output"] = "picture"
    },
    .layer(
        stem, "reads what comes later", "layer \"stem\": reads the tensor \"scores\", which nothing before it writes"
    ) {
        $0["inputs"] = ["scores"]
    },
    .layer(stem, "reads itself", "layer \"stem\": reads the tensor \"stem\", which nothing before it writes") {
        $0["inputs"] = ["stem"]
    },
    .layer(stem, "no input", "layer \"stem\": has no input") { $0["inputs"] = [] },
    .layer(stem, "two inputs", "layer \"stem\": has 2 inputs, expected 1") { $0["inputs"] = ["picture", "picture"] },
    .layer(3, "addition of one", "layer \"add\": has 1 inputs, expected 2") { $0["inputs"] = ["stem"] },
    .layer(3, "addition of different maps", "layer \"add\": combines 5x4x4 with 9x7x3") {
        $0["inputs"] = ["stem", "picture"]
    },
    .layer(
        concat, "concatenation of different maps", "layer \"concat\": concatenates maps of different size: 5x4x5, 9x7x3"
    ) {
        $0["inputs"] = ["broadcast", "picture"]
    },
    .layer(
        stem, "operator",
        "layer \"stem\": has the operator \"conv3d\", expected one of activation, add, argMax, averagePool, "
            + "concat, conv2d, depthwiseConv2d, globalAveragePool, maxPool, mul, resizeBilinear, softmax, transposeConv2d"
    ) {
        $0["op"] = "conv3d"
    },
    .layer(
        stem, "activation",
        "layer \"stem\": activation: \"gelu\" is unknown, "
            + "expected one of none, relu, relu6, hardSwish, hardSigmoid, sigmoid"
    ) {
        $0["activation"] = "gelu"
    },
    .layer(
        broadcast, "convention",
        "layer \"broadcast\": convention: \"nearest\" is unknown, expected one of alignCorners, halfPixel, asymmetric"
    ) {
        $0["convention"] = "nearest"
    },
    .layer(broadcast, "no convention", "layer \"broadcast\": has no convention") { $0["convention"] = nil },
    .layer(broadcast, "resize to nothing", "layer \"broadcast\": would give 0x4x5, which is empty or past the limits") {
        $0["size"] = [0, 4]
    },
    .layer(
        broadcast, "resize to everything",
        "layer \"broadcast\": would give 16384x16384x5, which is empty or past the limits"
    ) {
        $0["size"] = [16384, 16384]
    },
    .layer(broadcast, "resize past any integer", "layer \"broadcast\": size: expected whole numbers") {
        $0["size"] = [1e20, 4]
    },
    .layer(broadcast, "resize to three numbers", "layer \"broadcast\": size: expected [height, width]") {
        $0["size"] = [4, 4, 4]
    },
    .layer(stem, "misspelt key", "layer \"stem\": has an unknown key \"strides\"") { $0["strides"] = [2, 2] },
    .layer(concat, "key of another operator", "layer \"concat\": has an unknown key \"activation\"") {
        $0["activation"] = "relu"
    },
    .layer(stem, "no weight", "layer \"stem\": has no weight") { $0["weight"] = nil },
    .layer(stem, "weight that is not there", "layer \"stem\": weight: the file has no tensor \"w\"") {
        $0["weight"] = "w"
    },
    .layer(stem, "weight of one dimension", "layer \"stem\": weight: has the shape [4], expected four dimensions") {
        $0["weight"] = "stem/bias"
    },
    .layer(stem, "bias of another layer", "layer \"stem\": has a bias of shape [3] for 4 output channels") {
        $0["bias"] = "scores/bias"
    },
    .layer(stem, "weight of another layer", "layer \"stem\": weights [4, 4, 1, 1] in 1 groups on 3 channels") {
        $0["weight"] = "project/weight"
    },
    .layer(stem, "groups", "layer \"stem\": weights [4, 3, 3, 3] in 3 groups on 3 channels") { $0["groups"] = 3 },
    .layer(stem, "no groups", "layer \"stem\": has 0 groups") { $0["groups"] = 0 },
    .layer(
        depthwise, "depthwise on other channels", "layer \"depthwise\": depthwise weights [4, 1, 3, 3] on 3 channels"
    ) {
        $0["inputs"] = ["picture"]
    },
    .layer(
        stem, "stride of nothing",
        "layer \"stem\": kernel 3x3, stride 0x2, dilation 1x1, padding 1,1,1,1 is out of range"
    ) {
        $0["stride"] = [0, 2]
    },
    .layer(
        stem, "padding below nothing",
        "layer \"stem\": kernel 3x3, stride 2x2, dilation 1x1, padding -1,1,1,1 is out of range"
    ) {
        $0["padding"] = [-1, 1, 1, 1]
    },
    .layer(stem, "padding of two", "layer \"stem\": padding: expected 4 whole numbers") { $0["padding"] = [1, 1] },
    .layer(stem, "window past the map", "layer \"stem\": has a window larger than its padded input 9x7x3") {
        $0["dilation"] = [4096, 4096]
    },
    .layer(pool, "pool without a kernel", "layer \"pool\": has no kernel") { $0["kernel"] = nil },
    .layer(pool, "pool in the padding", "layer \"pool\": has a window that lies wholly in the padding") {
        $0["padding"] = [5, 0, 0, 0]
    },
    .layer(pool, "pool that counts in words", "layer \"pool\": countsPadding: expected true or false") {
        $0["countsPadding"] = "yes"
    },
    .layer(resize, "output that is an arg-max", "output: is an arg-max, expected the scores before it") {
        $0 = ["op": "argMax", "name": "resize", "inputs": ["scores"], "output": "resize"]
    },
    Lie(
        name: "weights that are not finite",
        expected: "layer \"scores\": bias: value 1 of the tensor \"scores/bias\" is not a finite number"
    ) { writer in
        var writer = writer
        writer.tensors[writer.tensors.count - 1].bytes.replaceSubrange(4..<8, with: [0, 0, 0xc0, 0x7f])
        return writer.bytes
    },
    Lie(
        name: "half weights that are infinite",
        expected: "layer \"stem\": weight: value 2 of the tensor \"stem/weight\" is not a finite number"
    ) { writer in
        var writer = writer
        for index in writer.tensors.indices {
            let count = writer.tensors[index].bytes.count / 4
            writer.tensors[index].format = .float16
            writer.tensors[index].bytes = Array(repeating: 0, count: count * 2)
        }
        writer.tensors[0].bytes.replaceSubrange(4..<6, with: half(0xfc00))
        return writer.bytes
    },
    .document("memory without bound", "would need 6442450944 bytes between its layers, limit 4294967296") { document in
        func layer(_ op: String, _ name: String, _ inputs: [String]) -> JSON {
            ["op": .string(op), "name": .string(name), "inputs": JSON(inputs), "output": .string(name)]
        }
        // Five maps of a GiB each are alive when the first sum is made.
        let maps = (0..<5).map { index in
            var resize = layer("resizeBilinear", "map \(index)", ["one"])
            resize["size"] = [16_384, 16_384]
            resize["convention"] = "halfPixel"
            return resize
        }
        let sums = (0..<5).map { layer("add", "sum \($0)", ["map \($0)", $0 == 0 ? "map 4" : "sum \($0 - 1)"]) }
        document["input"] = ["name": "one", "width": 1, "height": 1, "order": "GRAY", "scale": [1], "bias": [0]]
        document["labels"] = ["background", "subject"]
        document["layers"] = .array(maps + sums)
        document["output"]!["name"] = "sum 4"
    },
]

@Suite("Lying model files", .childProcess) struct ModelReaderLiesTests {
    @Test("Each lie gets its line", arguments: containerLies + documentLies + layerLies)
    func lie(_ lie: Lie) throws {
        let writer = ModelFileWriter(try SmallGraphs.pyramid())
        _ = try Model(bytes: writer.bytes, name: "before")
        do {
            _ = try Model(bytes: lie.bytes(writer), name: "m.safetensors")
            Issue.record("was believed")
        } catch {
            #expect(error.description == "m.safetensors: \(lie.expected)")
        }
    }
}
