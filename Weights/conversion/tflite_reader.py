"""TensorFlow Lite models, float and quantised.

Quantised networks become float ones: weights and biases are dequantised, and rounding to 8 bits between layers is left
out, as is its saturation. One clamp that only the quantised range expresses is kept: a layer without a fused activation
whose smallest representable value is exactly 0 cannot give anything negative, which is how quantising converters drop a
ReLU (and a ReLU6 where the range ends at 6).
"""

import numpy as np
import tflite
from flatbuffers.number_types import Int32Flags

from .errors import ConversionError, naming, unsupported
from .network import Layer, Network, activation, affine, binary, choose_output, same_padding
from .shapes import check, check_form, check_weights, output_shape
from .tflite_fields import check_fields
from .tflite_file import TYPES, TFLiteFile
from .tflite_metadata import read_metadata

OPERATORS = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID

# Types that CAST is between, and the whole number up to which each holds all.
FLOATS = (tflite.TensorType.FLOAT32, tflite.TensorType.FLOAT16)
CASTS = {
    tflite.TensorType.FLOAT32: 1 << 24,
    tflite.TensorType.FLOAT16: 2048,
    tflite.TensorType.UINT8: 255,
    tflite.TensorType.INT8: 127,
    tflite.TensorType.INT16: 32_767,
    tflite.TensorType.INT32: (1 << 31) - 1,
    tflite.TensorType.INT64: (1 << 63) - 1,
}

# How many inputs each operator may have, the last ones optional.
INPUTS = {
    "ADD": (2, 2),
    "ARG_MAX": (2, 2),
    "AVERAGE_POOL_2D": (1, 1),
    "BATCH_TO_SPACE_ND": (3, 3),
    "CAST": (1, 1),
    "CONCATENATION": (1, 1024),
    "CONV_2D": (2, 3),
    "Convolution2DTransposeBias": (3, 3),
    "DEPTHWISE_CONV_2D": (2, 3),
    "DEQUANTIZE": (1, 1),
    "DIV": (2, 2),
    "HARD_SWISH": (1, 1),
    "LOGISTIC": (1, 1),
    "MAX_POOL_2D": (1, 1),
    "MEAN": (2, 2),
    "MUL": (2, 2),
    "PAD": (2, 2),
    "QUANTIZE": (1, 1),
    "RELU": (1, 1),
    "RELU6": (1, 1),
    "RESHAPE": (1, 2),
    "RESIZE_BILINEAR": (2, 2),
    "SOFTMAX": (1, 1),
    "SPACE_TO_BATCH_ND": (3, 3),
    "SUB": (2, 2),
    "TRANSPOSE_CONV": (3, 4),
}

# What is left out, and why the result is the same without it.
HARMLESS = {
    "Model": {
        "description": "it is text",
        "metadataBuffer": "it names buffers that no tensor does",
        "signatureDefs": "they give other names to the input and the output",
    },
    "SubGraph": {"name": "it is text", "debugMetadataIndex": "it is about where the graph came from"},
    "Tensor": {"hasRank": "a tensor without a rank has no shape, and shapes are worked out"},
    "QuantizationParameters": {
        "min": "scale and zeroPoint follow from it",
        "max": "scale and zeroPoint follow from it",
    },
    "Buffer": {"size": "it belongs to an offset, which is refused"},
    "OperatorCode": {"version": "what a later version can say more is in its options, inputs and types"},
    "Operator": {
        "customOptionsFormat": "it has one value",
        "largeCustomOptionsSize": "it belongs to an offset, which is refused",
        "builtinOptions2Type": "it belongs to a table, which is refused",
        "debugMetadataIndex": "it is about where the operator came from",
    },
    "AddOptions": {"potScaleInt16": "it is about rounding between layers, which is left out"},
    "SubOptions": {"potScaleInt16": "it is about rounding between layers, which is left out"},
    "ArgMaxOptions": {"outputType": "the type of the tensor says it"},
    "CastOptions": {"inDataType": "the types of the tensors say it", "outDataType": "the types of the tensors say it"},
    "Conv2DOptions": {"quantizedBiasType": "it is about rounding, and biases are dequantised"},
    "TransposeConvOptions": {"quantizedBiasType": "it is about rounding, and biases are dequantised"},
    "DepthwiseConv2DOptions": {"depthMultiplier": "it follows from the shape of the weights"},
    "ReducerOptions": {"keepDims": "[1, C] and [1, 1, 1, C] are the same map of one pixel"},
}


