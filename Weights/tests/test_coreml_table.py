"""All that a Core ML file can say, and what the converter does with it.

`coreml_fields` sorts the fields of each message that the reader takes into honoured and harmless ones, and refuses all
others; the first tests hold this against the schema. The table then has a row for each honoured field of a layer: tests
that compare it with what ONNX Runtime gives, and values that are refused by name. Core ML does not run here.
"""

import inspect
import re

import numpy as np
import pytest
import test_coreml
from conversion import coreml_reader
from conversion.converter import convert_bytes
from conversion.coreml_fields import HARMLESS, HONOURED, check_fields
from conversion.errors import ConversionError
from coremltools.proto import FeatureTypes_pb2, Model_pb2, NeuralNetwork_pb2
from onnx_graphs import OnnxGraph
from test_coreml import FACTS, HEIGHT, WIDTH, CoreMLGraph, compare, converted

LAYERS = NeuralNetwork_pb2.NeuralNetworkLayer.DESCRIPTOR.fields_by_name
KINDS = [name.removeprefix("read_") for name in vars(coreml_reader.Reader) if name.startswith("read_")]
KINDS = [kind for kind in KINDS if kind != "layer"]


def messages():
    """The messages that the reader takes, by name, as the schema has them."""
    found, left = {}, [Model_pb2.Model.DESCRIPTOR]
    while left:
        message = left.pop()
        if found.setdefault(message.name, message) is not message or message.name not in HONOURED:
            continue
        for field in message.fields:
            if field.name in HONOURED[message.name].split() and field.message_type is not None:
                left.append(field.message_type)
        found[message.name] = message
        left = [entry for entry in left if entry.name not in found]
    return {name: message for name, message in found.items() if not message.GetOptions().map_entry}


MESSAGES = messages()


def test_the_fields_are_those_of_the_schema():
    assert set(MESSAGES) == set(HONOURED)
    for name, message in MESSAGES.items():
        taken, harmless = HONOURED[name].split(), HARMLESS.get(name, {})
        assert not set(taken) & set(harmless)
        assert {*taken, *harmless} <= {field.name for field in message.fields}, name
    assert set(HARMLESS) <= set(HONOURED)
    assert set(KINDS) == set(HONOURED["NeuralNetworkLayer"].split()) - {"name", "input", "output"}


OTHERS = [
    (name, field.name)
    for name, message in MESSAGES.items()
    for field in message.fields
    if field.name not in HONOURED[name].split() and field.name not in HARMLESS.get(name, {})
]


@pytest.mark.parametrize("name,field", OTHERS)
def test_any_other_field_is_refused(name, field):
    message = type_of(MESSAGES[name])()
    known = MESSAGES[name].fields_by_name[field]
    if known.message_type is not None:
        getattr(message, field).add() if known.is_repeated else getattr(message, field).SetInParent()
    elif known.is_repeated:
        getattr(message, field).append("a" if known.type == known.TYPE_STRING else 1)
    else:
        setattr(message, field, {known.TYPE_STRING: "a", known.TYPE_BYTES: b"a"}.get(known.type, 1))
    with pytest.raises(ConversionError, match=f"it: {name} with {field} is not supported"):
        check_fields(message, "it")


def type_of(descriptor):
    """The class of a message."""
    for module in (Model_pb2, NeuralNetwork_pb2, FeatureTypes_pb2):
        for _, found in inspect.getmembers(module, inspect.isclass):
            if getattr(found, "DESCRIPTOR", None) is descriptor:
                return found
            for _, inner in inspect.getmembers(found, inspect.isclass):
                if getattr(inner, "DESCRIPTOR", None) is descriptor:
                    return inner
    raise AssertionError(descriptor.full_name)


def layer(kind, *more_inputs, source=None, **fields):
    """A convolution and the layer after it. A name with dots is a field within; a list is appended."""

    def build(g):
        x = g.conv("image", 3, 4)[1] if source is None else source
        p, output = g.layer(kind, [x, *more_inputs])
        for path, value in fields.items():
            set_field(p, path.split("__"), value)
        return output

    return build


def set_field(message, path, value):
    for key in path[:-1]:
        message = getattr(message, key)
    if value is None:
        getattr(message, path[-1]).SetInParent()
    elif isinstance(value, list):
        getattr(message, path[-1]).extend(value)
    else:
        setattr(message, path[-1], value)


