#!/usr/bin/env python3
"""Makes the two generated networks of the tests, a picture for each, and ONNX Runtime's answers.

usage: make_mini.py [FOLDER]        default: the folder of this file

`mini` has the topology of DeepLabV3 on MobileNetV2 at output stride 8: inverted residuals with dilations 2 and 4, image
pooling, concatenation, aligned corners. `mini-selfie` has the operators that it lacks. Weights come from a seed. The
statistics of each batch norm are those of the pictures, rounded, so that values stay of order 1 all the way.
Needs Weights/requirements-dev.txt.
"""

import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Weights"))

from conversion.converter import convert  # noqa: E402
from conversion.known import VOC_LABELS  # noqa: E402
from conversion.network import Facts  # noqa: E402

OPSET = 13


class Builder:
    """An ONNX graph that is run on the pictures while it grows."""

    def __init__(self, pictures, seed):
        self.random, self.nodes, self.initializers = np.random.default_rng(seed), [], []
        self.values = {"picture": pictures}

    def constant(self, values, dtype=np.float32):
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, kind, *inputs, **attributes):
        """Adds a node, runs it, and gives the name of its result."""
        output = f"{kind}_{len(self.nodes)}"
        node = helper.make_node(kind, list(inputs), [output], name=output, **attributes)
        self.nodes.append(node)
        fed = [name for name in inputs if name in self.values]
        shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.values[name].shape) for name in fed]
        graph = helper.make_graph(
            [node],
            output,
            shapes,
            [helper.make_empty_tensor_value_info(output)],
            [tensor for tensor in self.initializers if tensor.name in inputs],
        )
        self.values[output] = run(as_model(graph), {name: self.values[name] for name in fed}, [output])[0]
        return output

    def conv(self, x, channels, kernel=1, stride=1, dilation=1, groups=1, norm=True, gain=1.0):
        """A convolution with random weights and, for `norm`, a batch norm after it; else a bias."""
        inputs = self.values[x].shape[1] // groups
        deviation = gain / np.sqrt(inputs * kernel * kernel)
        weight = self.constant(self.random.normal(0, deviation, (channels, inputs, kernel, kernel)))
        pad = dilation * (kernel - 1) // 2
        window = {
            "kernel_shape": [kernel] * 2,
            "strides": [stride] * 2,
            "dilations": [dilation] * 2,
            "pads": [pad] * 4,
            "group": groups,
        }
        if not norm:
            return self.node("Conv", x, weight, self.constant(self.random.normal(0, 0.3, channels)), **window)
        y = self.node("Conv", x, weight, **window)
        mean = np.round(self.values[y].mean((0, 2, 3)), 2)
        # A channel that hardly varies, as after image pooling, is not blown up.
        variance = np.round(
            np.maximum(self.values[y].var((0, 2, 3)), 0.2) * self.random.uniform(0.8, 1.25, channels), 2
        )
        return self.node(
            "BatchNormalization",
            y,
            *map(
                self.constant,
                (self.random.uniform(0.7, 1.3, channels), self.random.normal(0, 0.3, channels), mean, variance),
            ),
        )

    def relu6(self, x):
        return self.node("Clip", x, self.constant(0.0), self.constant(6.0))

    def resize(self, x, height, width, convention):
        channels = self.values[x].shape[1]
        return self.node(
            "Resize",
            x,
            "",
            "",
            self.constant([1, channels, height, width], np.int64),
            mode="linear",
            coordinate_transformation_mode=convention,
        )

    def model(self, name, output):
        """The whole network for one picture."""
        _, channels, height, width = self.values["picture"].shape
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("picture", TensorProto.FLOAT, [1, channels, height, width])],
            [helper.make_empty_tensor_value_info(output)],
            self.initializers,
        )
        return as_model(graph)


