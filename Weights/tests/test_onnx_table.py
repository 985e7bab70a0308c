"""All that the ONNX operators can say, and what the converter does with it.

The table has a row for each attribute, input and output that an operator the reader knows has in any operator set in
range. A row holds cases: honoured and harmless ones must give what ONNX Runtime gives (which knows the attribute),
refused ones must be refused by name. `onnx_node.HARMLESS` says why what is harmless is.
"""

from dataclasses import dataclass

import numpy as np
import onnx
import pytest
import test_onnx
from conftest import error, run_converted, run_onnx
from conversion.errors import ConversionError
from conversion.onnx_constants import FOLDED, Constants
from conversion.onnx_node import HARMLESS, Node
from conversion.onnx_reader import OPSETS, Reader
from onnx import TensorProto, helper
from onnx_graphs import OnnxGraph

FLOAT, DOUBLE, INT32, BOOL = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.BOOL


@dataclass
class Case:
    """A graph, by a function that gives its output. A refusal has a `message`, and an operator that it is `by`."""

    verdict: str
    build: object
    opset: int = 13
    message: str = ""
    picture: int = FLOAT
    by: str = ""


def honoured(build, opset=13, picture=FLOAT):
    return Case("honoured", build, opset, picture=picture)


def harmless(build, opset=13):
    return Case("harmless", build, opset)


def refused(build, message, opset=13, picture=FLOAT, by=""):
    return Case("refused", build, opset, message, picture, by)


READ = "read"  # by every case of the operator that is honoured


def on_map(kind, *inputs, **attributes):
    """A graph of a convolution and the operator after it; an array among the inputs is a constant."""

    def build(g):
        given = [value if isinstance(value, str) else g.constant(value, value.dtype) for value in inputs]
        return g.node(kind, g.conv("picture", 3, 4), *given, **attributes)

    return build


