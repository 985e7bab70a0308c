"""All that a TensorFlow Lite file can say, and what the converter does with it.

The table has a row for each option and input of each operator that the reader knows. A row holds cases: honoured and
harmless ones must give what LiteRT gives, refused ones must be refused by name. Options and the fields of the file's
own tables are those of LiteRT's schema; `tflite_reader.HARMLESS` says why what is harmless is.
"""

import re
import resource
from dataclasses import dataclass

import flatbuffers
import numpy as np
import pytest
import test_tflite
from ai_edge_litert import schema_py_generated as schema
from conftest import error, litert, run_converted
from conversion.converter import convert_bytes
from conversion.errors import ConversionError
from conversion.tflite_fields import FIELDS, REFUSED, VECTOR, check_fields
from conversion.tflite_reader import HARMLESS, INPUTS, Reader
from flatbuffers.table import Table
from test_tflite import FACTS, NONE, RELU, RELU6, SAME, VALID, conv, converted
from tflite_graphs import TFLiteGraph

TANH = 4
MAP = (1, 9, 11, 4)


@dataclass
class Case:
    """A graph, by a function that gives its output; `message` is that of the refusal."""

    verdict: str
    build: object
    message: str = ""


def honoured(build):
    return Case("honoured", build)


def harmless(build):
    return Case("harmless", build)


def refused(build, message):
    return Case("refused", build, message)


READ = "read"  # by every case of the operator that is honoured
REFUSED_FIELD = "refused"  # always, see test_fields_that_are_refused


def a_map(g):
    return conv(g, 0, 3, 4, MAP[1:3])


def on_map(kind, *inputs, shape=MAP, options=None, dtype="float32", **values):
    """A graph of a convolution and the operator after it; an array among the inputs is a constant."""

    def build(g):
        x = a_map(g)
        given = [x if isinstance(value, str) else constant(g, value) for value in inputs]
        return g.operator(kind, [x, *given], shape, options, dtype, **values)

    return build


def constant(g, value):
    if not isinstance(value, np.ndarray):
        return value(g)
    return g.constant(value, str(value.dtype))


def computed(shape, dtype):
    """A tensor that holds no values, where the operator needs a constant."""
    return lambda g: g.tensor("computed", shape, dtype)


def whole(*values):
    return np.array(values, np.int32)


def convolution(kind="CONV_2D", fused=NONE, bias=True, weights=None, shape=MAP, picture=3, **values):
    """A convolution of the picture."""
    options = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}[kind]
    defaults = {"padding": SAME, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}

    def build(g):
        channels = shape[3]
        form = (channels, 3, 3, picture) if kind == "CONV_2D" else (1, 3, 3, channels)
        weight = g.noise(*form) if weights is None else constant(g, weights)
        inputs = [0, weight, *([g.noise(channels)] if bias is True else [bias(g)] if bias else [])]
        x = g.operator(kind, inputs, shape, options, fusedActivationFunction=fused, **(defaults | values))
        return x if channels == 4 else conv(g, x, channels, 4, shape[1:3])

    return build


def depthwise(**values):
    return convolution("DEPTHWISE_CONV_2D", **({"shape": (1, 9, 11, 3)} | values))


def transposed(size=(1, 18, 22, 4), fused=NONE, bias=False, output_shape=None, weights=None, **values):
    defaults = {"padding": SAME, "strideH": 2, "strideW": 2}

    def build(g):
        wanted = g.constant(list(size), "int32") if output_shape is None else constant(g, output_shape)
        weight = g.noise(4, 3, 3, 3) if weights is None else weights(g)
        inputs = [wanted, weight, 0, *([g.noise(4)] if bias is True else [bias(g)] if bias else [])]
        options = defaults | {"fusedActivationFunction": fused} | values
        return g.operator("TRANSPOSE_CONV", inputs, size, "TransposeConvOptions", **options)

    return build


def pool(kind, shape=(1, 5, 6, 4), **values):
    defaults = {"padding": SAME, "strideH": 2, "strideW": 2, "filterHeight": 3, "filterWidth": 2}
    return on_map(kind, shape=shape, options="Pool2DOptions", **(defaults | values))


