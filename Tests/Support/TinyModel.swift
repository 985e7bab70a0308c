import Foundation
import ModelGraph

/// A model file of one pointwise convolution, written by hand: what a network computes can be known exactly.
package struct TinyModel {
    /// Columns of the input.
    package var width = 65
    /// Rows of the input.
    package var height = 65
    /// Weights, output channel by output channel, one for each input channel.
    package var weights: [[Float]]
    /// One value for each output channel.
    package var bias: [Float]
    /// `GRAY`, `RGB` or `BGR`.
    package var order = "RGB"
    /// `logits` or `probabilities`.
    package var kind = "logits"

    /// Creates a model.
    package init(
        width: Int = 65, height: Int = 65, weights: [[Float]], bias: [Float], order: String = "RGB",
        kind: String = "logits"
    ) {
        self.width = width
        self.height = height
        self.weights = weights
        self.bias = bias
        self.order = order
        self.kind = kind
    }

    /// Three classes: 1 where the grey picture is brighter than 0.6, 2 where it is darker than 0.4.
    package static func brightAndDark(side: Int) -> TinyModel {
        TinyModel(width: side, height: side, weights: [[0], [8], [-8]], bias: [0.8, -4, 4], order: "GRAY")
    }

    /// Two classes: 1 where the grey picture is brighter than `threshold` (0 to 1).
    package static func brightness(side: Int, threshold: Float) -> TinyModel {
        TinyModel(width: side, height: side, weights: [[0], [1]], bias: [threshold, 0], order: "GRAY")
    }

    /// The model, as if it had been read from a file.
    package func model() throws -> Model { try Model(bytes: file(), name: "tiny") }

    /// The file's bytes.
    package func file() throws -> [UInt8] {
        let channels = order == "GRAY" ? 1 : 3
        let outputs = weights.count
        let labels = (0..<max(2, outputs)).map { $0 == 0 ? "background" : "class\($0)" }
        let document: [String: Any] = [
            "version": 1, "name": "tiny",
            "input": [
                "name": "in", "width": width, "height": height, "order": order,
                "scale": [Double](repeating: 1 / 255, count: channels), "bias": [Double](repeating: 0, count: channels),
            ] as [String: Any],
            "output": ["name": "out", "kind": kind], "labels": labels,
            "layers": [
                ["op": "conv2d", "name": "out", "inputs": ["in"], "output": "out", "weight": "w", "bias": "b"]
                    as [String: Any]
            ],
        ]
        let text = String(decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
        let weightBytes = 4 * outputs * channels
        let header = try JSONSerialization.data(withJSONObject: [
            "__metadata__": ["silhouette": text],
            "w": [
                "dtype": "F32", "shape": [outputs, channels, 1, 1], "data_offsets": [0, weightBytes],
            ] as [String: Any],
            "b": [
                "dtype": "F32", "shape": [outputs], "data_offsets": [weightBytes, weightBytes + 4 * outputs],
            ] as [String: Any],
        ])
        var bytes = withUnsafeBytes(of: UInt64(header.count).littleEndian) { Array($0) } + [UInt8](header)
        for value in weights.joined() + bias { withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 } }
        return bytes
    }
}
