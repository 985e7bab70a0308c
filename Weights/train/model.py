"""DeepLabV3 on MobileNetV2, as the published networks of its kind: no atrous branches, no decoder.

    stem and 17 inverted residuals  ->  1x1 convolution      \\
                                    ->  mean of the map, 1x1  >  concat  ->  1x1 convolution  ->  1x1, the classes
                                                             /
From output stride 16 (or 8) on, strides become dilations, so the same weights serve every stride and input size.
Maps are N x H x W x C. There are no batch norms: `settle` gives every layer's result a standard size once, from a few
pictures.
"""

import torch
from operators import NO_LIMIT, depthwise, pointwise
from store import CLASSES
from torch import nn
from torch.nn import functional

# (channels, blocks, stride) of each group of inverted residuals
GROUPS = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))
STEM = 32
RELU6 = 6.0
STRIDES = (8, 16, 32)
# By the limit of a layer's result, None: without one. What a model file calls it.
ACTIVATIONS = {None: "none", RELU6: "relu6", NO_LIMIT: "relu"}


class Pointwise(nn.Module):
    """A 1x1 convolution with bias; ReLU up to `limit`, None: no activation."""

    def __init__(self, inputs, outputs, limit=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.limit = limit

    def forward(self, x):
        return pointwise(x, self.weight, self.bias, self.limit)

    def settle(self, x, mean=0.0, deviation=1.0):
        """Scales the weights, so that each channel's result before the activation has this mean and deviation."""
        settle(self, pointwise(x, self.weight, self.bias), mean, deviation)


class Depthwise(nn.Module):
    """A depthwise 3x3 convolution with bias and ReLU6."""

    limit = RELU6

    def __init__(self, channels, stride):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, 3, 3) / 3)
        self.bias = nn.Parameter(torch.zeros(channels))
        self.stride, self.dilation = stride, 1

    def forward(self, x):
        return depthwise(x, self.weight, self.bias, self.stride, self.dilation, self.limit)

    def settle(self, x):
        """Scales the weights, so that each channel's result before the activation has mean 0 and deviation 1."""
        channels = len(self.weight)
        settle(
            self,
            functional.conv2d(
                x.permute(0, 3, 1, 2), self.weight, self.bias, self.stride, self.dilation, self.dilation, channels
            ).permute(0, 2, 3, 1),
            0.0,
            1.0,
        )


def settle(layer, y, mean, deviation):
    y = y.reshape(-1, y.shape[-1])
    scale = deviation / y.std(0).clamp(min=1e-3)
    layer.weight.data *= scale.view(-1, *(1,) * (layer.weight.dim() - 1))
    layer.bias.data = mean - y.mean(0) * scale + layer.bias.data * scale


