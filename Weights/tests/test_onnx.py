"""ONNX operators and their many spellings, each against ONNX Runtime."""

import re
import resource
import time

import numpy as np
import onnx
import pytest
from conftest import error, run_converted, run_onnx
from conversion.errors import ConversionError
from onnx import TensorProto, helper
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


def clip_then_negate(g):
    x = g.node("Clip", g.conv("picture", 3, 4), g.constant(-0.75), g.constant(0.5))
    return g.node("Add", g.node("Mul", x, g.constant(-2.0)), g.constant(0.25))


def clip_of_the_picture(g):
    return g.conv(g.node("Clip", "picture", g.constant(-0.5), g.constant(0.75)), 3, 4)


def gates_like_hard_swish(g):
    """Each differs from hard-swish in one number."""
    x = g.conv("picture", 3, 4)
    outputs = []
    for shift, low, high in ((3.0, -1.0, 6.0), (2.0, 0.0, 6.0), (3.0, 0.0, 5.0)):
        gate = g.node("Clip", g.node("Add", x, g.constant(shift)), g.constant(low), g.constant(high))
        outputs.append(g.node("Mul", x, gate))
    return g.node("Add", g.node("Add", outputs[0], outputs[1]), outputs[2])


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
    clip_then_negate: None,
    clip_of_the_picture: ["depthwiseConv2d relu6", "depthwiseConv2d", "conv2d"],
    gates_like_hard_swish: None,
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


@pytest.mark.parametrize("last,kind", [("Sigmoid", "probabilities"), ("Softmax", "probabilities"), (None, "logits")])
def test_the_last_layer_says_what_scores_are(last, kind, convert_onnx):
    g = OnnxGraph()
    scores = g.conv("picture", 3, 4)
    if last:
        scores = g.node(last, scores, **({"axis": 1} if last == "Softmax" else {}))
    sizes = g.constant([1, 4, 18, 22], np.int64)
    scores = g.node("Resize", scores, "", "", sizes, mode="linear", coordinate_transformation_mode="half_pixel")
    assert convert_onnx(g.model(scores), kind=None).document["output"]["kind"] == kind


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
        "layer Relu_0: Relu: reads constant_0",
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


def zero_padding_of_pytorch(g):
    """As its exporter writes ZeroPad2d: the padding is worked out of four numbers."""
    zeros = g.node(
        "ConstantOfShape", g.constant([4], np.int64), value=helper.make_tensor("v", TensorProto.INT64, [1], [0])
    )
    pads = g.node("Concat", g.constant([1, 0, 3, 2], np.int64), zeros, axis=0)
    pads = g.node("Reshape", pads, g.constant([-1, 2], np.int64))
    back = (g.constant([value], np.int64) for value in (-1, np.iinfo(np.int64).min, 0, -1))
    pads = g.node("Transpose", g.node("Slice", pads, *back), perm=[1, 0])
    return g.conv(g.node("Pad", "picture", g.node("Reshape", pads, g.constant([-1], np.int64))), 3, 4)


def test_zero_padding_of_pytorch(convert_onnx):
    g = OnnxGraph()
    output = zero_padding_of_pytorch(g)
    model, picture = g.model(output), g.picture()
    converted = convert_onnx(model)
    assert [layer["op"] for layer in converted.layers] == ["conv2d"]
    expected = run_onnx(model, {"picture": picture})[output]
    assert error(run_converted(converted, picture)[output], expected) < 2e-5


def test_a_picture_of_bytes_says_its_scale(convert_onnx):
    g = OnnxGraph(dtype=TensorProto.UINT8)
    x = g.node("Div", g.node("Cast", "picture", to=TensorProto.FLOAT), g.constant(255.0))
    converted = convert_onnx(g.model(g.conv(x, 3, 4)), scale=None, bias=None)
    assert converted.document["input"]["scale"] == pytest.approx([1 / 255] * 3)
    assert converted.document["input"]["bias"] == [0, 0, 0]