def convolution(channels=4, **fields):
    def build(g):
        p, output, _, _ = g.conv("image", 3, channels)
        for path, value in fields.items():
            set_field(p, path.split("__"), value)
        return output

    return build


def deconvolution(**fields):
    return convolution(3, isDeconvolution=True, valid=None, **fields)


def stored(**fields):
    """A convolution with other weights than those of floats."""

    def build(g):
        p, output, _, _ = g.conv("image", 3, 4)
        del p.weights.floatValue[:]
        for path, value in fields.items():
            set_field(p.weights, path.split("__"), value)
        return output

    return build


def borders(kind, *amounts, **fields):
    """A layer with amounts around the map."""

    def build(g):
        output = layer(kind, **fields)(g)
        p = getattr(g.model.neuralNetwork.layers[-1], kind)
        where = p.paddingAmounts if kind == "padding" else p.valid.paddingAmounts
        for start, end in amounts:
            edge = where.borderAmounts.add()
            edge.startEdgeSize, edge.endEdgeSize = start, end
        return output

    return build


def of_batchnorm(**fields):
    def build(g):
        output = layer("batchnorm", **{"channels": 4} | fields)(g)
        p = g.model.neuralNetwork.layers[-1].batchnorm
        for field in (p.gamma, p.beta, p.mean, p.variance):
            field.floatValue.extend([1, 2, 3, 4])
        return output

    return build


def scaler(**fields):
    def build(g):
        for key, value in fields.items():
            set_field(g.model.neuralNetwork.preprocessing.add(), key.split("__"), value)
        return g.conv("image", 3, 4)[1]

    return build


CONVOLUTIONS, PACKED = test_coreml.test_convolutions, test_coreml.test_packed_weights
NORMS, POOLS, RESIZES = (
    test_coreml.test_norms_scales_and_gates,
    test_coreml.test_pools_and_concat,
    test_coreml.test_resizes,
)
CODES = {"quantization__numberOfBits": 4, "quantization__lookupTableQuantization__floatValue": [1.0] * 16}
LINEAR = {"rawValue": b"0" * 108, "quantization__numberOfBits": 8}
SCALES = "quantization__linearQuantization__scale"
PREPROCESSING = test_coreml.test_preprocessing_is_the_scale_and_bias