def pool_rows(kind):
    return {
        "Pool2DOptions padding": [
            honoured(pool(kind)),
            honoured(pool(kind, (1, 4, 5, 4), padding=VALID)),
            refused(pool(kind, padding=2), "padding 2"),
        ],
        "Pool2DOptions strideH": [
            honoured(pool(kind, (1, 3, 6, 4), strideH=3)),
            refused(pool(kind, strideH=0), "stride [0"),
        ],
        "Pool2DOptions strideW": [honoured(pool(kind, (1, 5, 11, 4), strideW=1))],
        "Pool2DOptions filterHeight": [
            honoured(pool(kind, filterHeight=2)),
            refused(pool(kind, filterHeight=0), "kernel [0, 2]"),
        ],
        "Pool2DOptions filterWidth": [honoured(pool(kind, filterWidth=5))],
        "Pool2DOptions fusedActivationFunction": [
            honoured(pool(kind, fusedActivationFunction=RELU6)),
            refused(pool(kind, fusedActivationFunction=TANH), "fusedActivationFunction TANH"),
        ],
        "input 0": READ,
    }


def arithmetic(kind, **harmless_option):
    options = kind.capitalize() + "Options"
    division = kind == "DIV"

    def first_constant(g):
        return g.operator(kind, [g.noise(4), a_map(g)], MAP, options)

    maps = on_map(kind, "map", options=options)
    rows = {
        f"{options} fusedActivationFunction": [
            honoured(on_map(kind, np.float32([0.5]), options=options, fusedActivationFunction=RELU)),
            refused(on_map(kind, np.float32([2]), options=options, fusedActivationFunction=TANH), "Function TANH"),
        ],
        "input 0": [refused(first_constant, "a constant divided by a map") if division else honoured(first_constant)],
        "input 1": [
            refused(maps, "division of two maps") if division else honoured(maps),
            honoured(on_map(kind, np.float32([1, 2, 3, 4]), options=options)),
            refused(on_map(kind, np.ones((9, 1, 1), np.float32), options=options), "a constant of shape [9, 1, 1]"),
            refused(on_map(kind, whole(2), options=options), "type int32"),
        ],
    }
    for key, value in harmless_option.items():
        case = on_map(kind, np.float32([2]), options=options, **{key: value})
        rows[f"{options} {key}"] = [harmless(case)]
    return rows


def simple(kind, options=None):
    return {"input 0": [honoured(on_map(kind, options=options))]}


def blocks(crops=True, block=(2, 2), amounts=None, block_after=(2, 2)):
    """SPACE_TO_BATCH_ND, a convolution, BATCH_TO_SPACE_ND."""

    def build(g):
        pads = whole([2, 3], [2, 3]) if amounts is None else amounts
        x = g.operator(
            "SPACE_TO_BATCH_ND",
            [a_map(g), constant(g, whole(*block)), constant(g, pads)],
            (4, 7, 8, 4),
            "SpaceToBatchNDOptions",
        )
        x = g.operator(
            "CONV_2D",
            [x, g.noise(4, 3, 3, 4), g.noise(4)],
            (4, 5, 6, 4),
            "Conv2DOptions",
            padding=VALID,
            strideH=1,
            strideW=1,
            dilationHFactor=1,
            dilationWFactor=1,
        )
        ends = whole([0, 1], [0, 1]) if crops is True else crops
        return g.operator(
            "BATCH_TO_SPACE_ND", [x, constant(g, whole(*block_after)), constant(g, ends)], MAP, "BatchToSpaceNDOptions"
        )

    return build


def labels(axis=3, dtype="int64", output_type=4):
    return lambda g: g.operator(
        "ARG_MAX",
        [a_map(g), constant(g, axis if callable(axis) else whole(axis))],
        (1, 9, 11),
        "ArgMaxOptions",
        dtype,
        outputType=output_type,
    )


def cast(dtype, **values):
    return on_map("CAST", options="CastOptions" if values else None, dtype=dtype, **values)


def resize(size=(20, 30), given=None, **values):
    return on_map(
        "RESIZE_BILINEAR",
        whole(*size) if given is None else given,
        shape=(1, *size, 4),
        options="ResizeBilinearOptions",
        **values,
    )


def concat(axis=3, shape=MAP, dtype="float32", **values):
    return lambda g: g.operator(
        "CONCATENATION", [0, conv(g, 0, 3, 1, MAP[1:3])], shape, "ConcatenationOptions", dtype, axis=axis, **values
    )


def mean(axes, shape=(1, 1, 1, 4), **values):
    return on_map("MEAN", axes if callable(axes) else whole(*axes), shape=shape, options="ReducerOptions", **values)


def reshape(before, after, new_shape=None, given=None):
    """Of a mean of the map, or the map."""

    def build(g):
        x = a_map(g)
        if before != MAP:
            x = g.operator(
                "MEAN", [x, g.constant([1, 2], "int32")], before, "ReducerOptions", keepDims=len(before) == 4
            )
        inputs = [x] if given is None else [x, constant(g, given)]
        values = {} if new_shape is None else {"newShape": list(new_shape)}
        return g.operator("RESHAPE", inputs, after, "ReshapeOptions", **values)

    return build