def test_shape_of_labels_without_channels(convert_onnx):
    """Shape sees the dimensions that the labels have: two sizes of theirs are those of the resize."""
    g = OnnxGraph()
    x = g.conv("picture", 3, 4, strides=[2, 2])
    labels = g.node("ArgMax", g.conv("picture", 3, 4), axis=1, keepdims=0)
    sides = g.node("Slice", g.node("Shape", labels), *(g.constant([v], np.int64) for v in (1, 3, 0)))
    size = g.node("Concat", g.constant([1, 4], np.int64), sides, axis=0)
    converted = convert_onnx(g.model(g.node("Resize", x, "", "", size, mode="linear")))
    assert converted.layers[-1]["size"] == [9, 11]


def four_channels(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 4


def channels_last(model):
    shape = model.graph.input[0].type.tensor_type.shape
    for dimension, size in zip(shape.dim, (1, 9, 11, 3)):
        dimension.dim_value = size


def a_batch(model):
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 8


def three_dimensions(model):
    del model.graph.input[0].type.tensor_type.shape.dim[0]


def whole_numbers(model):
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT32


def no_tensor(model):
    model.graph.input[0].type.sequence_type.SetInParent()


def two_inputs(model):
    model.graph.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, [1]))


def an_old_operator_set(model):
    model.opset_import[0].version = 6


def a_later_operator_set(model):
    model.opset_import[0].version = 99


def no_operator_set(model):
    del model.opset_import[:]


def another_domain(model):
    model.graph.node[-1].domain = "com.example"


def functions(model):
    model.functions.append(helper.make_function("", "Conv", ["x"], ["y"], [], []))


def sparse_tensors(model):
    values, indices = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0]), helper.make_tensor("i", 7, [1], [2])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))


def values_elsewhere(model):
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL


def a_segment(model):
    model.graph.initializer[0].segment.end = 3


def text(model):
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_type = TensorProto.STRING
    tensor.string_data.append(b"a")


def values_of_another_size(model):
    model.graph.initializer[0].dims[0] = 5


def an_overload(model):
    model.graph.node[-1].overload = "other"


def a_reference(model):
    model.graph.node[-1].attribute[0].ref_attr_name = "other"


def a_tensor_twice(model):
    model.graph.initializer.append(model.graph.initializer[0])


def a_field_of_a_later_version(model):
    model.graph.node[-1].ParseFromString(model.graph.node[-1].SerializeToString() + b"\xf8\x0f\x01")


def a_misspelt_attribute(model):
    model.graph.node[-1].attribute.append(helper.make_attribute("paddings", [1, 1, 1, 1]))


def an_attribute_of_another_type(model):
    next(entry for entry in model.graph.node[-1].attribute if entry.name == "pads").type = onnx.AttributeProto.FLOATS


def an_attribute_twice(model):
    model.graph.node[-1].attribute.append(model.graph.node[-1].attribute[0])


def too_many_inputs(model):
    model.graph.node[-1].input.extend(["picture"] * 2)


def an_output_twice(model):
    model.graph.node.append(model.graph.node[-1])


