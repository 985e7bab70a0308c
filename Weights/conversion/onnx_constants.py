"""Works out what in an ONNX graph does not depend on the picture: sizes, shared weights."""

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from .errors import ConversionError

# Operators on constants that exporters write. None makes more than it is given, but for broadcasting, which is bounded.
FOLDED = {
    "Add",
    "Cast",
    "Ceil",
    "Concat",
    "Div",
    "Floor",
    "Gather",
    "Identity",
    "Mul",
    "Reshape",
    "Slice",
    "Squeeze",
    "Sub",
    "Transpose",
    "Unsqueeze",
    "ReduceProd",
}
MAX_BROADCAST = 4096
MAX_VALUES = 1 << 27


def fold(node, name, constants, version) -> dict:
    """The results of a node whose inputs are all constant, by ONNX's own reference implementation."""
    if node.op_type == "Identity":
        return {node.output[0]: constants[node.input[0]]}
    inputs = {value: constants[value] for value in node.input if value}
    if node.op_type in ("Add", "Sub", "Mul", "Div") and any(array.size > MAX_BROADCAST for array in inputs.values()):
        raise ConversionError(f"layer {name}: {node.op_type} of large constants is not supported")
    if sum(constants[value].size for value in node.input if value) > MAX_VALUES:
        raise ConversionError(f"layer {name}: {node.op_type} of that many constants is not supported")
    values = [
        helper.make_tensor_value_info(value, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for value, array in inputs.items()
    ]
    results = [helper.make_empty_tensor_value_info(value) for value in node.output]
    model = helper.make_model(
        helper.make_graph([node], "constant", values, results), opset_imports=[helper.make_opsetid("", version)]
    )
    return dict(zip(node.output, (np.asarray(array) for array in ReferenceEvaluator(model).run(None, inputs))))
