"""Builds small TensorFlow Lite files for the tests."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {
    "float32": schema.TensorType.FLOAT32,
    "float16": schema.TensorType.FLOAT16,
    "int32": schema.TensorType.INT32,
    "uint8": schema.TensorType.UINT8,
    "int8": schema.TensorType.INT8,
    "int64": schema.TensorType.INT64,
}


class TFLiteGraph:
    """Collects operators; tensor 0 is the input `picture`."""

    def __init__(self, height=9, width=11, channels=3, dtype="float32", quantisation=None, seed=7):
        self.size, self.random = (height, width, channels), np.random.default_rng(seed)
        self.tensors, self.buffers, self.operators, self.codes = [], [schema.BufferT()], [], []
        self.tensor("picture", (1, height, width, channels), dtype, quantisation)

    def tensor(self, name, shape, dtype="float32", quantisation=None, values=None):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name.encode(), list(shape), TYPES[dtype]
        if quantisation is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = [list(part) for part in quantisation[:2]]
            tensor.quantization.quantizedDimension = quantisation[2] if len(quantisation) > 2 else 0
        tensor.buffer = 0
        if values is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(values, dtype).tobytes(), np.uint8)
            self.buffers.append(buffer)
            tensor.buffer = len(self.buffers) - 1
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def constant(self, values, dtype="float32", quantisation=None):
        values = np.asarray(values)
        return self.tensor(f"constant_{len(self.tensors)}", values.shape, dtype, quantisation, values)

    def noise(self, *shape):
        return self.constant(self.random.uniform(-1, 1, shape))

    def operator(self, kind, inputs, shape, options=None, dtype="float32", quantisation=None, **values):
        """Adds an operator and gives its output; `values` fill the options."""
        output = self.tensor(f"{kind}_{len(self.operators)}", shape, dtype, quantisation)
        operator = schema.OperatorT()
        operator.inputs, operator.outputs = list(inputs), [output]
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, kind)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
        self.codes.append(code)
        operator.opcodeIndex = len(self.codes) - 1
        if options is not None:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(schema, options + "T")()
            for key, value in values.items():
                assert hasattr(operator.builtinOptions, key)
                setattr(operator.builtinOptions, key, value)
        self.operators.append(operator)
        return output

    def name(self, tensor):
        return self.tensors[tensor].name.decode()

    def data(self, output, change=None):
        """The file; `change` may spoil the model before it is written."""
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, graph.inputs, graph.outputs = self.tensors, self.operators, [0], [output]
        model = schema.ModelT()
        model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], self.buffers, self.codes
        if change is not None:
            change(model)
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def picture(self):
        return self.random.uniform(-2, 2, (1, *self.size)).astype(np.float32)
