import ModelGraph
import TestSupport
import Testing

@Suite("Model summary") struct ModelSummaryTests {
    private let model: Model

    init() throws {
        var writer = ModelFileWriter(try SmallGraphs.pyramid(), labels: ["sky", "wall", "ground"])
        writer.document["source"] = [
            "file": "pyramid.tflite", "sha256": "00ff", "licence": "MIT", "upstream": "https://example.org/pyramid",
        ]
        model = try Model(bytes: writer.bytes, name: "pyramid")
    }

    @Test("Description") func description() {
        #expect(
            ModelSummary(model).description == """
                """)
    }

    @Test("Table of layers") func layers() {
        #expect(
            ModelSummary(model).layerTable == """
                """)
    }

    @Test("Costs before and after the passes, with and without the head") func costs() throws {
        let summary = ModelSummary(model)
        #expect(summary.fileCost.layerCount == 11)
        #expect(summary.optimizedCost.layerCount == 8)
        #expect(summary.trunkCost.layerCount == 7)
        #expect(summary.fileCost.macCount == model.graph.macCount)
        #expect(summary.optimizedCost.macCount < summary.fileCost.macCount)
        #expect(summary.optimizedCost.parameterCount == summary.fileCost.parameterCount)
        #expect(summary.trunkCost.arenaByteCount <= summary.trunkCost.tensorByteCount)
    }

    @Test("Normalisation is written as the formula it is")
    func normalization() throws {
        func line(_ scale: JSON, _ bias: JSON) throws -> String? {
            var writer = ModelFileWriter(try SmallGraphs.pyramid())
            writer.document["input"]!["scale"] = scale
            writer.document["input"]!["bias"] = bias
            let lines = ModelSummary(try Model(bytes: writer.bytes, name: "m")).description.split(separator: "\n")
            return lines.first { $0.hasPrefix("  input") }.map(String.init)
        }
        #expect(try line([0.5, 0.5, 0.5], [0, 0, 0]) == "  input    7 x 9 RGB, byte * 0.5")
        #expect(try line([0.5, 0.5, 0.5], [-1, -1, -1]) == "  input    7 x 9 RGB, byte * 0.5 - 1.0")
        #expect(try line([0.5, 0.25, 0.5], [2, 2, 2]) == "  input    7 x 9 RGB, byte * [0.5, 0.25, 0.5] + 2.0")
        #expect(try line([0.5, 0.5, 0.5], [0, 0, 1]) == "  input    7 x 9 RGB, byte * 0.5 + [0.0, 0.0, 1.0]")
    }
}