SPOILT = {
    four_channels: "its input picture has 4 channels (1x4x9x11), only pictures of 3 (colours) or 1 (grey)",
    channels_last: "has the channels last (1x9x11x3, NHWC), only channels first (NCHW)",
    a_batch: "is a batch of 8 (8x3x9x11), only one picture",
    three_dimensions: "has 3 dimensions (3x9x11)",
    whole_numbers: "its input picture holds int32",
    no_tensor: "its input picture is no tensor with a shape",
    two_inputs: "it has 2 inputs, expected one",
    an_old_operator_set: "its operator set is 6, only 7 to",
    a_later_operator_set: "its operator set is 99, only 7 to",
    no_operator_set: "it names 0 sets of standard operators",
    another_domain: "layer Conv_0: operator com.example.Conv is not supported",
    functions: "it has functions of its own in place of standard operators",
    sparse_tensors: "it holds sparse tensors",
    values_elsewhere: "tensor constant_0: its values lie in another file",
    a_segment: "tensor constant_0: it is a segment of a tensor",
    text: "tensor constant_0: a tensor of the type string",
    values_of_another_size: "tensor constant_0: its values do not fit its type float and shape [5]",
    an_overload: "layer Conv_0: Conv with overload other",
    a_reference: "layer Conv_0: the attribute kernel_shape of Conv is no INTS",
    a_tensor_twice: "it holds two tensors of the name constant_0",
    a_field_of_a_later_version: "its NodeProto has a field number 255, which is not known",
    a_misspelt_attribute: "layer Conv_0: Conv has no attribute paddings in operator set 13",
    an_attribute_of_another_type: "layer Conv_0: the attribute pads of Conv is no INTS",
    an_attribute_twice: "layer Conv_0: Conv has the attribute kernel_shape twice",
    too_many_inputs: "layer Conv_0: Conv with 5 inputs, but operator set 13 gives it at most 3",
    an_output_twice: "writes Conv_0 a second time",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_what_a_model_says_beyond_its_operators(spoil, convert_onnx):
    g = OnnxGraph()
    model = g.model(g.conv("picture", 3, 4))
    spoil(model)
    with pytest.raises(ConversionError, match=re.escape(SPOILT[spoil])):
        convert_onnx(model)


def test_several_outputs(tmp_path):
    from conversion.converter import convert_bytes
    from conversion.network import Facts

    g, said = OnnxGraph(), []
    first = g.conv("picture", 3, 4)
    model = g.model(g.conv(first, 4, 4))
    model.graph.output.append(helper.make_empty_tensor_value_info(first))
    data, facts = model.SerializeToString(), Facts(scale=[1], bias=[0], order="RGB", labels=list("abcd"), kind="logits")
    document, _ = convert_bytes(data, "two.onnx", facts, say=said.append)
    assert document["output"]["name"] == "Conv_1" and said == [
        "two.onnx: it has 2 outputs, Conv_1, Conv_0: Conv_1 is taken, --output NAME takes another"
    ]
    document, _ = convert_bytes(data, "two.onnx", facts, output="Conv_0", say=said.append)
    assert document["output"]["name"] == "Conv_0" and len(document["layers"]) == 1 and len(said) == 1
    with pytest.raises(ConversionError, match="it has no output Conv_2: --output takes one of Conv_1, Conv_0"):
        convert_bytes(data, "two.onnx", facts, output="Conv_2")


def many_nodes(g):
    x = "picture"
    for _ in range(20_000):
        x = g.node("Relu", x)
    return x


def a_huge_constant(g):
    g.node("ConstantOfShape", g.constant([1 << 40], np.int64))
    return g.conv("picture", 3, 4)


def a_huge_sum(g):
    g.node("Add", g.constant(np.zeros((4000, 1))), g.constant(np.zeros((1, 4000))))
    return g.conv("picture", 3, 4)


def a_huge_gather(g):
    g.node("Gather", g.constant(np.zeros((1, 4000))), g.constant(np.zeros(4000), np.int64))
    return g.conv("picture", 3, 4)


def constants_that_double(g):
    x = g.constant(np.zeros(1000))
    for _ in range(60):
        x = g.node("Concat", x, x, axis=0)
    return g.conv("picture", 3, 4)


def weights_that_many_share(g):
    weight, x = g.constant(np.zeros((512, 512, 3, 3))), g.conv("picture", 3, 512)
    for _ in range(300):
        x = g.node("Conv", x, weight, pads=[1, 1, 1, 1])
    return x


LARGE = {
    many_nodes: "it has 20000 nodes, more than 16384",
    a_huge_constant: "a result of 1099511627776 values",
    a_huge_sum: "a result of 16000000 values",
    a_huge_gather: "a result of 16000000 values",
    weights_that_many_share: "the weights up to it take more than 2048 MiB",
    constants_that_double: "the constants that the graph computes take too much memory",
}


@pytest.mark.parametrize("build", LARGE, ids=lambda build: build.__name__)
def test_refuses_before_time_and_memory_are_taken(build, convert_onnx):
    g = OnnxGraph()
    data = g.model(build(g)).SerializeToString()
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(ConversionError, match=LARGE[build]):
        convert_onnx(data)
    assert time.monotonic() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10
