// Fuzzes the model reader and everything that works on what it accepts: passes, planner, summary.
//
// The first byte of an input says what the rest is, so that the fuzzer need not guess lengths and offsets:
//
//     0  a whole file
//     1  the container's header; its length is put in front and some tensors behind
//     2  the document; a container with the tensors that `tensors` lists is put around it
//     3  the same, and the digest of the tensors; with a changed byte of theirs it must be refused
//
// What is read twice is the same; what the passes make is a graph and no more work.
//
// modules: Base ModelGraph JSONText
// files: ../Tests/Support/Graph+Check.swift

/// Arrays that documents of the seeds use: name, shape, offset in float32 values.
private let tensors: [(name: String, shape: [Int], offset: Int)] = [
    ("a", [4, 3, 3, 3], 0), ("b", [4, 1, 3, 3], 108), ("c", [4, 4, 1, 1], 144), ("d", [3, 8, 1, 1], 160),
    ("e", [4], 184), ("f", [3], 188), ("g", [2, 4, 2, 2], 191),
]
private let valueCount = 223

func fuzz(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let bytes = file(kind % 4, Array(input.dropFirst()))
    let model: Model
    do throws(ModelError) {
        model = try Model(bytes: bytes, name: "fuzzed")
    } catch {
        precondition(fault(inLine: error.reason) == nil)
        return
    }
    if kind % 4 == 3, input.dropFirst().first == UInt8(ascii: "{") { checkDigest(bytes) }
    do {
        try model.graph.check()
        let summary = ModelSummary(model)
        try summary.optimized.check()
        precondition(summary.optimizedCost.macCount <= summary.fileCost.macCount, "the passes add work")
        precondition(!summary.description.isEmpty && !summary.layerTable.isEmpty)
        let again = try ModelSummary(Model(bytes: bytes, name: "fuzzed"))
        precondition(again.layerTable == summary.layerTable, "a second reading is another")
    } catch {
        fatalError("\(error)")
    }
}

/// The same file with one bit of a weight turned over.
private func checkDigest(_ bytes: [UInt8]) {
    var damaged = bytes
    damaged[bytes.count - 1 - (bytes.count * 7) % (valueCount * 4)] ^= 1
    precondition((try? Model(bytes: damaged, name: "damaged")) == nil, "a damaged weight is not noticed")
}

private func file(_ kind: UInt8, _ rest: [UInt8]) -> [UInt8] {
    let data = [UInt8](repeating: 0, count: valueCount * 4)
    switch kind {
    case 0: return rest
    case 1: return length(rest) + rest + data
    default:
        var rest = rest
        // The digest comes first in the document, behind its opening brace.
        if kind == 3, rest.first == UInt8(ascii: "{") {
            let digest = data.withUnsafeBytes { SHA256.digits(of: $0) }
            rest = Array("{\"digest\":\"sha256:\(digest)\",".utf8) + rest.dropFirst()
        }
        var header = "{\"__metadata__\":{\"silhouette\":\"".utf8.map(\.self)
        for byte in rest {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): header += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): header += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: header.append(byte)
            }
        }
        header += "\"}".utf8
        for tensor in tensors {
            let begin = tensor.offset * 4
            let end = begin + tensor.shape.reduce(1, *) * 4
            header += ",\"\(tensor.name)\":{\"dtype\":\"F32\",\"shape\":\(tensor.shape),".utf8
            header += "\"data_offsets\":[\(begin),\(end)]}".utf8
        }
        header += "}".utf8
        return length(header) + header + data
    }
}

private func length(_ header: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt64(header.count).littleEndian, Array.init)
}

/// Every operator and every key, in networks in which the passes find work.
private let documents = [
    document(
        channels: 3, labels: 3,
        layers: """
            {"op":"conv2d","name":"1","inputs":["i"],"output":"1","weight":"a","bias":"e","stride":[2,2],\
            "padding":[1,1,1,1],"dilation":[1,1],"groups":1},
            {"op":"activation","name":"2","inputs":["1"],"output":"2","activation":"relu6"},
            {"op":"depthwiseConv2d","name":"3","inputs":["2"],"output":"3","weight":"b","padding":[1,1,1,1]},
            {"op":"conv2d","name":"4","inputs":["3"],"output":"4","weight":"c"},
            {"op":"add","name":"5","inputs":["2","4"],"output":"5"},
            {"op":"averagePool","name":"6","inputs":["5"],"output":"6","kernel":[4,4],"stride":[4,4]},
            {"op":"conv2d","name":"7","inputs":["6"],"output":"7","weight":"c","activation":"relu"},
            {"op":"resizeBilinear","name":"8","inputs":["7"],"output":"8","size":[4,4],"convention":"alignCorners"},
            {"op":"concat","name":"9","inputs":["8","5"],"output":"9"},
            {"op":"conv2d","name":"10","inputs":["9"],"output":"10","weight":"d","bias":"f"},
            {"op":"resizeBilinear","name":"11","inputs":["10"],"output":"11","size":[4,4],"convention":"asymmetric"},
            {"op":"resizeBilinear","name":"12","inputs":["11"],"output":"12","size":[8,8],"convention":"halfPixel"},
            {"op":"softmax","name":"o","inputs":["12"],"output":"o"}
            """),
    document(
        channels: 3, labels: 2,
        layers: """
            {"op":"conv2d","name":"1","inputs":["i"],"output":"1","weight":"a","activation":"hardSwish"},
            {"op":"globalAveragePool","name":"2","inputs":["1"],"output":"2"},
            {"op":"activation","name":"3","inputs":["2"],"output":"3","activation":"hardSigmoid"},
            {"op":"mul","name":"4","inputs":["1","3"],"output":"4"},
            {"op":"resizeBilinear","name":"5","inputs":["4"],"output":"5","size":[9,11],"convention":"halfPixel"},
            {"op":"conv2d","name":"6","inputs":["5"],"output":"6","weight":"c"},
            {"op":"maxPool","name":"7","inputs":["6"],"output":"7","kernel":[3,2],"stride":[2,1],"padding":[1,0,1,1]},
            {"op":"averagePool","name":"8","inputs":["7"],"output":"8","kernel":[2,2],"countsPadding":true},
            {"op":"transposeConv2d","name":"9","inputs":["8"],"output":"9","weight":"g","stride":[2,2]},
            {"op":"argMax","name":"10","inputs":["9"],"output":"10"},
            {"op":"mul","name":"o","inputs":["10","10"],"output":"o","activation":"sigmoid"}
            """),
]

private func document(channels: Int, labels: Int, layers: String) -> String {
    let list = (0..<labels).map { "\"\($0)\"" }.joined(separator: ",")
    return """
        {"version":1,"name":"n","input":{"name":"i","width":8,"height":8,"order":"RGB","scale":[1,1,1],\
        "bias":[0,0.5,-1]},"output":{"name":"o","kind":"logits"},"labels":[\(list)],"layers":[\(layers)],\
        "source":{"file":"f","sha256":"0","licence":"l","upstream":"u"}}
        """
}

let seeds: [[UInt8]] = documents.flatMap { document -> [[UInt8]] in
    let text = Array(document.utf8)
    let whole = file(2, text)
    do throws(ModelError) {
        _ = try Model(bytes: whole, name: "seed")
    } catch {
        fatalError("\(error)")
    }
    let header = Array(whole[8..<whole.count - valueCount * 4])
    return [[0] + whole, [1] + header, [2] + text, [3] + text]
}
