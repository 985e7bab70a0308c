"""From a model file to ONNX, for other engines: to check the converter against them, and for training.

The ONNX network takes NCHW float32 that is already normalised and gives the model's output. With `every_tensor` it
gives the result of each layer, under the name of the layer's output.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .model_file import ModelFile

OPSET = 14
CONVENTIONS = {"alignCorners": "align_corners", "halfPixel": "half_pixel", "asymmetric": "asymmetric"}


def to_onnx(model: ModelFile, every_tensor: bool = False) -> onnx.ModelProto:
    """The network as an ONNX model."""
    return Exporter(model).model(every_tensor)


class Exporter:
    """Collects the nodes of one graph."""

    def __init__(self, model):
        self.source, self.nodes, self.initializers = model, [], []

    def model(self, every_tensor):
        for layer in self.source.layers:
            getattr(self, "write_" + layer["op"])(layer)
        document = self.source.document
        size = document["input"]
        outputs = [layer["output"] for layer in self.source.layers] if every_tensor else [document["output"]["name"]]
        graph = helper.make_graph(
            self.nodes,
            document["name"],
            [
                helper.make_tensor_value_info(
                    size["name"], TensorProto.FLOAT, [1, len(size["scale"]), size["height"], size["width"]]
                )
            ],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="silhouette")
        model.ir_version = 8
        return model

    def constant(self, name, values, dtype=np.float32):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values, dtype), name))
        return name

    def node(self, kind, layer, inputs, **attributes):
        """Adds a node for the layer, and nodes for the activation after it."""
        kind_after, output = layer.get("activation", "none"), layer["output"]
        result = output if kind_after == "none" else output + "/linear"
        self.nodes.append(helper.make_node(kind, inputs, [result], **attributes))
        if kind_after != "none":
            self.activate(kind_after, result, output)

    def activate(self, kind, source, output):
        if kind == "relu6":
            bounds = [self.constant(f"{output}/{bound}", float(bound)) for bound in (0, 6)]
            self.nodes.append(helper.make_node("Clip", [source, *bounds], [output]))
        elif kind == "hardSigmoid":
            self.nodes.append(helper.make_node("HardSigmoid", [source], [output], alpha=1 / 6, beta=0.5))
        else:
            names = {"none": "Identity", "relu": "Relu", "hardSwish": "HardSwish", "sigmoid": "Sigmoid"}
            self.nodes.append(helper.make_node(names[kind], [source], [output]))

    def convolution(self, kind, layer, weight, **attributes):
        inputs = [layer["inputs"][0], self.constant(layer["weight"], weight)]
        if "bias" in layer:
            inputs.append(self.constant(layer["bias"], self.source.tensor(layer["bias"])))
        self.node(
            kind,
            layer,
            inputs,
            kernel_shape=weight.shape[2:],
            strides=layer.get("stride", [1, 1]),
            dilations=layer.get("dilation", [1, 1]),
            pads=layer.get("padding", [0, 0, 0, 0]),
            **attributes,
        )

    def write_conv2d(self, layer):
        self.convolution("Conv", layer, self.source.tensor(layer["weight"]), group=layer.get("groups", 1))

    def write_depthwiseConv2d(self, layer):
        weight = self.source.tensor(layer["weight"])
        self.convolution("Conv", layer, weight, group=weight.shape[0])

    def write_transposeConv2d(self, layer):
        self.convolution("ConvTranspose", layer, self.source.tensor(layer["weight"]).transpose(1, 0, 2, 3))

    def write_add(self, layer):
        self.node("Add", layer, layer["inputs"])

    def write_mul(self, layer):
        self.node("Mul", layer, layer["inputs"])

    def write_concat(self, layer):
        self.node("Concat", layer, layer["inputs"], axis=1)

    def write_globalAveragePool(self, layer):
        self.node("GlobalAveragePool", layer, layer["inputs"])

    def write_averagePool(self, layer):
        self.node(
            "AveragePool",
            layer,
            layer["inputs"],
            kernel_shape=layer["kernel"],
            strides=layer.get("stride", [1, 1]),
            pads=layer.get("padding", [0, 0, 0, 0]),
            count_include_pad=int(layer.get("countsPadding", False)),
        )

    def write_maxPool(self, layer):
        self.node(
            "MaxPool",
            layer,
            layer["inputs"],
            kernel_shape=layer["kernel"],
            strides=layer.get("stride", [1, 1]),
            pads=layer.get("padding", [0, 0, 0, 0]),
        )

    def write_resizeBilinear(self, layer):
        # Batch and channels are kept: their scale is 1. ONNX wants all four sizes, or all four scales.
        channels = self.source.shapes[layer["output"]][2]
        size = self.constant(layer["output"] + "/size", [1, channels, *layer["size"]], np.int64)
        self.node(
            "Resize",
            layer,
            [layer["inputs"][0], "", "", size],
            mode="linear",
            coordinate_transformation_mode=CONVENTIONS[layer["convention"]],
        )

    def write_softmax(self, layer):
        self.node("Softmax", layer, layer["inputs"], axis=1)

    def write_argMax(self, layer):
        index = layer["output"] + "/index"
        self.nodes.append(helper.make_node("ArgMax", layer["inputs"], [index], axis=1, keepdims=1))
        self.nodes.append(helper.make_node("Cast", [index], [layer["output"]], to=TensorProto.FLOAT))

    def write_activation(self, layer):
        self.activate(layer["activation"], layer["inputs"][0], layer["output"])
