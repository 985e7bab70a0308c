"""ONNX operators and their many spellings, each against ONNX Runtime."""

import numpy as np
import pytest
from conftest import error, run_converted, run_onnx
from conversion.errors import ConversionError
from onnx_graphs import OnnxGraph


def batch_norm(g):
    return g.batch_norm(g.conv("picture", 3, 4, bias=False), 4)


def batch_norm_between_activations(g):
    x = g.node("Relu", g.batch_norm(g.conv("picture", 3, 4), 4))
    return g.conv(g.batch_norm(x, 4), 4, 4)


def hard_swish_with_hard_sigmoid(g):
    x = g.batch_norm(g.conv("picture", 3, 4), 4)
    return g.node("Mul", x, g.node("HardSigmoid", x, alpha=1 / 6, beta=0.5))


def hard_swish_spelt_out(g):
    x = g.conv("picture", 3, 4)
    gate = g.node("Clip", g.node("Add", x, g.constant(3.0)), g.constant(0.0), g.constant(6.0))
    return g.node("Div", g.node("Mul", gate, x), g.constant(6.0))


def hard_swish_times_six(g):
    x = g.conv("picture", 3, 4)
    return g.node("Mul", x, g.node("Clip", g.node("Add", g.constant(3.0), x), g.constant(0.0), g.constant(6.0)))


def hard_sigmoid_of_onnx(g):
    return g.node("HardSigmoid", g.conv("picture", 3, 4))


def clip_below(g):
    return g.node("Clip", g.conv("picture", 3, 4), g.constant(-0.5))


def clip_above(g):
    return g.node("Clip", g.conv("picture", 3, 4), "", g.constant(0.25))


def clip_both(g):
    return g.node("Clip", g.conv("picture", 3, 4), g.constant(-0.75), g.constant(0.5))


def relu_without_convolution(g):
    return g.node("Relu", g.node("GlobalAveragePool", g.conv("picture", 3, 4)))


def subtract_and_negate(g):
    x, y = g.conv("picture", 3, 4), g.conv("picture", 3, 4)
    return g.node("Sub", g.node("Sub", x, y), g.node("Sub", g.noise(1, 4, 1, 1), x))


def squeeze_and_excitation(g):
    x = g.conv("picture", 3, 8)
    gate = g.node("Relu", g.conv(g.node("ReduceMean", x, axes=[2, 3], keepdims=1), 8, 2, kernel=1))
    return g.conv(g.node("Mul", g.node("Sigmoid", g.conv(gate, 2, 8, kernel=1)), x), 8, 4)


def convolutions(g):
    x = g.conv("picture", 3, 8, strides=[2, 1], pads=[1, 0, 2, 1])
    x = g.conv(x, 8, 8, dilations=[2, 3], pads=[2, 3, 2, 3])
    x = g.conv(x, 8, 12, group=4)
    x = g.conv(x, 12, 12, kernel=5, group=12)
    return g.conv(x, 12, 4, kernel=1)


def channel_multiplier(g):
    return g.conv(g.conv("picture", 3, 6, group=3), 6, 4)


def same_padding(g):
    x = g.conv("picture", 3, 4, kernel=4, strides=[2, 2], pads=None, auto_pad="SAME_UPPER")
    return g.conv(x, 4, 4, kernel=4, strides=[2, 2], pads=None, auto_pad="SAME_LOWER")


def padding_layer(g):
    padded = g.node("Pad", "picture", g.constant([0, 0, 1, 2, 0, 0, 3, 0], np.int64))
    return g.conv(padded, 3, 4, pads=[0, 1, 0, 1])


def transposed(g):
    x = g.conv("picture", 3, 5)
    return g.node(
        "ConvTranspose",
        x,
        g.noise(5, 4, 3, 2),
        g.noise(4),
        kernel_shape=[3, 2],
        strides=[2, 3],
        pads=[1, 0, 2, 1],
        output_padding=[1, 0],
    )