def as_model(graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    return model


def run(model, inputs, outputs):
    """ONNX Runtime without graph optimisation, one thread."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    # A network that is asked for more than its output.
    known = {value.name for value in model.graph.output}
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs or () if name not in known)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(outputs, inputs)


def synthetic_picture(width, height, seed):
    """Discs and bars of random colour on a slope, 8-bit RGB."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    picture = 60 + 120 * np.stack([x / width, y / height, (x + y) / (width + height)], -1)
    for index in range(9):
        colour, at, radius = random.uniform(0, 255, 3), random.uniform(0, 1, 2) * [height, width], random.uniform(4, 14)
        if index % 3 == 2:
            inside = np.abs((y - at[0]) + (x - at[1]) * random.uniform(-2, 2)) < radius / 2
        else:
            inside = (y - at[0]) ** 2 + (x - at[1]) ** 2 < radius**2
        picture[inside] = colour
    return np.clip(picture + random.normal(0, 4, picture.shape), 0, 255).astype(np.uint8)


def mini():
    """DeepLabV3 on MobileNetV2, an eighth of its width; channels are multiples of 8 now and then."""
    picture = synthetic_picture(65, 65, seed=1)
    scale, bias = 1 / 127.5, -1.0
    b = Builder((picture * np.float32(scale) + np.float32(bias)).transpose(2, 0, 1)[None], seed=203)
    x = b.relu6(b.conv("picture", 8, kernel=3, stride=2))
    x = b.conv(b.relu6(b.conv(x, 8, kernel=3, groups=8)), 4)
    blocks = [
        (5, 2, 1),
        (5, 1, 1),
        (8, 2, 1),
        (8, 1, 1),
        (8, 1, 1),
        (11, 1, 1),
        (11, 1, 2),
        (11, 1, 2),
        (11, 1, 2),
        (12, 1, 2),
        (12, 1, 2),
        (12, 1, 2),
        (18, 1, 2),
        (18, 1, 4),
        (18, 1, 4),
        (32, 1, 4),
    ]
    for channels, stride, dilation in blocks:
        before = b.values[x].shape[1]
        y = b.relu6(b.conv(x, 6 * before))
        y = b.relu6(b.conv(y, 6 * before, kernel=3, stride=stride, dilation=dilation, groups=6 * before))
        y = b.conv(y, channels)
        x = b.node("Add", x, y) if channels == before else y
    pooled = b.node("Relu", b.conv(b.node("GlobalAveragePool", x), 28))
    pooled = b.resize(pooled, 9, 9, "align_corners")
    x = b.node("Concat", pooled, b.node("Relu", b.conv(x, 28)), axis=1)
    x = b.node("Relu", b.conv(x, 28))
    low = b.resize(b.conv(x, 21, norm=False, gain=3.0), 9, 9, "align_corners")
    model = b.model("mini", b.resize(low, 65, 65, "align_corners"))
    scores, logits = run(model, {"picture": b.values["picture"]}, [low, model.graph.output[0].name])
    return (
        model,
        picture,
        Facts(scale=[scale], bias=[bias], order="RGB", labels=VOC_LABELS),
        {"scores.npy": scores[0].transpose(1, 2, 0), "labels.png": logits[0].argmax(0).astype(np.uint8)},
    )


def mini_selfie():
    """One probability a pixel, from the operators that `mini` lacks; blue first, and not square."""
    picture = synthetic_picture(48, 40, seed=2)
    scale, bias = [1 / 255, 1 / 128, 1 / 64], [0.0, -1.0, -2.0]
    seen = picture[..., ::-1] * np.float32(scale) + np.float32(bias)
    b = Builder(seen.transpose(2, 0, 1)[None], seed=256)

    def hard_sigmoid(x):
        return b.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)

    def hard_swish(x):
        return b.node("Mul", x, hard_sigmoid(x))

    def spelt_hard_swish(x):
        gate = b.node("Clip", b.node("Add", x, b.constant(3.0)), b.constant(0.0), b.constant(6.0))
        return b.node("Div", b.node("Mul", x, gate), b.constant(6.0))

    first = hard_swish(b.conv("picture", 12, kernel=3, stride=2))
    x = b.node("MaxPool", first, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = spelt_hard_swish(b.conv(x, 20, kernel=3, groups=4))
    gate = b.node("Relu", b.conv(b.node("GlobalAveragePool", x), 8, norm=False))
    x = b.node("Mul", x, hard_sigmoid(b.conv(gate, 20, norm=False)))
    x = b.node("Add", x, b.conv(b.node("GlobalAveragePool", x), 20, norm=False))
    x = b.node("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], count_include_pad=0)
    y = b.node("AveragePool", x, kernel_shape=[2, 3], strides=[2, 2], pads=[0, 1, 0, 1], count_include_pad=1)
    y = b.node("Sigmoid", b.conv(y, 20, kernel=5, groups=20))
    y = b.resize(y, 10, 12, "asymmetric")
    x = b.node("Concat", x, y, axis=1)
    x = b.resize(x, 20, 24, "half_pixel")
    x = b.node("Add", b.conv(x, 12), first)
    x = hard_swish(b.conv(x, 12, kernel=3, dilation=3, groups=12))
    weight = b.constant(b.random.normal(0, 1.0, (12, 1, 3, 2)))
    x = b.node("ConvTranspose", x, weight, b.constant([-0.2]), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 0])
    model = b.model("mini-selfie", b.node("Sigmoid", x))
    (mask,) = run(model, {"picture": b.values["picture"]}, [model.graph.output[0].name])
    return (
        model,
        picture,
        Facts(scale=scale, bias=bias, order="BGR", labels=["background", "person"]),
        {"mask.npy": mask[0, 0]},
    )


def main(folder):
    for name, make in (("mini", mini), ("mini-selfie", mini_selfie)):
        model, picture, facts, answers = make()
        with tempfile.TemporaryDirectory() as temporary:
            source = os.path.join(temporary, name + ".onnx")
            onnx.save(model, source)
            convert(source, os.path.join(folder, name + ".safetensors"), facts)
        Image.fromarray(picture).save(os.path.join(folder, name + ".input.png"))
        for ending, values in answers.items():
            path = os.path.join(folder, f"{name}.{ending}")
            if ending.endswith(".npy"):
                np.save(path, np.ascontiguousarray(values, np.float32))
            else:
                Image.fromarray(values).save(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
