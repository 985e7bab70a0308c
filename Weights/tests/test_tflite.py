"""TensorFlow Lite operators, each against LiteRT."""

import re

import numpy as np
import pytest
from conftest import error, litert, run_converted
from conversion.converter import convert_bytes
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from conversion.network import Facts
from tflite_graphs import TFLiteGraph

SAME, VALID = 0, 1
NONE, RELU, RELU6 = 0, 1, 3
FACTS = Facts(scale=[1.0], bias=[0.0], order="RGB", kind="logits", labels=["a", "b", "c", "d"])
FROM_BYTES = Facts(order="RGB", kind="logits", labels=["a", "b", "c", "d"])


def converted(data, tmp_path, facts=FACTS):
    """The model file of a .tflite file with four classes."""
    _, result = convert_bytes(data, "network.tflite", facts)
    path = tmp_path / "network.safetensors"
    path.write_bytes(result)
    return ModelFile(str(path))


def operators(model):
    return [" ".join(filter(None, (layer["op"], layer.get("activation")))) for layer in model.layers]


def conv(g, x, inputs, outputs, shape, kernel=3, stride=1, padding=SAME, fused=NONE):
    return g.operator(
        "CONV_2D",
        [x, g.noise(outputs, kernel, kernel, inputs), g.noise(outputs)],
        (1, *shape, outputs),
        "Conv2DOptions",
        padding=padding,
        strideH=stride,
        strideW=stride,
        dilationHFactor=1,
        dilationWFactor=1,
        fusedActivationFunction=fused,
    )


def strides_and_same_padding(g):
    x = conv(g, 0, 3, 5, (5, 6), stride=2, fused=RELU6)
    return conv(g, x, 5, 4, (3, 3), kernel=2, stride=2, fused=RELU)


def valid_padding(g):
    return conv(g, 0, 3, 4, (4, 5), stride=2, padding=VALID)


def depthwise(g):
    return g.operator(
        "DEPTHWISE_CONV_2D",
        [conv(g, 0, 3, 4, (9, 11)), g.noise(1, 3, 3, 4), g.noise(4)],
        (1, 9, 11, 4),
        "DepthwiseConv2DOptions",
        padding=SAME,
        strideH=1,
        strideW=1,
        dilationHFactor=2,
        dilationWFactor=2,
        depthMultiplier=1,
        fusedActivationFunction=RELU6,
    )


def depth_multiplier(g):
    x = g.operator(
        "DEPTHWISE_CONV_2D",
        [0, g.noise(1, 3, 3, 6), g.noise(6)],
        (1, 9, 11, 6),
        "DepthwiseConv2DOptions",
        padding=SAME,
        strideH=1,
        strideW=1,
        dilationHFactor=1,
        dilationWFactor=1,
        depthMultiplier=2,
    )
    return conv(g, x, 6, 4, (9, 11))


def atrous_with_crops(g, pads, crops):
    x = conv(g, 0, 3, 4, (9, 11))
    x = g.operator(
        "SPACE_TO_BATCH_ND",
        [x, g.constant([2, 2], "int32"), g.constant(pads, "int32")],
        (4, 7, 8, 4),
        "SpaceToBatchNDOptions",
    )
    x = g.operator(
        "DEPTHWISE_CONV_2D",
        [x, g.noise(1, 3, 3, 4), g.noise(4)],
        (4, 5, 6, 4),
        "DepthwiseConv2DOptions",
        padding=VALID,
        strideH=1,
        strideW=1,
        dilationHFactor=1,
        dilationWFactor=1,
        depthMultiplier=1,
        fusedActivationFunction=RELU6,
    )
    return g.operator(
        "BATCH_TO_SPACE_ND",
        [x, g.constant([2, 2], "int32"), g.constant(crops, "int32")],
        (1, 9, 11, 4),
        "BatchToSpaceNDOptions",
    )