def conv(*inputs, channels=4, kernel=3, kind="Conv", **attributes):
    """A convolution of the picture."""

    def build(g):
        shape = (3, channels) if kind == "ConvTranspose" else (channels, 3 // attributes.get("group", 1))
        return g.node(kind, "picture", g.noise(*shape, kernel, kernel), *inputs, **attributes)

    return build


def with_a_map_as(place, kind, *shapes, **attributes):
    """A graph in which a constant input is computed."""

    def build(g):
        inputs = [g.noise(*shape) for shape in shapes]
        inputs[place - 1] = g.node("Relu", "picture")
        return g.node(kind, g.conv("picture", 3, 4), *inputs, **attributes)

    return build


def integers(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


def norm(more_outputs=(), **attributes):
    def build(g):
        values = [g.noise(4, low=0.5, high=2) for _ in range(4)]
        return g.node("BatchNormalization", g.conv("picture", 3, 4), *values, more_outputs=more_outputs, **attributes)

    return build


def pool(kind, **attributes):
    return on_map(kind, **({"kernel_shape": [3, 2]} | attributes))


def pad(opset_inputs=(), **attributes):
    def build(g):
        given = [value if isinstance(value, str) else g.constant(value, value.dtype) for value in opset_inputs]
        return g.conv(g.node("Pad", "picture", *given, **attributes), 3, 4)

    return build


def resize(*inputs, **attributes):
    return on_map("Resize", *inputs, **({"mode": "linear"} | attributes))


TO = integers(1, 4, 20, 30)
POOL_ROWS = {
    "attribute auto_pad": lambda kind: [
        honoured(pool(kind, auto_pad="SAME_UPPER", strides=[2, 2])),
        honoured(pool(kind, auto_pad="SAME_LOWER", strides=[2, 3])),
        honoured(pool(kind, auto_pad="VALID")),
        refused(pool(kind, auto_pad="SAME_UPPER", pads=[1, 1, 1, 1]), "both auto_pad SAME_UPPER and pads"),
        refused(pool(kind, auto_pad="SOME"), "auto_pad SOME"),
    ],
    "attribute ceil_mode": lambda kind: [
        honoured(pool(kind, ceil_mode=1, strides=[2, 3])),
        refused(pool(kind, ceil_mode=1, strides=[4, 1]), "ceil_mode 1"),
    ],
    "attribute dilations": lambda kind: [refused(pool(kind, dilations=[2, 1]), r"dilations \[2, 1\]", 19)],
    "attribute kernel_shape": lambda kind: [
        honoured(pool(kind, kernel_shape=[5, 1])),
        refused(pool(kind, kernel_shape=[3]), r"kernel_shape \[3\]"),
    ],
    "attribute pads": lambda kind: [honoured(pool(kind, pads=[2, 0, 1, 1]))],
    "attribute strides": lambda kind: [honoured(pool(kind, strides=[1, 4]))],
    "input X": lambda kind: READ,
    "output Y": lambda kind: READ,
}
POOLS = {kind: {key: row(kind) for key, row in POOL_ROWS.items()} for kind in ("AveragePool", "MaxPool")}


def arithmetic(kind):
    """The rows of an operator on two maps, or a map and a constant."""
    whole = np.ones((4, 1, 1), np.int64)

    def of_maps(g):
        return g.node(kind, g.conv("picture", 3, 4), g.conv("picture", 3, 4))

    def of_a_constant_first(g):
        return g.node(kind, g.noise(4, 1, 1), g.conv("picture", 3, 4))

    reverse = (
        refused(of_a_constant_first, "a constant divided by a map") if kind == "Div" else honoured(of_a_constant_first)
    )
    maps = refused(of_maps, "division of two maps") if kind == "Div" else honoured(of_maps)
    return {
        "input A": [reverse, maps],
        "input B": [
            honoured(on_map(kind, floats(2.5))),
            honoured(on_map(kind, floats([[1]], [[2]], [[3]], [[4]]))),
            refused(on_map(kind, whole), "type int64"),
            refused(on_map(kind, np.ones((1, 1, 4, 1, 1), np.float32)), r"shape \[1, 1, 4, 1, 1\]"),
            refused(on_map(kind, np.ones(11, np.float32)), r"shape \[11\]"),
        ],
        "output C": READ,
    }


def elementwise(kind, opset=13, source="X", target="Y"):
    return {f"input {source}": [honoured(on_map(kind), opset)], f"output {target}": READ}


def cast(*targets, source=None):
    def build(g):
        x = g.conv("picture", 3, 4) if source is None else source
        for target in targets:
            x = g.node("Cast", x, to=target)
        return x if source is None else g.conv(x, 3, 4)

    return build


def labels_as(target, channels=4):
    return lambda g: g.node("Cast", g.node("ArgMax", g.conv("picture", 3, channels), axis=1), to=target)


def of_constant(**value):
    """A resize to a size in a Constant node."""

    def build(g):
        scales = g.node("Concat", g.constant([1, 1]), g.node("Constant", **value), axis=0)
        return g.node("Resize", g.conv("picture", 3, 4), "", scales, mode="linear")

    return build


def of_number(**value):
    return lambda g: g.node("Mul", g.conv("picture", 3, 4), g.node("Constant", **value))


def of_whole_number(**value):
    """A resize whose size goes through a Constant of a whole number."""

    def build(g):
        one = g.node("Unsqueeze", g.node("Constant", **value), g.constant([0], np.int64))
        size = g.node("Concat", g.constant([1, 4, 20], np.int64), one, axis=0)
        return g.node("Resize", g.conv("picture", 3, 4), "", "", size, mode="linear")

    return build


def of_sizes(**value):
    return lambda g: g.node("Resize", g.conv("picture", 3, 4), "", "", g.node("Constant", **value), mode="linear")


def shape_part(**attributes):
    """A resize by one of the picture's own sizes, twice."""

    def build(g):
        sides = g.node("Shape", "picture", **attributes)
        size = g.node("Concat", g.constant([1, 4], np.int64), sides, axis=0)
        return g.node("Resize", g.conv("picture", 3, 4, strides=[2, 2]), "", "", size, mode="linear")

    return build


def drop(*inputs, more_outputs=(), **attributes):
    return on_map("Dropout", *inputs, more_outputs=more_outputs, **attributes)


def mask_read(g):
    x = g.conv("picture", 3, 4)
    dropped = g.node("Dropout", x, more_outputs=("mask",))
    return g.node("Add", x, f"{dropped}_mask")


TABLE = {
    "Add": arithmetic("Add"),
    "ArgMax": {
        "attribute axis": [
            honoured(labels_as(FLOAT)),
            refused(on_map("ArgMax", axis=2), "axis 2"),
            refused(on_map("ArgMax"), "axis 0"),
        ],
        "attribute keepdims": [
            honoured(on_map("ArgMax", axis=1, keepdims=0)),
            refused(
                lambda g: g.node("Relu", g.node("ArgMax", g.conv("picture", 3, 4), axis=1, keepdims=0)),
                "whole numbers",
                by="Relu",
            ),
        ],
        "attribute select_last_index": [refused(on_map("ArgMax", axis=1, select_last_index=1), "select_last_index 1")],
        "input data": READ,
        "output reduced": READ,
    },
    "AveragePool": POOLS["AveragePool"]
    | {"attribute count_include_pad": [honoured(pool("AveragePool", pads=[1, 1, 1, 1], count_include_pad=1))]},
    "BatchNormalization": {
        "attribute epsilon": [honoured(norm(epsilon=0.5)), honoured(norm())],
        "attribute momentum": [harmless(norm(momentum=0.5))],
        "attribute spatial": [honoured(norm(spatial=1), 7), refused(norm(spatial=0), "spatial 0", 7)],
        "attribute training_mode": [refused(norm(("a", "b"), training_mode=1), "training_mode 1", 15)],
        "input X": READ,
        "input scale": [
            refused(with_a_map_as(1, "BatchNormalization", *[(4,)] * 4), "a computed scale"),
        ],
        "input B": READ,
        "input mean": [honoured(norm(), 9)],
        "input var": [honoured(norm(), 9)],
        "input input_mean": [honoured(norm(), 15)],
        "input input_var": [honoured(norm(), 15)],
        "output Y": READ,
        "output mean": [refused(norm(("a",)), "the output mean", 9)],
        "output var": [refused(norm(("a", "b")), "the output mean", 9)],
        "output saved_mean": [refused(norm(("a", "b", "c")), "the output mean", 9)],
        "output saved_var": [refused(norm(("a", "b", "c", "d")), "the output mean", 9)],
        "output running_mean": [refused(norm(("a",)), "the output running_mean", 14)],
        "output running_var": [refused(norm(("a", "b")), "the output running_mean", 14)],
    },
    "Cast": {
        "attribute to": [
            honoured(cast(DOUBLE, FLOAT)),
            honoured(cast(FLOAT, source="picture"), picture=TensorProto.UINT8),
            honoured(cast(INT32, DOUBLE, FLOAT, source="picture"), picture=TensorProto.UINT8),
            refused(cast(INT32, FLOAT), "Cast of floats with to int32"),
            refused(cast(TensorProto.FLOAT8E4M3FN, FLOAT), "to float8e4m3fn", 19),
            refused(cast(BOOL, FLOAT), "to bool"),
            refused(
                cast(TensorProto.INT8, FLOAT, source="picture"), "up to 255 with to int8", picture=TensorProto.UINT8
            ),
            refused(labels_as(BOOL), "up to 3 with to bool"),
            refused(labels_as(TensorProto.UINT8, 300), "up to 299 with to uint8"),
        ],
        "attribute saturate": [harmless(on_map("Cast", to=FLOAT, saturate=1), 19)],
        "attribute round_mode": [harmless(on_map("Cast", to=FLOAT, round_mode="up"), 24)],
        "input input": READ,
        "output output": READ,
    },
    "Clip": {
        "attribute min": [honoured(on_map("Clip", min=-0.5), 9)],
        "attribute max": [honoured(on_map("Clip", max=0.5), 9)],
        "input input": READ,
        "input min": [
            honoured(on_map("Clip", np.float32(-0.5))),
            refused(lambda g: g.node("Clip", g.conv("picture", 3, 4), "picture"), "a computed min"),
            refused(on_map("Clip", floats(0, 1)), "min of 2 numbers"),
            refused(on_map("Clip", np.float32(3), np.float32(2)), r"clamps to 3 \.\.\. 2"),
            refused(on_map("Clip", np.float32("nan")), r"clamps to nan \.\.\. inf"),
        ],
        "input max": [
            honoured(on_map("Clip", "", np.float32(0.5))),
            refused(lambda g: g.node("Clip", g.conv("picture", 3, 4), "", "picture"), "a computed max"),
        ],
        "output output": READ,
    },
    "Concat": {
        "attribute axis": [
            honoured(test_onnx.concatenation),
            honoured(lambda g: g.node("Concat", "picture", g.conv("picture", 3, 1), axis=-3)),
            refused(lambda g: g.node("Concat", "picture", "picture", axis=2), "axis 2"),
            refused(lambda g: g.node("Concat", "picture", "picture"), "without its attribute axis"),
        ],
        "input inputs": [
            honoured(test_onnx.concatenation),
            refused(on_map("Concat", np.ones((1, 4, 9, 11), np.float32), axis=1), "which is a constant"),
        ],
        "output concat_result": READ,
    },
    "Constant": {
        "attribute value": [honoured(of_number(value=helper.make_tensor("v", FLOAT, [], [2.5])))],
        "attribute value_float": [honoured(of_number(value_float=2.5))],
        "attribute value_floats": [honoured(of_constant(value_floats=[2.0, 3.0]))],
        "attribute value_int": [honoured(of_whole_number(value_int=30))],
        "attribute value_ints": [honoured(of_sizes(value_ints=[1, 4, 20, 30]))],
        "attribute value_string": [refused(of_number(value_string="a"), "Constant with value_string")],
        "attribute value_strings": [refused(of_number(value_strings=["a"]), "Constant with value_strings")],
        "attribute sparse_value": [
            refused(
                of_number(
                    sparse_value=helper.make_sparse_tensor(
                        helper.make_tensor("v", FLOAT, [1], [1.0]),
                        helper.make_tensor("i", TensorProto.INT64, [1], [2]),
                        [4],
                    )
                ),
                "Constant with sparse_value",
            ),
            refused(of_number(value_int=1, value_float=1.0), "Constant with value_float and value_int"),
        ],
        "output output": READ,
    },
    "Conv": {
        "attribute auto_pad": [
            honoured(test_onnx.same_padding),
            honoured(conv(auto_pad="VALID")),
            refused(conv(auto_pad="SAME_UPPER", pads=[1, 1, 1, 1]), "both auto_pad SAME_UPPER and pads"),
            refused(conv(auto_pad="VALID", pads=[1, 1, 1, 1]), "both auto_pad VALID and pads"),
            refused(conv(auto_pad="SOME"), "auto_pad SOME"),
        ],
        "attribute dilations": [honoured(conv(dilations=[1, 3])), refused(conv(dilations=[2]), r"dilations \[2\]")],
        "attribute group": [honoured(conv(group=3, channels=6)), refused(conv(group=2), "2 groups")],
        "attribute kernel_shape": [
            honoured(conv(kernel_shape=[3, 3])),
            refused(conv(kernel_shape=[2, 2]), r"kernel_shape \[2, 2\], but its weight \[4, 3, 3, 3\]"),
        ],
        "attribute pads": [
            honoured(conv(pads=[1, 0, 2, 3])),
            refused(conv(pads=[1, 1]), r"pads \[1, 1\]"),
            refused(conv(pads=[-1, 0, 0, 0]), r"pads \[-1, 0, 0, 0\]"),
        ],
        "attribute strides": [honoured(conv(strides=[3, 1])), refused(conv(strides=[0, 1]), r"strides \[0, 1\]")],
        "input X": READ,
        "input W": [
            refused(with_a_map_as(1, "Conv", (4, 4, 3, 3)), "a computed W"),
            refused(lambda g: g.node("Conv", "picture", g.noise(4, 3, 3)), "a weight of 3 dimensions"),
            refused(
                lambda g: g.node("Conv", "picture", g.constant(np.ones((4, 3, 3, 3)), np.int32)), "W of the type int32"
            ),
        ],
        "input B": [
            honoured(lambda g: g.conv("picture", 3, 4)),
            refused(with_a_map_as(2, "Conv", (4, 4, 3, 3), (4,)), "a computed B"),
            refused(lambda g: g.node("Conv", "picture", g.noise(4, 3, 3, 3), g.noise(3)), r"a bias of shape \[3\]"),
        ],
        "output Y": READ,
    },
    "ConvTranspose": {
        "attribute auto_pad": [
            honoured(conv(kind="ConvTranspose", auto_pad="VALID")),
            refused(conv(kind="ConvTranspose", auto_pad="SAME_UPPER"), "auto_pad SAME_UPPER"),
            refused(conv(kind="ConvTranspose", auto_pad="SAME_LOWER"), "auto_pad SAME_LOWER"),
        ],
        "attribute dilations": [refused(conv(kind="ConvTranspose", dilations=[2, 1]), r"dilations \[2, 1\]")],
        "attribute group": [refused(conv(kind="ConvTranspose", group=3), "group 3")],
        "attribute kernel_shape": [refused(conv(kind="ConvTranspose", kernel_shape=[2, 3]), r"kernel_shape \[2, 3\]")],
        "attribute output_padding": [
            honoured(conv(kind="ConvTranspose", strides=[3, 3], pads=[1, 1, 1, 2], output_padding=[1, 2])),
            refused(conv(kind="ConvTranspose", strides=[3, 3], output_padding=[1, 1]), r"output_padding \[1, 1\]"),
        ],
        "attribute output_shape": [
            refused(conv(kind="ConvTranspose", output_shape=[20, 20]), r"output_shape \[20, 20\]")
        ],
        "attribute pads": [honoured(conv(kind="ConvTranspose", pads=[1, 0, 0, 1]))],
        "attribute strides": [honoured(conv(kind="ConvTranspose", strides=[2, 3]))],
        "input X": READ,
        "input W": [refused(with_a_map_as(1, "ConvTranspose", (4, 4, 3, 3)), "a computed W")],
        "input B": [
            honoured(test_onnx.transposed),
            refused(with_a_map_as(2, "ConvTranspose", (4, 4, 3, 3), (4,)), "a computed B"),
        ],
        "output Y": READ,
    },
    "Div": arithmetic("Div"),
    "Dropout": {
        "attribute ratio": [harmless(drop(ratio=0.75), 9)],
        "attribute seed": [harmless(drop(seed=5))],
        "input data": [honoured(drop())],
        "input ratio": [harmless(drop(np.float32(0.75)))],
        "input training_mode": [
            honoured(drop(np.float32(0.75), np.bool_(False))),
            refused(drop(np.float32(0.75), np.bool_(True)), "training_mode 1"),
            refused(lambda g: g.node("Dropout", g.conv("picture", 3, 4), "", "picture"), "a computed training_mode"),
        ],
        "output output": READ,
        "output mask": [
            harmless(drop(more_outputs=("mask",))),
            refused(mask_read, "reads Dropout_1_mask, which is no map", by="Add"),
        ],
    },
    "GlobalAveragePool": elementwise("GlobalAveragePool"),
    "HardSigmoid": {
        "attribute alpha": [honoured(on_map("HardSigmoid", alpha=0.5))],
        "attribute beta": [honoured(on_map("HardSigmoid", beta=0.25)), honoured(on_map("HardSigmoid"))],
    }
    | elementwise("HardSigmoid"),
    "HardSwish": elementwise("HardSwish", 14),
    "Identity": elementwise("Identity", source="input", target="output"),
    "MaxPool": POOLS["MaxPool"]
    | {
        "attribute storage_order": [harmless(pool("MaxPool", storage_order=1))],
        "output Indices": [refused(pool("MaxPool", more_outputs=("indices",)), "the output Indices")],
    },
    "Mul": arithmetic("Mul"),
    "Pad": {
        "attribute mode": [
            honoured(pad([integers(0, 0, 1, 2, 0, 0, 3, 4)], mode="constant")),
            refused(pad([integers(0, 0, 1, 2, 0, 0, 3, 4)], mode="reflect"), "mode reflect"),
            refused(pad([integers(0, 0, 1, 2, 0, 0, 3, 4)], mode="edge"), "mode edge"),
            refused(pad([integers(0, 0, 1, 2, 0, 0, 3, 4)], mode="wrap"), "mode wrap", 19),
        ],
        "attribute pads": [honoured(pad(pads=[0, 0, 1, 2, 0, 0, 3, 4]), 9)],
        "attribute value": [
            honoured(pad(pads=[0, 0, 1, 2, 0, 0, 3, 4], value=0.0), 9),
            refused(pad(pads=[0, 0, 1, 2, 0, 0, 3, 4], value=1.0), "the value 1.0", 9),
        ],
        "input data": READ,
        "input pads": [
            refused(pad([integers(0, 1, 0, 0, 0, 0, 0, 0)]), r"pads \[0, 1, 0, 0, 0, 0, 0, 0\]"),
            refused(pad([integers(0, 0, -1, 0, 0, 0, 0, 0)]), r"pads \[0, 0, -1"),
            refused(pad([integers(1, 1)]), r"pads \[1, 1\]"),
            refused(pad(["picture"]), "a computed pads"),
        ],
        "input constant_value": [
            honoured(pad([integers(0, 0, 1, 2, 0, 0, 3, 4), np.float32(0)])),
            refused(pad([integers(0, 0, 1, 2, 0, 0, 3, 4), np.float32(2)]), "the value 2.0"),
        ],
        "input axes": [
            honoured(pad([integers(1, 2, 3, 4), "", integers(2, 3)]), 18),
            honoured(pad([integers(1, 2, 3, 4), "", integers(3, 2)]), 18),
            honoured(pad([integers(0, 0, 1, 2, 0, 0, 3, 4), "", integers(0, 1, 3, 2)]), 18),
            honoured(pad([integers(1, 2), "", integers(-1)]), 18),
            refused(pad([integers(1, 2, 3, 4), "", integers(3, 3)]), r"along the axes \[3, 3\]", 18),
            refused(pad([integers(1, 2), "", integers(1)]), r"along the axes \[1\]", 18),
        ],
        "output output": READ,
    },
    "ReduceMean": {
        "attribute axes": [
            honoured(on_map("ReduceMean", axes=[3, 2])),
            honoured(on_map("ReduceMean", axes=[-2, -1])),
            refused(on_map("ReduceMean", axes=[1]), r"axes \[1\]"),
            refused(on_map("ReduceMean"), r"axes \[\]"),
        ],
        "attribute keepdims": [refused(on_map("ReduceMean", axes=[2, 3], keepdims=0), "keepdims 0")],
        "attribute noop_with_empty_axes": [
            harmless(on_map("ReduceMean", integers(2, 3), noop_with_empty_axes=1), 18),
            refused(on_map("ReduceMean", noop_with_empty_axes=1), r"axes \[\]", 18),
        ],
        "input data": READ,
        "input axes": [
            honoured(on_map("ReduceMean", integers(2, 3)), 18),
            refused(on_map("ReduceMean", integers(1)), r"axes \[1\]", 18),
            refused(on_map("ReduceMean", "picture"), "a computed axes", 18),
        ],
        "output reduced": READ,
    },
    "Relu": elementwise("Relu"),
    "Resize": {
        "attribute antialias": [
            honoured(resize("", "", TO, antialias=0), 18),
            refused(resize("", "", TO, antialias=1), "antialias 1", 18),
        ],
        "attribute axes": [
            honoured(resize("", "", integers(20, 30), axes=[2, 3]), 18),
            honoured(resize("", "", integers(30, 20), axes=[3, 2]), 18),
            honoured(resize("", floats(2, 3), axes=[-2, -1]), 18),
            refused(resize("", "", integers(4, 20), axes=[2, 2]), r"axes \[2, 2\]", 18),
            refused(resize("", "", integers(8, 20), axes=[1, 2]), r"sizes \[8, 20\]", 18),
            refused(resize("", "", TO, axes=[2, 3]), "4 sizes", 18),
            refused(resize("", "", TO, axes=[0, 1, 2, 3]), "no attribute axes in operator set 13"),
        ],
        "attribute coordinate_transformation_mode": [
            honoured(resize("", "", TO, coordinate_transformation_mode="align_corners")),
            honoured(resize("", "", TO, coordinate_transformation_mode="half_pixel")),
            honoured(resize("", "", TO, coordinate_transformation_mode="pytorch_half_pixel")),
            honoured(resize("", "", TO, coordinate_transformation_mode="asymmetric")),
            honoured(resize("", "", TO)),
            refused(
                resize("", "", TO, coordinate_transformation_mode="half_pixel_symmetric"),
                "coordinate_transformation_mode half_pixel_symmetric",
                19,
            ),
            refused(
                resize(floats(0), "", TO, coordinate_transformation_mode="tf_crop_and_resize"), "tf_crop_and_resize"
            ),
            refused(
                resize("", "", integers(1, 4, 1, 30), coordinate_transformation_mode="pytorch_half_pixel"),
                r"pytorch_half_pixel to \[1, 30\]",
            ),
        ],
        "attribute cubic_coeff_a": [harmless(resize("", "", TO, cubic_coeff_a=-0.5))],
        "attribute exclude_outside": [refused(resize("", "", TO, exclude_outside=1), "exclude_outside 1")],
        "attribute extrapolation_value": [harmless(resize("", "", TO, extrapolation_value=5.0))],
        "attribute keep_aspect_ratio_policy": [
            honoured(resize("", "", TO, keep_aspect_ratio_policy="stretch"), 18),
            refused(
                resize("", "", TO, keep_aspect_ratio_policy="not_larger"), "keep_aspect_ratio_policy not_larger", 18
            ),
            refused(resize("", "", TO, keep_aspect_ratio_policy="not_smaller"), "policy not_smaller", 18),
        ],
        "attribute mode": [
            refused(resize("", "", TO, mode="nearest"), "mode nearest"),
            refused(resize("", "", TO, mode="cubic"), "mode cubic"),
            refused(on_map("Resize", "", "", TO), "mode nearest"),
        ],
        "attribute nearest_mode": [harmless(resize("", "", TO, nearest_mode="ceil"))],
        "input X": READ,
        "input roi": [harmless(resize(floats(0, 0, 0, 0, 1, 1, 1, 1), "", TO))],
        "input scales": [
            honoured(resize(floats(1, 1, 2, 3)), 10),
            honoured(resize(floats(), floats(1, 1, 2, 3)), 11),
            honoured(resize("", floats(1, 1, 1 / 3, 2))),
            refused(resize("", floats(1, 1, 1.3, 2)), "to whole rows and columns"),
            refused(resize("", floats(1, 2, 2, 2)), "along rows and columns"),
            refused(resize("", floats(2, 2)), "2 scales and 0 sizes"),
            refused(resize("", floats(1, 1, 2, 2), TO), "4 scales and 4 sizes"),
            refused(resize("", "picture"), "a computed scales"),
        ],
        "input sizes": [
            honoured(resize("", "", integers(1, 4, 1, 5))),
            refused(resize("", "", integers(1, 8, 20, 20)), r"sizes \[1, 8, 20, 20\]"),
            refused(resize("", "", "picture"), "a computed sizes"),
        ],
        "output Y": READ,
    },
    "Shape": {
        "attribute start": [honoured(shape_part(start=2), 15), honoured(shape_part(start=-2), 19)],
        "attribute end": [honoured(shape_part(start=2, end=4), 15)],
        "input data": READ,
        "output shape": READ,
    },
    "Sigmoid": elementwise("Sigmoid"),
    "Softmax": {
        "attribute axis": [
            honoured(on_map("Softmax", axis=1)),
            honoured(on_map("Softmax", axis=-3)),
            refused(on_map("Softmax"), "axis -1"),
            refused(on_map("Softmax", axis=1), "operator set 11", 11),
        ],
        "input input": READ,
        "output output": READ,
    },
    "Sub": arithmetic("Sub"),
}

# Constants through each operator that is worked out: (operator set, inputs, attributes). An attribute that is not set
# in any of them has no row.
ARRAY = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
FOLDS_OF = {
    "Add": [(7, [ARRAY, floats(1, 2, 3, 4)], {}), (14, [integers(1, 2), integers(3)], {})],
    "Cast": [
        (13, [floats(1.7, -1.7, 300)], {"to": INT32}),
        (13, [integers(1, 0)], {"to": FLOAT}),
        (19, [floats(1.5)], {"to": DOUBLE, "saturate": 1}),
        (24, [floats(1.5)], {"to": DOUBLE, "round_mode": "up"}),
    ],
    "Ceil": [(13, [floats(1.2, -1.2)], {})],
    "Concat": [(13, [ARRAY, ARRAY], {"axis": 1}), (11, [ARRAY, ARRAY], {"axis": -1})],
    "ConstantOfShape": [
        (9, [integers(2, 3)], {}),
        (20, [integers(4)], {"value": helper.make_tensor("v", TensorProto.INT64, [1], [7])}),
    ],
    "Div": [(7, [ARRAY, floats(3)], {}), (14, [integers(7, 9), integers(2)], {})],
    "Floor": [(13, [floats(1.2, -1.2)], {})],
    "Gather": [
        (11, [ARRAY, integers(1, 0)], {"axis": 2}),
        (13, [ARRAY, np.int64(-1)], {}),
        (1, [ARRAY, integers(0)], {}),
    ],
    "Identity": [(13, [ARRAY], {})],
    "Mul": [(13, [ARRAY, floats(3)], {})],
    "ReduceProd": [
        (11, [ARRAY], {"axes": [1], "keepdims": 0}),
        (18, [ARRAY, integers(0, 2)], {"keepdims": 1}),
        (18, [ARRAY], {"noop_with_empty_axes": 1}),
        (18, [ARRAY], {"noop_with_empty_axes": 0}),
    ],
    "Reshape": [
        (5, [ARRAY, integers(-1, 0, 2)], {}),
        (14, [ARRAY, integers(0, 12)], {}),
        (14, [ARRAY[:0], integers(0, 12)], {"allowzero": 1}),
    ],
    "Slice": [
        (9, [ARRAY], {"starts": [1, -3], "ends": [3, 1000], "axes": [1, 2]}),
        (13, [ARRAY, integers(-1), integers(-100), integers(2), integers(-2)], {}),
    ],
    "Squeeze": [(11, [ARRAY[:, :1]], {"axes": [1]}), (13, [ARRAY[:, :1], integers(1)], {}), (13, [ARRAY[:, :1]], {})],
    "Sub": [(13, [ARRAY, floats(3)], {})],
    "Transpose": [(13, [ARRAY], {"perm": [2, 0, 1]}), (13, [ARRAY], {})],
    "Unsqueeze": [(11, [ARRAY], {"axes": [0, 2]}), (13, [ARRAY, integers(-1)], {})],
}

# What a file says around its nodes: honoured, refused (in test_onnx.SPOILT), or harmless and why.
TEXT, OTHER_FORM = "it is text", "refused as another type than the definition's"
STRUCTURE = {
    "ModelProto": {
        "ir_version": "what a later version can say more is in fields of its own",
        "opset_import": "honoured",
        "producer_name": TEXT,
        "producer_version": TEXT,
        "domain": TEXT,
        "model_version": TEXT,
        "doc_string": TEXT,
        "graph": "honoured",
        "metadata_props": "what it may say of the picture is asked for by flags",
        "training_info": "only training uses it",
        "functions": "refused where one has the name of a standard operator; a call of another is refused",
        "configuration": "it is about the devices that compute",
    },
    "GraphProto": {
        "node": "honoured",
        "name": TEXT,
        "initializer": "honoured",
        "sparse_initializer": "refused",
        "doc_string": TEXT,
        "input": "honoured",
        "output": "honoured",
        "value_info": "shapes follow from the nodes",
        "quantization_annotation": "it names constants that nothing else reads",
        "metadata_props": TEXT,
    },
    "NodeProto": {
        "input": "honoured",
        "output": "honoured",
        "name": "honoured",
        "op_type": "honoured",
        "domain": "honoured",
        "overload": "refused",
        "attribute": "honoured",
        "doc_string": TEXT,
        "metadata_props": TEXT,
        "device_configurations": "it is about the devices that compute",
    },
    "AttributeProto": {
        "name": "honoured",
        "ref_attr_name": OTHER_FORM,
        "doc_string": TEXT,
        "type": "honoured",
        "f": "honoured",
        "i": "honoured",
        "s": "honoured",
        "t": "honoured",
        "g": OTHER_FORM,
        "sparse_tensor": "refused",
        "tp": OTHER_FORM,
        "floats": "honoured",
        "ints": "honoured",
        "strings": "refused",
        "tensors": OTHER_FORM,
        "graphs": OTHER_FORM,
        "sparse_tensors": OTHER_FORM,
        "type_protos": OTHER_FORM,
    },
    "TensorProto": {
        "dims": "honoured",
        "data_type": "honoured",
        "segment": "refused",
        "float_data": "honoured",
        "int32_data": "honoured",
        "string_data": "refused by data_type",
        "int64_data": "honoured",
        "name": "honoured",
        "doc_string": TEXT,
        "raw_data": "honoured",
        "external_data": "refused",
        "data_location": "refused",
        "double_data": "honoured",
        "uint64_data": "honoured",
        "metadata_props": TEXT,
    },
    "ValueInfoProto": {"name": "honoured", "type": "honoured", "doc_string": TEXT, "metadata_props": TEXT},
    "TypeProto": {
        "tensor_type": "honoured",
        "sequence_type": "refused",
        "map_type": "refused",
        "optional_type": "refused",
        "sparse_tensor_type": "refused",
        "opaque_type": "refused",
        "denotation": "what it may say of the picture is asked for by flags",
    },
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_all_that_a_file_can_say_around_its_nodes_has_a_row(name):
    fields = {field.name for field in getattr(onnx, name).DESCRIPTOR.fields}
    assert fields - {"opaque_type"} == set(STRUCTURE[name]) - {"opaque_type"}


ON_MAPS = {name.removeprefix("read_") for name in vars(Reader) if name.startswith("read_")} - {"node", "map"}


def said(operator):
    """All attributes, inputs and outputs of an operator in any operator set in range."""
    found = set()
    for version in OPSETS:
        try:
            schema = onnx.defs.get_schema(operator, version, "")
        except onnx.defs.SchemaError:
            continue
        found |= {f"attribute {name}" for name in schema.attributes}
        found |= {f"input {value.name}" for value in schema.inputs} | {
            f"output {value.name}" for value in schema.outputs
        }
    return found


def test_each_operator_of_the_reader_has_its_rows():
    assert set(TABLE) == ON_MAPS | {"Constant", "Shape"}
    assert set(FOLDS_OF) == FOLDED


@pytest.mark.parametrize("operator", TABLE)
def test_all_that_an_operator_can_say_has_a_row(operator):
    assert set(TABLE[operator]) == said(operator)
    cases = [case for row in TABLE[operator].values() if row is not READ for case in row]
    assert any(case.verdict == "honoured" for case in cases), "no case reads what is marked as read"
    reasons = {key for key, row in TABLE[operator].items() if row is not READ and row[0].verdict == "harmless"}
    assert reasons == set(HARMLESS.get(operator, {}))


@pytest.mark.parametrize("operator", FOLDS_OF)
def test_all_that_an_operator_on_constants_can_say_is_tried(operator):
    used = {f"attribute {key}" for _, _, attributes in FOLDS_OF[operator] for key in attributes}
    assert {what for what in said(operator) if what.startswith("attribute")} == used
    most = max(len(inputs) for _, inputs, _ in FOLDS_OF[operator])
    names = {what for what in said(operator) if what.startswith("input")}
    assert most >= len(names)


CASES = [
    pytest.param(operator, case, id=f"{operator} {key} {index} {case.verdict}")
    for operator, rows in TABLE.items()
    for key, row in rows.items()
    for index, case in enumerate(row if row is not READ else [])
]


@pytest.mark.parametrize("operator,case", CASES)
def test_row(operator, case, convert_onnx):
    g = OnnxGraph(opset=case.opset, dtype=case.picture)
    output = case.build(g)
    model, picture = g.model(output), g.picture()
    if case.verdict == "refused":
        by = case.by or operator
        with pytest.raises(ConversionError, match=case.message) as caught:
            convert_onnx(model)
        file, _, text = str(caught.value).partition(": layer ")
        assert file.endswith("network.onnx") and text.partition(": ")[0] in [n.name for n in g.nodes if n.op_type == by]
        assert by in text.partition(": ")[2]
        return
    if case.picture == TensorProto.UINT8:
        picture = np.random.default_rng(3).integers(0, 256, picture.shape).astype(np.uint8)
    expected = run_onnx(model, {"picture": picture})[output]
    labels = any(node.op_type == "ArgMax" for node in g.nodes)
    converted = convert_onnx(model, classes=4 if labels else expected.shape[1])
    found = run_converted(converted, picture.astype(np.float32))[converted.document["output"]["name"]]
    if labels:
        found, expected = found.argmax(1), expected.reshape(1, *expected.shape[-2:])
    assert error(found, expected.astype(np.float32)) < 2e-5


FOLDED_CASES = [
    pytest.param(operator, *case, id=f"{operator} {index}")
    for operator, cases in FOLDS_OF.items()
    for index, case in enumerate(cases)
]


@pytest.mark.parametrize("operator,opset,inputs,attributes", FOLDED_CASES)
def test_constants_are_worked_out_as_onnx_runtime_does(operator, opset, inputs, attributes):
    version = max(opset, OPSETS[0])
    names = [f"input_{index}" for index in range(len(inputs))]
    proto = helper.make_node(operator, names, ["result"], **attributes)
    constants = Constants(version, 0)
    constants.update(zip(names, inputs))
    constants.fold(Node(proto, "layer", version))
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), np.shape(value))
        for name, value in zip(names, inputs)
    ]
    graph = helper.make_graph([proto], "test", values, [helper.make_empty_tensor_value_info("result")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    model.ir_version = 10
    expected = run_onnx(model, {name: np.asarray(value) for name, value in zip(names, inputs)})["result"]
    assert constants["result"].dtype == expected.dtype and constants["result"].shape == expected.shape
    assert np.allclose(constants["result"], expected, rtol=1e-6)
