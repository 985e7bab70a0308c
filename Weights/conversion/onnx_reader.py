"""ONNX networks: NCHW, operator set 7 and up, as PyTorch's and other exporters write them."""

import math

import numpy as np
import onnx
from onnx import TensorProto

from .errors import ConversionError, naming, unsupported
from .network import Facts, Layer, Network, activation, affine, binary, choose_output, same_padding
from .onnx_constants import FOLDED, Constants, array, constant, type_name
from .onnx_node import Node
from .protobuf import refuse_unknown_fields
from .shapes import MAX_NODES, check, check_weights, output_shape

# Broadcasting is numpy's from operator set 7 on. Later sets than the onnx package knows may mean something else.
OPSETS = range(7, onnx.defs.onnx_opset_version() + 1)

STANDARD = ("", "ai.onnx")  # names of the domain of standard operators

# Where each convention of Resize lands; pytorch_half_pixel differs from half_pixel only for a result of one pixel.
RESIZES = {
    "align_corners": "alignCorners",
    "half_pixel": "halfPixel",
    "pytorch_half_pixel": "halfPixel",
    "asymmetric": "asymmetric",
}

# Element types, and the whole number up to which each holds all. A map's values stay floats of 32 bits here: rounding
# to fewer is left out.
FLOATS = {TensorProto.FLOAT: 1 << 24, TensorProto.DOUBLE: 1 << 53, TensorProto.FLOAT16: 2048, TensorProto.BFLOAT16: 256}
INTEGERS = {
    TensorProto.UINT8: 255,
    TensorProto.INT8: 127,
    TensorProto.UINT16: 65_535,
    TensorProto.INT16: 32_767,
    TensorProto.UINT32: (1 << 32) - 1,
    TensorProto.INT32: (1 << 31) - 1,
    TensorProto.UINT64: (1 << 64) - 1,
    TensorProto.INT64: (1 << 63) - 1,
}


def read(data: bytes, size=None, output=None) -> Network:
    """The network of an .onnx file.

    - size: (height, width) for an input whose size is open
    - output: the name of the output that counts; default: the first
    """
    model = onnx.ModelProto()
    model.ParseFromString(data)
    if not model.graph.node:
        raise ConversionError("it holds no network")
    if len(model.graph.node) > MAX_NODES:
        raise ConversionError(f"it has {len(model.graph.node)} nodes, more than {MAX_NODES}")
    check_names(model.graph)
    refuse_unknown_fields(model)
    if any(function.domain in STANDARD for function in model.functions):
        raise ConversionError("it has functions of its own in place of standard operators, which is not supported")
    return Reader(model.graph, opset(model), len(data)).network(size, output)


def check_names(graph):
    """Protobuf gives names that are no UTF-8 text as bytes."""
    values = [*graph.input, *graph.output, *graph.initializer]
    names = [value.name for value in values]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        names += [attribute.name for attribute in node.attribute]
    if not all(isinstance(name, str) for name in names):
        raise ConversionError("it is damaged: a name in it is no text")


def opset(model):
    """Version of the standard operators."""
    versions = [entry.version for entry in model.opset_import if entry.domain in STANDARD]
    if len(versions) != 1:
        raise ConversionError(f"it names {len(versions)} sets of standard operators, expected one")
    if versions[0] not in OPSETS:
        raise ConversionError(
            f"its operator set is {versions[0]}, only {OPSETS[0]} to {OPSETS[-1]} are supported: export it for one of "
            "these"
        )
    return versions[0]


