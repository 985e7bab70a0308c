"""DeepLabV3 on MobileNetV2, as the published networks of its kind (no atrous branches), perhaps with a decoder.

    stem and 17 inverted residuals  ->  1x1 convolution      \\
                                    ->  mean of the map, 1x1  >  concat  ->  1x1 convolution  ->  1x1, the classes
                                                             /                               \\
    after blocks 13, 6, 3: the maps of stride 16, 8, 4  ->  the decoder, where there is one  ->  1x1, the classes
From the output stride on, strides become dilations, so the same weights serve every stride and input size. A decoder
gives a map of stride 16, 8 or 4.
"""

import torch
from layers import Depthwise, InvertedResidual, Pointwise, Rise, Stem
from operators import NO_LIMIT
from store import CLASSES
from torch import nn

# (channels, blocks, stride) of each group of inverted residuals
GROUPS = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))
STEM = 32
STRIDES = (8, 16, 32)
# The blocks whose results a decoder takes, and their channels: of stride 16, 8 and 4.
TAPS = ((12, 96), (5, 32), (2, 24))


class Head(nn.Module):
    """What stands behind MobileNetV2: gives the features of which the classes are told."""

    def __init__(self, inputs, channels):
        super().__init__()
        self.local = Pointwise(inputs, channels, NO_LIMIT)
        self.pooled = Pointwise(inputs, channels, NO_LIMIT)
        self.join = Pointwise(2 * channels, channels, NO_LIMIT)

    def joined(self, x):
        local, pooled = self.local(x), self.pooled(x.mean((1, 2), keepdim=True))
        return torch.cat([pooled.expand_as(local), local], -1)

    def forward(self, x):
        return self.join(self.joined(x))

    def settle(self, x):
        self.local.settle(x)
        y = self.pooled(x.mean((1, 2), keepdim=True))
        self.pooled.weight.data /= y.std().clamp(min=1e-3)
        self.join.settle(self.joined(x))


class DeepLabV3(nn.Module):
    """The network; `forward` gives (logits, features of the head, results of all blocks).

    - expansions: how many times more channels an inverted residual has inside, for each of GROUPS (the first has the
      stem's); one number: for all
    - head: channels of the 1x1 convolutions behind MobileNetV2
    - decoder: channels at strides 16, 8 and 4, or the first of these; none: no decoder
    """

    def __init__(self, expansions=4.0, head=256, stem=STEM, decoder=(), classes=CLASSES, stride=16):
        super().__init__()
        expansions = list(expansions) if isinstance(expansions, (list, tuple)) else [expansions]
        expansions *= len(GROUPS) if len(expansions) == 1 else 1
        self.shape = {
            "expansions": expansions,
            "head": head,
            "stem": stem,
            "decoder": list(decoder),
            "classes": classes,
        }
        channels, blocks = 3, []
        for (outputs, count, step), ratio in zip(GROUPS, expansions, strict=True):
            for index in range(count):
                first = None if blocks else stem
                blocks.append(InvertedResidual(channels, outputs, step if index == 0 else 1, ratio, first))
                channels = outputs
        self.blocks = nn.ModuleList(blocks)
        self.head = Head(channels, head)
        rises, channels = [], head
        if len(decoder) > len(TAPS):
            raise ValueError("too many steps of the decoder")
        for width, (_, fine) in zip(decoder, TAPS):
            rises.append(Rise(channels, fine, width))
            channels = width
        self.rises = nn.ModuleList(rises)
        self.classes = Pointwise(channels, classes)
        self.set_stride(stride)

    def set_stride(self, stride):
        """Sets the output stride of the trunk, one of STRIDES. Weights stay."""
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
        return *self.told(results), results

    def apart(self, x, results):
        """As `forward`, but every block is given what another network of the same shape outside has found before it."""
        own = [block(given) for block, given in zip(self.blocks, [x, *results])]
        return *self.told(results), own

    def told(self, results):
        """(logits, features of the head) from the results of all blocks."""
        y = features = self.head(results[-1])
        for rise, (tap, _) in zip(self.rises, TAPS):
            y = rise(y, results[tap])
        return self.classes(y), features

    @torch.no_grad()
    def settle(self, x, results, logits):
        """Gives every layer's result a standard size, from what another network finds on a few pictures. `logits`: its
        answer where that is what this one is to give."""
        for block, given, wanted in zip(self.blocks, [x, *results], results):
            block.settle(given, wanted)
        self.head.settle(results[-1])
        y = self.head(results[-1])
        for rise, (tap, _) in zip(self.rises, TAPS):
            rise.settle(y, results[tap])
            y = rise(y, results[tap])
        if logits.shape[:-1] == y.shape[:-1] and logits.shape[-1] == len(self.classes.bias):
            self.classes.settle(y, logits.mean((0, 1, 2)), logits.reshape(-1, logits.shape[-1]).std(0) / 2)
        else:
            self.classes.settle(y)


def misfit(size, stride):
    """What is wrong with a side of the input and an output stride; None: nothing."""
    if stride not in STRIDES:
        return f"the output stride is {stride}, not {', '.join(map(str, STRIDES[:-1]))} or {STRIDES[-1]}"
    if size <= stride or size % stride != 1:
        # The corners of the map are the corners of the picture, as the resizing of the classes takes them to be.
        near = max(size // stride, 1) * stride + 1
        return f"the size is {size}, not a multiple of the output stride {stride} and one more, such as {near}"
    return None


@torch.no_grad()
def cost(net, size):
    """(multiply-accumulates of all convolutions for one picture, parameters)."""
    count = 0

    def add(part, _, result):
        nonlocal count
        count += part.weight.numel() * result.shape[1] * result.shape[2]

    hooks = [p.register_forward_hook(add) for p in net.modules() if isinstance(p, (Pointwise, Depthwise, Stem))]
    net(torch.zeros(1, size, size, 3))
    for hook in hooks:
        hook.remove()
    return count, sum(p.numel() for p in net.parameters())
