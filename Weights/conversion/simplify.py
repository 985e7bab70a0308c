"""From the many spellings of a network to plain layers.

Every step keeps what the network computes (in exact arithmetic) and the order of the layers.
"""

import math

import numpy as np

from .errors import ConversionError
from .network import CONVOLUTIONS, WITH_ACTIVATION, Layer, Network, activation, affine
from .shapes import MAX_LAYERS, shapes
from .text import unique

# Constants come as float32: 1/6 or 127.5/127.5 are only known to this relative error.
TOLERANCE = 1e-6


def simplify(network: Network) -> Network:
    """Rewrites the network in place until only the operators of `../FORMAT.md` are left; gives it back."""
    drop_unused(network)
    shapes(network)  # from here on, the layers are well-formed
    cut_arg_max(network)
    drop_identities(network)
    compose_affine(network)
    recognise_hard_swish(network)
    fold_input(network)
    split_clamps(network)
    fold_into_convolutions(network)
    fuse_activations(network)
    fold_space_to_batch(network)
    fold_padding(network)
    lower_affine(network)
    shapes(network)
    settle_names(network)
    if not 1 <= len(network.layers) <= MAX_LAYERS:
        raise ConversionError(f"the network has {len(network.layers)} layers, expected 1 to {MAX_LAYERS}")
    return network


def drop_unused(network):
    """Removes layers whose results nobody reads."""
    needed, kept = {network.output}, []
    for layer in reversed(network.layers):
        if layer.output in needed:
            needed.update(layer.inputs)
            kept.append(layer)
    network.layers = kept[::-1]


def cut_arg_max(network):
    """Cuts off a trailing arg-max, so that the network gives scores."""
    while (last := network.producer(network.output)) is not None and last.op in ("argMax", "identity"):
        network.layers.remove(last)
        network.output = last.inputs[0]
    for layer in network.layers:
        if layer.op == "argMax":
            raise ConversionError(f"layer {layer.name}: argMax inside the network is not supported")


def drop_identities(network):
    """Removes layers that do nothing: identities, and resizes of the picture to its own size."""
    instead, kept = {}, []  # of the result of a removed layer, what it reads
    for layer in network.layers:
        layer.inputs = [instead.get(name, name) for name in layer.inputs]
        same_size = (
            layer.op == "resizeBilinear"
            and layer.inputs[0] == network.input
            and tuple(layer.attributes["size"]) == tuple(network.shape[:2])
        )
        if (
            layer.op == "identity"
            or same_size
            or (layer.op == "pad" and not any(layer.attributes["padding"]))
            or is_identity(layer)
        ):
            instead[layer.output] = layer.inputs[0]
        else:
            kept.append(layer)
    network.layers, network.output = kept, instead.get(network.output, network.output)


def is_identity(layer):
    """Whether the layer is an affine one that changes nothing."""
    a = layer.attributes
    return (
        layer.op == "affine"
        and near(a["scale"], 1)
        and near(a["shift"], 0)
        and (a["low"], a["high"]) == (-math.inf, math.inf)
    )


def near(value, expected):
    """Whether all values are the expected one, but for the rounding of float32."""
    return bool(np.all(np.abs(np.asarray(value) - expected) <= TOLERANCE * max(1, abs(expected))))


def compose_affine(network):
    """Makes one layer of two affine ones that follow each other."""
    for second in list(network.layers):
        first = network.producer(second.inputs[0]) if second.op == "affine" else None
        # A per-channel scale may have either sign, which would need a bound for each channel.
        if first is None or first.op != "affine" or not network.is_private(first.output):
            continue
        a, b = first.attributes, second.attributes
        bounded = (a["low"], a["high"]) != (-math.inf, math.inf)
        if bounded and (len(b["scale"]) > 1 or len(b["shift"]) > 1 or b["scale"][0] == 0):
            continue
        low, high = a["low"], a["high"]
        if bounded:
            low, high = sorted(float(bound * b["scale"][0] + b["shift"][0]) for bound in (low, high))
        second.attributes = {
            "scale": a["scale"] * b["scale"],
            "shift": a["shift"] * b["scale"] + b["shift"],
            "low": min(max(low, b["low"]), b["high"]),
            "high": max(min(high, b["high"]), b["low"]),
        }
        second.inputs = list(first.inputs)
        network.layers.remove(first)
    drop_identities(network)