def atrous_as_space_to_batch(g):
    return atrous_with_crops(g, [[2, 3], [2, 3]], [[0, 1], [0, 1]])


def atrous_cropped_before(g):
    return atrous_with_crops(g, [[3, 2], [4, 1]], [[1, 0], [1, 0]])


def batch_norm_as_arithmetic(g):
    x = g.operator("MUL", [conv(g, 0, 3, 4, (9, 11)), g.noise(4)], (1, 9, 11, 4), "MulOptions")
    return g.operator("ADD", [x, g.noise(1, 1, 1, 4)], (1, 9, 11, 4), "AddOptions", fusedActivationFunction=RELU6)


def arithmetic(g):
    x, y = conv(g, 0, 3, 4, (9, 11)), conv(g, 0, 3, 4, (9, 11))
    x = g.operator("SUB", [x, y], (1, 9, 11, 4), "SubOptions", fusedActivationFunction=RELU)
    x = g.operator("DIV", [x, g.constant(4.0)], (1, 9, 11, 4), "DivOptions", fusedActivationFunction=RELU6)
    return g.operator("MUL", [x, y], (1, 9, 11, 4), "MulOptions", fusedActivationFunction=RELU)


def padding_layer(g):
    x = g.operator("PAD", [0, g.constant([[0, 0], [1, 2], [3, 0], [0, 0]], "int32")], (1, 12, 14, 3), "PadOptions")
    return conv(g, x, 3, 4, (5, 6), stride=2, padding=VALID)


def pools(g):
    x = conv(g, 0, 3, 4, (9, 11))
    x = g.operator(
        "MAX_POOL_2D",
        [x],
        (1, 5, 6, 4),
        "Pool2DOptions",
        padding=SAME,
        strideH=2,
        strideW=2,
        filterHeight=3,
        filterWidth=2,
    )
    x = g.operator(
        "AVERAGE_POOL_2D",
        [x],
        (1, 5, 6, 4),
        "Pool2DOptions",
        padding=SAME,
        strideH=1,
        strideW=1,
        filterHeight=3,
        filterWidth=3,
        fusedActivationFunction=RELU,
    )
    return x


def whole_map_pools(g):
    x = conv(g, 0, 3, 4, (9, 11))
    y = g.operator(
        "AVERAGE_POOL_2D",
        [x],
        (1, 1, 1, 4),
        "Pool2DOptions",
        padding=VALID,
        strideH=9,
        strideW=11,
        filterHeight=9,
        filterWidth=11,
    )
    mean = g.operator("MEAN", [x, g.constant([1, 2], "int32")], (1, 4), "ReducerOptions", keepDims=False)
    mean = g.operator("RESHAPE", [mean, g.constant([1, 1, 1, 4], "int32")], (1, 1, 1, 4), "ReshapeOptions")
    return g.operator(
        "ADD", [g.operator("ADD", [x, y], (1, 9, 11, 4), "AddOptions"), mean], (1, 9, 11, 4), "AddOptions"
    )


def resizes(g):
    x = conv(g, 0, 3, 4, (9, 11))
    for size, corners, half in (((5, 7), True, False), ((12, 9), False, True), ((25, 20), False, False)):
        x = g.operator(
            "RESIZE_BILINEAR",
            [x, g.constant(size, "int32")],
            (1, *size, 4),
            "ResizeBilinearOptions",
            alignCorners=corners,
            halfPixelCenters=half,
        )
    return x


def transposed(g):
    x = conv(g, 0, 3, 5, (9, 11))
    x = g.operator(
        "TRANSPOSE_CONV",
        [g.constant([1, 18, 22, 6], "int32"), g.noise(6, 3, 3, 5), x],
        (1, 18, 22, 6),
        "TransposeConvOptions",
        padding=SAME,
        strideH=2,
        strideW=2,
    )
    return g.operator(
        "TRANSPOSE_CONV",
        [g.constant([1, 38, 46, 4], "int32"), g.noise(4, 4, 4, 6), x],
        (1, 38, 46, 4),
        "TransposeConvOptions",
        padding=VALID,
        strideH=2,
        strideW=2,
    )