def pad(amounts, shape):
    def build(g):
        x = g.operator("PAD", [0, constant(g, amounts)], shape, "PadOptions")
        return conv(g, x, 3, 4, shape[1:3])

    return build


def half_weights(kind="DEQUANTIZE"):
    return test_tflite.half_precision_weights


TABLE = {
    "ADD": arithmetic("ADD", potScaleInt16=False),
    "ARG_MAX": {
        "ArgMaxOptions outputType": [harmless(labels()), harmless(labels(dtype="int32", output_type=2))],
        "input 0": READ,
        "input 1": [
            honoured(labels(-1)),
            refused(labels(2), "the axis [2]"),
            refused(labels(computed((1,), "float32")), "axis"),
        ],
    },
    "AVERAGE_POOL_2D": pool_rows("AVERAGE_POOL_2D"),
    "BATCH_TO_SPACE_ND": {
        "input 0": READ,
        "input 1": [refused(blocks(block_after=(2, 4)), "has the shape [1, 9, 11, 4], but gets [1, 9, 23, 4]")],
        "input 2": [honoured(blocks()), refused(blocks(crops=whole(1, 2)), "padding [1, 2]")],
    },
    "CAST": {
        "CastOptions inDataType": [harmless(cast("float32", inDataType=0, outDataType=0))],
        "CastOptions outDataType": [harmless(cast("float32", inDataType=0, outDataType=0))],
        "input 0": [
            honoured(cast("float32")),
            refused(cast("int32"), "FLOAT32 to INT32"),
            refused(cast("uint8"), "FLOAT32 to UINT8"),
        ],
    },
    "CONCATENATION": {
        "ConcatenationOptions axis": [
            honoured(concat()),
            honoured(concat(-1)),
            refused(concat(2, (1, 9, 22, 4)), "along axis 2"),
        ],
        "ConcatenationOptions fusedActivationFunction": [
            refused(concat(fusedActivationFunction=RELU), "fusedActivationFunction relu")
        ],
        "input inputs": [
            refused(
                on_map(
                    "CONCATENATION",
                    np.ones(MAP, np.float32),
                    shape=(1, 9, 11, 8),
                    options="ConcatenationOptions",
                    axis=3,
                ),
                "no map",
            )
        ],
    },
    "CONV_2D": {
        "Conv2DOptions padding": [
            honoured(convolution(padding=VALID, shape=(1, 7, 9, 4))),
            refused(convolution(padding=2), "padding 2"),
        ],
        "Conv2DOptions strideW": [honoured(convolution(strideW=2, shape=(1, 9, 6, 4)))],
        "Conv2DOptions strideH": [
            honoured(convolution(strideH=2, shape=(1, 5, 11, 4))),
            refused(convolution(strideH=0), "stride [0, 1]"),
            refused(convolution(strideH=2), "has the shape [1, 9, 11, 4], but gets [1, 5, 11, 4]"),
        ],
        "Conv2DOptions fusedActivationFunction": [
            honoured(convolution(fused=RELU)),
            honoured(convolution(fused=RELU6)),
            refused(convolution(fused=TANH), "fusedActivationFunction TANH"),
            refused(convolution(fused=2), "fusedActivationFunction RELU_N1_TO_1"),
        ],
        "Conv2DOptions dilationWFactor": [honoured(convolution(dilationWFactor=2))],
        "Conv2DOptions dilationHFactor": [
            honoured(convolution(dilationHFactor=3)),
            refused(convolution(dilationHFactor=0), "dilation [0, 1]"),
        ],
        "Conv2DOptions quantizedBiasType": [harmless(convolution(quantizedBiasType=2))],
        "input 0": READ,
        "input 1": [
            refused(convolution(weights=computed((4, 3, 3, 3), "float32")), "computed weights"),
            refused(convolution(weights=np.ones((4, 3, 3, 3), np.int8)), "weights of the type int8"),
        ],
        "input 2": [
            honoured(convolution()),
            refused(convolution(bias=lambda g: g.constant(whole(1, 2, 3, 4), "int32")), "bias of the type int32"),
            refused(convolution(bias=computed((4,), "float32")), "computed bias"),
        ],
    },
    "Convolution2DTransposeBias": {"input 0": READ, "input 1": READ, "input 2": READ},  # in test_custom_operator
    "DEPTHWISE_CONV_2D": {
        "DepthwiseConv2DOptions padding": [
            honoured(depthwise(padding=VALID, shape=(1, 7, 9, 3))),
            refused(depthwise(padding=2), "padding 2"),
        ],
        "DepthwiseConv2DOptions strideW": [honoured(depthwise(strideW=2, strideH=2, shape=(1, 5, 6, 3)))],
        "DepthwiseConv2DOptions strideH": [refused(depthwise(strideH=0), "stride [0, 1]")],
        "DepthwiseConv2DOptions depthMultiplier": [
            harmless(depthwise(depthMultiplier=1)),
            honoured(test_tflite.depth_multiplier),
        ],
        "DepthwiseConv2DOptions fusedActivationFunction": [
            honoured(depthwise(fused=RELU6)),
            refused(depthwise(fused=TANH), "fusedActivationFunction TANH"),
        ],
        "DepthwiseConv2DOptions dilationWFactor": [honoured(depthwise(dilationWFactor=2, dilationHFactor=2))],
        "DepthwiseConv2DOptions dilationHFactor": [refused(depthwise(dilationHFactor=0), "dilation [0, 1]")],
        "input 0": READ,
        "input 1": [refused(depthwise(weights=computed((1, 3, 3, 3), "float32")), "computed weights")],
        "input 2": [
            honoured(depthwise()),
            refused(depthwise(bias=computed((3,), "float32")), "computed bias"),
        ],
    },
    "DEQUANTIZE": {"input 0": [honoured(test_tflite.half_precision_weights)]},
    "DIV": arithmetic("DIV"),
    "HARD_SWISH": simple("HARD_SWISH", "HardSwishOptions"),
    "LOGISTIC": simple("LOGISTIC"),
    "MAX_POOL_2D": pool_rows("MAX_POOL_2D"),
    "MEAN": {
        "ReducerOptions keepDims": [honoured(mean((1, 2), keepDims=True)), harmless(test_tflite.whole_map_pools)],
        "input 0": READ,
        "input 1": [
            honoured(mean((-3, -2), keepDims=True)),
            refused(mean((3,), (1, 9, 11, 1), keepDims=True), "axes [3]"),
            refused(mean((1,), (1, 1, 11, 4), keepDims=True), "axes [1]"),
            refused(mean(computed((2,), "float32"), keepDims=True), "computed axes"),
        ],
    },
    "MUL": arithmetic("MUL"),
    "PAD": {
        "input 0": READ,
        "input 1": [
            honoured(pad(whole([0, 0], [1, 2], [3, 0], [0, 0]), (1, 12, 14, 3))),
            refused(pad(whole([0, 0], [0, 0], [0, 0], [0, 1]), (1, 9, 11, 4)), "only rows and columns"),
            refused(pad(whole([0, 0], [-1, 0], [0, 0], [0, 0]), (1, 8, 11, 3)), "padding [[-1, 0]"),
            refused(pad(computed((4, 2), "float32"), (1, 9, 11, 3)), "computed paddings"),
        ],
    },
    "QUANTIZE": {"input 0": READ},  # in test_quantise
    "RELU": simple("RELU"),
    "RELU6": simple("RELU6"),
    "RESHAPE": {
        "ReshapeOptions newShape": [
            honoured(reshape((1, 4), (1, 1, 1, 4), new_shape=(1, 1, 1, 4))),
            refused(reshape((1, 4), (1, 1, 1, 4), new_shape=(1, 4)), "RESHAPE to [1, 4] has the result [1, 1, 1, 4]"),
            refused(reshape((1, 4), (1, 1, 1, 4)), "RESHAPE to [] has the result"),
        ],
        "input 0": READ,
        "input 1": [
            honoured(reshape((1, 4), (1, 1, 1, 4), given=whole(-1, 1, 1, 4))),
            refused(reshape((1, 4), (1, 1, 1, 4), given=whole(4, 1, 1, 1)), "RESHAPE to [4, 1, 1, 1] has the result"),
            refused(reshape(MAP, (1, 11, 9, 4), given=whole(1, 11, 9, 4)), "RESHAPE of [1, 9, 11, 4] to [1, 11, 9, 4]"),
            refused(reshape(MAP, (1, 9, 11, 1, 4), given=whole(1, 9, 11, 1, 4)), "RESHAPE"),
            refused(reshape((1, 4), (1, 1, 1, 4), given=computed((4,), "float32")), "computed shape"),
        ],
    },
    "RESIZE_BILINEAR": {
        "ResizeBilinearOptions newHeight": REFUSED_FIELD,
        "ResizeBilinearOptions newWidth": REFUSED_FIELD,
        "ResizeBilinearOptions alignCorners": [
            honoured(resize(alignCorners=True)),
            refused(resize(alignCorners=True, halfPixelCenters=True), "both alignCorners and halfPixelCenters"),
        ],
        "ResizeBilinearOptions halfPixelCenters": [honoured(resize(halfPixelCenters=True)), honoured(resize())],
        "input 0": READ,
        "input 1": [
            refused(resize(given=whole(20, 31)), "has the shape [1, 20, 30, 4], but gets [1, 20, 31, 4]"),
            refused(resize(given=computed((2,), "float32")), "computed size"),
        ],
    },
    "SOFTMAX": {
        "SoftmaxOptions beta": [
            honoured(on_map("SOFTMAX", options="SoftmaxOptions", beta=1.0)),
            honoured(on_map("SOFTMAX", options="SoftmaxOptions", beta=0.5)),
        ],
        "input 0": READ,
    },
    "SPACE_TO_BATCH_ND": {
        "input 0": READ,
        "input 1": [honoured(blocks()), refused(blocks(block=(2, 2, 2)), "a block of [2, 2, 2]")],
        "input 2": [refused(blocks(amounts=whole([2, 3], [-2, 3])), "padding [[2, 3], [-2, 3]]")],
    },
    "SUB": arithmetic("SUB", potScaleInt16=False),
    "TRANSPOSE_CONV": {
        "TransposeConvOptions padding": [
            honoured(transposed()),
            honoured(transposed((1, 19, 23, 4), padding=VALID)),
            refused(transposed(padding=2), "padding 2"),
        ],
        "TransposeConvOptions strideW": [honoured(transposed((1, 18, 33, 4), strideW=3))],
        "TransposeConvOptions strideH": [refused(transposed(strideH=0), "out of range")],
        "TransposeConvOptions fusedActivationFunction": [
            honoured(transposed(fused=RELU6)),
            refused(transposed(fused=TANH), "fusedActivationFunction TANH"),
        ],
        "TransposeConvOptions quantizedBiasType": [harmless(transposed(quantizedBiasType=2))],
        "input 0": [
            refused(
                transposed(output_shape=whole(1, 17, 22, 4)), "has the shape [1, 18, 22, 4], but gets [1, 17, 22, 4]"
            ),
            refused(transposed(output_shape=computed((4,), "float32")), "computed output_shape"),
        ],
        "input 1": [refused(transposed(weights=computed((4, 3, 3, 3), "float32")), "computed weights")],
        "input 2": READ,
        "input 3": [
            honoured(transposed(bias=True)),
            refused(transposed(bias=computed((4,), "float32")), "computed bias"),
        ],
    },
}