def read(data: bytes, size=None, output=None) -> Network:
    """The network of a .tflite file, whose size is always fixed.

    - output: the name of the output that counts; default: the first
    """
    return Reader(data).network(output)


class Reader(TFLiteFile):
    """Goes through the operators. Each `read_NAME` adds the layers of one operator.

    The shapes of maps are worked out; those that the file states must agree with them.
    """

    def __init__(self, data):
        super().__init__(data)
        self.layers, self.maps, self.op, self.weight_bytes = [], {}, "", 0
        self.whole = {}  # maps of whole numbers, the picture's bytes or labels: the largest value

    def network(self, wanted):
        if self.graph.InputsLength() != 1:
            raise ConversionError(f"it has {self.graph.InputsLength()} inputs, expected one")
        source = int(self.graph.Inputs(0))
        outputs = [int(self.graph.Outputs(index)) for index in range(min(self.graph.OutputsLength(), 1024))]
        if not all(0 <= index < len(self.names) for index in (source, *outputs)):
            raise ConversionError("it is damaged: its input or output is no tensor")
        output, notes = choose_output([self.names[index] for index in outputs], wanted)
        self.maps[self.names[source]] = self.input_shape(source)
        if self.kind(source) == "whole":
            self.whole[self.names[source]] = 255
        for index in range(self.graph.OperatorsLength()):
            self.operator(self.graph.Operators(index))
        return Network(
            self.names[source],
            self.maps[self.names[source]],
            self.layers,
            output,
            read_metadata(self.model, self.data, self.input_scale(source)),
            notes=notes,
        )

    def input_shape(self, source):
        """(height, width, channels)"""
        shape, tensor = self.shape(source), self.graph.Tensors(source)
        if len(shape) != 4 or shape[0] != 1:
            raise ConversionError(f"its input has the shape {shape}, expected [1, height, width, channels]")
        signature = [int(size) for size in tensor.ShapeSignatureAsNumpy()] if tensor.ShapeSignatureLength() else shape
        if len(signature) != 4 or signature[1:] != shape[1:]:
            raise ConversionError(
                f"the size of its input is open, {signature}, which is not supported: set it when converting to .tflite"
            )
        if self.kind(source) not in ("floats", "whole") or (
            self.kind(source) == "whole" and tensor.Type() != tflite.TensorType.UINT8
        ):
            kind = TYPES.get(tensor.Type(), tensor.Type())
            raise ConversionError(f"its input holds {kind}, only floats, UINT8 and quantised numbers are supported")
        return check(shape[1:], "the input")

    def operator(self, operator):
        if not 0 <= operator.OpcodeIndex() < self.model.OperatorCodesLength():
            raise ConversionError(f"it is damaged: it has no kind of operator {operator.OpcodeIndex()}")
        code = self.model.OperatorCodes(operator.OpcodeIndex())
        kind = self.operator_name(code)
        custom = kind == "CUSTOM"
        if custom:
            kind = (code.CustomCode() or b"").decode("utf-8", "replace")
        inputs = [int(index) for index in operator.InputsAsNumpy()] if operator.InputsLength() else []
        outputs = [int(index) for index in operator.OutputsAsNumpy()] if operator.OutputsLength() else []
        if not all(-1 <= index < len(self.names) for index in inputs + outputs) or not outputs or outputs[0] < 0:
            raise ConversionError(f"it is damaged: {kind} reads or writes what is no tensor")
        name = self.names[outputs[0]]
        if kind not in INPUTS or custom != (kind == "Convolution2DTransposeBias"):
            raise ConversionError(f"layer {name}: operator {kind} is not supported")
        check_fields("OperatorCode", code, f"layer {name}")
        check_fields("Operator", operator, f"layer {name}")
        if operator.CustomOptionsLength() and not custom:
            raise unsupported(name, kind, "customOptions")
        least, most = INPUTS[kind]
        if not least <= len(inputs) <= most or -1 in inputs[:least] or len(outputs) != 1:
            raise ConversionError(f"layer {name}: {kind} of {len(inputs)} inputs and {len(outputs)} outputs")
        self.op = kind
        first = len(self.layers)
        with naming(name, kind):
            self.check_kinds(kind, name, inputs, outputs[0])
            getattr(self, f"read_{kind}")(name, inputs, outputs[0], operator)
            self.work_out(name, outputs[0], self.layers[first:])

    @staticmethod
    def operator_name(code):
        """The larger of two codes counts, as in the runtime. The package's BuiltinCode() may give the smaller one."""
        at = code._tab.Offset(10)
        number = code._tab.Get(Int32Flags, code._tab.Pos + at) if at else 0
        return OPERATORS.get(max(number, code.DeprecatedBuiltinCode()), f"number {number}")

    def check_kinds(self, kind, name, inputs, output):
        """Refuses arithmetic on whole numbers, which rounds."""
        for index in (*inputs[: 1 if kind in ("ARG_MAX", "CAST") else None], output):
            is_map = index == output or (index >= 0 and self.names[index] in self.maps)
            if is_map and self.kind(index) != "floats" and (kind != "CAST" and (kind, index) != ("ARG_MAX", output)):
                number = TYPES.get(self.graph.Tensors(index).Type(), "unknown")
                raise unsupported(name, kind, f"a map of {number}", "floats and quantised numbers")

    def work_out(self, name, output, layers):
        """The shapes of the layers' results, which must be those that the file states."""
        self.weight_bytes = check_weights(layers, self.weight_bytes)
        for layer in layers:
            check_form(layer)
            for source in layer.inputs:
                if source not in self.maps:
                    raise ConversionError(f"layer {name}: reads {source}, which is no map that a layer before it gives")
            if layer.output in self.maps:
                raise ConversionError(f"layer {name}: writes {layer.output} a second time")
            shape = output_shape(layer, [self.maps[source] for source in layer.inputs])
            self.maps[layer.output] = check(shape, f"layer {name}")
        stated, found = self.shape(output), self.maps.get(self.names[output])
        if found is None or not stated:
            return
        # The batch is larger between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND. Labels have no channels, and a map of one
        # pixel may have its channels alone.
        if (len(stated) == 4 and stated[1:] != list(found)) or without_ones(stated[1:]) != without_ones(found):
            raise ConversionError(f"layer {name}: its result has the shape {stated}, but gets {[1, *found]}")

    def map_shape(self, name, index):
        """The shape of a map, [1, height, width, channels]."""
        if self.names[index] not in self.maps:
            raise ConversionError(
                f"layer {name}: reads {self.names[index]}, which is no map that a layer before it gives"
            )
        return [1, *self.maps[self.names[index]]]

    def add(self, op, name, inputs, output, **more):
        self.layers.append(Layer(op, name, [self.names[index] for index in inputs], self.names[output], **more))

    def numbers(self, name, index, what):
        """A constant input of whole numbers."""
        values = self.constant(index)
        if values is None:
            raise unsupported(name, self.op, f"computed {what}", "constant ones")
        if values.dtype.kind not in "iu":
            raise ConversionError(
                f"layer {name}: {self.op} with {what} of the type {values.dtype}, expected whole numbers"
            )
        return values.astype(np.int64)

    def weights(self, name, index, what="weights"):
        """A constant input of numbers."""
        values = self.constant(index)
        if values is None:
            raise unsupported(name, self.op, f"computed {what}", "constant ones")
        if values.dtype.kind != "f":
            raise unsupported(name, self.op, f"{what} of the type {values.dtype}", "floats and quantised numbers")
        return values.astype(np.float32, copy=False)

    def same(self, name, options):
        """Whether the map is padded; the other way is not at all."""
        if options.Padding() not in (SAME, VALID):
            raise unsupported(name, self.op, f"padding {options.Padding()}", "SAME and VALID")
        return options.Padding() == SAME

    def window(self, options, kernel, size, name):
        """stride, dilation and padding of a convolution or a pool."""
        stride = [options.StrideH(), options.StrideW()]
        dilation = (
            [options.DilationHFactor(), options.DilationWFactor()] if hasattr(options, "DilationHFactor") else [1, 1]
        )
        if min(stride + dilation) < 1:
            raise ConversionError(f"layer {name}: stride {stride} or dilation {dilation} is out of range")
        padding = same_padding(size, kernel, stride, dilation) if self.same(name, options) else [0, 0, 0, 0]
        return {"stride": stride, "dilation": dilation, "padding": padding}

    def read_CONV_2D(self, name, inputs, output, operator):
        self.convolution("conv2d", name, inputs, output, self.options(operator, "Conv2DOptions", name))

    def read_DEPTHWISE_CONV_2D(self, name, inputs, output, operator):
        options = self.options(operator, "DepthwiseConv2DOptions", name)
        self.convolution("depthwiseConv2d", name, inputs, output, options)

    def convolution(self, op, name, inputs, output, options):
        shape, weight = self.map_shape(name, inputs[0]), self.weights(name, inputs[1])
        if weight.ndim != 4:
            raise ConversionError(f"layer {name}: convolves {shape} with {list(weight.shape)}")
        weight = weight.transpose(0, 3, 1, 2) if op == "conv2d" else weight.transpose(3, 0, 1, 2)
        attributes = self.window(options, weight.shape[2:], shape[1:3], name)
        channels = shape[3]
        groups = channels if op == "depthwiseConv2d" else channels // max(weight.shape[1], 1)
        if op == "depthwiseConv2d" and weight.shape[0] != channels:
            op = "conv2d"  # a depth multiplier: several kernels for each channel
        if op == "conv2d":
            attributes["groups"] = groups
        bias = self.bias(name, inputs, 2)
        self.add(
            op,
            name,
            inputs[:1],
            output,
            weight=weight,
            bias=bias,
            activation=self.implied(output, self.fused(name, options)),
            attributes=attributes,
        )

    def bias(self, name, inputs, place):
        """The bias of a convolution, if it has one."""
        if len(inputs) <= place or inputs[place] < 0:
            return None
        return self.weights(name, inputs[place], "bias").reshape(-1)

    def read_TRANSPOSE_CONV(self, name, inputs, output, operator):
        options = self.options(operator, "TransposeConvOptions", name)
        size = self.numbers(name, inputs[0], "output_shape").reshape(-1).tolist()
        if len(size) != 4:
            raise ConversionError(f"layer {name}: TRANSPOSE_CONV with the output_shape {size}, expected four numbers")
        stride = [options.StrideH(), options.StrideW()]
        fused = self.implied(output, self.fused(name, options))
        weight, bias = self.weights(name, inputs[1]), self.bias(name, inputs, 3)
        self.transposed(name, inputs[2], weight, bias, output, size, stride, self.same(name, options), fused)

    def read_Convolution2DTransposeBias(self, name, inputs, output, operator):
        # MediaPipe's own operator; its options are three 32-bit numbers: padding, stride across, stride down.
        data = operator.CustomOptionsAsNumpy().tobytes() if operator.CustomOptionsLength() else b""
        if len(data) != 12:
            raise ConversionError(f"layer {name}: Convolution2DTransposeBias with {len(data)} bytes of options, not 12")
        padding, across, down = (int(number) for number in np.frombuffer(data, "<i4"))
        # kTfLitePaddingSame is 1 and kTfLitePaddingValid 2, where the flatbuffer's SAME is 0 and its VALID 1.
        if padding not in (1, 2):
            raise unsupported(name, "Convolution2DTransposeBias", f"padding {padding}", "1 (SAME) and 2 (VALID)")
        weight = self.weights(name, inputs[1])
        bias, size = self.bias(name, inputs, 2), self.shape(output)
        self.transposed(name, inputs[0], weight, bias, output, size, [down, across], padding == 1, "none")

    def transposed(self, name, source, weight, bias, output, target, stride, same, fused):
        size = self.map_shape(name, source)
        if weight.ndim != 4 or len(target) != 4 or min(stride) < 1:
            raise ConversionError(f"layer {name}: transposed convolution of {size} to {target} is out of range")
        weight = weight.transpose(0, 3, 1, 2)
        for axis in (1, 2):  # a convolution of the result must give the map's size
            steps = target[axis] - 1 if same else target[axis] - weight.shape[1 + axis]
            if target[axis] < 1 or steps // stride[axis - 1] + 1 != size[axis]:
                raise ConversionError(
                    f"layer {name}: a stride of {stride} does not lead from {size} to the output_shape {target}"
                )
        before, after = [], []
        for axis in (0, 1):
            surplus = (size[1 + axis] - 1) * stride[axis] + weight.shape[2 + axis] - target[1 + axis]
            before.append(surplus // 2 if same else 0)
            after.append(surplus - before[axis])
        self.add(
            "transposeConv2d",
            name,
            [source],
            output,
            weight=weight,
            bias=bias,
            activation=fused,
            attributes={"stride": stride, "padding": before + after},
        )

    def read_AVERAGE_POOL_2D(self, name, inputs, output, operator):
        self.pool("averagePool", name, inputs, output, operator)

    def read_MAX_POOL_2D(self, name, inputs, output, operator):
        self.pool("maxPool", name, inputs, output, operator)

    def pool(self, op, name, inputs, output, operator):
        options, shape = self.options(operator, "Pool2DOptions", name), self.map_shape(name, inputs[0])
        kernel = [options.FilterHeight(), options.FilterWidth()]
        attributes = self.window(options, kernel, shape[1:3], name)
        del attributes["dilation"]
        if op == "averagePool" and kernel == shape[1:3] and not any(attributes["padding"]):
            op, attributes = "globalAveragePool", {}
        else:
            attributes["kernel"] = kernel
        fused = self.fused(name, options)
        self.add(op, name, inputs, output, attributes=attributes)
        self.activate(name, output, fused)

    def activate(self, name, output, kind):
        """Applies a fused activation to the result of a layer that has none of its own."""
        if kind == "none":
            return
        result = self.layers[-1].output
        self.layers[-1].output = result + "/linear"
        self.layers.append(activation(name + "/" + kind, result + "/linear", result, kind))

    def read_MEAN(self, name, inputs, output, operator):
        self.options(operator, "ReducerOptions", name)
        axes = sorted(self.numbers(name, inputs[1], "axes").reshape(-1).tolist())
        if len(self.shape(inputs[0])) != 4 or [axis % 4 for axis in axes] != [1, 2]:
            raise ConversionError(f"layer {name}: MEAN over the axes {axes} is not supported, only over a whole map")
        self.add("globalAveragePool", name, inputs[:1], output)

    def read_ADD(self, name, inputs, output, operator):
        self.arithmetic("add", name, inputs, output, self.options(operator, "AddOptions", name))

    def read_SUB(self, name, inputs, output, operator):
        self.arithmetic("sub", name, inputs, output, self.options(operator, "SubOptions", name))

    def read_MUL(self, name, inputs, output, operator):
        self.arithmetic("mul", name, inputs, output, self.options(operator, "MulOptions", name))

    def read_DIV(self, name, inputs, output, operator):
        self.arithmetic("div", name, inputs, output, self.options(operator, "DivOptions", name))

    def arithmetic(self, op, name, inputs, output, options):
        constants = {}
        for index in inputs:
            values = self.constant(index)
            if values is not None:
                per_channel = values.ndim <= 4 and values.shape[-1:] == (values.size,)
                if values.dtype.kind != "f" or not (values.size == 1 or per_channel):
                    what = f"a constant of shape {list(values.shape)} and type {values.dtype}"
                    raise unsupported(name, self.op, what, "numbers, one or one a channel")
                constants[self.names[index]] = values.reshape(-1)
        self.layers += binary(op, name, [self.names[index] for index in inputs], self.names[output], constants)
        fused = self.implied(output, self.fused(name, options))
        if self.layers[-1].op in ("add", "mul"):
            self.layers[-1].activation = fused
        else:
            self.activate(name, output, fused)

    def read_CONCATENATION(self, name, inputs, output, operator):
        options, rank = self.options(operator, "ConcatenationOptions", name), len(self.shape(output))
        if rank != 4 or options.Axis() not in (3, -1):
            raise ConversionError(
                f"layer {name}: CONCATENATION along axis {options.Axis()} of {rank} dimensions is not supported, "
                "only of channels"
            )
        # The runtime knows no fused activation here.
        if self.fused(name, options) != "none":
            raise unsupported(name, "CONCATENATION", f"fusedActivationFunction {self.fused(name, options)}", "NONE")
        self.add("concat", name, inputs, output)

    def read_RESIZE_BILINEAR(self, name, inputs, output, operator):
        options = self.options(operator, "ResizeBilinearOptions", name)
        size = self.numbers(name, inputs[1], "size").reshape(-1).tolist()
        if options.AlignCorners() and options.HalfPixelCenters():
            raise unsupported(name, "RESIZE_BILINEAR", "both alignCorners and halfPixelCenters", "one of them")
        convention = (
            "alignCorners" if options.AlignCorners() else "halfPixel" if options.HalfPixelCenters() else "asymmetric"
        )
        attributes = {"size": size, "convention": convention}
        self.add("resizeBilinear", name, inputs[:1], output, attributes=attributes)

    def read_PAD(self, name, inputs, output, operator):
        self.no_options(operator, name, "PadOptions")
        amounts = self.numbers(name, inputs[1], "paddings")
        if amounts.shape != (4, 2) or amounts[0].any() or amounts[3].any():
            raise ConversionError(f"layer {name}: padding {amounts.tolist()} is not supported, only rows and columns")
        self.add("pad", name, inputs[:1], output, attributes={"padding": edges(name, amounts[1:3])})

    def blocks(self, op, edge, name, inputs, output):
        block = self.numbers(name, inputs[1], "block_shape").reshape(-1).tolist()
        if len(block) != 2:
            raise ConversionError(f"layer {name}: a block of {block} is not supported, only of rows and columns")
        amounts = edges(name, self.numbers(name, inputs[2], edge))
        self.add(op, name, inputs[:1], output, attributes={"block": block, edge: amounts})

    def read_SPACE_TO_BATCH_ND(self, name, inputs, output, operator):
        self.no_options(operator, name, "SpaceToBatchNDOptions")
        self.blocks("spaceToBatch", "padding", name, inputs, output)

    def read_BATCH_TO_SPACE_ND(self, name, inputs, output, operator):
        self.no_options(operator, name, "BatchToSpaceNDOptions")
        self.blocks("batchToSpace", "crop", name, inputs, output)

    def read_RESHAPE(self, name, inputs, output, operator):
        before, after = self.shape(inputs[0]), self.shape(output)
        wanted = None
        if len(inputs) > 1 and inputs[1] >= 0:
            wanted = self.numbers(name, inputs[1], "shape").reshape(-1).tolist()
        elif operator.BuiltinOptionsType() != tflite.BuiltinOptions.NONE:
            options = self.options(operator, "ReshapeOptions", name)
            wanted = options.NewShapeAsNumpy().tolist() if options.NewShapeLength() else []
        if wanted is None or len(wanted) != len(after) or any(w not in (a, -1) for w, a in zip(wanted, after)):
            raise ConversionError(f"layer {name}: RESHAPE to {wanted} has the result {after}")
        # [1, C] is the 1x1 map [1, 1, 1, C]; work_out() refuses what becomes another map.
        if max(len(before), len(after)) != 4 or before[:1] != after[:1] or before[-1:] != after[-1:]:
            raise ConversionError(f"layer {name}: RESHAPE of {before} to {after} is not supported")
        if without_ones(before) != without_ones(after):
            raise ConversionError(f"layer {name}: RESHAPE of {before} to {after} is not supported")
        self.add("identity", name, inputs[:1], output)

    def read_DEQUANTIZE(self, name, inputs, output, operator):
        self.no_options(operator, name, "DequantizeOptions")
        values = self.constant(inputs[0])
        if values is not None:
            self.spend(name, values.nbytes)
            self.constants[name] = values.astype(np.float32)
        else:
            self.add("identity", name, inputs, output)

    def read_QUANTIZE(self, name, inputs, output, operator):
        self.no_options(operator, name, "QuantizeOptions")
        self.add("identity", name, inputs, output)

    def read_CAST(self, name, inputs, output, operator):
        """Of labels and of the picture's bytes, and between floats. Others would cut values off."""
        self.no_options(operator, name, "CastOptions")
        source, largest = self.names[inputs[0]], self.whole.get(self.names[inputs[0]])
        before, after = (self.graph.Tensors(index).Type() for index in (inputs[0], output))
        kinds = f"{TYPES.get(before, before)} to {TYPES.get(after, after)}"
        for index, kind in ((inputs[0], before), (output, after)):
            if kind not in CASTS or self.quantisation(index)[0] is not None:
                raise unsupported(name, "CAST", f"{kinds}, quantised or not", "floats and whole numbers")
        if (largest is None and after not in FLOATS) or (largest is not None and CASTS[after] < largest):
            raise unsupported(name, "CAST", f"{kinds}", "to what holds all values: it would cut some off")
        if after not in FLOATS:
            self.whole[self.names[output]] = largest
        if source not in self.maps:
            raise unsupported(name, "CAST", "a constant", "a map")
        self.add("identity", name, inputs, output)

    def read_ARG_MAX(self, name, inputs, output, operator):
        self.options(operator, "ArgMaxOptions", name)
        axis = self.numbers(name, inputs[1], "the axis").reshape(-1).tolist()
        if len(self.shape(inputs[0])) != 4 or axis not in ([3], [-1]):
            raise unsupported(name, "ARG_MAX", f"the axis {axis}", "channels, 3")
        self.whole[self.names[output]] = self.map_shape(name, inputs[0])[3] - 1
        self.add("argMax", name, inputs[:1], output)

    def read_SOFTMAX(self, name, inputs, output, operator):
        beta = self.options(operator, "SoftmaxOptions", name).Beta()
        source = self.names[inputs[0]]
        if beta != 1:
            self.layers.append(affine(name + "/beta", source, name + "/beta", scale=beta))
            source = name + "/beta"
        self.layers.append(Layer("softmax", name, [source], self.names[output]))

    def unary(self, kind, name, inputs, output, operator, *options):
        self.no_options(operator, name, *options)
        self.layers.append(activation(name, self.names[inputs[0]], self.names[output], kind))

    def read_RELU(self, name, inputs, output, operator):
        self.unary("relu", name, inputs, output, operator)

    def read_RELU6(self, name, inputs, output, operator):
        self.unary("relu6", name, inputs, output, operator)

    def read_HARD_SWISH(self, name, inputs, output, operator):
        self.unary("hardSwish", name, inputs, output, operator, "HardSwishOptions")

    def read_LOGISTIC(self, name, inputs, output, operator):
        self.unary("sigmoid", name, inputs, output, operator)


def without_ones(shape):
    return [size for size in shape if size != 1]


def edges(name, amounts):
    """[top, left, bottom, right] of [[top, bottom], [left, right]]."""
    if amounts.shape != (2, 2) or amounts.min() < 0:
        raise ConversionError(f"layer {name}: padding {amounts.tolist()} is not supported, only rows and columns")
    (top, bottom), (left, right) = amounts.tolist()
    return [top, left, bottom, right]
