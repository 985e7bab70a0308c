import Foundation
import Testing

/// One of torchvision's networks with random weights: dense 3x3 convolutions at rates 12, 24 and 36.
package enum TorchvisionModel: String, Sendable, CaseIterable {
    /// Residual bottlenecks.
    case resNet50 = "deeplabv3_resnet50"
    /// Inverted residuals with gates and hard-swish.
    case mobileNetV3 = "deeplabv3_mobilenet_v3_large"

    /// The interpreter that has torchvision: Debian's.
    private static let interpreter = "/usr/bin/python3"

    /// A converted network with an input and ONNX Runtime's output, all made from seeds.
    package struct Files: Sendable {
        /// Path of the model file.
        package let model: String
        /// Path of the input: float32, height x width x channels.
        package let input: String
        /// Path of the output of ONNX Runtime, in the same layout.
        package let output: String
    }

    /// Exports, converts and runs the network where that has not been done yet.
    package func files() throws -> Files {
        let sources = ReferenceModel.converter + ["Weights/export_torchvision.py", "Tests/Support/run_onnx.py"]
        let folder = try TestCache.path(rawValue, from: sources) { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let onnx = folder + "/network.onnx"
            defer { try? FileManager.default.removeItem(atPath: onnx) }
            try PythonEnvironment.run(
                Self.interpreter, [Checkout.path("Weights/export_torchvision.py"), rawValue, onnx])
            try PythonEnvironment.run(
                PythonEnvironment.interpreter,
                [
                    Checkout.path("Weights/convert.py"), onnx, folder + "/network.safetensors", "--scale=1/127.5",
                    "--bias=-1", "--order=RGB", "--labels=voc", "--output-kind=logits",
                ])
            try PythonEnvironment.run(
                PythonEnvironment.interpreter,
                [Checkout.path("Tests/Support/run_onnx.py"), onnx, folder + "/input.npy", folder + "/output.npy"])
        }
        return Files(
            model: folder + "/network.safetensors", input: folder + "/input.npy", output: folder + "/output.npy")
    }

    /// Why these networks cannot be had; nil where they can.
    static var absence: String? {
        if let absence = PythonEnvironment.absence { return absence }
        do {
            try PythonEnvironment.run(interpreter, ["-c", "import torchvision"])
            return nil
        } catch {
            return "no torchvision for \(interpreter) (Debian's python3-torchvision)"
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, with the reason, where torchvision or the project's Python environment is absent.
    package static var needsTorchvision: Self {
        .enabled("no torchvision (Debian's python3-torchvision) or no Python environment (scripts/test makes it)") {
            TorchvisionModel.absence == nil
        }
    }
}
