"""The JSON document of a model file, and what must be known for it."""

import numpy as np

from .errors import ConversionError
from .network import DEFAULTS, Facts, Network
from .shapes import shapes
from .text import clean

# In the order in which they are written.
ATTRIBUTES = ("stride", "dilation", "padding", "groups", "kernel", "countsPadding", "size", "convention")


def describe(network: Network, facts: Facts, source: dict) -> dict:
    """The document for a network of plain layers.

    Layers name their tensors `NAME.weight` and `NAME.bias`. What neither the file nor a flag says is refused.
    """
    height, width, channels = network.shape
    if channels not in (1, 3):
        raise ConversionError(f"its input has {channels} channels, only 3 (colours) or 1 (grey) are supported")
    order = facts.order or ("GRAY" if channels == 1 else None)
    if order is None:
        raise unknown("the order of its colours", "--order RGB or BGR")
    if channels != (1 if order == "GRAY" else 3):
        raise ConversionError(f"its input has {channels} channels, which is no {order} picture")
    if facts.scale is None or facts.bias is None:
        raise unknown("how pictures are normalised for it", "--scale and --bias")
    scale, bias = (
        spread(values, channels, flag) for values, flag in ((facts.scale, "--scale"), (facts.bias, "--bias"))
    )
    scale, bias = scale * network.input_scale, bias * network.input_scale + network.input_shift
    if not np.isfinite(scale).all() or not np.isfinite(bias).all():
        raise ConversionError("the scale or bias of its input is not finite")

    outputs = shapes(network)[network.output][2]
    kind = facts.kind or output_kind(network)
    if kind is None:
        raise unknown("whether its scores are logits or probabilities", "--output-kind")
    if facts.labels is None:
        raise unknown(f"the names of its {max(outputs, 2)} classes", "--labels")
    labels = [clean(label) for label in facts.labels if clean(label)]
    if outputs == len(labels) == 1:
        labels.insert(0, "background")
    if len(labels) != max(outputs, 2):
        raise ConversionError(f"{len(labels)} labels for {max(outputs, 2)} classes: set them with --labels")

    document = {
        "version": 1,
        "name": clean(facts.name) or "unnamed",
        "input": {
            "name": network.input,
            "width": width,
            "height": height,
            "order": order,
            "scale": single(scale),
            "bias": single(bias),
        },
        "output": {"name": network.output, "kind": kind},
        "labels": labels,
    }
    if facts.palette is not None:
        if len(facts.palette) < len(labels):
            raise ConversionError(f"{len(facts.palette)} colours for {len(labels)} classes: set them with --palette")
        document["palette"] = facts.palette[: len(labels)]
    document["layers"] = [describe_layer(layer) for layer in network.layers]
    texts = source | {"licence": facts.licence, "upstream": facts.upstream}
    document["source"] = {key: clean(text) for key, text in texts.items() if text and clean(text)}
    return document


def unknown(what, flag):
    """The refusal that names the flag."""
    return ConversionError(f"{what} is not known: set {flag}")


def spread(values, channels, flag):
    """One value a channel, of one or as many."""
    if len(values) not in (1, channels):
        raise ConversionError(f"{len(values)} values for {channels} channels: set {flag}")
    return np.broadcast_to(np.asarray(values, np.float64), (channels,))


def single(values):
    """float32 values in their shortest decimal form."""
    return [float(str(np.float32(value))) for value in values]


def output_kind(network):
    """What the last layers say of the scores; None where they leave it open."""
    layer = network.producer(network.output)
    while layer is not None and layer.op == "resizeBilinear":
        layer = network.producer(layer.inputs[0])
    if layer is None:
        return None
    if layer.op == "softmax" or layer.activation == "sigmoid":
        return "probabilities"
    return "logits" if layer.op in ("conv2d", "transposeConv2d") and layer.activation == "none" else None


def describe_layer(layer):
    """One entry of `layers`, without what has its default."""
    entry = {"op": layer.op, "name": layer.name, "inputs": layer.inputs, "output": layer.output}
    if layer.weight is not None:
        entry["weight"] = layer.name + ".weight"
    if layer.bias is not None:
        entry["bias"] = layer.name + ".bias"
    forgotten = set(layer.attributes) - set(ATTRIBUTES)
    assert not forgotten, f"{layer.op} has attributes that would not be written: {forgotten}"
    for key in ATTRIBUTES:
        if key in layer.attributes:
            value = layer.attributes[key]
            value = [int(number) for number in value] if isinstance(value, (list, tuple)) else value
            if value != DEFAULTS.get(key):
                entry[key] = value
    if layer.activation != "none":
        entry["activation"] = layer.activation
    return entry
