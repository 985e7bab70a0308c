import JSONText
import ModelGraph
import TestSupport
import Testing

/// Damaged files: whatever is in them, the reader gives an error or a model that is sound.
@Suite("Damaged model files", .childProcess) struct ModelReaderDamageTests {
    private let writer: ModelFileWriter

    init() throws { writer = ModelFileWriter(try SmallGraphs.pyramid()) }

    /// Reads the bytes and, where they make a model, puts it through everything that works on models.
    ///
    /// - Returns: Whether they make a model.
    private func isModel(_ bytes: [UInt8]) throws -> Bool {
        let model: Model
        do {
            model = try Model(bytes: bytes, name: "damaged")
        } catch {
            #expect(!error.reason.isEmpty && !error.reason.contains("\n"))
            return false
        }
        try model.graph.check()
        let summary = ModelSummary(model)
        try summary.optimized.check()
        #expect(!summary.description.isEmpty && !summary.layerTable.isEmpty)
        return true
    }

    @Test("No beginning of a file is a model") func truncation() throws {
        let bytes = writer.bytes
        #expect(try isModel(bytes))
        for count in bytes.indices {
            #expect(try !isModel(Array(bytes[..<count])), "the first \(count) bytes")
        }
    }

    @Test("Flipped bits", arguments: 0..<4 as Range<UInt64>) func flippedBits(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let original = writer.bytes
        var modelCount = 0
        for _ in 0..<1_000 {
            var bytes = original
            for _ in 0..<random.integer(1...4) {
                bytes[random.integer(0...bytes.count - 1)] ^= 1 << random.integer(0...7)
            }
            if try isModel(bytes) { modelCount += 1 }
        }
        // Bits of weights and of names may flip unnoticed; if none or all did, this test would test nothing.
        #expect((50..<950).contains(modelCount))
    }

    @Test("Values of the document replaced", arguments: 0..<4 as Range<UInt64>) func replacedValues(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let values: [JSON] = [
            0, 1, 2, -1, 3, 7, 4096, 4097, 65_536, 16_384, 9_007_199_254_740_992, 1e300, -1e300, 0.5, nil, true, "",
            "stem", "picture", "relu", "softmax", [], [:], [[1]], [0, 0], [1, 1], [4096, 4096],
            [4096, 4096, 4096, 4096],
            [16_384, 16_384], ["stem", "picture"], ["picture"],
        ]
        var modelCount = 0
        for _ in 0..<1_000 {
            var damaged = writer
            for _ in 0..<random.integer(1...2) {
                damaged.document = replacingOne(damaged.document, by: random.pick(values), &random)
            }
            if try isModel(damaged.bytes) { modelCount += 1 }
        }
        #expect((10..<950).contains(modelCount))
    }

    /// The value with one of the values in it, at random, replaced.
    private func replacingOne(_ value: JSON, by replacement: JSON, _ random: inout SeededGenerator) -> JSON {
        switch value {
        case .object(var members) where !members.isEmpty:
            let key = random.pick(members.keys.sorted())
            members[key] = replacingOne(members[key]!, by: replacement, &random)
            return .object(members)
        case .array(var elements) where !elements.isEmpty && random.integer(0...2) > 0:
            let index = random.integer(0...elements.count - 1)
            elements[index] = replacingOne(elements[index], by: replacement, &random)
            return .array(elements)
        default: return replacement
        }
    }
}