# The table of options of each operator that has one.
OPTIONS = {
    operator: next((key.split()[0] for key in rows if "Options" in key), None) for operator, rows in TABLE.items()
}
WITHOUT_FIELDS = {
    "BATCH_TO_SPACE_ND": "BatchToSpaceNDOptions",
    "DEQUANTIZE": "DequantizeOptions",
    "HARD_SWISH": "HardSwishOptions",
    "PAD": "PadOptions",
    "QUANTIZE": "QuantizeOptions",
    "SPACE_TO_BATCH_ND": "SpaceToBatchNDOptions",
}
STRUCTURE = ("Model", "SubGraph", "Tensor", "QuantizationParameters", "Buffer", "OperatorCode", "Operator")
DEPRECATED = {"ResizeBilinearOptions": ["newHeight", "newWidth"]}  # which LiteRT's schema leaves out


def test_the_fields_are_those_of_the_schema():
    used = {*STRUCTURE, *filter(None, OPTIONS.values()), *WITHOUT_FIELDS.values()}
    assert set(FIELDS) == used
    for kind, names in FIELDS.items():
        assert names.split() == DEPRECATED.get(kind, []) + list(vars(getattr(schema, kind + "T")())), kind


def test_each_operator_of_the_reader_has_its_rows():
    methods = {name.removeprefix("read_") for name in vars(Reader) if name.startswith("read_")}
    assert set(TABLE) == methods == set(INPUTS)
    named = {value: key for key, value in vars(schema.BuiltinOptions).items() if not key.startswith("_")}
    for operator, kind in OPTIONS.items():
        # Each operator has options of its own, but for the pools and reductions, which share theirs.
        own = operator.replace("_", "").lower() + "options"
        found = [value for value in named.values() if value.lower() == own]
        known = kind or WITHOUT_FIELDS.get(operator)
        assert not found or [known] == found, operator