def recognise_hard_swish(network):
    """x * k * clamp(x / 6 + 1 / 2, 0, 1) is k * hardSwish(x), however it is spelt."""
    for product in list(network.layers):
        if product.op != "mul" or product.activation != "none":
            continue
        for x, gate_name in (product.inputs, product.inputs[::-1]):
            gate = network.producer(gate_name)
            if gate is None or gate.op != "affine" or gate.inputs != [x] or not network.is_private(gate_name):
                continue
            a = gate.attributes
            k = a["high"]
            if not (
                math.isfinite(k)
                and k > 0
                and near(a["low"] / k, 0)
                and near(a["scale"] * 6 / k, 1)
                and near(a["shift"] * 2 / k, 1)
            ):
                continue
            place = network.layers.index(product)
            swish = activation(product.name, x, product.output, "hardSwish")
            new = [swish]
            if not near(k, 1):
                swish.output = product.output + "/hardSwish"
                new.append(affine(product.name + "/scaled", swish.output, product.output, scale=k))
            network.layers[place : place + 1] = new
            network.layers.remove(gate)
            break
    compose_affine(network)


def fold_input(network):
    """Arithmetic on the picture becomes part of the input's scale and bias."""
    readers = network.consumers(network.input)
    if len(readers) != 1 or readers[0].op != "affine":
        return
    a = readers[0].attributes
    if (a["low"], a["high"]) != (-math.inf, math.inf) or readers[0].output == network.output:
        return
    network.input_scale, network.input_shift = (
        np.broadcast_to(a[key], (network.shape[2],)) for key in ("scale", "shift")
    )
    network.remove(readers[0])


def split_clamps(network):
    """Each bounded affine layer becomes a scale and shift, an activation, and a scale and shift again.

    Between any two finite bounds lies a relu6, above one bound a relu; most of the scales and shifts turn out to be 1
    and 0 and vanish. Clamping to 0 ... 1 is hardSigmoid(6 x - 3).
    """
    layers = []
    for layer in network.layers:
        if layer.op != "affine" or (layer.attributes["low"], layer.attributes["high"]) == (-math.inf, math.inf):
            layers.append(layer)
            continue
        a = layer.attributes
        low, high = a["low"], a["high"]
        if near(low, 0) and near(high, 1):
            kind, before, after = "hardSigmoid", (6, -3), (1, 0)
        elif math.isinf(high):
            kind, before, after = "relu", (1, -low), (1, low)
        elif math.isinf(low):
            kind, before, after = "relu", (-1, high), (-1, high)
        elif high > low:
            factor = 6 / (high - low)
            kind, before, after = "relu6", (factor, -low * factor), (1 / factor, low)
        else:
            raise ConversionError(f"layer {layer.name}: clamps everything to {low}")
        source, parts = layer.inputs[0], []
        first = affine(
            layer.name + "/before",
            source,
            layer.output + "/before",
            a["scale"] * before[0],
            a["shift"] * before[0] + before[1],
        )
        if not is_identity(first):
            parts.append(first)
            source = first.output
        parts.append(activation(layer.name, source, layer.output, kind))
        last = affine(layer.name + "/after", layer.output + "/clamped", layer.output, *after)
        if not is_identity(last):
            parts[-1].output = last.inputs[0]
            parts.append(last)
        layers += parts
    network.layers = layers


def fold_into_convolutions(network):
    """A scale and shift of a convolution's result becomes part of its weights and bias."""
    for layer in list(network.layers):
        if layer.op != "affine":
            continue
        before = network.producer(layer.inputs[0])
        if (
            before is None
            or before.op not in CONVOLUTIONS
            or before.activation != "none"
            or (not network.is_private(before.output))
        ):
            continue
        a = layer.attributes
        outputs = before.weight.shape[0]
        if len(a["scale"]) not in (1, outputs) or len(a["shift"]) not in (1, outputs):
            raise ConversionError(f"layer {layer.name}: constants do not fit {outputs} channels")
        scale = np.broadcast_to(a["scale"], (outputs,))
        bias = np.zeros(outputs) if before.bias is None else before.bias.astype(np.float64)
        before.weight = (before.weight.astype(np.float64) * scale[:, None, None, None]).astype(np.float32)
        before.bias = (bias * scale + a["shift"]).astype(np.float32)
        network.layers.remove(layer)
        before.output = layer.output