class Reader:
    """Goes through the nodes, keeps the shapes of the maps and works out constants on the way."""

    def __init__(self, graph, version, file_bytes):
        self.graph, self.version, self.layers, self.shapes = graph, version, [], {}
        self.whole = {}  # maps of whole numbers, the picture's bytes or labels: the largest value
        self.flat = set()  # labels without a dimension of channels
        self.constants, self.weight_bytes = Constants(version, file_bytes), 0
        for tensor in graph.initializer:
            if tensor.name in self.constants:
                raise ConversionError(f"it holds two tensors of the name {tensor.name}")
            self.constants[tensor.name] = array(tensor, f"tensor {tensor.name}")
        if len(graph.sparse_initializer):
            raise ConversionError("it holds sparse tensors, which are not supported")

    def network(self, size, wanted):
        inputs = [value for value in self.graph.input if value.name not in self.constants]
        if len(inputs) != 1:
            raise ConversionError(f"it has {len(inputs)} inputs, expected one")
        source, facts = inputs[0].name, Facts()
        self.shapes[source] = input_shape(inputs[0], size)
        if inputs[0].type.tensor_type.elem_type in INTEGERS:  # the bytes of the picture as they are
            self.whole[source], facts.scale, facts.bias = 255, [1], [0]
        output, note = choose_output([value.name for value in self.graph.output], wanted)
        taken = set()
        for index, proto in enumerate(self.graph.node):
            name = proto.name or (proto.output[0] if proto.output else f"node {index}")
            while name in taken:
                name += f"_{index}"
            taken.add(name)
            with naming(name, proto.op_type):
                self.read_node(proto, name)
        return Network(source, self.shapes[source], self.layers, output, facts, notes=note)

    def read_node(self, proto, name):
        op, method = proto.op_type, getattr(self, f"read_{proto.op_type}", None)
        if proto.domain not in STANDARD:
            raise ConversionError(f"layer {name}: operator {proto.domain}.{op} is not supported")
        if method is None and op not in FOLDED | {"Constant", "Shape"}:
            raise ConversionError(f"layer {name}: operator {op} is not supported")
        node = Node(proto, name, self.version)
        for value in node.outputs:
            if value and (value in self.constants or value in self.shapes):
                raise ConversionError(f"layer {name}: writes {value} a second time")
        if op == "Constant":
            self.constants[node.outputs[0]] = constant(node)
        elif op == "Shape" and node.inputs[0] in self.shapes:
            self.constants[node.outputs[0]] = self.dimensions(node)
        elif op in FOLDED and all(value in self.constants for value in node.inputs if value):
            self.constants.fold(node)
        elif method is None:
            raise ConversionError(f"layer {name}: {op} of a map is not supported, only of constants")
        else:
            self.read_map(node, method)

    def read_map(self, node, method):
        """A node that computes a map."""
        if node.op not in ("Cast", "Identity", "ArgMax") and any(value in self.whole for value in node.inputs):
            raise unsupported(node.name, node.op, "whole numbers", "floats: cast them before")
        first = len(self.layers)
        node.ask_input(0)
        method(node)
        node.finish()
        self.weight_bytes = check_weights(self.layers[first:], self.weight_bytes)
        for layer in self.layers[first:]:
            for value in layer.inputs:
                if value not in self.shapes:
                    raise ConversionError(f"layer {node.name}: {self.why_no_map(value)}")
            self.shapes[layer.output] = check(
                output_shape(layer, [self.shapes[value] for value in layer.inputs]), f"layer {node.name}"
            )

    def why_no_map(self, value):
        if value in self.constants:
            return f"reads {value}, which is a constant, where only a map is supported"
        return f"reads {value}, which is no map that a layer before it gives"

    def dimensions(self, node):
        """What Shape gives for a map."""
        height, width, channels = self.shapes[node.inputs[0]]
        shape = [1, height, width] if node.inputs[0] in self.flat else [1, channels, height, width]
        return np.array(shape[node.get("start", 0) : node.get("end", len(shape))], np.int64)

    # Helpers

    def add(self, op, node, inputs=None, **more):
        source = node.inputs[:1] if inputs is None else inputs
        self.layers.append(Layer(op, node.name, list(source), node.outputs[0], **more))

    def affine(self, node, *values, **more):
        self.layers.append(affine(node.name, node.inputs[0], node.outputs[0], *values, **more))

    def activation(self, node, kind):
        self.layers.append(activation(node.name, node.inputs[0], node.outputs[0], kind))

    def constant(self, node, index, default=None):
        """A constant input; the default where it is left out."""
        node.ask_input(index)
        if not node.has_input(index):
            return default
        if node.inputs[index] not in self.constants:
            raise unsupported(node.name, node.op, f"a computed {node.input_name(index)}", "constant ones")
        return self.constants[node.inputs[index]]

    def floats(self, node, index):
        """A constant input of floats; None where it is left out."""
        values = self.constant(node, index)
        if values is not None and values.dtype.kind != "f":
            raise unsupported(node.name, node.op, f"{node.input_name(index)} of the type {values.dtype}", "floats")
        return values

    def number(self, node, index, default):
        """A constant input of one number."""
        value = np.asarray(self.constant(node, index, default))
        if value.size != 1:
            raise unsupported(node.name, node.op, f"{node.input_name(index)} of {value.size} numbers", "of one")
        return value.reshape(()).item()

    def weight(self, node):
        """Weight and bias of a convolution."""
        weight, bias = self.floats(node, 1), self.floats(node, 2)
        if weight.ndim != 4:
            raise unsupported(node.name, node.op, f"a weight of {weight.ndim} dimensions", "maps with rows and columns")
        kernel = node.get("kernel_shape", list(weight.shape[2:]))
        if kernel != list(weight.shape[2:]):
            raise ConversionError(
                f"layer {node.name}: {node.op} has kernel_shape {kernel}, but its weight {list(weight.shape)}"
            )
        # Nodes may share a constant: no copies of it.
        return tuple(None if values is None else values.astype(np.float32, copy=False) for values in (weight, bias))

    def window(self, node, kernel):
        """stride, dilation and padding."""
        stride, dilation = node.get("strides", [1, 1]), node.get("dilations", [1, 1])
        pads, auto = node.get("pads", [0, 0, 0, 0]), node.get("auto_pad", "NOTSET")
        for key, numbers, count, least in (
            ("kernel_shape", kernel, 2, 1),
            ("strides", stride, 2, 1),
            ("dilations", dilation, 2, 1),
            ("pads", pads, 4, 0),
        ):
            if len(numbers) != count or min(numbers) < least:
                raise unsupported(
                    node.name, node.op, f"{key} {numbers}", f"{count} numbers from {least} on, for rows and columns"
                )
        if auto != "NOTSET" and any(pads):
            raise unsupported(node.name, node.op, f"both auto_pad {auto} and pads {pads}", "one of them")
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            pads = same_padding(self.shape(node)[:2], kernel, stride, dilation, auto == "SAME_UPPER")
        elif auto not in ("NOTSET", "VALID"):
            raise unsupported(node.name, node.op, f"auto_pad {auto}", "NOTSET, VALID, SAME_UPPER and SAME_LOWER")
        return stride, dilation, pads

    def shape(self, node):
        if node.inputs[0] not in self.shapes:
            raise ConversionError(f"layer {node.name}: {self.why_no_map(node.inputs[0])}")
        return self.shapes[node.inputs[0]]

    # Operators

    def read_Conv(self, node):
        weight, bias = self.weight(node)
        stride, dilation, padding = self.window(node, list(weight.shape[2:]))
        groups = node.get("group", 1)
        depthwise = groups > 1 and weight.shape[:2] == (groups, 1)
        options = {"stride": stride, "dilation": dilation, "padding": padding}
        if not depthwise:
            options["groups"] = groups
        self.add("depthwiseConv2d" if depthwise else "conv2d", node, weight=weight, bias=bias, attributes=options)

    def read_ConvTranspose(self, node):
        weight, bias = self.weight(node)
        node.only("auto_pad", "NOTSET", "VALID")
        node.only("dilations", [1, 1])
        node.only("group", 1)
        if node.get("output_shape") is not None:
            raise unsupported(node.name, node.op, f"output_shape {node.get('output_shape')}", "pads and output_padding")
        stride, _, padding = self.window(node, list(weight.shape[2:]))
        extra = node.get("output_padding", [0, 0])
        if len(extra) != 2 or not all(0 <= more <= end for end, more in zip(padding[2:], extra)):
            raise unsupported(
                node.name, node.op, f"output_padding {extra}", f"up to the pads at the end, {padding[2:]}"
            )
        padding = padding[:2] + [end - more for end, more in zip(padding[2:], extra)]
        self.add(
            "transposeConv2d",
            node,
            weight=weight.transpose(1, 0, 2, 3),
            bias=bias,
            attributes={"stride": stride, "padding": padding},
        )

    def read_BatchNormalization(self, node):
        node.only("training_mode", 0)
        node.only("spatial", 1)
        gamma, beta, mean, variance = (self.floats(node, index).astype(np.float64) for index in (1, 2, 3, 4))
        scale = gamma / np.sqrt(variance + node.get("epsilon"))
        self.affine(node, scale, beta - mean * scale)

    def read_Relu(self, node):
        self.affine(node, low=0)

    def read_Clip(self, node):
        low = self.number(node, 1, node.get("min", -math.inf))
        high = self.number(node, 2, node.get("max", math.inf))
        # Exporters also write the largest float32 for no bound.
        low, high = (math.copysign(math.inf, bound) if abs(bound) > 1e38 else bound for bound in (low, high))
        self.affine(node, low=low, high=high)

    def read_HardSigmoid(self, node):
        self.affine(node, node.get("alpha"), node.get("beta"), 0, 1)

    def read_HardSwish(self, node):
        self.activation(node, "hardSwish")

    def read_Sigmoid(self, node):
        self.activation(node, "sigmoid")

    def arithmetic(self, op, node):
        constants = {}
        for index, value in enumerate(node.inputs):
            node.ask_input(index)
            if value in self.constants:
                values = self.constants[value]
                # Per channel: the channels are the last dimension but two.
                fits = values.size == 1 or (values.ndim >= 3 and values.shape[-3] == values.size)
                if values.dtype.kind != "f" or values.ndim > 4 or not fits:
                    what = f"a constant of shape {list(values.shape)} and type {values.dtype}"
                    raise unsupported(node.name, node.op, what, "floats, one or one a channel")
                constants[value] = values.reshape(-1)
        self.layers += binary(op, node.name, node.inputs, node.outputs[0], constants)

    def read_Add(self, node):
        self.arithmetic("add", node)

    def read_Sub(self, node):
        self.arithmetic("sub", node)

    def read_Mul(self, node):
        self.arithmetic("mul", node)

    def read_Div(self, node):
        self.arithmetic("div", node)

    def read_Concat(self, node):
        node.only("axis", 1, -3)
        self.add("concat", node, node.inputs)

    def read_GlobalAveragePool(self, node):
        self.add("globalAveragePool", node)

    def read_ReduceMean(self, node):
        node.only("keepdims", 1)
        axes = self.constant(node, 1, node.get("axes", []))
        if sorted(int(axis) % 4 for axis in axes) != [2, 3]:
            raise unsupported(node.name, node.op, f"axes {[int(axis) for axis in axes]}", "the whole map, [2, 3]")
        self.add("globalAveragePool", node)

    def pool(self, op, node):
        kernel = node.get("kernel_shape", [])
        node.only("dilations", [1, 1])
        stride, _, padding = self.window(node, kernel)
        height, width, _ = self.shape(node)
        if node.get("ceil_mode", 0):
            rests = [
                (size + padding[axis] + padding[axis + 2] - kernel[axis]) % stride[axis]
                for axis, size in enumerate((height, width))
            ]
            if any(rests):
                raise unsupported(node.name, node.op, "ceil_mode 1", "where it does not change the size")
        options = {"kernel": kernel, "stride": stride, "padding": padding}
        if op == "averagePool":
            options["countsPadding"] = bool(node.get("count_include_pad", 0))
            if kernel == [height, width] and not any(padding):
                op, options = "globalAveragePool", {}
        self.add(op, node, attributes=options)

    def read_AveragePool(self, node):
        self.pool("averagePool", node)

    def read_MaxPool(self, node):
        self.pool("maxPool", node)

    def read_Resize(self, node):
        shape = self.shape(node)
        node.only("mode", "linear")
        # Before operator set 11 there was one convention, without a name.
        convention = node.get("coordinate_transformation_mode", "asymmetric")
        if convention not in RESIZES:
            raise unsupported(node.name, node.op, f"coordinate_transformation_mode {convention}", ", ".join(RESIZES))
        node.only("antialias", 0)
        node.only("exclude_outside", 0)
        node.only("keep_aspect_ratio_policy", "stretch")
        size = self.target(node, shape)
        if convention == "pytorch_half_pixel" and 1 in size and size != list(shape[:2]):
            raise unsupported(node.name, node.op, f"pytorch_half_pixel to {size}", "to more than one row and column")
        self.add("resizeBilinear", node, attributes={"size": size, "convention": RESIZES[convention]})

    def target(self, node, shape):
        """[height, width] that Resize gives."""
        height, width, channels = shape
        before = [1, channels, height, width]
        none = np.array([])
        scales = self.constant(node, 2 if self.version > 10 else 1, none)
        sizes = self.constant(node, 3, none)
        axes = node.get("axes", [0, 1, 2, 3])
        given, numbers = ("sizes", sizes) if sizes.size else ("scales", scales)
        if (scales.size and sizes.size) or numbers.shape != (len(axes),):
            raise ConversionError(
                f"layer {node.name}: Resize has {scales.size} scales and {sizes.size} sizes, expected one for each of "
                f"the dimensions {axes}, of one of them"
            )
        places = [axis + 4 if axis < 0 else axis for axis in axes]
        if len(set(places)) != len(places) or not set(places) <= {0, 1, 2, 3}:
            raise unsupported(node.name, node.op, f"axes {axes}", "maps with rows and columns")
        after = list(before)
        for place, number in zip(places, numbers):
            after[place] = float(number)
            if given == "scales":
                # Cut off to a whole number, which then decides where samples are taken: any other scale would not.
                exact = float(np.float32(number) * np.float32(before[place]))
                after[place] = math.floor(exact) if math.isfinite(exact) else 0
                if not 0 <= float(number) * before[place] - after[place] < 1e-3 and exact != after[place]:
                    raise unsupported(node.name, node.op, f"scales {numbers.tolist()}", "to whole rows and columns")
        if after[:2] != before[:2]:
            raise unsupported(node.name, node.op, f"{given} {numbers.tolist()}", "along rows and columns")
        return [int(size) for size in after[2:]]

    def read_Softmax(self, node):
        if self.version < 13:
            raise unsupported(
                node.name,
                node.op,
                f"operator set {self.version}",
                "13 and up: before, all that follows its axis was one vector",
            )
        node.only("axis", 1, -3)
        self.add("softmax", node)

    def read_ArgMax(self, node):
        node.only("axis", 1, -3)
        node.only("select_last_index", 0)
        if not node.get("keepdims"):
            self.flat.add(node.outputs[0])
        self.whole[node.outputs[0]] = self.shape(node)[2] - 1
        self.add("argMax", node)

    def read_Pad(self, node):
        node.only("mode", "constant")
        value = self.number(node, 2, node.get("value", 0.0))
        if value != 0:
            raise unsupported(node.name, node.op, f"the value {value}", "0")
        pads = [int(pad) for pad in self.constant(node, 1, node.get("pads", []))]
        axes = [int(axis) for axis in self.constant(node, 3, [0, 1, 2, 3])]
        amounts = {}
        for index, axis in enumerate(axes):
            if len(pads) != 2 * len(axes) or not -4 <= axis < 4 or axis % 4 in amounts:
                raise unsupported(node.name, node.op, f"pads {pads} along the axes {axes}", "rows and columns")
            amounts[axis % 4] = pads[index], pads[index + len(axes)]
        (top, bottom), (left, right) = (amounts.get(axis, (0, 0)) for axis in (2, 3))
        if any(amounts.get(0, ())) or any(amounts.get(1, ())) or min(top, bottom, left, right) < 0:
            raise unsupported(node.name, node.op, f"pads {pads} along the axes {axes}", "more rows and columns")
        self.add("pad", node, attributes={"padding": [top, left, bottom, right]})

    def read_Identity(self, node):
        source, output = node.inputs[0], node.outputs[0]
        if source in self.whole:
            self.whole[output] = self.whole[source]
        if source in self.flat:
            self.flat.add(output)
        self.add("identity", node)

    def read_Dropout(self, node):
        if self.constant(node, 2) is not None and self.constant(node, 2).any():
            raise unsupported(node.name, node.op, "training_mode 1", "0")
        self.add("identity", node)

    def read_Cast(self, node):
        """Between floats, and of whole numbers to what holds them all. Others would cut values off."""
        source, target, largest = node.inputs[0], node.get("to"), self.whole.get(node.inputs[0])
        name = type_name(target)
        if largest is None and target not in FLOATS:
            raise unsupported(node.name, "Cast of floats", f"to {name}", "to floats: it would cut off values")
        if largest is not None and (FLOATS | INTEGERS).get(target, -1) < largest:
            what = f"Cast of whole numbers up to {largest}"
            raise unsupported(node.name, what, f"to {name}", "to what holds them all")
        if target in INTEGERS:
            self.whole[node.outputs[0]] = largest
        if source in self.flat:
            self.flat.add(node.outputs[0])
        self.add("identity", node)