@pytest.mark.parametrize("operator", TABLE)
def test_all_that_an_operator_can_say_has_a_row(operator):
    kind, (_, most) = OPTIONS[operator], INPUTS[operator]
    inputs = {"input inputs"} if most > 4 else {f"input {index}" for index in range(most)}
    assert set(TABLE[operator]) == inputs | {f"{kind} {field}" for field in FIELDS.get(kind, "").split()}
    for key, row in TABLE[operator].items():
        says_harmless = key.split()[1] in HARMLESS.get(kind, {})
        assert says_harmless == (
            (isinstance(row, list) and row[0].verdict == "harmless") or key == "ReducerOptions keepDims"
        ), key


def test_each_field_of_the_file_is_read_refused_or_harmless():
    honoured_fields = {
        "Model": {"version", "operatorCodes", "subgraphs", "buffers", "metadata"},
        "SubGraph": {"tensors", "inputs", "outputs", "operators"},
        "Tensor": {"shape", "type", "buffer", "name", "quantization", "shapeSignature"},
        "QuantizationParameters": {"scale", "zeroPoint", "detailsType", "quantizedDimension"},
        "Buffer": {"data"},
        "OperatorCode": {"deprecatedBuiltinCode", "customCode", "builtinCode"},
        "Operator": {"opcodeIndex", "inputs", "outputs", "builtinOptionsType", "builtinOptions", "customOptions"},
    }
    for kind in STRUCTURE:
        parts = [honoured_fields[kind], set(REFUSED.get(kind, {})), set(HARMLESS.get(kind, {}))]
        assert sum(map(len, parts)) == len(set.union(*parts)) and set.union(*parts) == set(FIELDS[kind].split()), kind


