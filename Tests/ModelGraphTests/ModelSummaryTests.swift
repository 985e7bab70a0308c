import JSONText
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
                pyramid

                  source      pyramid.tflite, MIT
                              https://example.org/pyramid
                              SHA-256 00ff
                  input       7 x 9 RGB, byte * 0.0078125 - 1.0
                  output      7 x 9, 3 channels of logits
                  labels      sky, wall, ground
                  parameters  455, stored as float32

                                    as in the file  after passes  without its head
                  layers                        11             9                 8
                  multiply-adds              8,200         7,915             7,915
                  arena, float32           1,856 B       1,408 B           1,408 B
                  tensors unshared         4,828 B       3,240 B           2,484 B

                  operator             layers  multiply-adds          after passes  multiply-adds
                  conv2d 3x3                2          6,480  79.0 %             2          6,480
                  conv2d 1x1                3          1,000  12.2 %             4            715
                  depthwiseConv2d 3x3       1            720   8.8 %             1            720
                  add                       1
                  averagePool 5x4           1
                  concat                    1
                  globalAveragePool                                              1
                  resizeBilinear            2                                    1
                """)
    }

    @Test("Table of layers") func layers() {
        #expect(
            ModelSummary(model).layerTable == """
                #  operator             result  multiply-adds  parameters  details                              layer
                0  conv2d 3x3            5x4x4          2,160         112  stride 2x2, padding 1,1,1,1, relu6   stem
                1  depthwiseConv2d 3x3   5x4x4            720          40  padding 1,1,1,1, relu6               depthwise
                2  conv2d 1x1            5x4x4            320          20  residual                             project + add
                3  globalAveragePool     1x1x4                                                                  pool
                4  conv2d 1x1            1x1x5             20          25  relu                                 image pooling
                5  conv2d 3x3            5x4x6          4,320         222  dilation 2x2, padding 2,2,2,2, relu  atrous
                6  conv2d 1x1            1x1x3             15          15                                       broadcast + scores
                7  conv2d 1x1            5x4x3            360          21  picture bias                         concat + scores
                8  resizeBilinear        9x7x3                             halfPixel                            resize
                """)
    }

    @Test("Costs before and after the passes, with and without the head") func costs() throws {
        let summary = ModelSummary(model)
        #expect(summary.fileCost.layerCount == 11)
        #expect(summary.optimizedCost.layerCount == 9)
        #expect(summary.trunkCost.layerCount == 8)
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
        #expect(try line([0.5, 0.5, 0.5], [0, 0, 0]) == "  input       7 x 9 RGB, byte * 0.5")
        #expect(try line([0.5, 0.5, 0.5], [-1, -1, -1]) == "  input       7 x 9 RGB, byte * 0.5 - 1.0")
        #expect(try line([0.5, 0.25, 0.5], [2, 2, 2]) == "  input       7 x 9 RGB, byte * [0.5, 0.25, 0.5] + 2.0")
        #expect(try line([0.5, 0.5, 0.5], [0, 0, 1]) == "  input       7 x 9 RGB, byte * 0.5 + [0.0, 0.0, 1.0]")
    }
}
