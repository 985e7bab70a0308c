/// A trained network of the shared folder, converted when a test first asks for it.
package enum ReferenceModel: String, Sendable, CaseIterable {
    /// 257x257, 21 classes, float.
    case deepLab257 = "deeplabv3_257_mv_gpu.tflite"
    /// 513x513, 21 classes, weights in lookup tables.
    case apple = "DeepLabV3Int8LUT.mlmodel"
    /// 513x513, 21 classes, quantised.
    case coral = "deeplabv3_mnv2_pascal_quant.tflite"
    /// 256x256, one probability.
    case selfie = "selfie_segmentation.tflite"

    /// The path of the converted network.
    package func path() throws -> String {
        try TestCache.path(rawValue + ".safetensors", from: Self.converter) { path in
            try PythonEnvironment.run(
                PythonEnvironment.interpreter,
                [Checkout.path("Weights/convert.py"), SharedFiles.path("models/" + rawValue), path])
        }
    }

    /// What a converted file depends on.
    static let converter = ["Weights/convert.py", "Weights/conversion"]
}
