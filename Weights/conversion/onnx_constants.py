"""Works out what in an ONNX graph does not depend on the picture: sizes, shared weights."""

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .errors import ConversionError, unsupported
from .onnx_node import Node

# Operators on constants that exporters write. ONNX's own reference implementation computes them, so all their
# attributes count. What each may take is bounded.
FOLDED = {
    "Add",
    "Cast",
    "Ceil",
    "Concat",
    "ConstantOfShape",
    "Div",
    "Floor",
    "Gather",
    "Identity",
    "Mul",
    "ReduceProd",
    "Reshape",
    "Slice",
    "Squeeze",
    "Sub",
    "Transpose",
    "Unsqueeze",
}
MAX_BROADCAST = 65_536  # values of what can be more than was given: arithmetic, Gather, ConstantOfShape
MIN_BUDGET = 64 << 20  # bytes that all results together may take, or four times the file's


class Constants(dict):
    """Values by name. What was worked out takes no more memory than a budget."""

    def __init__(self, version, file_bytes):
        super().__init__()
        self.version, self.budget = version, max(MIN_BUDGET, 4 * file_bytes)

    def fold(self, node: Node):
        """Adds the result of a node whose inputs are all constant."""
        arrays = {value: self[value] for value in node.inputs if value}
        # No operator gives more bytes than eight for each value that it reads, but those that are bounded.
        self.spend(node, 8 * sum(self[value].size for value in node.inputs if value))
        if node.op == "Identity":
            self[node.outputs[0]] = self[node.inputs[0]]
            return
        self.check_size(node)
        values = [
            helper.make_tensor_value_info(value, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for value, array in arrays.items()
        ]
        results = [helper.make_empty_tensor_value_info(node.outputs[0])]
        model = helper.make_model(
            helper.make_graph([node.proto], "constant", values, results),
            opset_imports=[helper.make_opsetid("", self.version)],
        )
        try:
            result = np.asarray(ReferenceEvaluator(model).run(None, arrays)[0])
        except MemoryError:
            raise
        except Exception as error:  # numpy's, of shapes and values that do not fit
            reason = " ".join(str(error).split())[:160]
            raise ConversionError(f"layer {node.name}: {node.op} cannot be computed ({reason})") from None
        check_type(result, f"layer {node.name}: {node.op}")
        self[node.outputs[0]] = result

    def check_size(self, node):
        """Refuses what would give far more than it reads, before memory is taken."""
        given = [self[value] for value in node.inputs if value]
        if node.op in ("Add", "Sub", "Mul", "Div"):
            count = math.prod(max(sizes) for sizes in zip(*aligned(given[0].shape, given[1].shape)))
        elif node.op == "Gather":
            data, axis = given[0], node.get("axis", 0)
            along = data.shape[axis] if -data.ndim <= axis < data.ndim else 1
            count = given[1].size * (data.size // max(along, 1))
        elif node.op == "ConstantOfShape":
            count = math.prod(max(0, int(size)) for size in given[0].reshape(-1))
        else:
            return
        if count > MAX_BROADCAST:
            raise unsupported(node.name, node.op, f"a result of {count} values", f"up to {MAX_BROADCAST}")

    def spend(self, node, count):
        self.budget -= count
        if self.budget < 0:
            raise ConversionError(f"layer {node.name}: the constants that the graph computes take too much memory")


def aligned(first, second):
    """Two shapes, the shorter one with ones before it."""
    rank = max(len(first), len(second))
    return [(1,) * (rank - len(shape)) + tuple(shape) for shape in (first, second)]


def array(tensor: onnx.TensorProto, what: str) -> np.ndarray:
    """The values of a constant."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.external_data):
        raise ConversionError(f"{what}: its values lie in another file, which is not supported: save all in one file")
    if tensor.HasField("segment"):
        raise ConversionError(f"{what}: it is a segment of a tensor, which is not supported")
    if tensor.data_type in (onnx.TensorProto.UNDEFINED, onnx.TensorProto.STRING) or not all(
        size >= 0 for size in tensor.dims
    ):
        raise ConversionError(
            f"{what}: a tensor of the type {type_name(tensor.data_type)} and the shape "
            f"{list(tensor.dims)} is not supported"
        )
    try:
        values = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError) as error:
        shape = f"{type_name(tensor.data_type)} and shape {list(tensor.dims)}"
        raise ConversionError(f"{what}: its values do not fit its type {shape} ({error})") from None
    check_type(values, what)
    return values


def check_type(values, what):
    if values.dtype.kind not in "fiub":
        raise ConversionError(f"{what}: values of the type {values.dtype} are not supported")


def type_name(number: int) -> str:
    """The name of an element type."""
    names = {value: key for key, value in onnx.TensorProto.DataType.items()}
    return names.get(number, str(number)).lower()


def constant(node: Node) -> np.ndarray:
    """The value of a Constant node."""
    forms = [key for key in node.attributes]
    if len(forms) != 1 or forms[0] not in ("value", "value_int", "value_ints", "value_float", "value_floats"):
        raise unsupported(
            node.name, node.op, " and ".join(forms) or "no value", "value, value_int(s) or value_float(s)"
        )
    value = node.get(forms[0])
    if forms[0] == "value":
        return array(value, f"layer {node.name}")
    return np.array(value, np.int64 if "int" in forms[0] else np.float32)
