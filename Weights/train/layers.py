"""The parts that networks are made of. Maps are N x H x W x C. There are no batch norms: `settle` gives every layer's
result a standard size once, from a few pictures."""

import torch
from operators import NO_LIMIT, depthwise, pointwise
from torch import nn
from torch.nn import functional

RELU6 = 6.0
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


class Rise(nn.Module):
    """One step of a decoder: a coarse map brought to the size of a finer one, the two added and smoothed.

        coarse -> 1x1 -> resized \\
                                  add, ReLU -> depthwise 3x3 -> 1x1, ReLU
        fine   -> 1x1 ----------- /
    """

    def __init__(self, coarse, fine, channels):
        super().__init__()
        self.reduce = Pointwise(coarse, channels)
        self.lateral = Pointwise(fine, channels)
        self.depthwise = Depthwise(channels, 1)
        self.mix = Pointwise(channels, channels, NO_LIMIT)

    def joined(self, coarse, fine):
        return (resize(self.reduce(coarse), fine.shape[1:3]) + self.lateral(fine)).relu()

    def forward(self, coarse, fine):
        return self.mix(self.depthwise(self.joined(coarse, fine)))

    def settle(self, coarse, fine):
        self.reduce.settle(coarse)
        self.lateral.settle(fine)
        y = self.joined(coarse, fine)
        self.depthwise.settle(y)
        self.mix.settle(self.depthwise(y))


def resize(x, sides):
    """N x H x W x C: bilinear, corners aligned."""
    return upsample(x.permute(0, 3, 1, 2), tuple(sides)).permute(0, 2, 3, 1)


def upsample(maps, size):
    """N x C x H x W: bilinear, corners aligned, to (height, width) or a side."""
    size = (size, size) if isinstance(size, int) else size
    return functional.interpolate(maps, size=size, mode="bilinear", align_corners=True)
