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

from .coreml_fields import check_fields  # noqa: E402
from .errors import ConversionError, naming, unsupported  # noqa: E402
from .network import Facts, Layer, Network, activation, affine, binary, choose_output, same_padding  # noqa: E402
from .protobuf import refuse_unknown_fields  # noqa: E402
from .shapes import MAX_ELEMENTS, MAX_NODES, MAX_WINDOW, add_weights, check, check_form, output_shape  # noqa: E402

ORDERS = {"RGB": "RGB", "BGR": "BGR", "GRAYSCALE": "GRAY"}
RESIZES = {
    "STRICT_ALIGN_ENDPOINTS_MODE": "alignCorners",
    "ALIGN_ENDPOINTS_MODE": "alignCorners",
    "UPSAMPLE_MODE": "asymmetric",
}
# ROI_ALIGN_MODE takes samples at (i + 0.5) * (n - 1) / m, which no convention of model files does.

# How many inputs each kind of layer may have.
INPUTS = {"add": (1, 2), "multiply": (1, 2), "concat": (1, 1024), "loadConstant": (0, 0)}
PREVIEW = "com.apple.coreml.model.preview.params"  # labels and colours, where the model's makers stored them


def read(data: bytes, size=None, output=None) -> Network:
    """The network of a .mlmodel file, whose size is always fixed.

    - output: the name of the output that counts; default: the first
    """
    model = Model_pb2.Model()
    model.ParseFromString(data)
    kind = model.WhichOneof("Type")
    if kind != "neuralNetwork":
        raise ConversionError(f"it is a Core ML model of the kind {kind}, expected a neural network")
    if len(model.neuralNetwork.layers) > MAX_NODES:
        raise ConversionError(f"it has {len(model.neuralNetwork.layers)} layers, more than {MAX_NODES}")
    refuse_unknown_fields(model)
    check_fields(model, "the file", skip=("description", "neuralNetwork"))
    check_fields(model.neuralNetwork, "the network", skip=("layers",))
    return Reader(model).network(output)


