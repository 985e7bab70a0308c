"""TensorFlow Lite models, float and quantised.

Quantised networks become float ones: weights and biases are dequantised, and rounding to 8 bits between layers is left
out, as is its saturation. One clamp that only the quantised range expresses is kept: a layer without a fused activation
whose smallest representable value is exactly 0 cannot give anything negative, which is how quantising converters drop a
ReLU (and a ReLU6 where the range ends at 6).
"""

import numpy as np
import tflite

from .errors import ConversionError
from .network import Layer, Network, activation, affine, binary, same_padding
from .tflite_file import TFLiteFile
from .tflite_metadata import read_metadata

OPERATORS = {value: name for name, value in vars(tflite.BuiltinOperator).items() if not name.startswith("_")}
SAME = tflite.Padding.SAME


def read(data: bytes, size=None) -> Network:
    """The network of a .tflite file, whose size is always fixed."""
    return Reader(data).network()


class Reader(TFLiteFile):
    """Goes through the operators. Each `read_NAME` adds the layers of one operator."""

    def __init__(self, data):
        super().__init__(data)
        self.layers = []

    def network(self):
        if self.graph.InputsLength() != 1 or self.graph.OutputsLength() != 1:
            raise ConversionError(
                f"it has {self.graph.InputsLength()} inputs and {self.graph.OutputsLength()} outputs, "
                "expected one of each"
            )
        source, result = int(self.graph.Inputs(0)), int(self.graph.Outputs(0))
        shape = self.shape(source)
        if len(shape) != 4 or shape[0] != 1:
            raise ConversionError(f"its input has the shape {shape}, expected [1, height, width, channels]")
        for index in range(self.graph.OperatorsLength()):
            self.operator(self.graph.Operators(index))
        return Network(
            self.names[source],
            tuple(shape[1:]),
            self.layers,
            self.names[result],
            read_metadata(self.model, self.data, self.input_scale(source)),
        )

    def operator(self, operator):
        code = self.model.OperatorCodes(operator.OpcodeIndex())
        kind = OPERATORS.get(max(code.BuiltinCode(), code.DeprecatedBuiltinCode()), "unknown")
        if kind == "CUSTOM":
            kind = (code.CustomCode() or b"").decode("utf-8", "replace")
        inputs = [int(index) for index in operator.InputsAsNumpy()]
        outputs = [int(index) for index in operator.OutputsAsNumpy()]
        name = self.names[outputs[0]]
        method = getattr(self, f"read_{kind}", None)
        if method is None or len(outputs) != 1:
            raise ConversionError(f"layer {name}: operator {kind} is not supported")
        method(name, inputs, outputs[0], operator)

    def add(self, op, name, inputs, output, **more):
        self.layers.append(Layer(op, name, [self.names[index] for index in inputs], self.names[output], **more))

    def window(self, options, kernel, size, name):
        """stride, dilation and padding of a convolution or a pool."""
        stride = [options.StrideH(), options.StrideW()]
        dilation = (
            [options.DilationHFactor(), options.DilationWFactor()] if hasattr(options, "DilationHFactor") else [1, 1]
        )
        if min(stride + dilation) < 1:
            raise ConversionError(f"layer {name}: stride {stride} or dilation {dilation} is out of range")
        padding = same_padding(size, kernel, stride, dilation) if options.Padding() == SAME else [0, 0, 0, 0]
        return {"stride": stride, "dilation": dilation, "padding": padding}

    def read_CONV_2D(self, name, inputs, output, operator):
        self.convolution("conv2d", name, inputs, output, self.options(operator, "Conv2DOptions"))

    def read_DEPTHWISE_CONV_2D(self, name, inputs, output, operator):
        self.convolution("depthwiseConv2d", name, inputs, output, self.options(operator, "DepthwiseConv2DOptions"))

    def convolution(self, op, name, inputs, output, options):
        shape, weight = self.shape(inputs[0]), self.weights(inputs[1], name)
        if len(shape) != 4 or weight.ndim != 4:
            raise ConversionError(f"layer {name}: convolves {shape} with {list(weight.shape)}")
        weight = weight.transpose(0, 3, 1, 2) if op == "conv2d" else weight.transpose(3, 0, 1, 2)
        attributes = self.window(options, weight.shape[2:], shape[1:3], name)
        channels = shape[3]
        groups = channels if op == "depthwiseConv2d" else channels // max(weight.shape[1], 1)
        if op == "depthwiseConv2d" and weight.shape[0] != channels:
            op = "conv2d"  # a depth multiplier: several kernels for each channel
        if op == "conv2d":
            attributes["groups"] = groups
        bias = self.weights(inputs[2], name).reshape(-1) if len(inputs) > 2 and inputs[2] >= 0 else None
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

    def read_TRANSPOSE_CONV(self, name, inputs, output, operator):
        options = self.options(operator, "TransposeConvOptions")
        bias = inputs[3] if len(inputs) > 3 else -1
        stride = [options.StrideH(), options.StrideW()]
        self.transposed(
            name,
            inputs[2],
            inputs[1],
            bias,
            output,
            stride,
            options.Padding() == SAME,
            self.implied(output, self.fused(name, options)),
        )

    def read_Convolution2DTransposeBias(self, name, inputs, output, operator):
        # MediaPipe's own operator; its options are three 32-bit numbers: padding, stride across, stride down.
        options = np.frombuffer(operator.CustomOptionsAsNumpy().tobytes()[:12], "<i4")
        if len(options) < 3:
            raise ConversionError(f"layer {name}: options of Convolution2DTransposeBias are missing")
        # kTfLitePaddingSame is 1 where the flatbuffer's SAME is 0.
        self.transposed(
            name, inputs[0], inputs[1], inputs[2], output, [int(options[2]), int(options[1])], options[0] == 1, "none"
        )

    def transposed(self, name, source, weight, bias, output, stride, same, fused):
        weight = self.weights(weight, name)
        size, target = self.shape(source), self.shape(output)
        if weight.ndim != 4 or len(size) != 4 or len(target) != 4 or min(stride) < 1:
            raise ConversionError(f"layer {name}: transposed convolution of {size} to {target} is out of range")
        weight = weight.transpose(0, 3, 1, 2)
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
            bias=None if bias < 0 else self.weights(bias, name).reshape(-1),
            activation=fused,
            attributes={"stride": stride, "padding": before + after},
        )

    def read_AVERAGE_POOL_2D(self, name, inputs, output, operator):
        self.pool("averagePool", name, inputs, output, operator)

    def read_MAX_POOL_2D(self, name, inputs, output, operator):
        self.pool("maxPool", name, inputs, output, operator)

    def pool(self, op, name, inputs, output, operator):
        options, shape = self.options(operator, "Pool2DOptions"), self.shape(inputs[0])
        kernel = [options.FilterHeight(), options.FilterWidth()]
        attributes = self.window(options, kernel, shape[1:3], name)
        del attributes["dilation"]
        if op == "averagePool" and kernel == shape[1:3] and self.shape(output)[1:3] == [1, 1]:
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
        axes = sorted(int(axis) % 4 for axis in np.atleast_1d(self.weights(inputs[1], name)))
        if axes != [1, 2]:
            raise ConversionError(f"layer {name}: MEAN over the axes {axes} is not supported, only over a whole map")
        self.add("globalAveragePool", name, inputs[:1], output)

    def read_ADD(self, name, inputs, output, operator):
        self.arithmetic("add", name, inputs, output, self.options(operator, "AddOptions"))

    def read_SUB(self, name, inputs, output, operator):
        self.arithmetic("sub", name, inputs, output, self.options(operator, "SubOptions"))

    def read_MUL(self, name, inputs, output, operator):
        self.arithmetic("mul", name, inputs, output, self.options(operator, "MulOptions"))

    def read_DIV(self, name, inputs, output, operator):
        self.arithmetic("div", name, inputs, output, self.options(operator, "DivOptions"))

    def arithmetic(self, op, name, inputs, output, options):
        constants = {}
        for index in inputs:
            values = self.constant(index)
            if values is not None:
                if values.size > 1 and values.shape[-1] != values.size:
                    raise ConversionError(f"layer {name}: a constant of shape {list(values.shape)} is not supported")
                constants[self.names[index]] = values.reshape(-1)
        self.layers += binary(op, name, [self.names[index] for index in inputs], self.names[output], constants)
        fused = self.implied(output, self.fused(name, options))
        if self.layers[-1].op in ("add", "mul"):
            self.layers[-1].activation = fused
        else:
            self.activate(name, output, fused)

    def read_CONCATENATION(self, name, inputs, output, operator):
        options, rank = self.options(operator, "ConcatenationOptions"), len(self.shape(output))
        # The runtime knows no fused activation here.
        if rank != 4 or options.Axis() % rank != 3 or self.fused(name, options) != "none":
            raise ConversionError(f"layer {name}: CONCATENATION along axis {options.Axis()} is not supported")
        self.add("concat", name, inputs, output)

    def read_RESIZE_BILINEAR(self, name, inputs, output, operator):
        options = self.options(operator, "ResizeBilinearOptions")
        convention = (
            "alignCorners" if options.AlignCorners() else "halfPixel" if options.HalfPixelCenters() else "asymmetric"
        )
        self.add(
            "resizeBilinear",
            name,
            inputs[:1],
            output,
            attributes={"size": self.shape(output)[1:3], "convention": convention},
        )

    def read_PAD(self, name, inputs, output, operator):
        amounts = self.weights(inputs[1], name).astype(int)
        if amounts.shape != (4, 2) or amounts[0].any() or amounts[3].any():
            raise ConversionError(f"layer {name}: padding {amounts.tolist()} is not supported, only rows and columns")
        self.add("pad", name, inputs[:1], output, attributes={"padding": edges(amounts[1:3])})

    def read_SPACE_TO_BATCH_ND(self, name, inputs, output, operator):
        self.add(
            "spaceToBatch",
            name,
            inputs[:1],
            output,
            attributes={"block": pair(self.weights(inputs[1], name)), "padding": edges(self.weights(inputs[2], name))},
        )

    def read_BATCH_TO_SPACE_ND(self, name, inputs, output, operator):
        self.add(
            "batchToSpace",
            name,
            inputs[:1],
            output,
            attributes={"block": pair(self.weights(inputs[1], name)), "crop": edges(self.weights(inputs[2], name))},
        )

    def read_RESHAPE(self, name, inputs, output, operator):
        before, after = self.shape(inputs[0]), self.shape(output)
        maps = [shape for shape in (before, after) if len(shape) == 4]
        # [1, C] is the 1x1 map [1, 1, 1, C].
        if (
            not maps
            or any(
                [size for size in shape if size != 1] != [size for size in maps[0] if size != 1]
                for shape in (before, after)
            )
            or before[-1:] != after[-1:]
        ):
            raise ConversionError(f"layer {name}: RESHAPE of {before} to {after} is not supported")
        self.add("identity", name, inputs[:1], output)

    def read_DEQUANTIZE(self, name, inputs, output, operator):
        values = self.constant(inputs[0])
        if values is not None:
            self.constants[name] = values.astype(np.float32)
        else:
            self.add("identity", name, inputs, output)

    def read_QUANTIZE(self, name, inputs, output, operator):
        self.add("identity", name, inputs, output)

    def read_CAST(self, name, inputs, output, operator):
        self.add("identity", name, inputs, output)

    def read_ARG_MAX(self, name, inputs, output, operator):
        self.add("argMax", name, inputs[:1], output)

    def read_SOFTMAX(self, name, inputs, output, operator):
        beta = self.options(operator, "SoftmaxOptions").Beta()
        source = self.names[inputs[0]]
        if beta != 1:
            self.layers.append(affine(name + "/beta", source, name + "/beta", scale=beta))
            source = name + "/beta"
        self.layers.append(Layer("softmax", name, [source], self.names[output]))

    def unary(self, kind, name, inputs, output):
        self.layers.append(activation(name, self.names[inputs[0]], self.names[output], kind))

    def read_RELU(self, name, inputs, output, operator):
        self.unary("relu", name, inputs, output)

    def read_RELU6(self, name, inputs, output, operator):
        self.unary("relu6", name, inputs, output)

    def read_HARD_SWISH(self, name, inputs, output, operator):
        self.unary("hardSwish", name, inputs, output)

    def read_LOGISTIC(self, name, inputs, output, operator):
        self.unary("sigmoid", name, inputs, output)


def pair(values):
    """[vertical, horizontal] of a constant of two numbers."""
    numbers = [int(value) for value in np.asarray(values).reshape(-1)]
    if len(numbers) != 2:
        raise ConversionError(f"a block of {numbers} is not supported, only of rows and columns")
    return numbers


def edges(values):
    """[top, left, bottom, right] of [[top, bottom], [left, right]]."""
    numbers = np.asarray(values).astype(int)
    if numbers.shape != (2, 2) or numbers.min() < 0:
        raise ConversionError(f"padding {numbers.tolist()} is not supported, only of rows and columns")
    (top, bottom), (left, right) = numbers.tolist()
    return [top, left, bottom, right]
