"""Builds small ONNX graphs for the tests."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class OnnxGraph:
    """Collects nodes; `picture` is the input."""

    def __init__(self, height=9, width=11, channels=3, opset=13, seed=7, dtype=TensorProto.FLOAT):
        self.size, self.opset, self.dtype = (height, width, channels), opset, dtype
        self.nodes, self.initializers, self.random = [], [], np.random.default_rng(seed)

    def constant(self, values, dtype=np.float32):
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def noise(self, *shape, low=-1.0, high=1.0):
        return self.constant(self.random.uniform(low, high, shape))

    def node(self, kind, *inputs, more_outputs=(), **attributes):
        """Adds a node and gives its first output; trailing inputs may be left out as ""."""
        output = f"{kind}_{len(self.nodes)}"
        outputs = [output, *(f"{output}_{name}" for name in more_outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=output, **attributes))
        return output

    def conv(self, x, inputs, outputs, kernel=3, bias=True, **attributes):
        attributes.setdefault("pads", [kernel // 2] * 4)
        if attributes["pads"] is None:  # auto_pad
            del attributes["pads"]
        group = attributes.get("group", 1)
        more = [self.noise(outputs)] if bias else []
        return self.node(
            "Conv",
            x,
            self.noise(outputs, inputs // group, kernel, kernel),
            *more,
            kernel_shape=[kernel] * 2,
            **attributes,
        )

    def batch_norm(self, x, channels):
        return self.node(
            "BatchNormalization",
            x,
            self.noise(channels, low=0.5, high=2),
            self.noise(channels),
            self.noise(channels),
            self.noise(channels, low=0.1, high=3),
            epsilon=1e-3,
        )

    def model(self, output, open_size=False):
        height, width, channels = self.size
        shape = [1, channels, "height", "width"] if open_size else [1, channels, height, width]
        graph = helper.make_graph(
            self.nodes,
            "test",
            [helper.make_tensor_value_info("picture", self.dtype, shape)],
            [helper.make_empty_tensor_value_info(output)],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        return model

    def picture(self):
        height, width, channels = self.size
        return self.random.uniform(-2, 2, (1, channels, height, width)).astype(np.float32)


def save(model, path):
    onnx.save(model, str(path))
    return path