def table():
    """For each field the tests that set it, and (graph, message) of the values that are refused."""
    several = test_norms_with_defaults_of_the_format, test_all_the_other_layers
    defaults, others = several
    return {
        "ActivationLinear": {"alpha": [test_coreml.test_relu6_spelt_out], "beta": [others]},
        "ActivationSigmoidHard": {"alpha": [NORMS], "beta": [NORMS]},
        "ActivationParams": {
            "linear": [others],
            "ReLU": [test_coreml.test_relu6_spelt_out],
            "sigmoid": [NORMS],
            "sigmoidHard": [NORMS],
        },
        "AddLayerParams": {"alpha": [others, (layer("add", "image", "image"), "add with 3 inputs")]},
        "MultiplyLayerParams": {
            "alpha": [PREPROCESSING, others, (layer("multiply", "image", "image"), "multiply with 3 inputs")]
        },
        "BatchnormLayerParams": {
            "channels": [NORMS, (of_batchnorm(channels=3), "4 weights for the shape [3]")],
            "computeMeanVar": [(of_batchnorm(computeMeanVar=True), "instance normalisation")],
            "instanceNormalization": [(of_batchnorm(instanceNormalization=True), "instance normalisation")],
            "epsilon": [NORMS, defaults],
            "gamma": [NORMS],
            "beta": [NORMS],
            "mean": [NORMS],
            "variance": [NORMS],
        },
        "BiasLayerParams": {
            "shape": [others, (layer("bias", shape=[1, 9, 11], bias__floatValue=[1.0] * 99), "shape [1, 9, 11]")],
            "bias": [others, (layer("bias", shape=[4]), "stored as nothing")],
        },
        "ClipLayerParams": {"minVal": [others, (layer("clip", minVal=2), "clamps to 2 ... 0")], "maxVal": [others]},
        "ConcatLayerParams": {"sequenceConcat": [POOLS, (layer("concat", sequenceConcat=True), "sequence")]},
        "ConvolutionLayerParams": {
            "outputChannels": [CONVOLUTIONS, (convolution(outputChannels=5), "4 weights for the shape [5]")],
            "kernelChannels": [CONVOLUTIONS, (convolution(kernelChannels=4), "108 weights")],
            "nGroups": [CONVOLUTIONS, (deconvolution(nGroups=3), "deconvolution with nGroups 3")],
            "kernelSize": [CONVOLUTIONS, (convolution(kernelSize=[3]), "kernelSize [3, 3, 3]")],
            "stride": [
                CONVOLUTIONS,
                (convolution(stride=[0, 1]), "stride [0, 1]"),
                (convolution(stride=[1]), "stride [1]"),
            ],
            "dilationFactor": [
                CONVOLUTIONS,
                defaults,
                (convolution(dilationFactor=[1, 5000]), "dilationFactor [1, 5000]"),
            ],
            "valid": [CONVOLUTIONS],
            "same": [CONVOLUTIONS, (deconvolution(same=None), "deconvolution with same padding")],
            "isDeconvolution": [test_coreml.test_deconvolution],
            "hasBias": [CONVOLUTIONS, defaults],
            "weights": [
                CONVOLUTIONS,
                (layer("convolution", "image", outputChannels=4, kernelChannels=4), "convolution with 2 inputs"),
            ],
            "bias": [CONVOLUTIONS, (convolution(bias__floatValue=[1.0]), "5 weights for the shape [4]")],
            "outputShape": [
                (convolution(outputShape=[9, 9]), "outputShape [9, 9]"),
                (deconvolution(outputShape=[9, 9]), "outputShape [9, 9]"),
            ],
        },
        "LoadConstantLayerParams": {"shape": [others], "data": [others]},
        "PaddingLayerParams": {
            "constant": [others],
            "reflection": [(borders("padding", (1, 1), (1, 1), reflection=None), "padding with reflection")],
            "replication": [(borders("padding", (1, 1), (1, 1), replication=None), "padding with replication")],
            "paddingAmounts": [others, (borders("padding", (1, 1), constant=None), "borders along 1 dimensions")],
        },
        "PaddingConstant": {
            "value": [others, (borders("padding", (1, 1), (1, 1), constant__value=1.5), "padding with constant 1.5")]
        },
        "PoolingLayerParams": {
            "type": [POOLS, (layer("pooling", type=2), "type L2")],
            "kernelSize": [POOLS, defaults, (layer("pooling", kernelSize=[0, 1]), "kernelSize [0, 1]")],
            "stride": [POOLS, (layer("pooling", stride=[0, 1]), "stride [0, 1]")],
            "valid": [POOLS],
            "same": [others],
            "includeLastPixel": [
                (layer("pooling", includeLastPixel=None), "pooling with padding includeLastPixel"),
                (
                    layer("pooling", includeLastPixel__paddingAmounts=[1, 1], globalPooling=True),
                    "globalPooling and padding",
                ),
            ],
            "avgPoolExcludePadding": [POOLS],
            "globalPooling": [
                POOLS,
                (borders("pooling", (1, 1), (1, 1), globalPooling=True), "globalPooling and padding"),
            ],
        },
        "ValidCompletePadding": {
            "paddingAmounts": [(layer("pooling", includeLastPixel__paddingAmounts=[1, 1]), "includeLastPixel")]
        },
        "ReduceLayerParams": {
            "mode": [
                others,
                (layer("reduce", mode=7, axis=1), "reduce MAX along HW"),
                (layer("reduce", axis=1), "SUM along HW"),
            ],
            "axis": [
                others,
                (layer("reduce", mode=9, axis=3), "ARGMAX along H"),
                (layer("reduce", mode=1), "AVG along CHW"),
            ],
        },
        "ResizeBilinearLayerParams": {
            "targetSize": [RESIZES, defaults, (layer("resizeBilinear", targetSize=[3]), "targetSize [3]")],
            "mode": [RESIZES],
        },
        "SamplingMode": {
            "samplingMethod": [
                RESIZES,
                (layer("resizeBilinear", targetSize=[20, 20], mode__samplingMethod=3), "mode ROI_ALIGN_MODE"),
                (
                    layer("resizeBilinear", targetSize=[1, 20], mode__samplingMethod=1),
                    "targetSize [1, 20] and mode ALIGN",
                ),
            ]
        },
        "ScaleLayerParams": {
            "shapeScale": [
                NORMS,
                (layer("scale", shapeScale=[4, 9, 11], scale__floatValue=[1.0] * 396), "shape [4, 9, 11]"),
            ],
            "scale": [NORMS],
            "hasBias": [NORMS, others],
            "shapeBias": [NORMS],
            "bias": [NORMS],
        },
        "UnaryFunctionLayerParams": {
            "type": [test_coreml.test_relu6_spelt_out]
            + [
                (layer("unary", type=number), f"unary function {name}")
                for number, name in enumerate(("SQRT", "RSQRT", "INVERSE", "POWER", "EXP", "LOG", "ABS"))
            ],
            "alpha": [test_coreml.test_relu6_spelt_out],
            "shift": [others],
            "scale": [test_coreml.test_relu6_spelt_out, defaults],
        },
        "ValidPadding": {"paddingAmounts": [CONVOLUTIONS]},
        "SamePadding": {"asymmetryMode": [CONVOLUTIONS]},
        "BorderAmounts": {"borderAmounts": [CONVOLUTIONS, POOLS]},
        "EdgeSizes": {"startEdgeSize": [CONVOLUTIONS], "endEdgeSize": [CONVOLUTIONS]},
        "WeightParams": {
            "floatValue": [CONVOLUTIONS, (stored(floatValue=[1.0]), "1 weights for the shape")],
            "float16Value": [
                test_coreml.test_half_precision_weights,
                (convolution(weights__float16Value=b"00"), "stored as floatValue and float16Value"),
            ],
            "rawValue": [PACKED, (stored(rawValue=b"0" * 99, **CODES), "99 bytes for 108 weights of 4 bits")],
            "quantization": [PACKED, (stored(rawValue=b"0" * 108), "weights of this storage (None, 0 bits)")],
        },
        "QuantizationParams": {
            "numberOfBits": [
                PACKED,
                (stored(rawValue=b"0" * 108, **CODES | {"quantization__numberOfBits": 9}), "9 bits"),
            ],
            "linearQuantization": [PACKED],
            "lookupTableQuantization": [PACKED],
        },
        "LinearQuantizationParams": {
            "scale": [
                PACKED,
                (stored(**LINEAR, **{SCALES: [1.0] * 3}), "3 scales and 1 biases"),
                (deconvolution_of_codes, "several scales of its weights"),
            ],
            "bias": [
                PACKED,
                (stored(**LINEAR, **{SCALES: [1.0], SCALES[:-5] + "bias": [1.0] * 2}), "1 scales and 2 biases"),
            ],
        },
        "LookUpTableQuantizationParams": {
            "floatValue": [
                PACKED,
                (stored(rawValue=b"0" * 108, **CODES | {"quantization__numberOfBits": 8}), "a table of 16"),
            ]
        },
        "NeuralNetworkPreprocessing": {
            "featureName": [others, (scaler(featureName="other"), "pre-processing is not of its one input")],
            "scaler": [PREPROCESSING, (scaler(scaler=None, scaler__channelScale=2), "or is several steps")],
        },
        "NeuralNetworkImageScaler": {
            key: [PREPROCESSING] if key != "grayBias" else [test_a_grey_picture]
            for key in HONOURED["NeuralNetworkImageScaler"].split()
        },
    }


