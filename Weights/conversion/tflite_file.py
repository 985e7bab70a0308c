"""What lies in a TensorFlow Lite file: tensors with their names, shapes and values, and operators with their options.

Quantised weights and biases are given as the floats that they stand for.
"""

import numpy as np
import tflite

from .errors import ConversionError

DTYPES = {
    tflite.TensorType.FLOAT32: np.dtype("<f4"),
    tflite.TensorType.FLOAT16: np.dtype("<f2"),
    tflite.TensorType.INT32: np.dtype("<i4"),
    tflite.TensorType.INT64: np.dtype("<i8"),
    tflite.TensorType.UINT8: np.dtype("u1"),
    tflite.TensorType.INT8: np.dtype("i1"),
    tflite.TensorType.INT16: np.dtype("<i2"),
}
FUSED = {
    tflite.ActivationFunctionType.NONE: "none",
    tflite.ActivationFunctionType.RELU: "relu",
    tflite.ActivationFunctionType.RELU6: "relu6",
}
QUANTISED = (tflite.TensorType.UINT8, tflite.TensorType.INT8)


class TFLiteFile:
    """One graph of a file."""

    def __init__(self, data):
        model = tflite.Model.GetRootAsModel(data, 0)
        if model.SubgraphsLength() != 1:
            raise ConversionError(f"it holds {model.SubgraphsLength()} graphs, expected one")
        self.model, self.graph, self.data = model, model.Subgraphs(0), data
        # Each tensor and operator takes some bytes: a larger count is damage, found before memory is taken for it.
        if max(self.graph.TensorsLength(), self.graph.OperatorsLength()) * 4 > len(data):
            raise ConversionError("it is damaged: it says to hold more tensors or operators than it has bytes for")
        self.names, self.constants = self.unique_names(), {}

    def input_scale(self, index):
        """What a byte of the picture is to the network where the file takes bytes: (scale, bias), else None."""
        scale, zero, _ = self.quantisation(index)
        if self.graph.Tensors(index).Type() == tflite.TensorType.UINT8 and scale is not None and len(scale) == 1:
            return float(scale[0]), -float(zero[0] * scale[0])
        return None

    def unique_names(self):
        """A name for each tensor; of two that share one, a computed tensor keeps it rather than a constant."""
        count = self.graph.TensorsLength()
        computed = {
            int(self.graph.Operators(index).Outputs(0))
            for index in range(self.graph.OperatorsLength())
            if self.graph.Operators(index).OutputsLength()
        }
        names, taken = [""] * count, set()
        for index in sorted(range(count), key=lambda index: index not in computed):
            # Converters join the names of all that was fused with semicolons; the first one is the result's.
            name = (self.graph.Tensors(index).Name() or b"").decode("utf-8", "replace").split(";")[0]
            names[index] = name if name and name not in taken else f"{name or 'tensor'}_{index}"
            while names[index] in taken:
                names[index] += "_"
            taken.add(names[index])
        return names

    def shape(self, index):
        tensor = self.graph.Tensors(index)
        return [int(size) for size in tensor.ShapeAsNumpy()] if tensor.ShapeLength() else []

    def quantisation(self, index):
        """Scales, zero points and the dimension that they run along; (None, None, 0) where not quantised."""
        parameters = self.graph.Tensors(index).Quantization()
        if parameters is None or not parameters.ScaleLength():
            return None, None, 0
        scale = parameters.ScaleAsNumpy().astype(np.float64)
        zero = (
            parameters.ZeroPointAsNumpy().astype(np.float64) if parameters.ZeroPointLength() else np.zeros_like(scale)
        )
        return scale, zero, parameters.QuantizedDimension()

    def constant(self, index):
        """The values of a constant tensor, dequantised; None where it is computed."""
        if index < 0:
            return None
        name = self.names[index]
        if name in self.constants:
            return self.constants[name]
        tensor = self.graph.Tensors(index)
        buffer = self.model.Buffers(tensor.Buffer())
        if not buffer.DataLength():
            return None
        if tensor.Type() not in DTYPES:
            raise ConversionError(f"tensor {name}: element type {tensor.Type()} is not supported")
        if tensor.Sparsity() is not None:
            raise ConversionError(f"tensor {name}: sparse tensors are not supported")
        values = np.frombuffer(buffer.DataAsNumpy().tobytes(), DTYPES[tensor.Type()]).reshape(self.shape(index))
        scale, zero, dimension = self.quantisation(index)
        if scale is not None and values.dtype.kind in "iu":
            along = [1] * values.ndim
            if len(scale) > 1:
                along[dimension] = len(scale)
            values = (values.astype(np.float64) - zero.reshape(along)) * scale.reshape(along)
        self.constants[name] = values
        return values

    def weights(self, index, layer):
        values = self.constant(index)
        if values is None:
            raise ConversionError(f"layer {layer}: its weights are computed, which is not supported")
        return values.astype(np.float32)

    def options(self, operator, kind):
        table, options = operator.BuiltinOptions(), getattr(tflite, kind)()
        if table is None:
            raise ConversionError(f"{kind} of an operator are missing")
        options.Init(table.Bytes, table.Pos)
        return options

    def fused(self, name, options):
        code = options.FusedActivationFunction()
        if code not in FUSED:
            raise ConversionError(f"layer {name}: fused activation {code} is not supported")
        return FUSED[code]

    def implied(self, output, fused):
        """The activation, or the one that only the quantised range of the result expresses."""
        scale, zero, _ = self.quantisation(output)
        kind = self.graph.Tensors(output).Type()
        if fused != "none" or kind not in QUANTISED or scale is None:
            return fused
        lowest = 0 if kind == tflite.TensorType.UINT8 else -128
        if zero[0] != lowest:
            return "none"
        return "relu6" if abs(scale[0] * 255 - 6) < 1e-3 else "relu"