class Reader:
    """Goes through the layers and keeps the shapes of the maps."""

    def __init__(self, model):
        self.model, self.layers, self.constants, self.shapes = model, [], {}, {}
        self.weight_bytes = 0

    def network(self, wanted):
        description = self.model.description
        # The schema has defaults for everything: what is not there at all is found out here.
        if len(description.input) != 1:
            raise ConversionError(f"it has {len(description.input)} inputs, expected one")
        check_fields(description, "its description", skip=("input", "output"))
        check_fields(description.input[0], f"its input {description.input[0].name}", skip=("type",))
        output, notes = choose_output([value.name for value in description.output], wanted)
        source, image = description.input[0].name, description.input[0].type.imageType
        order = ORDERS.get(enumerator(FeatureTypes_pb2.ImageFeatureType.ColorSpace, image.colorSpace, "its input"))
        if description.input[0].type.WhichOneof("Type") != "imageType" or order is None:
            raise ConversionError(f"its input {source} is no RGB, BGR or grey picture")
        check_fields(description.input[0].type, f"its input {source}")
        self.shapes[source] = check((image.height, image.width, 1 if order == "GRAY" else 3), "the input")
        for layer in self.model.neuralNetwork.layers:
            with naming(layer.name, str(layer.WhichOneof("layer"))):
                self.read_layer(layer)
        return Network(source, self.shapes[source], self.layers, output, self.facts(order, source), notes=notes)

    def facts(self, order, source):
        """A picture comes as bytes; the network's pre-processing may scale them."""
        facts = Facts(scale=[1], bias=[0], order=order, licence=self.model.description.metadata.license or None)
        steps = self.model.neuralNetwork.preprocessing
        if len(steps) > 1 or any(step.featureName not in ("", source) for step in steps):
            raise ConversionError("its pre-processing is not of its one input, or is several steps, not supported")
        for step in steps:
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
        forms = [form for form in ("floatValue", "float16Value", "rawValue") if len(getattr(stored, form))]
        if len(forms) != 1 or not 0 < count <= MAX_ELEMENTS:
            form = " and ".join(forms) or "nothing"
            raise ConversionError(f"layer {layer}: weights of shape {list(shape)} stored as {form} are not supported")
        # Codes of one bit become 32 times as large.
        self.weight_bytes = add_weights(layer, self.weight_bytes, 4 * count)
        if forms[0] == "floatValue":
            values = np.array(stored.floatValue, np.float32)
        elif forms[0] == "float16Value":
            values = np.frombuffer(stored.float16Value, "<f2").astype(np.float32)
        else:
            values = self.dequantised(stored, count, shape[0], layer)
        if len(values) != count:
            raise ConversionError(f"layer {layer}: {len(values)} weights for the shape {list(shape)}")
        return values.reshape(shape)

    def dequantised(self, stored, count, outputs, layer):
        """Weights stored as codes of 1 to 8 bits."""
        form, bits = stored.quantization.WhichOneof("QuantizationType"), stored.quantization.numberOfBits
        if form is None or not 1 <= bits <= 8:
            raise ConversionError(f"layer {layer}: weights of this storage ({form}, {bits} bits) are not supported")
        if len(stored.rawValue) != -(-count * bits // 8):
            raise ConversionError(f"layer {layer}: {len(stored.rawValue)} bytes for {count} weights of {bits} bits")
        codes = np.frombuffer(stored.rawValue, np.uint8)
        if bits < 8:  # without gaps, the highest bit first; the last byte is filled up
            flat = np.unpackbits(codes)
            rows = flat[: len(flat) // bits * bits].reshape(-1, bits)
            codes = np.packbits(np.pad(rows, ((0, 0), (8 - bits, 0))), axis=1)[:count, 0]
        if form == "lookupTableQuantization":
            table = np.array(stored.quantization.lookupTableQuantization.floatValue, np.float32)
            if len(table) != 1 << bits:
                raise ConversionError(f"layer {layer}: a table of {len(table)} values for codes of {bits} bits")
            return table[codes]
        linear = stored.quantization.linearQuantization
        scale, bias = (np.array(values, np.float64)[:, None] for values in (linear.scale, linear.bias or [0]))
        if len(scale) not in (1, outputs) or len(bias) not in (1, len(scale)):
            raise ConversionError(
                f"layer {layer}: {len(scale)} scales and {len(bias)} biases for the weights of {outputs} channels"
            )
        return (codes.reshape(len(scale), -1) * scale + bias).astype(np.float32).reshape(-1)

    # Layers

    def read_layer(self, layer):
        kind = layer.WhichOneof("layer")
        method = getattr(self, f"read_{kind}", None)
        if method is None or kind == "layer":
            raise ConversionError(f"layer {layer.name}: operator {kind} is not supported")
        check_fields(layer, f"layer {layer.name}")
        least, most = INPUTS.get(kind, (1, 1))
        if not least <= len(layer.input) <= most or len(layer.output) != 1:
            what = f"{len(layer.input)} inputs and {len(layer.output)} outputs"
            raise unsupported(layer.name, kind, what, f"{least if least == most else f'{least} to {most}'} and 1")
        first = len(self.layers)
        method(layer, getattr(layer, kind))
        for added in self.layers[first:]:
            check_form(added)
            missing = [name for name in added.inputs if name not in self.shapes]
            if missing:
                raise ConversionError(
                    f"layer {layer.name}: reads {missing[0]}, which is no map that a layer before it gives"
                )
            if added.output in self.shapes:
                raise ConversionError(f"layer {layer.name}: writes {added.output} a second time")
            shape = output_shape(added, [self.shapes[name] for name in added.inputs])
            self.shapes[added.output] = check(shape, f"layer {layer.name}")

    def shape(self, layer):
        """The shape of the map that a layer reads."""
        if layer.input[0] not in self.shapes:
            raise ConversionError(
                f"layer {layer.name}: reads {layer.input[0]}, which is no map that a layer before it gives"
            )
        return self.shapes[layer.input[0]]

    def add(self, op, layer, **more):
        self.layers.append(Layer(op, layer.name, list(layer.input), layer.output[0], **more))

    def window(self, layer, p, size, dilation):
        """kernel, stride and padding of a convolution or a pool."""
        kernel, stride = list(p.kernelSize) or [3, 3], list(p.stride) or [1, 1]
        for key, numbers in (("kernelSize", kernel), ("stride", stride), ("dilationFactor", dilation)):
            if len(numbers) != 2 or not 1 <= min(numbers) <= max(numbers) <= MAX_WINDOW:
                raise ConversionError(f"layer {layer.name}: its {key} {numbers} is out of range")
        form = p.WhichOneof("ConvolutionPaddingType" if hasattr(p, "kernelChannels") else "PoolingPaddingType")
        if form == "same":
            heavy = enumerator(type(p.same).SamePaddingMode, p.same.asymmetryMode, f"layer {layer.name}")
            padding = same_padding(size[:2], kernel, stride, dilation, heavy_end=heavy == "BOTTOM_RIGHT_HEAVY")
        elif form == "valid" or form is None:
            padding = borders(layer, p.valid.paddingAmounts)
        else:
            raise unsupported(layer.name, layer.WhichOneof("layer"), f"padding {form}", "valid and same")
        return kernel, stride, padding

    def read_convolution(self, layer, p):
        # Without meaning in a deconvolution, says the format.
        dilation = [1, 1] if p.isDeconvolution else list(p.dilationFactor) or [1, 1]
        kernel, stride, padding = self.window(layer, p, self.shape(layer), dilation)
        outputs, inputs, groups = p.outputChannels, p.kernelChannels, p.nGroups or 1
        bias = self.shaped(p.bias, (outputs,), layer.name) if p.hasBias else None
        if list(p.outputShape):
            raise unsupported(layer.name, "convolution", f"outputShape {list(p.outputShape)}", "valid padding")
        if p.isDeconvolution:
            if groups != 1:
                raise unsupported(layer.name, "deconvolution", f"nGroups {groups}", "1")
            if p.WhichOneof("ConvolutionPaddingType") == "same":
                raise unsupported(layer.name, "deconvolution", "same padding", "valid")
            if len(p.weights.quantization.linearQuantization.scale) > 1:
                # One for each output channel, which is the second dimension here.
                raise unsupported(layer.name, "deconvolution", "several scales of its weights", "one")
            weight = self.shaped(p.weights, (inputs, outputs, *kernel), layer.name).transpose(1, 0, 2, 3)
            attributes = {"stride": stride, "padding": padding}
            self.add("transposeConv2d", layer, weight=weight, bias=bias, attributes=attributes)
            return
        weight = self.shaped(p.weights, (outputs, inputs, *kernel), layer.name)
        depthwise = inputs == 1 and groups == outputs and groups > 1
        attributes = {"stride": stride, "dilation": dilation, "padding": padding}
        if not depthwise:
            attributes["groups"] = groups
        self.add("depthwiseConv2d" if depthwise else "conv2d", layer, weight=weight, bias=bias, attributes=attributes)

    def read_pooling(self, layer, p):
        size = self.shape(layer)
        kind = enumerator(type(p).PoolingType, p.type, f"layer {layer.name}")
        if kind not in ("MAX", "AVERAGE"):
            raise unsupported(layer.name, "pooling", f"type {kind}", "MAX and AVERAGE")
        if p.globalPooling or (
            list(p.kernelSize) == list(size[:2])
            and kind == "AVERAGE"
            and p.WhichOneof("PoolingPaddingType") == "valid"
            and not any(borders(layer, p.valid.paddingAmounts))
        ):
            if p.includeLastPixel.paddingAmounts or any(borders(layer, p.valid.paddingAmounts)):
                raise unsupported(layer.name, "pooling", "globalPooling and padding", "one of them")
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
        kind = enumerator(type(p).Operation, p.type, f"layer {layer.name}")
        if kind != "THRESHOLD":
            raise ConversionError(f"layer {layer.name}: unary function {kind} is not supported")
        # A scale that is not set or 0 is 1, says the format.
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], p.scale or 1, p.shift, low=p.alpha))

    def read_clip(self, layer, p):
        self.layers.append(affine(layer.name, layer.input[0], layer.output[0], low=p.minVal, high=p.maxVal))

    def read_add(self, layer, p):
        self.arithmetic("add", layer, p)

    def read_multiply(self, layer, p):
        self.arithmetic("mul", layer, p)

    def arithmetic(self, op, layer, p):
        inputs = list(layer.input)
        if len(inputs) == 1:  # with a number of the layer's own
            self.layers += binary(op, layer.name, [inputs[0], None], layer.output[0], {None: p.alpha})
        else:
            self.layers += binary(op, layer.name, inputs, layer.output[0], self.constants)

    def read_loadConstant(self, layer, p):
        if layer.output[0] in self.constants or layer.output[0] in self.shapes:
            raise ConversionError(f"layer {layer.name}: writes {layer.output[0]} a second time")
        self.constants[layer.output[0]] = self.vector(p.data, p.shape, layer.name)

    def read_batchnorm(self, layer, p):
        if p.computeMeanVar or p.instanceNormalization:
            raise ConversionError(f"layer {layer.name}: instance normalisation is not supported")
        gamma, beta, mean, variance = (
            self.shaped(values, (p.channels,), layer.name).astype(np.float64)
            for values in (p.gamma, p.beta, p.mean, p.variance)
        )
        # An epsilon that is not set or 0 is 1e-5, says the format.
        scale = gamma / np.sqrt(variance + (p.epsilon or 1e-5))
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
        amounts, form = borders(layer, p.paddingAmounts), p.WhichOneof("PaddingType")
        if any(amounts) and (form != "constant" or p.constant.value != 0):
            what = f"constant {p.constant.value:g}" if form == "constant" else str(form)
            raise unsupported(layer.name, "padding", what, "constant 0")
        self.add("pad", layer, attributes={"padding": amounts})

    def read_resizeBilinear(self, layer, p):
        mode = enumerator(type(p.mode).Method, p.mode.samplingMethod, f"layer {layer.name}")
        size = list(p.targetSize) or [1, 1]
        if mode not in RESIZES:
            raise unsupported(layer.name, "resizeBilinear", f"mode {mode}", ", ".join(RESIZES))
        if len(size) != 2 or (mode == "ALIGN_ENDPOINTS_MODE" and 1 in size):
            raise unsupported(
                layer.name, "resizeBilinear", f"targetSize {size} and mode {mode}", "more rows and columns"
            )
        self.add("resizeBilinear", layer, attributes={"size": size, "convention": RESIZES[mode]})

    def read_softmax(self, layer, p):
        self.add("softmax", layer)

    def read_reduce(self, layer, p):
        kind, axis = (
            enumerator(type(p).ReduceOperation, p.mode, f"layer {layer.name}"),
            enumerator(type(p).ReduceAxis, p.axis, f"layer {layer.name}"),
        )
        if (kind, axis) == ("ARGMAX", "C"):
            self.add("argMax", layer)
        elif (kind, axis) == ("AVG", "HW"):
            self.add("globalAveragePool", layer)
        else:
            raise ConversionError(f"layer {layer.name}: reduce {kind} along {axis} is not supported")


def enumerator(kind, number, what):
    """The name of a number of an enumeration."""
    try:
        return kind.Name(number)
    except ValueError:
        raise ConversionError(f"{what}: {number} is no {kind.DESCRIPTOR.name}, which is not supported") from None


def borders(layer, amounts):
    """[top, left, bottom, right] of Core ML's border amounts, none given meaning none."""
    pairs = [(edge.startEdgeSize, edge.endEdgeSize) for edge in amounts.borderAmounts] or [(0, 0), (0, 0)]
    if len(pairs) != 2:
        raise ConversionError(f"layer {layer.name}: borders along {len(pairs)} dimensions, expected rows and columns")
    (top, bottom), (left, right) = pairs
    return [top, left, bottom, right]