def deconvolution_of_codes(g):
    output = stored(**{SCALES: [1.0] * 3, "rawValue": b"0" * 81, "quantization__numberOfBits": 8})(g)
    p = g.model.neuralNetwork.layers[-1].convolution
    p.isDeconvolution = True
    p.valid.SetInParent()
    return output


def test_norms_with_defaults_of_the_format(tmp_path):
    """What a field that is not set, or is 0, stands for: an epsilon of 1e-5, a scale of 1, kernels of 3 x 3, one pixel.

    And a dilation says nothing in a deconvolution.
    """
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    p, x, w, _ = g.conv("image", 3, 4)
    p.hasBias = False
    y = h.node("Conv", "picture", h.constant(w), pads=[1, 1, 1, 1])
    p, x = g.layer("batchnorm", [x])
    p.channels = 4
    values = [
        np.float32([0.01, 2, 3, 0.04]),
        np.float32([1, 1, 1, 1]),
        np.float32([0, 1, 0, 1]),
        np.float32([1e-5, 1, 2, 3e-5]),
    ]
    for field, value in zip((p.gamma, p.beta, p.mean, p.variance), values):
        field.floatValue.extend(value)
    y = h.node("BatchNormalization", y, *map(h.constant, values), epsilon=1e-5)
    p, x = g.layer("unary", [x])
    p.type, p.alpha = 7, -2
    y = h.node("Clip", y, h.constant(-2.0))
    p, x = g.layer("pooling", [x])
    y = h.node("MaxPool", y, kernel_shape=[3, 3])
    _, small = g.layer("resizeBilinear", [x])
    _, x = g.layer("add", [x, small])
    z = h.node(
        "Resize",
        y,
        "",
        "",
        h.constant([1, 4, 1, 1], np.int64),
        mode="linear",
        coordinate_transformation_mode="align_corners",
    )
    y = h.node("Add", y, z)
    p, x, w, b = g.conv(x, 4, 4)
    p.isDeconvolution = True
    p.valid.SetInParent()
    p.dilationFactor.extend([2, 2])
    y = h.node("ConvTranspose", y, h.constant(w), h.constant(b))
    compare(g, x, h, y, tmp_path)


