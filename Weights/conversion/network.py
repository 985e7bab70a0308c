"""The form of a network between its reader and its writer.

A reader gives a `Network` of plain layers, the operators of `../FORMAT.md`, and of *wide* layers, which only exist here
because the formats spell one thing in many ways. `simplify` turns every wide layer into plain ones:

    affine         clamp(x * scale + shift, low, high): batch norm, arithmetic with constants, every clipping
    pad            zeros around the map, `padding` [top, left, bottom, right]
    spaceToBatch   `block` [vertical, horizontal] after `padding`
    batchToSpace   `block` [vertical, horizontal], then `crop` [top, left, bottom, right] is cut off
    identity       nothing

Maps are height x width x channels; the batch is 1 and is not written. Inside spaceToBatch ... batchToSpace the batch is
larger, which changes no layer between them.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .errors import ConversionError

ACTIVATIONS = ("none", "relu", "relu6", "hardSwish", "hardSigmoid", "sigmoid")

# Layers that hold weights and can apply an activation to their result.
CONVOLUTIONS = ("conv2d", "depthwiseConv2d", "transposeConv2d")
WITH_ACTIVATION = (*CONVOLUTIONS, "add", "mul")

# What an attribute is where it is absent.
DEFAULTS = {"stride": [1, 1], "dilation": [1, 1], "padding": [0, 0, 0, 0], "groups": 1, "countsPadding": False}


@dataclass(eq=False)  # a layer is the same as itself alone
class Layer:
    """One step. `attributes` holds what `../FORMAT.md` lists for the operator, under the same names."""

    op: str
    name: str
    inputs: list
    output: str
    weight: np.ndarray | None = None
    bias: np.ndarray | None = None
    activation: str = "none"
    attributes: dict = field(default_factory=dict)

    def get(self, key):
        """The attribute, or its default."""
        return self.attributes[key] if key in self.attributes else DEFAULTS[key]


@dataclass
class Facts:
    """What a file says of itself beyond its layers. None where it says nothing."""

    scale: list | None = None
    bias: list | None = None
    order: str | None = None
    labels: list | None = None
    palette: list | None = None
    kind: str | None = None
    name: str | None = None
    licence: str | None = None
    upstream: str | None = None

    def overlaid(self, other):
        """These facts, with those that `other` has in their place."""
        return Facts(
            **{key: value if getattr(other, key) is None else getattr(other, key) for key, value in vars(self).items()}
        )


@dataclass
class Network:
    """Layers in an order in which they can run, from one input to one output.

    `shape` is the input's. The layers see `x * input_scale + input_shift`, with x what the file calls its input.
    """

    input: str
    shape: tuple
    layers: list
    output: str
    facts: Facts = field(default_factory=Facts)
    input_scale: np.ndarray | float = 1.0
    input_shift: np.ndarray | float = 0.0
    notes: list = field(default_factory=list)  # what its user should know, a line each

    def producer(self, tensor):
        """The layer that writes the tensor; None for the input."""
        return next((layer for layer in self.layers if layer.output == tensor), None)

    def consumers(self, tensor):
        """The layers that read the tensor."""
        return [layer for layer in self.layers if tensor in layer.inputs]

    def is_private(self, tensor):
        """Whether exactly one layer, and nobody outside, reads the tensor."""
        return tensor != self.output and len(self.consumers(tensor)) == 1

    def remove(self, layer):
        """Takes out a layer with one input; its readers read that input instead."""
        if layer.output == self.output:
            self.output = layer.inputs[0]
        for reader in self.consumers(layer.output):
            reader.inputs = [layer.inputs[0] if name == layer.output else name for name in reader.inputs]
        self.layers = [other for other in self.layers if other is not layer]


def choose_output(names, wanted):
    """The output that counts, and a list of notes on it: the wanted one, or the first."""
    if wanted is not None:
        if wanted not in names:
            raise ConversionError(f"it has no output {wanted}: --output takes one of {', '.join(names)}")
        return wanted, []
    if not names:
        raise ConversionError("it has no output")
    several = f"it has {len(names)} outputs, {', '.join(names)}: {names[0]} is taken, --output NAME takes another"
    return names[0], [several] if len(names) > 1 else []


def affine(name, source, output, scale=1.0, shift=0.0, low=-math.inf, high=math.inf):
    """clamp(x * scale + shift, low, high), each of scale and shift one number or one a channel."""
    if not low <= high:  # or one is no number
        raise ConversionError(f"layer {name}: clamps to {low:g} ... {high:g}, which is not supported")
    vector = lambda value: np.atleast_1d(np.asarray(value, np.float64)).reshape(-1)
    return Layer(
        "affine",
        name,
        [source],
        output,
        attributes={"scale": vector(scale), "shift": vector(shift), "low": float(low), "high": float(high)},
    )


def activation(name, source, output, kind):
    """A layer that applies one of the activations."""
    return Layer("activation", name, [source], output, activation=kind)


def same_padding(sizes, kernel, stride, dilation, heavy_end=True):
    """[top, left, bottom, right] that make the output's size the input's divided by the stride, rounded up.

    The odd row or column goes to the bottom and right, or to the top and left where `heavy_end` is false.
    """
    before, after = [], []
    for size, taps, step, spread in zip(sizes, kernel, stride, dilation):
        out = -(-size // step)
        total = max((out - 1) * step + (taps - 1) * spread + 1 - size, 0)
        small = total // 2
        before.append(small if heavy_end else total - small)
        after.append(total - small if heavy_end else small)
    return before + after


def binary(op, name, operands, output, constants):
    """Add, subtract, multiply or divide two tensors, each the name of a map or an entry of `constants`.

    Arithmetic with a constant, a number or one value a channel (given flat), becomes an affine layer.
    """
    left, right = operands
    known = [constants.get(operand) for operand in operands]
    if known[0] is not None and known[1] is not None:
        raise ConversionError(f"layer {name}: {op} of two constants is not supported")
    if known[0] is not None and op in ("add", "mul"):
        (left, right), known = (right, left), known[::-1]
    if known[1] is not None:
        value = np.asarray(known[1], np.float64)
        if op == "div" and not value.all():
            raise ConversionError(f"layer {name}: division by zero")
        if op in ("add", "sub"):
            return [affine(name, left, output, shift=value if op == "add" else -value)]
        return [affine(name, left, output, scale=value if op == "mul" else 1 / value)]
    if known[0] is not None:
        if op != "sub":
            raise ConversionError(f"layer {name}: a constant divided by a map is not supported")
        return [affine(name, right, output, scale=-1, shift=known[0])]
    if op == "div":
        raise ConversionError(f"layer {name}: division of two maps is not supported")
    if op == "sub":
        negated = f"{name}/negated"
        return [affine(negated, right, negated, scale=-1), Layer("add", name, [left, negated], output)]
    return [Layer(op, name, [left, right], output)]
