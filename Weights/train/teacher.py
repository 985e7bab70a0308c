"""The teacher: a published network of the student's shape, wider inside, from a model file."""

import sys
from pathlib import Path

import torch
from model import DeepLabV3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

WIDE = {"expansion": 6.0, "last": 6.0, "head": 256, "stem": 32}


def load_teacher(path) -> DeepLabV3:
    """The network of a model file (Weights/convert.py makes one) that must be DeepLabV3 on MobileNetV2 of width 1."""
    from conversion.model_file import ModelFile

    file = ModelFile(path)
    convolutions = [layer for layer in file.layers if layer["op"] in ("conv2d", "depthwiseConv2d")]
    net = DeepLabV3(**WIDE)
    parts = [part for part in net.modules() if hasattr(part, "bias")]
    if len(parts) != len(convolutions):
        raise SystemExit(f"{path}: {len(convolutions)} convolutions, the teacher must have {len(parts)}")
    for part, layer in zip(parts, convolutions):
        weight = torch.from_numpy(file.tensor(layer["weight"]))
        if weight.numel() != part.weight.numel():
            raise SystemExit(f"{path}: {layer['name']} is {tuple(weight.shape)}, not {tuple(part.weight.shape)}")
        part.weight.data = weight.reshape(part.weight.shape).contiguous()
        part.bias.data = torch.from_numpy(file.tensor(layer["bias"]))
    return net.requires_grad_(False)
