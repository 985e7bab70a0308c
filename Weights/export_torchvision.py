#!/usr/bin/python3
"""Writes torchvision's DeepLabV3 networks with random weights as ONNX, for the tests. Nothing is downloaded.

usage: export_torchvision.py deeplabv3_resnet50|deeplabv3_mobilenet_v3_large OUT.onnx

For Debian's Python with python3-torchvision (0.14). The weights come from a seed, and the batch norms' statistics
are random too, so that a converter that forgets one of them is found out. Operator set 13, input 1x3x129x129.
"""

import sys
import warnings

import torch
import torchvision

SIDE = 129
SEED = 257


class Scores(torch.nn.Module):
    """The segmentation scores alone, without the name around them."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, picture):
        return self.network(picture)["out"]


def pictures(count):
    """Random pictures of all grains, -1 ... 1."""
    noise = [torch.rand(1, 3, side, side) * 2 - 1 for side in [3 + 4 * index for index in range(count)]]
    return torch.cat([torch.nn.functional.interpolate(small, (SIDE, SIDE), mode="bilinear") for small in noise])


def randomise(network):
    """Random batch norms whose statistics lie around the true ones, so that values stay of order 1 in every layer."""
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        torch.nn.init.uniform_(norm.weight, 0.7, 1.3)
        torch.nn.init.normal_(norm.bias, 0, 0.2)
        norm.momentum = None  # statistics become the mean over all that was seen
    network.train()
    with torch.no_grad():
        network(pictures(8))
    network.eval()
    for norm in norms:
        # Image pooling gives nearly the same for all pictures: a small variance would blow the differences up.
        norm.running_var.clamp_(min=0.2 * norm.running_mean.square().mean().item())
        norm.running_mean += 0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
        norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.8, 1.25)
    # The last layer's own initialisation leaves the scores close to each other.
    last = [module for module in network.classifier.modules() if isinstance(module, torch.nn.Conv2d)][-1]
    torch.nn.init.normal_(last.weight, 0, 0.2)


def main(name, target):
    torch.manual_seed(SEED)
    network = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=21)
    randomise(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Scores(network).eval(),
            pictures(1),
            target,
            opset_version=13,
            input_names=["picture"],
            output_names=["scores"],
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,
        )


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large"):
        sys.exit(__doc__.split("\n\n")[1])
    main(*sys.argv[1:])