CASES = [
    pytest.param(operator, case, id=f"{operator} {key} {index} {case.verdict}")
    for operator, rows in TABLE.items()
    for key, row in rows.items()
    for index, case in enumerate(row if isinstance(row, list) else [])
]


@pytest.mark.parametrize("operator,case", CASES)
def test_row(operator, case, tmp_path):
    g = TFLiteGraph()
    output = case.build(g)
    data, picture = g.data(output), g.picture()
    if case.verdict == "refused":
        with pytest.raises(ConversionError) as caught:
            convert_bytes(data, "network.tflite", FACTS)
        text = str(caught.value)
        assert text.startswith("network.tflite: layer ") and case.message in text
        assert operator in text
        return
    model = converted(data, tmp_path)
    _, expected = litert(data, picture)
    found = run_converted(model, picture.transpose(0, 3, 1, 2))[model.document["output"]["name"]]
    if operator == "ARG_MAX":
        assert (found.argmax(1) == expected).all()
    else:
        assert error(found.transpose(0, 2, 3, 1), expected.reshape(found.transpose(0, 2, 3, 1).shape)) < 2e-5


def table(fields, **numbers):
    """A flatbuffer's table with the numbers of some fields set, each of 8 bytes."""
    builder = flatbuffers.Builder(64)
    builder.StartObject(fields)
    for number, value in numbers.items():
        builder.PrependUint64Slot(int(number.removeprefix("field_")), value, 0)
    builder.Finish(builder.EndObject())
    data = bytes(builder.Output())
    return Table(data, int.from_bytes(data[:4], "little"))


REFUSED_FIELDS = [(kind, field) for kind, fields in REFUSED.items() for field in fields]


@pytest.mark.parametrize("kind,field", REFUSED_FIELDS)
def test_fields_that_are_refused(kind, field):
    names = FIELDS[kind].split()
    number = f"field_{names.index(field)}"
    if REFUSED[kind][field] is VECTOR:
        builder = flatbuffers.Builder(64)
        builder.StartVector(4, 1, 4)
        builder.PrependUint32(1)
        vector = builder.EndVector()
        builder.StartObject(len(names))
        builder.PrependUOffsetTRelativeSlot(names.index(field), vector, 0)
        builder.Finish(builder.EndObject())
        data = bytes(builder.Output())
        spoilt = Table(data, int.from_bytes(data[:4], "little"))
    else:
        spoilt = table(len(names), **{number: 1})
        check_fields(kind, table(len(names), **{number: 0}), "it")  # its default is left out
    with pytest.raises(ConversionError, match=f"it: {kind} with {field} is not supported"):
        check_fields(kind, spoilt, "it")


@pytest.mark.parametrize("kind", FIELDS)
def test_fields_of_a_later_schema_are_refused(kind):
    count = len(FIELDS[kind].split())
    check_fields(kind, table(count + 3), "it")
    with pytest.raises(ConversionError, match=f"it: {kind} has a field number {count + 1}, which is not known"):
        check_fields(kind, table(count + 3, **{f"field_{count + 1}": 1}), "it")


def a_variable(model):
    model.subgraphs[0].tensors[0].isVariable = True


def a_sparse_tensor(model):
    model.subgraphs[0].tensors[1].sparsity = schema.SparsityParametersT()


def an_open_size(model):
    model.subgraphs[0].tensors[0].shapeSignature = [1, -1, -1, 3]


