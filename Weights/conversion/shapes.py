"""Shapes of all tensors of a network, height x width x channels."""

from .errors import ConversionError
from .network import Network

# The limits that the reader in Swift sets (Sources/ModelGraph/ModelLimits.swift): what would be refused there is not
# written here.
MAX_SIDE = 16_384
MAX_CHANNELS = 65_536
MAX_ELEMENTS = 1 << 28
MAX_LAYERS = 4096
MAX_WINDOW = 4096

# Layers or nodes of a file, most of which become parts of others: what is past this is refused before time is spent.
MAX_NODES = 16_384
MAX_WEIGHT_BYTES = 2 << 30  # as float32, of all layers

# How many numbers each attribute has, and how many inputs each operator.
LENGTHS = {"stride": 2, "dilation": 2, "kernel": 2, "size": 2, "block": 2, "padding": 4, "crop": 4}
INPUTS = {"add": (2, 2), "mul": (2, 2), "concat": (1, 1024)}


def shapes(network: Network) -> dict:
    """The shape of each tensor by its name."""
    known = {network.input: check(tuple(network.shape), "the input")}
    for layer in network.layers:
        check_form(layer)
        inputs = []
        for name in layer.inputs:
            if name not in known:
                raise ConversionError(f"layer {layer.name}: reads {name}, which nothing before it gives")
            inputs.append(known[name])
        if layer.output in known:
            raise ConversionError(f"layer {layer.name}: writes {layer.output} a second time")
        known[layer.output] = check(output_shape(layer, inputs), f"layer {layer.name}")
    if network.output not in known:
        raise ConversionError(f"no layer gives the output {network.output}")
    return known


def check_weights(layers, before: int) -> int:
    """The bytes of the weights of the layers and of those before: layers may share what is written for each."""
    total = before
    for layer in layers:
        total = add_weights(
            layer.name, total, sum(values.nbytes for values in (layer.weight, layer.bias) if values is not None)
        )
    return total


def add_weights(layer: str, before: int, count: int) -> int:
    """The bytes of the weights so far, with those that a layer has or is about to have."""
    if before + count > MAX_WEIGHT_BYTES:
        raise ConversionError(f"layer {layer}: the weights up to it take more than {MAX_WEIGHT_BYTES >> 20} MiB")
    return before + count


def check_form(layer):
    """Refuses a layer that a damaged file gave too few or too many inputs or numbers."""
    least, most = INPUTS.get(layer.op, (1, 1))
    if not least <= len(layer.inputs) <= most:
        raise ConversionError(f"layer {layer.name}: {layer.op} of {len(layer.inputs)} inputs")
    for key, length in LENGTHS.items():
        numbers = layer.attributes.get(key)
        if numbers is not None and len(numbers) != length:
            raise ConversionError(f"layer {layer.name}: its {key} is {list(numbers)}, expected {length} numbers")
        if numbers is not None and key != "size" and not 0 <= min(numbers) <= max(numbers) <= MAX_WINDOW:
            raise ConversionError(f"layer {layer.name}: its {key} {list(numbers)} is out of range")


def check(shape, what):
    """The shape, if it is within the limits."""
    height, width, channels = (int(size) for size in shape)
    if not (
        1 <= height <= MAX_SIDE
        and 1 <= width <= MAX_SIDE
        and 1 <= channels <= MAX_CHANNELS
        and height * width * channels <= MAX_ELEMENTS
    ):
        raise ConversionError(f"{what}: {height}x{width}x{channels} is empty or past the limits")
    return height, width, channels


def slide(size, kernel, stride, dilation, before, after):
    """Number of positions of a window along one side."""
    return (size + before + after - ((kernel - 1) * dilation + 1)) // stride + 1


def output_shape(layer, inputs):
    """The shape of a layer's result."""
    height, width, channels = inputs[0]
    op, attributes = layer.op, layer.attributes

    def fail(reason):
        raise ConversionError(f"layer {layer.name}: {reason}")

    if op in ("conv2d", "depthwiseConv2d", "transposeConv2d"):
        if layer.weight is None or layer.weight.ndim != 4:
            fail("its weights do not have four dimensions")
        outputs, per_group, *kernel = layer.weight.shape
        stride, dilation, (top, left, bottom, right) = layer.get("stride"), layer.get("dilation"), layer.get("padding")
        if min(stride + dilation + kernel) < 1 or max(kernel) > MAX_WINDOW:
            fail(f"kernel {kernel}, stride {stride} or dilation {dilation} is out of range")
        if layer.bias is not None and layer.bias.shape != (outputs,):
            fail(f"a bias of shape {list(layer.bias.shape)} for {outputs} output channels")
        groups = channels if op == "depthwiseConv2d" else layer.get("groups")
        if groups < 1 or per_group * groups != channels or outputs % groups:
            fail(f"weights of shape {list(layer.weight.shape)} in {groups} groups on {channels} channels")
        if op == "depthwiseConv2d" and outputs != channels:
            fail(f"depthwise weights of shape {list(layer.weight.shape)} on {channels} channels")
        if op == "transposeConv2d":
            return (
                (height - 1) * stride[0] + kernel[0] - top - bottom,
                (width - 1) * stride[1] + kernel[1] - left - right,
                outputs,
            )
        return (
            slide(height, kernel[0], stride[0], dilation[0], top, bottom),
            slide(width, kernel[1], stride[1], dilation[1], left, right),
            outputs,
        )
    if op in ("add", "mul"):
        first, second = inputs
        if first[2] != second[2] or (first[:2] != second[:2] and (1, 1) not in (first[:2], second[:2])):
            fail(f"combines maps of shape {first} and {second}")
        return second if first[:2] == (1, 1) else first
    if op == "concat":
        if any(shape[:2] != (height, width) for shape in inputs):
            fail(f"concatenates maps of different size: {inputs}")
        return height, width, sum(shape[2] for shape in inputs)
    if op == "globalAveragePool":
        return 1, 1, channels
    if op in ("averagePool", "maxPool"):
        kernel, stride, (top, left, bottom, right) = attributes["kernel"], layer.get("stride"), layer.get("padding")
        if min(kernel + stride) < 1 or max(top, bottom) >= kernel[0] or max(left, right) >= kernel[1]:
            fail(f"kernel {kernel}, stride {stride} or padding {[top, left, bottom, right]} is out of range")
        return (
            slide(height, kernel[0], stride[0], 1, top, bottom),
            slide(width, kernel[1], stride[1], 1, left, right),
            channels,
        )
    if op == "resizeBilinear":
        return *attributes["size"], channels
    if op == "argMax":
        return height, width, 1
    if op == "affine":
        for values in (attributes["scale"], attributes["shift"]):
            if len(values) not in (1, channels):
                fail(f"a constant of {len(values)} values for {channels} channels")
        return inputs[0]
    if op in ("softmax", "activation", "identity"):
        return inputs[0]
    if op in ("pad", "spaceToBatch"):
        top, left, bottom, right = attributes["padding"]
        block = attributes.get("block", [1, 1])
        if min(block) < 1 or (height + top + bottom) % block[0] or (width + left + right) % block[1]:
            fail(f"blocks of {block} do not divide the padded {height}x{width} map")
        return (height + top + bottom) // block[0], (width + left + right) // block[1], channels
    if op == "batchToSpace":
        top, left, bottom, right = attributes["crop"]
        block = attributes["block"]
        return height * block[0] - top - bottom, width * block[1] - left - right, channels
    return fail(f"operator {op} is not supported")