def test_all_the_other_layers(tmp_path):
    g, h = CoreMLGraph(), OnnxGraph(HEIGHT, WIDTH)
    p = g.model.neuralNetwork.preprocessing.add()
    p.featureName, p.scaler.channelScale = "image", 1
    _, x, w, b = g.conv("image", 3, 4)
    y = h.node("Conv", "picture", h.constant(w), h.constant(b), pads=[1, 1, 1, 1])
    p, x = g.layer("activation", [x])
    p.linear.alpha, p.linear.beta = 0.5, 0.25
    y = h.node("Add", h.node("Mul", y, h.constant(0.5)), h.constant(0.25))
    p, x = g.layer("bias", [x])
    p.shape.extend([4])
    p.bias.floatValue.extend([1, 2, 3, 4])
    y = h.node("Add", y, h.constant([[[1]], [[2]], [[3]], [[4]]]))
    p, x = g.layer("scale", [x])
    p.shapeScale.append(1)
    p.scale.floatValue.append(0.75)
    y = h.node("Mul", y, h.constant(0.75))
    p, x = g.layer("add", [x])
    p.alpha = 0.125
    p, x = g.layer("multiply", [x])
    p.alpha = 3
    y = h.node("Mul", h.node("Add", y, h.constant(0.125)), h.constant(3.0))
    p, x = g.layer("clip", [x])
    p.minVal, p.maxVal = -1, 4
    y = h.node("Clip", y, h.constant(-1.0), h.constant(4.0))
    p, x = g.layer("unary", [x])
    p.type, p.alpha, p.shift, p.scale = 7, 1, 0.5, -2
    y = h.node("Clip", h.node("Add", h.node("Mul", y, h.constant(-2.0)), h.constant(0.5)), h.constant(1.0))
    p, c = g.layer("loadConstant", [])
    p.shape.extend([4, 1, 1])
    p.data.floatValue.extend([1, -2, 3, 4])
    _, x = g.layer("multiply", [c, x])
    y = h.node("Mul", y, h.constant([[[1]], [[-2]], [[3]], [[4]]]))
    p, mean = g.layer("reduce", [x])
    p.mode, p.axis = 1, 1
    _, x = g.layer("add", [x, mean])
    y = h.node("Add", y, h.node("GlobalAveragePool", y))
    p, x = g.layer("pooling", [x])
    p.type = 1
    p.stride.extend([2, 2])
    p.same.asymmetryMode = 1
    y = h.node("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER", count_include_pad=1)
    p, x = g.layer("padding", [x])
    p.constant.value = 0
    for start, end in ((1, 2), (0, 3)):
        edge = p.paddingAmounts.borderAmounts.add()
        edge.startEdgeSize, edge.endEdgeSize = start, end
    y = h.node("Pad", y, h.constant([0, 0, 1, 0, 0, 0, 2, 3], np.int64))
    p, x, w, b = g.conv(x, 4, 4)
    y = h.node("Conv", y, h.constant(w), h.constant(b), pads=[1, 1, 1, 1])
    _, x = g.layer("softmax", [x])
    compare(g, x, h, h.node("Softmax", y, axis=1), tmp_path)
    p, x = g.layer("reduce", [x])
    p.mode, p.axis = 9, 2
    del g.model.description.output[:]
    assert converted(g.data(x), tmp_path).layers[-1]["op"] == "softmax"  # labels are cut off


def test_a_grey_picture(tmp_path):
    g = CoreMLGraph(colours=10)
    scaler = g.model.neuralNetwork.preprocessing.add().scaler
    scaler.channelScale, scaler.redBias, scaler.grayBias = 0.5, 1, 2
    size = converted(g.data(g.conv("image", 1, 4)[1]), tmp_path).document["input"]
    assert (size["order"], size["scale"], size["bias"]) == ("GRAY", [0.5], [2])