def fuse_activations(network):
    """An activation becomes part of the layer before it, where that has none."""
    for layer in list(network.layers):
        if layer.op != "activation":
            continue
        before = network.producer(layer.inputs[0])
        if (
            before is None
            or before.op not in WITH_ACTIVATION
            or before.activation != "none"
            or (not network.is_private(before.output))
        ):
            continue
        before.activation = layer.activation
        before.output = layer.output
        network.layers.remove(layer)


def fold_space_to_batch(network):
    """spaceToBatch, convolution, batchToSpace: a convolution with dilation (atrous convolution)."""
    for first in list(network.layers):
        if first.op != "spaceToBatch":
            continue
        known = shapes(network)
        readers = network.consumers(first.output)
        middle = readers[0] if len(readers) == 1 else None
        last = network.consumers(middle.output)[0] if middle is not None and network.is_private(middle.output) else None
        if last is None or last.op != "batchToSpace" or middle.op not in ("conv2d", "depthwiseConv2d"):
            raise ConversionError(f"layer {first.name}: spaceToBatch without one convolution and batchToSpace after it")
        block = first.attributes["block"]
        if block != last.attributes["block"] or middle.get("stride") != [1, 1] or middle.get("dilation") != [1, 1]:
            raise ConversionError(f"layer {first.name}: this form of spaceToBatch is not supported")
        before, after = [], []
        for axis in (0, 1):
            reach = (middle.weight.shape[2 + axis] - 1) * block[axis]
            start = (
                first.attributes["padding"][axis]
                - last.attributes["crop"][axis]
                + middle.get("padding")[axis] * block[axis]
            )
            before.append(start)
            after.append(known[last.output][axis] - known[first.inputs[0]][axis] - start + reach)
        if min(before + after) < 0:
            raise ConversionError(f"layer {first.name}: spaceToBatch crops more than it pads")
        middle.inputs, middle.output = list(first.inputs), last.output
        middle.attributes.update(dilation=list(block), padding=before + after)
        network.layers = [layer for layer in network.layers if layer is not first and layer is not last]


def fold_padding(network):
    """Zeros around a map become the padding of the convolutions that read it."""
    for layer in list(network.layers):
        if layer.op != "pad":
            continue
        if layer.output == network.output:
            raise ConversionError(f"layer {layer.name}: padding of the output is not supported")
        for reader in network.consumers(layer.output):
            if reader.op not in ("conv2d", "depthwiseConv2d") and not (
                reader.op == "averagePool" and reader.get("countsPadding")
            ):
                raise ConversionError(f"layer {layer.name}: padding before {reader.op} {reader.name} is not supported")
            reader.attributes["padding"] = [
                own + added for own, added in zip(reader.get("padding"), layer.attributes["padding"])
            ]
        network.remove(layer)


def lower_affine(network):
    """A scale and shift that is left becomes a depthwise 1x1 convolution, which is the same."""
    known = shapes(network)
    for index, layer in enumerate(network.layers):
        if layer.op != "affine":
            continue
        channels = known[layer.output][2]
        scale, shift = (
            np.broadcast_to(layer.attributes[key], (channels,)).astype(np.float32) for key in ("scale", "shift")
        )
        weight = scale.reshape(channels, 1, 1, 1)
        network.layers[index] = Layer("depthwiseConv2d", layer.name, layer.inputs, layer.output, weight, shift)
    fuse_activations(network)


def settle_names(network):
    """Makes the names of layers and of tensors unique, and such as a model file may hold."""
    taken = set()
    for layer in network.layers:
        layer.name = unique(layer.name, taken)
    taken = set()
    names = {old: unique(old, taken) for old in [network.input, *(layer.output for layer in network.layers)]}
    for layer in network.layers:
        layer.inputs, layer.output = [names[name] for name in layer.inputs], names[layer.output]
    network.input, network.output = names[network.input], names[network.output]
