"""Core ML neural networks (.mlmodel), look-up-table and linearly quantised weights included.

Only the protobuf schema of coremltools is used, which works on every system.
"""

import json
import logging
import math

import numpy as np

logging.getLogger("coremltools").setLevel(
    logging.ERROR
)  # it warns of Apple's libraries, which the schema does not need
from coremltools.proto import FeatureTypes_pb2, Model_pb2  # noqa: E402

from .errors import ConversionError  # noqa: E402
from .network import Facts, Layer, Network, activation, affine, binary, same_padding  # noqa: E402
from .shapes import output_shape  # noqa: E402

ORDERS = {"RGB": "RGB", "BGR": "BGR", "GRAYSCALE": "GRAY"}
RESIZES = {
    "STRICT_ALIGN_ENDPOINTS_MODE": "alignCorners",
    "ALIGN_ENDPOINTS_MODE": "alignCorners",
    "UPSAMPLE_MODE": "asymmetric",
    "ROI_ALIGN_MODE": "halfPixel",
}
PREVIEW = "com.apple.coreml.model.preview.params"  # labels and colours, where the model's makers stored them


def read(data: bytes, size=None) -> Network:
    """The network of a .mlmodel file, whose size is always fixed."""
    model = Model_pb2.Model()
    model.ParseFromString(data)
    kind = model.WhichOneof("Type")
    if kind != "neuralNetwork":
        raise ConversionError(f"it is a Core ML model of the kind {kind}, expected a neural network")
    return Reader(model).network()


