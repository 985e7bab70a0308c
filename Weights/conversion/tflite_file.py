"""What lies in a TensorFlow Lite file: tensors with their names, shapes and values, and operators with their options.

Quantised weights and biases are given as the floats that they stand for.
"""

import numpy as np
import tflite
from flatbuffers.table import Table

from .errors import ConversionError, unsupported
from .shapes import MAX_NODES
from .tflite_fields import check_fields

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
ACTIVATIONS = {value: name for name, value in vars(tflite.ActivationFunctionType).items() if not name.startswith("_")}
TYPES = {value: name for name, value in vars(tflite.TensorType).items() if not name.startswith("_")}
QUANTISED = (tflite.TensorType.UINT8, tflite.TensorType.INT8)
MAX_TENSORS = 4 * MAX_NODES
MAX_NAME_BYTES = 512
MIN_BUDGET = 64 << 20  # bytes that all constants together may take, or sixteen times the file's


class TFLiteFile:
    """One graph of a file."""

    def __init__(self, data):
        model = tflite.Model.GetRootAsModel(data, 0)
        check_fields("Model", model, "the file")
        if model.Version() != 3:
            raise ConversionError(f"its version is {model.Version()}, expected 3")
        if model.SubgraphsLength() != 1:
            raise ConversionError(f"it holds {model.SubgraphsLength()} graphs, expected one")
        self.model, self.graph, self.data = model, model.Subgraphs(0), data
        check_fields("SubGraph", self.graph, "the graph")
        # Each tensor and operator takes some bytes: a larger count is damage, found before memory is taken for it.
        tensors, operators = self.graph.TensorsLength(), self.graph.OperatorsLength()
        if max(tensors, operators) * 4 > len(data):
            raise ConversionError("it is damaged: it says to hold more tensors or operators than it has bytes for")
        if tensors > MAX_TENSORS or operators > MAX_NODES:
            raise ConversionError(f"it has {tensors} tensors and {operators} operators, more than are supported")
        self.names, self.constants, self.budget = self.unique_names(), {}, max(MIN_BUDGET, 16 * len(data))

    def input_scale(self, index):
        """What a byte of the picture is to the network where the file takes bytes: (scale, bias), else None."""
        if self.graph.Tensors(index).Type() != tflite.TensorType.UINT8:
            return None
        scale, zero, _ = self.quantisation(index)
        if scale is None:
            return 1.0, 0.0
        return (float(scale[0]), -float(zero[0] * scale[0])) if len(scale) == 1 else None

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
            tensor = self.graph.Tensors(index)
            check_fields("Tensor", tensor, f"tensor {index}")
            name = self.stored_name(tensor).decode("utf-8", "replace").split(";")[0]
            names[index] = name if name and name not in taken else f"{name or 'tensor'}_{index}"
            while names[index] in taken:
                names[index] += "_"
            taken.add(names[index])
        return names

    @staticmethod
    def stored_name(tensor):
        """The first bytes of a tensor's name: many tensors may share one that is as long as the file."""
        at = tensor._tab.Offset(10)
        if not at:
            return b""
        start = tensor._tab.Vector(at)
        return bytes(tensor._tab.Bytes[start : start + min(tensor._tab.VectorLen(at), MAX_NAME_BYTES)])

    def kind(self, index):
        """Whether a tensor's values are `floats`, stored as such or quantised, or `whole` numbers; else its type."""
        kind = self.graph.Tensors(index).Type()
        if DTYPES.get(kind) is None:
            return TYPES.get(kind, str(kind))
        return "whole" if DTYPES[kind].kind in "iu" and self.quantisation(index)[0] is None else "floats"

    def shape(self, index):
        tensor = self.graph.Tensors(index)
        return [int(size) for size in tensor.ShapeAsNumpy()] if tensor.ShapeLength() else []

    def quantisation(self, index):
        """Scales, zero points and the dimension that they run along; (None, None, 0) where not quantised."""
        parameters = self.graph.Tensors(index).Quantization()
        if parameters is None:
            return None, None, 0
        check_fields("QuantizationParameters", parameters, f"tensor {self.names[index]}")
        if not parameters.ScaleLength():
            return None, None, 0
        scale = parameters.ScaleAsNumpy().astype(np.float64)
        zero = (
            parameters.ZeroPointAsNumpy().astype(np.float64) if parameters.ZeroPointLength() else np.zeros_like(scale)
        )
        return scale, zero, parameters.QuantizedDimension()

    def spend(self, name, count):
        """Tensors may share the bytes of a constant, which are dequantised for each."""
        self.budget -= count
        if self.budget < 0:
            raise ConversionError(f"tensor {name}: the constants up to it take too much memory")

    def constant(self, index):
        """The values of a constant tensor, dequantised; None where it is computed."""
        if index < 0:
            return None
        name = self.names[index]
        if name in self.constants:
            return self.constants[name]
        tensor = self.graph.Tensors(index)
        if not 0 <= tensor.Buffer() < self.model.BuffersLength():
            raise ConversionError(f"tensor {name}: the file has no buffer {tensor.Buffer()}")
        buffer = self.model.Buffers(tensor.Buffer())
        check_fields("Buffer", buffer, f"tensor {name}")
        if not buffer.DataLength():
            return None
        if tensor.Type() not in DTYPES:
            name_of_type = TYPES.get(tensor.Type(), tensor.Type())
            raise ConversionError(f"tensor {name}: the element type {name_of_type} is not supported")
        self.spend(name, 8 * buffer.DataLength())
        shape, (scale, zero, dimension) = self.shape(index), self.quantisation(index)
        try:
            values = np.frombuffer(buffer.DataAsNumpy().tobytes(), DTYPES[tensor.Type()]).reshape(shape)
            if scale is not None and values.dtype.kind in "iu":
                along = [1] * values.ndim
                if len(scale) > 1:
                    along[dimension] = len(scale)
                values = (values.astype(np.float64) - zero.reshape(along)) * scale.reshape(along)
        except (ValueError, IndexError) as error:
            reason = f"{TYPES[tensor.Type()]}, shape {shape} or scales ({error})"
            raise ConversionError(f"tensor {name}: its values do not fit its type {reason}") from None
        self.constants[name] = values
        return values

    def weights(self, index, layer):
        values = self.constant(index)
        if values is None:
            raise ConversionError(f"layer {layer}: its weights are computed, which is not supported")
        return values.astype(np.float32)

    def options(self, operator, kind, name):
        """The options of an operator, which have a table of their own for each kind."""
        if operator.BuiltinOptionsType() != getattr(tflite.BuiltinOptions, kind) or operator.BuiltinOptions() is None:
            raise ConversionError(f"layer {name}: its {kind} are missing")
        table, options = operator.BuiltinOptions(), getattr(tflite, kind)()
        options.Init(table.Bytes, table.Pos)
        check_fields(kind, options, f"layer {name}")
        return options

    def no_options(self, operator, name, *kinds):
        """Makes sure that an operator has no options but those, which say nothing that counts."""
        kind = operator.BuiltinOptionsType()
        known = {getattr(tflite.BuiltinOptions, kind): kind for kind in ("NONE", *kinds)}
        if kind not in known:
            raise ConversionError(f"layer {name}: options of the kind {kind} do not belong to it")
        if kind != tflite.BuiltinOptions.NONE and (table := operator.BuiltinOptions()) is not None:
            check_fields(known[kind], Table(table.Bytes, table.Pos), f"layer {name}")

    def fused(self, name, options):
        code = options.FusedActivationFunction()
        if code not in FUSED:
            what = f"fusedActivationFunction {ACTIVATIONS.get(code, code)}"
            raise unsupported(name, self.op, what, "NONE, RELU and RELU6")
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