def pools(g):
    x = g.conv("picture", 3, 4)
    x = g.node("MaxPool", x, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    x = g.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], count_include_pad=1)
    return g.node("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def resizes(g):
    x = g.conv("picture", 3, 4)
    for convention, size in (("align_corners", (17, 5)), ("half_pixel", (7, 13)), ("asymmetric", (13, 22))):
        x = g.node(
            "Resize",
            x,
            "",
            "",
            g.constant([1, 4, *size], np.int64),
            mode="linear",
            coordinate_transformation_mode=convention,
        )
    return g.node(
        "Resize", x, "", g.constant([1, 1, 2, 3]), mode="linear", coordinate_transformation_mode="pytorch_half_pixel"
    )


def resize_to_a_computed_size(g):
    x = g.conv("picture", 3, 4, strides=[2, 2])
    sides = g.node("Slice", g.node("Shape", "picture"), *(g.constant([v], np.int64) for v in (2, 4, 0)))
    head = g.node("Slice", g.node("Shape", x), *(g.constant([v], np.int64) for v in (0, 2, 0)))
    size = g.node("Concat", head, g.node("Cast", sides, to=7), axis=0)
    return g.node("Resize", x, "", "", size, mode="linear", coordinate_transformation_mode="align_corners")


def concatenation(g):
    return g.conv(g.node("Concat", g.conv("picture", 3, 4), "picture", axis=1), 7, 4)


def shared_weights(g):
    weight = g.node("Identity", g.noise(4, 4, 3, 3))
    x = g.conv("picture", 3, 4)
    for _ in range(2):
        x = g.node("Conv", x, weight, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    return x


def softmax(g):
    return g.node("Softmax", g.conv("picture", 3, 4), axis=1)


def several_readers(g):
    x = g.conv("picture", 3, 4)
    return g.node("Add", g.node("Relu", x), g.node("Add", x, g.node("Clip", x, g.constant(0.0), g.constant(6.0))))


CASES = {
    batch_norm: ["conv2d"],
    batch_norm_between_activations: ["conv2d relu", "depthwiseConv2d", "conv2d"],
    hard_swish_with_hard_sigmoid: ["conv2d hardSwish"],
    hard_swish_spelt_out: ["conv2d hardSwish"],
    hard_swish_times_six: ["conv2d hardSwish", "depthwiseConv2d"],
    hard_sigmoid_of_onnx: ["conv2d hardSigmoid"],
    clip_below: ["conv2d relu", "depthwiseConv2d"],
    clip_above: ["conv2d relu", "depthwiseConv2d"],
    clip_both: ["conv2d relu6", "depthwiseConv2d"],
    relu_without_convolution: ["conv2d", "globalAveragePool", "activation relu"],
    subtract_and_negate: None,
    squeeze_and_excitation: ["conv2d", "globalAveragePool", "conv2d relu", "conv2d sigmoid", "mul", "conv2d"],
    convolutions: ["conv2d", "conv2d", "conv2d", "depthwiseConv2d", "conv2d"],
    channel_multiplier: ["conv2d", "conv2d"],
    same_padding: ["conv2d", "conv2d"],
    padding_layer: ["conv2d"],
    transposed: ["conv2d", "transposeConv2d"],
    pools: ["conv2d", "maxPool", "averagePool", "averagePool"],
    resizes: ["conv2d"] + ["resizeBilinear"] * 4,
    resize_to_a_computed_size: ["conv2d", "resizeBilinear"],
    concatenation: ["conv2d", "concat", "conv2d"],
    shared_weights: ["conv2d", "conv2d", "conv2d"],
    softmax: ["conv2d", "softmax"],
    several_readers: ["conv2d", "activation relu", "activation relu6", "add", "add"],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_operator(case, convert_onnx):
    g = OnnxGraph()
    output = case(g)
    model, picture = g.model(output), g.picture()
    converted = convert_onnx(model)
    operators = [" ".join(filter(None, (layer["op"], layer.get("activation")))) for layer in converted.layers]
    assert CASES[case] is None or operators == CASES[case]
    expected = run_onnx(model, {"picture": picture})[output]
    assert error(run_converted(converted, picture)[converted.document["output"]["name"]], expected) < 2e-5


def test_arithmetic_on_the_picture_becomes_scale_and_bias(convert_onnx):
    g = OnnxGraph()
    x = g.node("Div", g.node("Sub", "picture", g.constant([[[0.5]], [[0.25]], [[0.125]]])), g.constant(0.5))
    converted = convert_onnx(g.model(g.conv(x, 3, 4)), scale=[1 / 255], bias=[0.25])
    assert [layer["op"] for layer in converted.layers] == ["conv2d"]
    assert converted.document["input"]["scale"] == pytest.approx([2 / 255] * 3)
    assert converted.document["input"]["bias"] == pytest.approx([-0.5, 0, 0.25])


def test_a_trailing_arg_max_is_cut_off(convert_onnx):
    g = OnnxGraph()
    scores = g.conv("picture", 3, 4)
    labels = g.node("Cast", g.node("ArgMax", scores, axis=1, keepdims=0), to=6)
    converted = convert_onnx(g.model(labels))
    assert converted.document["output"]["name"] == scores


def test_an_open_size_comes_from_the_flag(tmp_path):
    from conversion.converter import convert_bytes
    from conversion.network import Facts

    g = OnnxGraph()
    data = g.model(g.conv("picture", 3, 2), open_size=True).SerializeToString()
    facts = Facts(scale=[1], bias=[0], order="RGB", labels=["a", "b"])
    document, _ = convert_bytes(data, "open.onnx", facts, size=(9, 11))
    assert (document["input"]["height"], document["input"]["width"]) == (9, 11)
    with pytest.raises(ConversionError, match="--size"):
        convert_bytes(data, "open.onnx", facts)


REFUSED = {
    "an unknown operator": (lambda g: g.node("Sin", g.conv("picture", 3, 4)), r"layer Sin_1: operator Sin"),
    "an arg-max inside": (
        lambda g: g.conv(g.node("Cast", g.node("ArgMax", "picture", axis=1, keepdims=1), to=1), 1, 4),
        "argMax inside",
    ),
    "nearest resize": (
        lambda g: g.node("Resize", g.conv("picture", 3, 4), "", g.constant([1, 1, 2, 2]), mode="nearest"),
        "nearest",
    ),
    "computed weights": (
        lambda g: g.node("Conv", "picture", g.node("Relu", g.noise(4, 3, 3, 3))),
        "layer Relu_0: reads constant_0",
    ),
    "a constant map": (lambda g: g.node("Add", g.conv("picture", 3, 4), g.noise(1, 4, 9, 11)), "constant of shape"),
    "division by zero": (lambda g: g.node("Div", g.conv("picture", 3, 4), g.constant(0.0)), "division by zero"),
    "weights that do not fit": (lambda g: g.conv("picture", 5, 4), "Conv_0.*on 3 channels"),
    "padding by something else": (
        lambda g: g.conv(
            g.node("Pad", "picture", g.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64), g.constant(1.0)), 3, 4
        ),
        "Pad_0",
    ),
    "a padded output": (
        lambda g: g.node("Pad", g.conv("picture", 3, 4), g.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64)),
        "Pad_1",
    ),
    "values that are not finite": (
        lambda g: g.node("Conv", "picture", g.constant(np.full((4, 3, 1, 1), np.inf))),
        "Conv_0.*not finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case, convert_onnx):
    build, message = REFUSED[case]
    g = OnnxGraph()
    with pytest.raises(ConversionError, match=message) as caught:
        convert_onnx(g.model(build(g)))
    assert "\n" not in str(caught.value) and str(caught.value).count("network.onnx: ") == 1