TABLE = table()
# Fields of the file itself, which the tests beside this table are about.
STRUCTURE = {
    "Model", "ModelDescription", "FeatureDescription", "FeatureType", "ImageFeatureType", "Metadata", "NeuralNetwork",
    "NeuralNetworkLayer",
}  # fmt: skip


def test_each_honoured_field_of_a_layer_has_a_row():
    assert {name for name in HONOURED if HONOURED[name]} - STRUCTURE == set(TABLE)
    for name, rows in TABLE.items():
        assert set(rows) == set(HONOURED[name].split()), name
        assert all(entry for row in rows.values() for entry in row), name


CASES = [
    pytest.param(*entry, id=f"{name} {key} {index}")
    for name, rows in TABLE.items()
    for key, row in rows.items()
    for index, entry in enumerate(row)
    if isinstance(entry, tuple)
]


@pytest.mark.parametrize("build,message", CASES)
def test_refused(build, message):
    g = CoreMLGraph()
    data = g.data(build(g))
    kinds = [layer.WhichOneof("layer") for layer in g.model.neuralNetwork.layers]
    with pytest.raises(ConversionError, match=re.escape(message)) as caught:
        convert_bytes(data, "network.mlmodel", FACTS)
    assert str(caught.value).startswith("network.mlmodel: ")
    if not g.model.neuralNetwork.preprocessing:
        assert re.match(
            rf"network.mlmodel: layer ({'|'.join(kinds)})_\d: .*({'|'.join([*kinds, 'deconvolution'])})",
            str(caught.value),
        )


def two_inputs(model):
    model.description.input.add().name = "more"


def no_picture(model):
    model.description.input[0].type.multiArrayType.SetInParent()


def half_grey(model):
    model.description.input[0].type.imageType.colorSpace = 40


def functions(model):
    model.description.functions.add()


def a_state(model):
    model.description.state.add()


def a_later_field(model):
    model.neuralNetwork.layers[0].convolution.ParseFromString(
        model.neuralNetwork.layers[0].convolution.SerializeToString() + b"\xf8\x3f\x01"
    )


def a_mean_picture(model):
    model.neuralNetwork.preprocessing.add().meanImage.meanImage.append(1)


def two_outputs_of_a_layer(model):
    model.neuralNetwork.layers[0].output.append("more")


def written_twice(model):
    model.neuralNetwork.layers.add().CopyFrom(model.neuralNetwork.layers[0])


def an_unknown_map(model):
    model.neuralNetwork.layers[0].input[0] = "other"


def an_unknown_enumerator(model):
    layer = model.neuralNetwork.layers.add()
    layer.name, layer.pooling.type = "pool", 99
    layer.input.append("image")
    layer.output.append("pool")


SPOILT = {
    two_inputs: "it has 2 inputs, expected one",
    no_picture: "its input image is no RGB, BGR or grey picture",
    half_grey: "its input image is no RGB, BGR or grey picture",
    functions: "its description: ModelDescription with functions",
    a_state: "its description: ModelDescription with state",
    a_later_field: "its ConvolutionLayerParams has a field number 1023, which is not known",
    a_mean_picture: "NeuralNetworkPreprocessing with meanImage is not supported",
    two_outputs_of_a_layer: "convolution with 1 inputs and 2 outputs",
    written_twice: "layer convolution_0: writes convolution_0 a second time",
    an_unknown_map: "layer convolution_0: convolution: reads other, which is no map",
    an_unknown_enumerator: "layer pool: pooling: 99 is no PoolingType",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_what_a_file_says_beyond_its_layers(spoil):
    g = CoreMLGraph()
    g.data(g.conv("image", 3, 4)[1])
    spoil(g.model)
    with pytest.raises(ConversionError, match=re.escape(SPOILT[spoil])):
        convert_bytes(g.model.SerializeToString(), "network.mlmodel", FACTS)


def test_several_outputs():
    g, said = CoreMLGraph(), []
    first = g.conv("image", 3, 4)[1]
    second = g.conv(first, 4, 4)[1]
    g.data(second)
    data = g.data(first)
    document, _ = convert_bytes(data, "two.mlmodel", FACTS, say=said.append)
    assert document["output"]["name"] == second and f"2 outputs, {second}, {first}: {second} is taken" in said[0]
    document, _ = convert_bytes(data, "two.mlmodel", FACTS, output=first, say=said.append)
    assert document["output"]["name"] == first and len(said) == 1
