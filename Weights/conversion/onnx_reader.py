"""ONNX networks: NCHW, operator set 9 and up, as PyTorch's and other exporters write them."""

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .errors import ConversionError
from .network import Facts, Layer, Network, activation, affine, binary, same_padding
from .onnx_constants import FOLDED, fold
from .shapes import check, output_shape

# Where each convention of Resize lands; pytorch_half_pixel differs from half_pixel only for a result of one pixel.
RESIZES = {
    "align_corners": "alignCorners",
    "half_pixel": "halfPixel",
    "pytorch_half_pixel": "halfPixel",
    "asymmetric": "asymmetric",
}


def read(data: bytes, size=None) -> Network:
    """The network of an .onnx file; `size` is (height, width) for an input whose size is open."""
    model = onnx.ModelProto()
    model.ParseFromString(data)
    if not model.graph.node:
        raise ConversionError("it holds no network")
    check_names(model.graph)
    return Reader(model.graph, opset(model)).network(size)


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
    return max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=1)


class Reader:
    """Goes through the nodes, keeps the shapes of the maps and works out constants on the way."""

    def __init__(self, graph, version):
        self.graph, self.version, self.layers, self.shapes = graph, version, [], {}
        self.constants = {}
        for tensor in graph.initializer:
            self.constants[tensor.name] = array(tensor, f"tensor {tensor.name}")

    def network(self, size):
        inputs = [value for value in self.graph.input if value.name not in self.constants]
        if len(inputs) != 1:
            raise ConversionError(f"it has {len(inputs)} inputs, expected one")
        source = inputs[0].name
        self.shapes[source] = input_shape(inputs[0], size)
        taken = set()
        for index, node in enumerate(self.graph.node):
            name = node.name or (node.output[0] if node.output else f"node {index}")
            while name in taken:
                name += f"_{index}"
            taken.add(name)
            self.read_node(node, name)
        # PyTorch networks with an auxiliary classifier give several results: the first one counts.
        output = self.graph.output[0].name
        return Network(source, self.shapes[source], self.layers, output, Facts())

    def read_node(self, node, name):
        inputs = list(node.input)
        if node.op_type == "Constant":
            self.constants[node.output[0]] = constant(node, name)
            return
        if node.op_type == "Shape" and inputs[0] in self.shapes:
            height, width, channels = self.shapes[inputs[0]]
            shape = [1, channels, height, width]
            attributes = {attribute.name: attribute.i for attribute in node.attribute}
            self.constants[node.output[0]] = np.array(
                shape[attributes.get("start", 0) : attributes.get("end", len(shape))], np.int64
            )
            return
        if node.op_type in FOLDED and all(value in self.constants for value in inputs if value):
            self.constants.update(fold(node, name, self.constants, self.version))
            return
        method = getattr(self, f"read_{node.op_type}", None)
        if method is None or node.domain not in ("", "ai.onnx"):
            raise ConversionError(f"layer {name}: operator {node.op_type} is not supported")
        first = len(self.layers)
        method(name, node, Attributes(node))
        for layer in self.layers[first:]:
            for value in layer.inputs:
                if value not in self.shapes:
                    raise ConversionError(f"layer {name}: reads {value}, which is no map that a layer before it gives")
            self.shapes[layer.output] = check(
                output_shape(layer, [self.shapes[value] for value in layer.inputs]), f"layer {name}"
            )

    # Helpers

    def add(self, op, name, node, inputs=None, **more):
        self.layers.append(Layer(op, name, list(node.input[:1] if inputs is None else inputs), node.output[0], **more))

    def constant(self, node, index, name, what, default=None):
        """A constant input; the default where it is left out."""
        if index >= len(node.input) or not node.input[index]:
            return default
        if node.input[index] not in self.constants:
            raise ConversionError(f"layer {name}: its {what} is computed, which is not supported")
        return self.constants[node.input[index]]

    def window(self, name, node, attributes, kernel):
        """stride, dilation and padding."""
        stride, dilation = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
        pads, auto = attributes.get("pads", [0, 0, 0, 0]), attributes.get("auto_pad", "NOTSET")
        if len(kernel) != 2 or len(stride) != 2 or len(dilation) != 2 or len(pads) != 4 or min(stride + dilation) < 1:
            raise ConversionError(f"layer {name}: only maps with rows and columns are supported")
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            pads = same_padding(self.shape(node, name)[:2], kernel, stride, dilation, auto == "SAME_UPPER")
        elif auto not in ("NOTSET", "VALID"):
            raise ConversionError(f"layer {name}: auto_pad {auto} is not supported")
        return stride, dilation, pads

    def shape(self, node, name):
        if node.input[0] not in self.shapes:
            raise ConversionError(f"layer {name}: reads {node.input[0]}, which is no map that a layer before it gives")
        return self.shapes[node.input[0]]

    # Operators

    def read_Conv(self, name, node, attributes):
        weight = self.constant(node, 1, name, "weight").astype(np.float32)
        bias = self.constant(node, 2, name, "bias")
        stride, dilation, padding = self.window(name, node, attributes, weight.shape[2:])
        groups = attributes.get("group", 1)
        depthwise = groups > 1 and weight.shape[:2] == (groups, 1)
        options = {"stride": stride, "dilation": dilation, "padding": padding}
        if not depthwise:
            options["groups"] = groups
        self.add(
            "depthwiseConv2d" if depthwise else "conv2d",
            name,
            node,
            weight=weight,
            bias=None if bias is None else bias.astype(np.float32),
            attributes=options,
        )

    def read_ConvTranspose(self, name, node, attributes):
        weight = self.constant(node, 1, name, "weight").astype(np.float32)
        bias = self.constant(node, 2, name, "bias")
        stride, dilation, padding = self.window(name, node, attributes, weight.shape[2:])
        extra = attributes.get("output_padding", [0, 0])
        if (
            attributes.get("group", 1) != 1
            or dilation != [1, 1]
            or "output_shape" in attributes
            or (attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"))
        ):
            raise ConversionError(f"layer {name}: this form of ConvTranspose is not supported")
        padding = padding[:2] + [end - more for end, more in zip(padding[2:], extra)]
        self.add(
            "transposeConv2d",
            name,
            node,
            weight=weight.transpose(1, 0, 2, 3),
            bias=None if bias is None else bias.astype(np.float32),
            attributes={"stride": stride, "padding": padding},
        )

    def read_BatchNormalization(self, name, node, attributes):
        gamma, beta, mean, variance = (
            self.constant(node, index, name, what).astype(np.float64)
            for index, what in enumerate(("scale", "bias", "mean", "variance"), 1)
        )
        if attributes.get("training_mode", 0):
            raise ConversionError(f"layer {name}: batch norm in training mode is not supported")
        scale = gamma / np.sqrt(variance + attributes.get("epsilon", 1e-5))
        self.layers.append(affine(name, node.input[0], node.output[0], scale, beta - mean * scale))

    def read_Relu(self, name, node, attributes):
        self.layers.append(affine(name, node.input[0], node.output[0], low=0))

    def read_Clip(self, name, node, attributes):
        bounds = [
            self.constant(node, index, name, what, attributes.get(what, limit))
            for index, what, limit in ((1, "min", -math.inf), (2, "max", math.inf))
        ]
        low, high = (float(np.asarray(bound).reshape(())) for bound in bounds)
        # Exporters also write the largest float32 for no bound.
        low, high = (math.copysign(math.inf, bound) if abs(bound) > 1e38 else bound for bound in (low, high))
        self.layers.append(affine(name, node.input[0], node.output[0], low=low, high=high))

    def read_HardSigmoid(self, name, node, attributes):
        self.layers.append(
            affine(name, node.input[0], node.output[0], attributes.get("alpha", 0.2), attributes.get("beta", 0.5), 0, 1)
        )

    def read_HardSwish(self, name, node, attributes):
        self.layers.append(activation(name, node.input[0], node.output[0], "hardSwish"))

    def read_Sigmoid(self, name, node, attributes):
        self.layers.append(activation(name, node.input[0], node.output[0], "sigmoid"))

    def arithmetic(self, op, name, node):
        constants = {}
        for value in node.input:
            if value in self.constants:
                array = self.constants[value]
                # Per channel: the channels are the last dimension but two.
                if array.size > 1 and (array.ndim < 3 or array.shape[-3] != array.size):
                    raise ConversionError(f"layer {name}: a constant of shape {list(array.shape)} is not supported")
                constants[value] = array.reshape(-1)
        self.layers += binary(op, name, list(node.input), node.output[0], constants)

    def read_Add(self, name, node, attributes):
        self.arithmetic("add", name, node)

    def read_Sub(self, name, node, attributes):
        self.arithmetic("sub", name, node)

    def read_Mul(self, name, node, attributes):
        self.arithmetic("mul", name, node)

    def read_Div(self, name, node, attributes):
        self.arithmetic("div", name, node)

    def read_Concat(self, name, node, attributes):
        if attributes.get("axis", 1) not in (1, -3):
            raise ConversionError(f"layer {name}: Concat along axis {attributes.get('axis')} is not supported")
        self.add("concat", name, node, node.input)

    def read_GlobalAveragePool(self, name, node, attributes):
        self.add("globalAveragePool", name, node)

    def read_ReduceMean(self, name, node, attributes):
        axes = attributes.get("axes", None)
        axes = self.constant(node, 1, name, "axes", axes)
        if axes is None or sorted(int(axis) % 4 for axis in axes) != [2, 3] or not attributes.get("keepdims", 1):
            raise ConversionError(f"layer {name}: this ReduceMean is not supported, only the mean of a whole map")
        self.add("globalAveragePool", name, node)

    def pool(self, op, name, node, attributes):
        kernel = attributes.get("kernel_shape", [])
        stride, dilation, padding = self.window(name, node, attributes, kernel)
        height, width, _ = self.shape(node, name)
        if attributes.get("ceil_mode", 0):
            rests = [
                (size + padding[axis] + padding[axis + 2] - kernel[axis]) % stride[axis]
                for axis, size in enumerate((height, width))
            ]
            if any(rests):
                raise ConversionError(f"layer {name}: ceil_mode is not supported where it changes the size")
        if dilation != [1, 1] or len(node.output) != 1:
            raise ConversionError(f"layer {name}: this form of {node.op_type} is not supported")
        options = {"kernel": kernel, "stride": stride, "padding": padding}
        if op == "averagePool":
            options["countsPadding"] = bool(attributes.get("count_include_pad", 0))
            if kernel == [height, width] and not any(padding):
                op, options = "globalAveragePool", {}
        self.add(op, name, node, attributes=options)

    def read_AveragePool(self, name, node, attributes):
        self.pool("averagePool", name, node, attributes)

    def read_MaxPool(self, name, node, attributes):
        self.pool("maxPool", name, node, attributes)

    def read_Resize(self, name, node, attributes):
        height, width, channels = self.shape(node, name)
        mode = attributes.get("mode", "nearest")
        convention = attributes.get(
            "coordinate_transformation_mode", "half_pixel" if self.version > 10 else "asymmetric"
        )
        scales_at = 2 if self.version > 10 else 1
        scales = self.constant(node, scales_at, name, "scales", np.array([]))
        sizes = self.constant(node, 3, name, "size", np.array([]))
        if mode != "linear" or convention not in RESIZES or attributes.get("antialias", 0) or "axes" in attributes:
            raise ConversionError(f"layer {name}: Resize with mode {mode} and convention {convention} is not supported")
        if sizes.size == 4:
            target = [float(value) for value in sizes]
        elif scales.size == 4:
            target = [float(scale) * size for scale, size in zip(scales, (1, channels, height, width))]
        else:
            raise ConversionError(f"layer {name}: Resize says neither sizes nor scales for four dimensions")
        if any(abs(value - round(value)) > 1e-3 for value in target) or [round(value) for value in target[:2]] != [
            1,
            channels,
        ]:
            raise ConversionError(f"layer {name}: Resize to {target} is not supported")
        size = [round(value) for value in target[2:]]
        if convention == "pytorch_half_pixel" and 1 in size and size != [height, width]:
            raise ConversionError(f"layer {name}: Resize to {size} with pytorch_half_pixel is not supported")
        self.add("resizeBilinear", name, node, attributes={"size": size, "convention": RESIZES[convention]})

    def read_Softmax(self, name, node, attributes):
        if attributes.get("axis", -1 if self.version > 12 else 1) not in (1, -3) or self.version < 13:
            raise ConversionError(f"layer {name}: Softmax over something else than the channels is not supported")
        self.add("softmax", name, node)

    def read_ArgMax(self, name, node, attributes):
        if attributes.get("axis", 0) not in (1, -3):
            raise ConversionError(f"layer {name}: ArgMax over something else than the channels is not supported")
        self.add("argMax", name, node)

    def read_Pad(self, name, node, attributes):
        pads = self.constant(node, 1, name, "padding", attributes.get("pads", None))
        value = self.constant(node, 2, name, "value", attributes.get("value", 0.0))
        pads = [int(pad) for pad in (() if pads is None else pads)]
        if (
            attributes.get("mode", "constant") != "constant"
            or float(np.asarray(value).reshape(())) != 0
            or (len(pads) != 8 or any(pads[:2] + pads[4:6]) or min(pads) < 0)
        ):
            raise ConversionError(
                f"layer {name}: this form of Pad is not supported, only zeros around rows and columns"
            )
        self.add("pad", name, node, attributes={"padding": pads[2:4] + pads[6:8]})

    def read_Identity(self, name, node, attributes):
        self.add("identity", name, node)

    read_Dropout = read_Identity
    read_Cast = read_Identity  # of labels after ArgMax; other casts leave values as they are


class Attributes(dict):
    """A node's attributes as Python values."""

    def __init__(self, node):
        super().__init__()
        for attribute in node.attribute:
            value = helper.get_attribute_value(attribute)
            self[attribute.name] = (
                value.decode()
                if isinstance(value, bytes)
                else (list(value) if not isinstance(value, (int, float, onnx.TensorProto)) else value)
            )


def array(tensor, what):
    """The values of a constant."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise ConversionError(f"{what}: its values lie in another file, which is not supported")
    values = numpy_helper.to_array(tensor)
    if values.dtype.kind not in "fiub":
        raise ConversionError(f"{what}: values of the type {values.dtype} are not supported")
    return values


def constant(node, name):
    """The value of a Constant node."""
    for attribute in node.attribute:
        if attribute.name == "value":
            return array(attribute.t, f"layer {name}")
        if attribute.name in ("value_int", "value_ints"):
            return np.array(helper.get_attribute_value(attribute), np.int64)
        if attribute.name in ("value_float", "value_floats"):
            return np.array(helper.get_attribute_value(attribute), np.float32)
    raise ConversionError(f"layer {name}: this form of Constant is not supported")


def input_shape(value, size):
    """(height, width, channels) of the input, NCHW, with the size that a flag gives where it is open."""
    dimensions = [
        dimension.dim_value if dimension.WhichOneof("value") == "dim_value" else 0
        for dimension in value.type.tensor_type.shape.dim
    ]
    if len(dimensions) != 4 or dimensions[0] not in (0, 1) or dimensions[1] not in (1, 3):
        raise ConversionError(
            f"its input {value.name} has the shape {dimensions}, expected [1, channels, height, width]"
        )
    height, width = dimensions[2:]
    if not (height and width):
        if size is None:
            raise ConversionError("the size of its input is open: set --size")
        height, width = height or size[0], width or size[1]
    return check((height, width, dimensions[1]), "the input")