def no_values_of_a_tensor(model):
    model.subgraphs[0].tensors[1].shape = [4, 3, 3, 4]


def whole_numbers(model):
    model.subgraphs[0].tensors[0].type = schema.TensorType.INT32


def text(model):
    model.subgraphs[0].tensors[0].type = schema.TensorType.STRING


def another_version(model):
    model.version = 4


def two_graphs(model):
    model.subgraphs = model.subgraphs * 2


def two_inputs(model):
    model.subgraphs[0].inputs = [0, 0]


def options_of_another_operator(model):
    operator = model.subgraphs[0].operators[0]
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.PadOptions, schema.PadOptionsT()


def no_options(model):
    operator = model.subgraphs[0].operators[0]
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.NONE, None


def custom_options(model):
    model.subgraphs[0].operators[0].customOptions = [1, 2, 3]


def variable_inputs(model):
    model.subgraphs[0].operators[0].mutatingVariableInputs = [True]


def a_custom_operator(model):
    code = model.operatorCodes[0]
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    code.customCode = b"CONV_2D"


def two_codes(model):
    """The runtime takes the larger one."""
    model.operatorCodes[0].builtinCode = schema.BuiltinOperator.FLOOR


def too_many_inputs(model):
    model.subgraphs[0].operators[0].inputs = [0, 1, 2, 2]


def an_input_that_is_none(model):
    model.subgraphs[0].operators[0].inputs = [0, 99]


def a_buffer_that_is_none(model):
    model.subgraphs[0].tensors[1].buffer = 99


def written_twice(model):
    model.subgraphs[0].operators = model.subgraphs[0].operators * 2


def custom_quantisation(model):
    parameters = model.subgraphs[0].tensors[1].quantization = schema.QuantizationParametersT()
    parameters.detailsType = schema.QuantizationDetails.CustomQuantization
    parameters.details = schema.CustomQuantizationT()


