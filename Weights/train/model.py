"""DeepLabV3 on MobileNetV2, as the published networks of its kind: no atrous branches, no decoder.

    stem and 17 inverted residuals  ->  1x1 convolution      \\
                                    ->  mean of the map, 1x1  >  concat  ->  1x1 convolution  ->  1x1, the classes
                                                             /
From output stride 16 (or 8) on, strides become dilations, so the same weights serve every stride and input size.
"""

import torch
from store import CLASSES
from torch import nn
from torch.nn import functional

# (expansion, channels, blocks, stride) of each group of inverted residuals
GROUPS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def scaled(channels, width):
    """The channels for a width multiplier: a multiple of 8, never below 90 per cent."""
    rounded = max(8, int(channels * width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels * width else rounded


def conv(inputs, outputs, kernel=1, stride=1, groups=1, activation=nn.ReLU6):
    """A convolution, its batch norm, and the activation."""
    parts = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*parts, *([activation(inplace=True)] if activation else []))


class InvertedResidual(nn.Module):
    """1x1 to more channels, 3x3 in each of them, 1x1 to few; added to its input where the shapes allow."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        inner = inputs * expansion
        self.stride = stride
        self.adds = stride == 1 and inputs == outputs
        self.expand = conv(inputs, inner) if expansion != 1 else None
        self.depthwise = conv(inner, inner, 3, stride, groups=inner)
        self.project = conv(inner, outputs, activation=None)

    def forward(self, x):
        y = x if self.expand is None else self.expand(x)
        y = self.project(self.depthwise(y))
        return x + y if self.adds else y


class DeepLabV3(nn.Module):
    """Gives logits on the map of the output stride, the features before them, and the mean of MobileNetV2's last map.

    `upsample` brings maps to a size.

    - width: multiplier of the channels of MobileNetV2
    - head: channels of the three 1x1 convolutions behind it
    """

    def __init__(self, width=0.75, head=256, stride=16):
        super().__init__()
        self.width, self.head = width, head
        channels = scaled(32, width)
        self.stem = conv(3, channels, 3, 2)
        blocks = []
        for expansion, outputs, count, step in GROUPS:
            for index in range(count):
                blocks.append(InvertedResidual(channels, scaled(outputs, width), step if index == 0 else 1, expansion))
                channels = scaled(outputs, width)
        self.blocks = nn.ModuleList(blocks)
        self.local = conv(channels, head, activation=nn.ReLU)
        # No batch norm here: with one value a picture it would mix the pictures of a batch.
        self.pooled = nn.Sequential(nn.Conv2d(channels, head, 1), nn.ReLU(inplace=True))
        self.join = conv(2 * head, head, activation=nn.ReLU)
        self.classes = nn.Conv2d(head, CLASSES, 1)
        self.set_stride(stride)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out" if module.groups == 1 else "fan_in")
        nn.init.normal_(self.classes.weight, 0, 0.01)
        nn.init.zeros_(self.classes.bias)

    def set_stride(self, stride):
        """Sets the output stride: 8, 16 or 32. Weights stay."""
        now, dilation = 2, 1
        for block in self.blocks:
            layer = block.depthwise[0]
            step, before = block.stride, dilation
            if step == 2 and now >= stride:
                step, dilation = 1, dilation * 2
            now *= step
            # The block that gives up its stride still sees its input as before.
            layer.stride, layer.dilation, layer.padding = (step,) * 2, (before,) * 2, (before,) * 2
        self.stride = stride

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        local = self.local(x)
        mean = x.mean((2, 3), keepdim=True)
        features = self.join(torch.cat([self.pooled(mean).expand_as(local), local], 1))
        return self.classes(features), features, mean


def upsample(maps, size):
    """Bilinear, corners aligned, to (height, width) or a side."""
    size = (size, size) if isinstance(size, int) else size
    return functional.interpolate(maps, size=size, mode="bilinear", align_corners=True)


def cost(model, size):
    """Multiply-accumulates of all convolutions for one picture, and the parameters without batch norms' statistics."""
    counts, handles = [], []

    def count(layer, inputs, output):
        counts.append(output[0].numel() * layer.weight[0].numel())

    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            handles.append(module.register_forward_hook(count))
    training = model.training
    model.eval()
    with torch.no_grad():
        model(torch.zeros(1, 3, size, size))
    model.train(training)
    for handle in handles:
        handle.remove()
    folded = sum(m.weight.numel() + m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d))
    return sum(counts), folded
