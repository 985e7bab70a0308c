#!/usr/bin/env python3
"""Makes a model file (Weights/FORMAT.md) of a checkpoint, and checks it.

usage: export.py [CHECKPOINT] OUT.safetensors

The averaged weights are taken and stored as float16. The file is then run by ONNX Runtime and compared with PyTorch; it
is only written where they agree.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import checkpoint
import numpy as np
import torch
from command import count, ends_in_one_line
from layers import ACTIVATIONS, Depthwise, Pointwise, upsample
from model import TAPS, misfit
from store import DEFAULT_WORK
from tasks import TASKS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversion.container import encode, write
from conversion.description import describe
from conversion.network import Facts, Layer, Network
from conversion.simplify import simplify

INPUT = "picture"
LICENCE = "Apache-2.0"
MAX_BYTES = 3_000_000
# float16 keeps 11 bits: logits of about 10 move by some hundredths on the way through the layers.
TOLERANCE = 0.02


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="export.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", nargs="?", default=f"{DEFAULT_WORK}/checkpoint.pt", help="default: the last one")
    parser.add_argument("output", metavar="OUT.safetensors")
    parser.add_argument("--size", type=count, help="side of the input; default: that of the stage the training was in")
    parser.add_argument("--stride", type=count, help="output stride; default: likewise")
    parser.add_argument("--name", help="default: that of the task's model")
    parser.add_argument("--licence", default=LICENCE)
    parser.add_argument("--upstream", default="trained by Weights/train of this project, from random weights")
    options = parser.parse_args(arguments)
    if not options.output.endswith(".safetensors"):
        parser.error(f"{options.output}: a model file's name ends with .safetensors")
    path = Path(options.checkpoint).expanduser()
    net, saved = checkpoint.read(path)
    size, stride = options.size or saved["size"], options.stride or saved["stride"]
    if wrong := misfit(size, stride):
        parser.error(f"--size and --stride: {wrong}")
    net.set_stride(stride)
    one_channel(net)
    task = TASKS[saved["task"]]
    facts = Facts(
        scale=[1 / 127.5],
        bias=[-1],
        order="RGB",
        labels=list(task.labels),
        kind="logits",
        name=options.name or task.model,
        licence=options.licence,
        upstream=options.upstream,
    )
    source = {"file": f"after {saved['seen']} pictures", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    data = model_bytes(net, size, facts, source)
    worst, same = compare(data, net, size)
    print(f"{options.output}: {len(data)} bytes, {size}x{size}, output stride {stride}, {saved['seen']} pictures seen")
    print(f"ONNX Runtime against PyTorch: relative difference at most {worst:.4f}, {same:.2%} of the labels the same")
    if len(data) > MAX_BYTES:
        sys.exit(f"export.py: {len(data)} bytes are more than {MAX_BYTES}: set smaller --expansions")
    if not worst <= TOLERANCE:
        sys.exit(f"export.py: a difference of {worst:.4f} is more than {TOLERANCE}")
    write(options.output, data)


class Writer:
    """Turns the modules into layers of the converter's network."""

    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)
        return layer.output

    def convolution(self, module, name, x):
        """A convolution, its bias, and the activation if there is one."""
        weight, attributes, op = module.weight.detach().numpy(), {}, "conv2d"
        if isinstance(module, Pointwise):
            weight = weight[:, :, None, None]
        elif isinstance(module, Depthwise):
            pairs = {"stride": module.stride, "dilation": module.dilation, "padding": module.dilation}
            op, attributes = "depthwiseConv2d", {key: [value] * 2 for key, value in pairs.items()}
            attributes["padding"] *= 2
        else:
            attributes = {"stride": [2, 2], "padding": [1, 1, 1, 1]}
        activation = ACTIVATIONS[module.limit]
        return self.add(Layer(op, name, [x], name, weight, module.bias.detach().numpy(), activation, attributes))

    def resize(self, name, x, side):
        attributes = {"size": [side] * 2, "convention": "alignCorners"}
        return self.add(Layer("resizeBilinear", name, [x], name, attributes=attributes))

    def network(self, net, size):
        x, results, side = INPUT, [], (size + 1) // 2
        for index, block in enumerate(net.blocks):
            name, y = f"block{index + 1}", x
            for part in ("expand", "depthwise", "project"):
                y = self.convolution(getattr(block, part), f"{name}/{part}", y)
            x = self.add(Layer("add", f"{name}/add", [x, y], f"{name}/add")) if block.adds else y
            side = (side - 1) // block.depthwise.stride + 1
            results.append((x, side))
        local = self.convolution(net.head.local, "local", x)
        pooled = self.add(Layer("globalAveragePool", "mean", [x], "mean"))
        pooled = self.resize("pooled/spread", self.convolution(net.head.pooled, "pooled", pooled), side)
        x = self.add(Layer("concat", "concat", [pooled, local], "concat"))
        x = self.convolution(net.head.join, "join", x)
        for number, (rise, (tap, _)) in enumerate(zip(net.rises, TAPS), 1):
            name, (fine, larger) = f"rise{number}", results[tap]
            x = self.convolution(rise.reduce, f"{name}/reduce", x)
            if larger != side:
                x, side = self.resize(f"{name}/resize", x, larger), larger
            fine = self.convolution(rise.lateral, f"{name}/lateral", fine)
            x = self.add(Layer("add", f"{name}/add", [x, fine], f"{name}/add", activation="relu"))
            x = self.convolution(rise.mix, f"{name}/mix", self.convolution(rise.depthwise, f"{name}/depthwise", x))
        x = self.convolution(net.classes, "classes", x)
        return Network(INPUT, (size, size, 3), self.layers, self.resize("scores", x, size))


def one_channel(net):
    """Where there are two classes, makes the network give the difference of their logits, of which a sigmoid is what a
    soft-max is of both: one map less to bring to the size of the picture."""
    if len(net.classes.bias) == 2:
        for values in (net.classes.weight, net.classes.bias):
            values.data = values[1:] - values[:1]


def model_bytes(net, size, facts, source) -> bytes:
    """The model file."""
    network = simplify(Writer().network(net, size))
    return encode(describe(network, facts, source), network.layers, float16=True)


def compare(data, net, size):
    """(largest difference of the logits relative to their size, share of labels that agree) on made-up pictures."""
    from evaluate import Runner

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        Path(path).write_bytes(data)
        runner = Runner(path)
    random, worst, same = np.random.default_rng(0), 0.0, []
    for _ in range(3):
        coarse = torch.from_numpy(random.uniform(0, 255, (1, 3, 9, 9)).astype(np.float32))
        picture = upsample(coarse, size)[0].permute(1, 2, 0).numpy().astype(np.uint8)
        tensor = runner.model.normalise(picture)
        found = runner.session.run(None, {INPUT: tensor})[0][0]
        with torch.no_grad():
            logits = net(torch.from_numpy(tensor).permute(0, 2, 3, 1))[0]
            expected = upsample(logits.permute(0, 3, 1, 2), size)[0].numpy()
        # As NumPy compares: what is not a number stays.
        worst = float(np.maximum(worst, np.abs(found - expected).max() / np.maximum(np.abs(expected).max(), 1)))
        labels = [scores[0] >= 0 if len(scores) == 1 else scores.argmax(0) for scores in (found, expected)]
        same.append(float((labels[0] == labels[1]).mean()))
    return worst, float(np.mean(same))


if __name__ == "__main__":
    main(sys.argv[1:])