def activations(g):
    x = conv(g, 0, 3, 4, (9, 11))
    for kind in ("HARD_SWISH", "RELU6", "LOGISTIC", "RELU"):
        x = g.operator(kind, [conv(g, x, 4, 4, (9, 11))], (1, 9, 11, 4))
    return x


def concat_and_softmax(g):
    x = g.operator("CONCATENATION", [0, conv(g, 0, 3, 1, (9, 11))], (1, 9, 11, 4), "ConcatenationOptions", axis=3)
    return g.operator("SOFTMAX", [x], (1, 9, 11, 4), "SoftmaxOptions", beta=2.0)


def half_precision_weights(g):
    weight = g.constant(g.random.uniform(-1, 1, (4, 3, 3, 3)), "float16")
    weight = g.operator("DEQUANTIZE", [weight], (4, 3, 3, 3), "DequantizeOptions")
    return g.operator(
        "CONV_2D",
        [0, weight, g.noise(4)],
        (1, 9, 11, 4),
        "Conv2DOptions",
        padding=SAME,
        strideH=1,
        strideW=1,
        dilationHFactor=1,
        dilationWFactor=1,
    )


CASES = {
    strides_and_same_padding: ["conv2d relu6", "conv2d relu"],
    valid_padding: ["conv2d"],
    depthwise: ["conv2d", "depthwiseConv2d relu6"],
    depth_multiplier: ["conv2d", "conv2d"],
    atrous_as_space_to_batch: ["conv2d", "depthwiseConv2d relu6"],
    atrous_cropped_before: ["conv2d", "depthwiseConv2d relu6"],
    batch_norm_as_arithmetic: ["conv2d relu6"],
    arithmetic: None,
    padding_layer: ["conv2d"],
    pools: ["conv2d", "maxPool", "averagePool", "activation relu"],
    whole_map_pools: ["conv2d", "globalAveragePool", "globalAveragePool", "add", "add"],
    resizes: ["conv2d"] + ["resizeBilinear"] * 3,
    transposed: ["conv2d", "transposeConv2d", "transposeConv2d"],
    activations: ["conv2d", "conv2d hardSwish", "conv2d relu6", "conv2d sigmoid", "conv2d relu"],
    concat_and_softmax: None,
    half_precision_weights: ["conv2d"],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_operator(case, tmp_path):
    g = TFLiteGraph()
    data, picture = g.data(case(g)), g.picture()
    model = converted(data, tmp_path)
    assert CASES[case] is None or operators(model) == CASES[case]
    _, expected = litert(data, picture)
    found = run_converted(model, picture.transpose(0, 3, 1, 2))[model.document["output"]["name"]]
    assert error(found.transpose(0, 2, 3, 1), expected) < 2e-5


def quantised(fused, lowest, scale, weight_scales):
    """One quantised convolution; the result's zero point is `lowest`."""
    g = TFLiteGraph(dtype="uint8", quantisation=([1 / 128], [128]))
    shape = (1, 9, 11, 4)
    if len(weight_scales) == 1:
        weight = g.constant(g.random.integers(0, 256, (4, 3, 3, 3)), "uint8", (weight_scales, [119]))
    else:
        weight = g.constant(g.random.integers(-127, 128, (4, 3, 3, 3)), "int8", (weight_scales, [0] * 4, 0))
    bias = g.constant(
        g.random.integers(-300, 300, 4), "int32", ([s / 128 for s in weight_scales], [0] * len(weight_scales), 0)
    )
    x = g.operator(
        "CONV_2D",
        [0, weight, bias],
        shape,
        "Conv2DOptions",
        "uint8",
        ([scale], [lowest]),
        padding=SAME,
        strideH=1,
        strideW=1,
        dilationHFactor=1,
        dilationWFactor=1,
        fusedActivationFunction=fused,
    )
    return g.data(x)


def test_quantised_weights_become_floats(tmp_path):
    data = quantised(NONE, 120, 0.1, [0.02])
    model = converted(data, tmp_path, FROM_BYTES)
    picture = np.random.default_rng(1).integers(0, 256, (1, 9, 11, 3)).astype(np.uint8)
    _, expected = litert(data, picture)
    found = run_converted(model, model.normalise(picture[0]))[model.document["output"]["name"]].transpose(0, 2, 3, 1)
    assert operators(model) == ["conv2d"]
    inside = np.abs(expected) < 11  # what eight bits at this scale hold
    assert np.abs(found - expected)[inside].max() <= 0.0501  # half a step


def test_a_scale_for_each_channel(tmp_path):
    data = quantised(NONE, 120, 0.1, [0.02, 0.01, 0.005, 0.04])
    weight = converted(data, tmp_path, FROM_BYTES).tensor("CONV_2D_0.weight")
    steps = weight / np.array([0.02, 0.01, 0.005, 0.04], np.float32).reshape(4, 1, 1, 1)
    assert np.abs(steps - np.round(steps)).max() < 1e-4 and np.abs(steps).max() > 120


@pytest.mark.parametrize(
    "fused,lowest,scale,expected",
    [
        (NONE, 1, 0.1, "conv2d"),
        (NONE, 0, 0.1, "conv2d relu"),
        (NONE, 0, 6 / 255, "conv2d relu6"),
        (RELU6, 0, 0.01, "conv2d relu6"),
    ],
)
def test_a_range_that_begins_at_zero_is_a_relu(fused, lowest, scale, expected, tmp_path):
    data = quantised(fused, lowest, scale, [0.02])
    assert operators(converted(data, tmp_path, FROM_BYTES)) == [expected]


def test_bytes_as_input_say_the_scale(tmp_path):
    document = converted(quantised(NONE, 3, 0.1, [0.02]), tmp_path, FROM_BYTES).document
    assert document["input"]["scale"] == [1 / 128] * 3 and document["input"]["bias"] == [-1.0] * 3


REFUSED = {
    "an unknown operator": (
        lambda g: g.operator("FLOOR", [conv(g, 0, 3, 4, (9, 11))], (1, 9, 11, 4)),
        "layer FLOOR_1: operator FLOOR",
    ),
    "another fused activation": (
        lambda g: conv(g, 0, 3, 4, (9, 11), fused=4),
        "layer CONV_2D_0: CONV_2D with fusedActivationFunction TANH",
    ),
    "a mean of channels": (
        lambda g: g.operator("MEAN", [0, g.constant([3], "int32")], (1, 9, 11, 1), "ReducerOptions"),
        "MEAN over the axes",
    ),
    "concatenation of rows": (
        lambda g: g.operator("CONCATENATION", [0, 0], (1, 18, 11, 3), "ConcatenationOptions", axis=1),
        "along axis 1",
    ),
    "padded channels": (
        lambda g: g.operator(
            "PAD", [0, g.constant([[0, 0], [0, 0], [0, 0], [0, 1]], "int32")], (1, 9, 11, 4), "PadOptions"
        ),
        "layer PAD_0",
    ),
    "another shape": (
        lambda g: g.operator("RESHAPE", [0, g.constant([1, 11, 9, 3], "int32")], (1, 11, 9, 3), "ReshapeOptions"),
        "layer RESHAPE_0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case):
    build, message = REFUSED[case]
    g = TFLiteGraph()
    with pytest.raises(ConversionError, match="^network.tflite: .*" + re.escape(message)) as caught:
        convert_bytes(g.data(build(g)), "network.tflite", FACTS)
    assert "\n" not in str(caught.value)