SPOILT = {
    a_variable: "tensor 0: Tensor with isVariable is not supported",
    a_sparse_tensor: "tensor 1: Tensor with sparsity is not supported",
    an_open_size: "the size of its input is open, [1, -1, -1, 3]",
    no_values_of_a_tensor: "tensor constant_1: its values do not fit its type FLOAT32, shape [4, 3, 3, 4]",
    whole_numbers: "its input holds INT32, only floats, UINT8",
    text: "its input holds STRING, only floats, UINT8",
    another_version: "its version is 4, expected 3",
    two_graphs: "it holds 2 graphs",
    two_inputs: "it has 2 inputs, expected one",
    options_of_another_operator: "layer CONV_2D_0: CONV_2D: its Conv2DOptions are missing",
    no_options: "layer CONV_2D_0: CONV_2D: its Conv2DOptions are missing",
    custom_options: "layer CONV_2D_0: CONV_2D with customOptions is not supported",
    variable_inputs: "layer CONV_2D_0: Operator with mutatingVariableInputs",
    a_custom_operator: "layer CONV_2D_0: operator CONV_2D is not supported",
    two_codes: "layer CONV_2D_0: operator FLOOR is not supported",
    too_many_inputs: "layer CONV_2D_0: CONV_2D of 4 inputs",
    an_input_that_is_none: "CONV_2D reads or writes what is no tensor",
    a_buffer_that_is_none: "tensor constant_1: the file has no buffer 99",
    written_twice: "layer CONV_2D_0: writes CONV_2D_0 a second time",
    custom_quantisation: "tensor constant_1: QuantizationParameters with details is not supported",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_what_a_file_says_beyond_its_operators(spoil):
    g = TFLiteGraph()
    data = g.data(a_map(g), spoil)
    with pytest.raises(ConversionError, match=re.escape(SPOILT[spoil])):
        convert_bytes(data, "network.tflite", FACTS)


def test_several_outputs(tmp_path):
    g, said = TFLiteGraph(), []
    first = a_map(g)
    second = conv(g, first, 4, 4, MAP[1:3])

    def both(model):
        model.subgraphs[0].outputs = [second, first]

    data = g.data(second, both)
    document, _ = convert_bytes(data, "two.tflite", FACTS, say=said.append)
    assert (
        document["output"]["name"] == "CONV_2D_1" and "2 outputs, CONV_2D_1, CONV_2D_0: CONV_2D_1 is taken" in said[0]
    )
    document, _ = convert_bytes(data, "two.tflite", FACTS, output="CONV_2D_0", say=said.append)
    assert document["output"]["name"] == "CONV_2D_0" and len(said) == 1


@pytest.mark.parametrize("padding,size", [(1, (1, 18, 22, 4)), (2, (1, 19, 23, 4))])
def test_custom_operator(padding, size, tmp_path):
    """MediaPipe's transposed convolution: LiteRT has no such operator, but the same one under its own name."""

    def custom(options):
        def change(model):
            code, operator = model.operatorCodes[0], model.subgraphs[0].operators[0]
            code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
            code.customCode = b"Convolution2DTransposeBias"
            operator.inputs = [operator.inputs[2], operator.inputs[1], operator.inputs[3]]
            operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.NONE, None
            operator.customOptions = list(b"".join(number.to_bytes(4, "little") for number in options))

        return change

    g = TFLiteGraph()
    x = transposed(size, bias=True, padding=padding - 1)(g)
    data, picture = g.data(x), g.picture()
    model = converted(g.data(x, custom([padding, 2, 2])), tmp_path)
    _, expected = litert(data, picture)
    found = run_converted(model, picture.transpose(0, 3, 1, 2))[model.document["output"]["name"]]
    assert error(found.transpose(0, 2, 3, 1), expected) < 2e-5
    for options, message in (([0, 2, 2], "padding 0"), ([1, 2], "8 bytes of options"), ([1, 2, 2, 1], "16 bytes")):
        g = TFLiteGraph()
        with pytest.raises(ConversionError, match=f"layer TRANSPOSE_CONV_0: Convolution2DTransposeBias.*{message}"):
            convert_bytes(g.data(transposed(bias=True)(g), custom(options)), "network.tflite", FACTS)


def test_quantise_and_dequantise(tmp_path):
    """Between floats and a quantised map: values but for rounding."""
    g = TFLiteGraph()
    x = g.operator("QUANTIZE", [a_map(g)], MAP, "QuantizeOptions", "uint8", ([0.1], [128]))
    data, picture = g.data(g.operator("DEQUANTIZE", [x], MAP, "DequantizeOptions")), g.picture()
    model = converted(data, tmp_path)
    _, expected = litert(data, picture)
    found = run_converted(model, picture.transpose(0, 3, 1, 2))[model.document["output"]["name"]].transpose(0, 2, 3, 1)
    inside = np.abs(expected) < 12
    assert np.abs(found - expected)[inside].max() <= 0.0501


def test_a_picture_of_bytes_says_its_scale(tmp_path):
    g = TFLiteGraph(dtype="uint8")
    x = g.operator("CAST", [0], (1, 9, 11, 3))
    x = g.operator("MUL", [x, g.constant(np.float32(1 / 255))], (1, 9, 11, 3), "MulOptions")
    x = g.operator("CONV_2D", [x, g.noise(4, 1, 1, 3), g.noise(4)], MAP, "Conv2DOptions", strideH=1, strideW=1)
    document = converted(g.data(x), tmp_path, test_tflite.FROM_BYTES).document
    assert document["input"]["scale"] == pytest.approx([1 / 255] * 3) and document["input"]["bias"] == [0, 0, 0]


@pytest.mark.parametrize(
    "build,message",
    [
        (lambda g: g.operator("CAST", [labels(dtype="int64")(g)], (1, 9, 11), dtype="float32"), None),
        (
            lambda g: g.operator("RELU", [labels(dtype="int32")(g)], (1, 9, 11), dtype="int32"),
            "RELU with a map of INT32",
        ),
        (lambda g: g.operator("RELU", [a_map(g)], MAP, dtype="int32"), "RELU with a map of INT32"),
        (
            lambda g: g.operator(
                "CAST", [g.operator("QUANTIZE", [a_map(g)], MAP, dtype="uint8", quantisation=([0.1], [0]))], MAP
            ),
            "CAST with UINT8 to FLOAT32",
        ),
    ],
)
def test_whole_numbers_are_for_labels_and_the_picture(build, message):
    g = TFLiteGraph()
    data = g.data(build(g))
    if message is None:
        assert convert_bytes(data, "network.tflite", FACTS)
        return
    with pytest.raises(ConversionError, match=message):
        convert_bytes(data, "network.tflite", FACTS)


def test_constants_that_many_tensors_share():
    """They are refused before each gets its memory."""
    g = TFLiteGraph()
    x = a_map(g)
    shared = g.constant(np.zeros((512, 512, 3, 3), np.float16), "float16")
    for index in range(400):
        tensor = g.tensor(f"weights_{index}", (512, 512, 3, 3), "float16")
        g.tensors[tensor].buffer = g.tensors[shared].buffer
        g.operator("DEQUANTIZE", [tensor], (512, 512, 3, 3), "DequantizeOptions")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ConversionError, match="the constants up to it take too much memory"):
        convert_bytes(g.data(x), "network.tflite", FACTS)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 << 10