class Stem(nn.Module):
    """A 3x3 convolution of stride 2 with bias and ReLU6."""

    limit = RELU6

    def __init__(self, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, 3, 3, 3) / 27**0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, limit=RELU6):
        # As a 1x1 convolution over the 27 values that a point sees.
        padded = functional.pad(x, (0, 0, 1, 1, 1, 1))
        seen = padded.unfold(1, 3, 2).unfold(2, 3, 2).reshape(len(x), *((side + 1) // 2 for side in x.shape[1:3]), 27)
        return pointwise(seen, self.weight.flatten(1), self.bias, limit)

    def settle(self, x):
        settle(self, self(x, None), 0.0, 1.0)


class InvertedResidual(nn.Module):
    """1x1 to more channels, 3x3 in each of them, 1x1 to few; added to its input where the shapes allow."""

    def __init__(self, inputs, outputs, stride, expansion, stem=None):
        super().__init__()
        inner = stem or max(int(inputs * expansion + 8) // 16 * 16, 16)
        self.stride = stride
        self.adds = stride == 1 and inputs == outputs
        self.expand = Stem(inner) if stem else Pointwise(inputs, inner, RELU6)
        self.depthwise = Depthwise(inner, stride)
        self.project = Pointwise(inner, outputs)

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y

    def settle(self, x, wanted):
        """Standard sizes inside; the result begins with the mean and half the deviation of what is wanted."""
        self.expand.settle(x)
        y = self.expand(x)
        self.depthwise.settle(y)
        y = self.depthwise(y)
        change = (wanted - x if self.adds else wanted).reshape(-1, wanted.shape[-1])
        self.project.settle(y, change.mean(0), change.std(0) / 2)


class Head(nn.Module):
    """What stands behind MobileNetV2: gives logits and the features before them."""

    def __init__(self, inputs, channels):
        super().__init__()
        self.local = Pointwise(inputs, channels, NO_LIMIT)
        self.pooled = Pointwise(inputs, channels, NO_LIMIT)
        self.join = Pointwise(2 * channels, channels, NO_LIMIT)
        self.classes = Pointwise(channels, CLASSES)

    def joined(self, x):
        local, pooled = self.local(x), self.pooled(x.mean((1, 2), keepdim=True))
        return torch.cat([pooled.expand_as(local), local], -1)

    def forward(self, x):
        features = self.join(self.joined(x))
        return self.classes(features), features

    def settle(self, x, wanted):
        self.local.settle(x)
        y = self.pooled(x.mean((1, 2), keepdim=True))
        self.pooled.weight.data /= y.std().clamp(min=1e-3)
        y = self.joined(x)
        self.join.settle(y)
        self.classes.settle(self.join(y), wanted.mean((0, 1, 2)), wanted.reshape(-1, CLASSES).std(0) / 2)


class DeepLabV3(nn.Module):
    """The network; `forward` gives (logits, features before them, results of all blocks).

    - expansion: how many times more channels an inverted residual has inside; `last`: the last one, the largest of all
    - head: channels of the three 1x1 convolutions behind MobileNetV2
    """

    def __init__(self, expansion=4.0, last=3.6, head=256, stem=STEM, stride=16):
        super().__init__()
        self.shape = {"expansion": expansion, "last": last, "head": head, "stem": stem}
        channels, blocks = 3, []
        for outputs, count, step in GROUPS:
            for index in range(count):
                ratio, first = last if outputs == GROUPS[-1][0] else expansion, None if blocks else stem
                blocks.append(InvertedResidual(channels, outputs, step if index == 0 else 1, ratio, first))
                channels = outputs
        self.blocks = nn.ModuleList(blocks)
        self.head = Head(channels, head)
        self.set_stride(stride)

    def set_stride(self, stride):
        """Sets the output stride, one of STRIDES. Weights stay."""
        now, dilation = 2, 1
        for block in self.blocks:
            step, before = block.stride, dilation
            if step == 2 and now >= stride:
                step, dilation = 1, dilation * 2
            now *= step
            # The block that gives up its stride still sees its input as before.
            block.depthwise.stride, block.depthwise.dilation = step, before
        self.stride = stride

    def forward(self, x):
        """x: N x H x W x 3, from -1 to 1."""
        results = []
        for block in self.blocks:
            x = block(x)
            results.append(x)
        return *self.head(x), results

    def apart(self, x, results):
        """As `forward`, but every block is given what another network of the same shape outside has found before it."""
        own = [block(given) for block, given in zip(self.blocks, [x, *results])]
        return *self.head(results[-1]), own

    @torch.no_grad()
    def settle(self, x, results, logits):
        """Gives every layer's result a standard size, from what another network finds on a few pictures."""
        for block, given, wanted in zip(self.blocks, [x, *results], results):
            block.settle(given, wanted)
        self.head.settle(results[-1], logits)


def misfit(size, stride):
    """What is wrong with a side of the input and an output stride; None: nothing."""
    if stride not in STRIDES:
        return f"the output stride is {stride}, not {', '.join(map(str, STRIDES[:-1]))} or {STRIDES[-1]}"
    if size <= stride or size % stride != 1:
        # The corners of the map are the corners of the picture, as the resizing of the classes takes them to be.
        near = max(size // stride, 1) * stride + 1
        return f"the size is {size}, not a multiple of the output stride {stride} and one more, such as {near}"
    return None


def upsample(maps, size):
    """N x C x H x W: bilinear, corners aligned, to (height, width) or a side."""
    size = (size, size) if isinstance(size, int) else size
    return functional.interpolate(maps, size=size, mode="bilinear", align_corners=True)


def cost(model, size):
    """(multiply-accumulates of all convolutions for one picture, parameters)."""
    count, side = 0, (size + 1) // 2
    for block in model.blocks:
        count += block.expand.weight.numel() * side**2
        side = (side - 1) // block.depthwise.stride + 1
        count += (block.depthwise.weight.numel() + block.project.weight.numel()) * side**2
    head = model.head
    count += (head.local.weight.numel() + head.join.weight.numel() + head.classes.weight.numel()) * side**2
    return count + head.pooled.weight.numel(), sum(p.numel() for p in model.parameters())