class Reader:
    """Goes through the layers and keeps the shapes of the maps."""

    def __init__(self, model):
        self.model, self.layers, self.constants, self.shapes = model, [], {}, {}

    def network(self):
        description = self.model.description
        # The schema has defaults for everything: what is not there at all is found out here.
        if len(description.input) != 1 or len(description.output) != 1:
            raise ConversionError(
                f"it has {len(description.input)} inputs and {len(description.output)} outputs, expected one of each"
            )
        source, image = description.input[0].name, description.input[0].type.imageType
        order = ORDERS.get(FeatureTypes_pb2.ImageFeatureType.ColorSpace.Name(image.colorSpace))
        if description.input[0].type.WhichOneof("Type") != "imageType" or order is None:
            raise ConversionError(f"its input {source} is no RGB, BGR or grey picture")
        self.shapes[source] = (image.height, image.width, 1 if order == "GRAY" else 3)
        for layer in self.model.neuralNetwork.layers:
            self.read_layer(layer)
        facts = self.facts(order)
        return Network(source, self.shapes[source], self.layers, description.output[0].name, facts)

    def facts(self, order):
        """A picture comes as bytes; the network's pre-processing may scale them."""
        facts = Facts(scale=[1], bias=[0], order=order, licence=self.model.description.metadata.license or None)
        for step in self.model.neuralNetwork.preprocessing:
            if step.WhichOneof("preprocessor") != "scaler":
                raise ConversionError("its pre-processing subtracts a mean picture, which is not supported")
            s = step.scaler
            # Core ML: channelScale * byte + bias of the channel.
            facts.scale = [s.channelScale]
            facts.bias = {
                "RGB": [s.redBias, s.greenBias, s.blueBias],
                "BGR": [s.blueBias, s.greenBias, s.redBias],
                "GRAY": [s.grayBias],
            }[order]
        preview = self.model.description.metadata.userDefined
        if PREVIEW in preview:
            stored = json.loads(preview[PREVIEW])
            facts.labels = [str(label) for label in stored["labels"]] if "labels" in stored else None
        return facts

    # Weights

    def shaped(self, stored, shape, layer):
        """Stored weights as float32, in a shape whose first dimension is that of the output channels."""
        count = math.prod(shape)
        if len(stored.floatValue):
            values = np.array(stored.floatValue, np.float32)
        elif stored.float16Value:
            values = np.frombuffer(stored.float16Value, "<f2").astype(np.float32)
        else:
            values = self.dequantised(stored, count, layer)
        if len(values) != count:
            raise ConversionError(f"layer {layer}: {len(values)} weights for the shape {list(shape)}")
        return values.reshape(shape)

    def dequantised(self, stored, count, layer):
        """Weights stored as codes of 1 to 8 bits."""
        form, bits = stored.quantization.WhichOneof("QuantizationType"), stored.quantization.numberOfBits
        if form is None or not 1 <= bits <= 8:
            raise ConversionError(f"layer {layer}: weights of this storage ({form}, {bits} bits) are not supported")
        codes = np.frombuffer(stored.rawValue, np.uint8)
        if bits < 8:  # without gaps, the highest bit first; the last byte is filled up
            flat = np.unpackbits(codes)
            rows = flat[: len(flat) // bits * bits].reshape(-1, bits)
            codes = np.packbits(np.pad(rows, ((0, 0), (8 - bits, 0))), axis=1)[:count, 0]
        if form == "lookupTableQuantization":
            return np.array(stored.quantization.lookupTableQuantization.floatValue, np.float32)[codes]
        linear = stored.quantization.linearQuantization
        scale, bias = (np.array(values, np.float64)[:, None] for values in (linear.scale, linear.bias or [0]))
        if len(codes) % max(len(scale), 1) or len(bias) not in (1, len(scale)):
            raise ConversionError(f"layer {layer}: {len(scale)} scales and {len(bias)} biases for {len(codes)} weights")
        return (codes.reshape(len(scale), -1) * scale + bias).astype(np.float32).reshape(-1)

    # Layers

    def read_layer(self, layer):
        kind = layer.WhichOneof("layer")
        method = getattr(self, f"read_{kind}", None)
        if method is None or len(layer.output) != 1:
            raise ConversionError(f"layer {layer.name}: operator {kind} is not supported")
        first = len(self.layers)
        method(layer, getattr(layer, kind))
        for added in self.layers[first:]:
            missing = [name for name in added.inputs if name not in self.shapes]
            if missing:
                raise ConversionError(f"layer {layer.name}: reads {missing[0]}, which nothing before it gives")
            self.shapes[added.output] = output_shape(added, [self.shapes[name] for name in added.inputs])

    def add(self, op, layer, **more):
        self.layers.append(Layer(op, layer.name, list(layer.input), layer.output[0], **more))

    def window(self, layer, p, size, dilation):
        """kernel, stride and padding of a convolution or a pool."""
        kernel, stride = list(p.kernelSize) or [3, 3], list(p.stride) or [1, 1]
        if min(kernel + stride + dilation) < 1:
            raise ConversionError(f"layer {layer.name}: kernel {kernel} or stride {stride} is out of range")
        form = p.WhichOneof("ConvolutionPaddingType" if hasattr(p, "kernelChannels") else "PoolingPaddingType")
        if form == "same":
            padding = same_padding(size[:2], kernel, stride, dilation, heavy_end=p.same.asymmetryMode == 0)
        elif form == "valid" or form is None:
            padding = borders(p.valid.paddingAmounts)
        else:
            raise ConversionError(f"layer {layer.name}: padding {form} is not supported")
        return kernel, stride, padding

    def read_convolution(self, layer, p):
        dilation = list(p.dilationFactor) or [1, 1]
        kernel, stride, padding = self.window(layer, p, self.shapes[layer.input[0]], dilation)
        outputs, inputs, groups = p.outputChannels, p.kernelChannels, p.nGroups or 1
        bias = self.shaped(p.bias, (outputs,), layer.name) if p.hasBias else None
        if p.isDeconvolution:
            if (
                groups != 1
                or dilation != [1, 1]
                or list(p.outputShape)
                or p.WhichOneof("ConvolutionPaddingType") == "same"
            ):
                raise ConversionError(f"layer {layer.name}: this form of deconvolution is not supported")
            weight = self.shaped(p.weights, (inputs, outputs, *kernel), layer.name).transpose(1, 0, 2, 3)
            self.add(
                "transposeConv2d", layer, weight=weight, bias=bias, attributes={"stride": stride, "padding": padding}
            )
            return
        weight = self.shaped(p.weights, (outputs, inputs, *kernel), layer.name)
        depthwise = inputs == 1 and groups == outputs and groups > 1
        attributes = {"stride": stride, "dilation": dilation, "padding": padding}
        if not depthwise:
            attributes["groups"] = groups
        self.add("depthwiseConv2d" if depthwise else "conv2d", layer, weight=weight, bias=bias, attributes=attributes)

    def read_pooling(self, layer, p):
        size = self.shapes[layer.input[0]]
        kind = type(p).PoolingType.Name(p.type)
        if kind not in ("MAX", "AVERAGE"):
            raise ConversionError(f"layer {layer.name}: pooling {kind} is not supported")
        if p.globalPooling or (
            list(p.kernelSize) == list(size[:2])
            and kind == "AVERAGE"
            and p.WhichOneof("PoolingPaddingType") == "valid"
            and not any(borders(p.valid.paddingAmounts))
        ):
            if kind == "AVERAGE":
                self.add("globalAveragePool", layer)
            else:
                self.add("maxPool", layer, attributes={"kernel": list(size[:2])})
            return
        kernel, stride, padding = self.window(layer, p, size, [1, 1])
        attributes = {"kernel": kernel, "stride": stride, "padding": padding}
        if kind == "AVERAGE":
            attributes["countsPadding"] = not p.avgPoolExcludePadding
        self.add("averagePool" if kind == "AVERAGE" else "maxPool", layer, attributes=attributes)

    def read_activation(self, layer, p):
        kind = p.WhichOneof("NonlinearityType")
        source, output = layer.input[0], layer.output[0]
        if kind == "ReLU":
            self.layers.append(affine(layer.name, source, output, low=0))
        elif kind == "linear":
            self.layers.append(affine(layer.name, source, output, p.linear.alpha, p.linear.beta))
        elif kind == "sigmoid":
            self.layers.append(activation(layer.name, source, output, "sigmoid"))
        elif kind == "sigmoidHard":
            self.layers.append(affine(layer.name, source, output, p.sigmoidHard.alpha, p.sigmoidHard.beta, 0, 1))
        else:
            raise ConversionError(f"layer {layer.name}: activation {kind} is not supported")

    def read_unary(self, layer, p):
        kind = type(p).Operation.Name(p.type)
        if kind != "THRESHOLD":
            raise ConversionError(f"layer {layer.name}: unary function {kind} is not supported")
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], p.scale, p.shift, low=p.alpha))

    def read_clip(self, layer, p):
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], low=p.minVal, high=p.maxVal))

    def read_add(self, layer, p):
        self.arithmetic("add", layer, p)

    def read_multiply(self, layer, p):
        self.arithmetic("mul", layer, p)

    def arithmetic(self, op, layer, p):
        inputs = list(layer.input)
        if len(inputs) == 1:  # with a number of the layer's own
            self.layers += binary(op, layer.name, [inputs[0], "alpha"], layer.output[0], {"alpha": p.alpha})
        elif len(inputs) == 2:
            self.layers += binary(op, layer.name, inputs, layer.output[0], self.constants)
        else:
            raise ConversionError(f"layer {layer.name}: {op} of {len(inputs)} maps is not supported")

    def read_loadConstant(self, layer, p):
        self.constants[layer.output[0]] = self.vector(p.data, p.shape, layer.name)

    def read_batchnorm(self, layer, p):
        if p.computeMeanVar or p.instanceNormalization:
            raise ConversionError(f"layer {layer.name}: instance normalisation is not supported")
        gamma, beta, mean, variance = (
            self.shaped(values, (p.channels,), layer.name).astype(np.float64)
            for values in (p.gamma, p.beta, p.mean, p.variance)
        )
        scale = gamma / np.sqrt(variance + p.epsilon)
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], scale, beta - mean * scale))

    def read_scale(self, layer, p):
        scale = self.vector(p.scale, p.shapeScale, layer.name)
        shift = self.vector(p.bias, p.shapeBias, layer.name) if p.hasBias else 0
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], scale, shift))

    def read_bias(self, layer, p):
        self.layers.append(
            affine(layer.name, layer.input[0], layer.output[0], shift=self.vector(p.bias, p.shape, layer.name))
        )

    def vector(self, stored, shape, layer):
        """A constant with one value a channel, or one for all; its shape is [C, 1, 1], [C] or [1]."""
        shape = list(shape) or [1]
        if len(shape) not in (1, 3) or shape[1:] not in ([], [1, 1]):
            raise ConversionError(f"layer {layer}: a constant of shape {shape} is not supported")
        return self.shaped(stored, (shape[0],), layer)

    def read_concat(self, layer, p):
        if p.sequenceConcat:
            raise ConversionError(f"layer {layer.name}: concat along the sequence is not supported")
        self.add("concat", layer)

    def read_padding(self, layer, p):
        amounts = borders(p.paddingAmounts)
        if any(amounts) and (p.WhichOneof("PaddingType") != "constant" or p.constant.value != 0):
            raise ConversionError(f"layer {layer.name}: padding with something else than zeros is not supported")
        self.add("pad", layer, attributes={"padding": amounts})

    def read_resizeBilinear(self, layer, p):
        mode = type(p.mode).Method.Name(p.mode.samplingMethod)
        size = list(p.targetSize)
        if len(size) != 2 or (mode == "ALIGN_ENDPOINTS_MODE" and 1 in size):
            raise ConversionError(f"layer {layer.name}: resizeBilinear to {size} is not supported")
        self.add("resizeBilinear", layer, attributes={"size": size, "convention": RESIZES[mode]})

    def read_softmax(self, layer, p):
        self.add("softmax", layer)

    def read_reduce(self, layer, p):
        kind, axis = type(p).ReduceOperation.Name(p.mode), type(p).ReduceAxis.Name(p.axis)
        if (kind, axis) == ("ARGMAX", "C"):
            self.add("argMax", layer)
        elif (kind, axis) == ("AVG", "HW"):
            self.add("globalAveragePool", layer)
        else:
            raise ConversionError(f"layer {layer.name}: reduce {kind} along {axis} is not supported")


def borders(amounts):
    """[top, left, bottom, right] of Core ML's border amounts, none given meaning none."""
    pairs = [(edge.startEdgeSize, edge.endEdgeSize) for edge in amounts.borderAmounts] or [(0, 0), (0, 0)]
    if len(pairs) != 2:
        raise ConversionError(f"borders along {len(pairs)} dimensions are not supported, only rows and columns")
    (top, bottom), (left, right) = pairs
    return [top, left, bottom, right]
