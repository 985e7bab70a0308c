"""The teacher: a published network of the student's shape, wider inside, from a model file."""

import command  # noqa: F401  (finds the converter's modules)
import numpy as np
import torch
from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from layers import ACTIVATIONS
from model import DeepLabV3

WIDE = {"expansions": 6.0, "head": 256, "stem": 32}


def load_teacher(path) -> DeepLabV3:
    """The network of a model file (Weights/convert.py makes one) that must be DeepLabV3 on MobileNetV2 of width 1."""
    file = ModelFile(path)
    picture = file.document["input"]
    if picture["order"] != "RGB" or not np.allclose([picture["scale"], picture["bias"]], [[1 / 127.5], [-1]], 0.01):
        raise SystemExit(f"{path}: the teacher must see RGB from -1 to 1")
    if file.document["labels"] != list(VOC_LABELS):
        raise SystemExit(f"{path}: the teacher's classes must be those of PASCAL VOC, in their order")
    convolutions = [layer for layer in file.layers if layer["op"] in ("conv2d", "depthwiseConv2d")]
    net = DeepLabV3(**WIDE)
    parts = [part for part in net.modules() if hasattr(part, "bias")]
    if len(parts) != len(convolutions):
        raise SystemExit(f"{path}: {len(convolutions)} convolutions, the teacher must have {len(parts)}")
    for part, layer in zip(parts, convolutions):
        weight, expected = torch.from_numpy(file.tensor(layer["weight"])), tuple(part.weight.shape)
        if weight.shape != expected + (1,) * (4 - len(expected)) or "bias" not in layer:
            raise SystemExit(f"{path}: {layer['name']} is {tuple(weight.shape)}, not {expected} with a bias")
        if (found := layer.get("activation", "none")) != ACTIVATIONS[part.limit]:
            raise SystemExit(f"{path}: after {layer['name']} comes {found}, not {ACTIVATIONS[part.limit]}")
        part.weight.data = weight.reshape(expected).contiguous()
        part.bias.data = torch.from_numpy(file.tensor(layer["bias"]))
    return net.requires_grad_(False)