def input_shape(value, size):
    """(height, width, channels) of the input, NCHW, with the size that a flag gives where it is open."""
    if value.type.WhichOneof("value") != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        raise ConversionError(f"its input {value.name} is no tensor with a shape")
    kind = value.type.tensor_type.elem_type
    if kind not in FLOATS and kind != TensorProto.UINT8:
        raise ConversionError(f"its input {value.name} holds {type_name(kind)}, only floats and uint8 are supported")
    dimensions = [
        dimension.dim_value if dimension.WhichOneof("value") == "dim_value" else 0
        for dimension in value.type.tensor_type.shape.dim
    ]
    text = "x".join(str(size or "?") for size in dimensions)
    if len(dimensions) != 4:
        raise ConversionError(
            f"its input {value.name} has {len(dimensions)} dimensions ({text}), expected batch, channels, rows, columns"
        )
    batch, channels, height, width = dimensions
    if batch not in (0, 1):
        raise ConversionError(f"its input {value.name} is a batch of {batch} ({text}), only one picture is supported")
    if channels not in (1, 3) and width in (1, 3, 4):
        raise ConversionError(
            f"its input {value.name} has the channels last ({text}, NHWC), only channels first (NCHW) is supported: "
            "export it with them first"
        )
    if channels not in (1, 3):
        number = f"{channels} channels" if channels else "an open number of channels"
        raise ConversionError(
            f"its input {value.name} has {number} ({text}), only pictures of 3 (colours) or 1 (grey) are supported"
        )
    if not (height and width):
        if size is None:
            raise ConversionError("the size of its input is open: set --size")
        height, width = height or size[0], width or size[1]
    return check((height, width, channels), "the input")
