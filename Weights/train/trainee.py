"""What is trained: the network and its losses, and its parameters as one vector."""

import torch
from layers import upsample
from model import DeepLabV3
from operators import distance
from torch import nn
from torch.nn import functional

# Once the blocks are trained as one, one of so many pictures of a batch is compared with the teacher, which takes a
# third of a step's time.
HINTED = 2
# Points of the loss to and fro that count as around a point.
EDGE = 9


class Weights:
    """The parameters of a network as one vector that processes can share."""

    def __init__(self, model):
        self.parameters = dict(model.named_parameters())
        self.values = torch.cat([p.detach().reshape(-1) for p in self.parameters.values()])

    def views(self, vector):
        """The vector's part for each parameter, in its shape."""
        parts = vector.split([p.numel() for p in self.parameters.values()])
        return [part.view(p.shape) for part, p in zip(parts, self.parameters.values())]

    def bind(self, values, gradients):
        """Makes the parameters and their gradients views of two vectors."""
        for p, value, gradient in zip(self.parameters.values(), self.views(values), self.views(gradients)):
            p.data, p.grad = value, gradient

    def state(self, values):
        """The state that a network of the same shape loads, on the CPU."""
        return {name: part.cpu().clone() for name, part in zip(self.parameters, self.views(values))}


def sizes(model):
    """How large each parameter is by its kind, as one vector: steps are in proportion to it. A weight's is the root
    mean square of its layer's; a bias's is a third of what the layer's results may be expected to be."""
    parts = []
    for module in model.modules():
        own = list(module.parameters(recurse=False))
        if own:
            weight = module.weight.detach()
            size = weight.square().mean().sqrt()
            parts.append(size.expand(weight.numel()))
            parts.append((size * weight[0].numel() ** 0.5 / 3).expand(module.bias.numel()))
    return torch.cat(parts)


class Trainee(nn.Module):
    """The network beside its teacher."""

    def __init__(self, shape, teacher):
        super().__init__()
        self.net = DeepLabV3(**shape)
        self.teachers = [teacher]  # in a list: its weights are no parameters of this module

    def meet(self, batch, stride, settle):
        """Learns from one batch how much the teacher's results vary.

        - settle: whether to set the size of every layer's result, at the start of a training
        """
        pictures = normalised(torch.as_tensor(batch[0]))
        self.set_stride(stride)
        logits, features, results = self.teachers[0](pictures)
        self.spreads = [spread_of(maps) for maps in (*results, logits, features)]
        if settle:
            self.net.settle(pictures, results, logits)

    def move(self, device):
        """To another device, with the teacher."""
        self.to(device)
        self.teachers[0].to(device)
        self.spreads = [spread.to(device) for spread in self.spreads]

    def set_stride(self, stride):
        for net in (self.net, *self.teachers):
            net.set_stride(stride)

    def losses(self, batch, device, stride, apart, focus=0, edge=0, hints=True):
        """Of a batch of `Samples`: by pixel, and the distance to what the teacher finds after each block.

        - apart: whether each block is given what the teacher has found before it, not what the block before it gives
        - focus: how much more a pixel weighs that is no background than one that is
        - edge: how much more a pixel weighs around which background and all else are in balance
        """
        pictures, target, known = (torch.as_tensor(part).to(device) for part in batch)
        pictures = normalised(vary_colours(pictures.float()))
        self.set_stride(stride)
        separation, asked = pictures.new_zeros(()), len(pictures) if apart else -(-len(pictures) // HINTED)
        if hints or apart:
            with torch.no_grad():
                wanted_logits, wanted_features, wanted = self.teachers[0](pictures[:asked])
        logits, features, found = self.net.apart(pictures, wanted) if apart else self.net(pictures)
        if hints or apart:
            own = [maps[:asked] for maps in (*found, logits, features)]
            pairs = zip(own, (*wanted, wanted_logits, wanted_features), self.spreads)
            distances = [distance(*three) for three in pairs if three[0].shape == three[1].shape]
            separation = torch.stack(distances).mean()
        scores = functional.log_softmax(upsample(logits.permute(0, 3, 1, 2), target.shape[-1]), 1)
        weight = 1 + focus * (1 - target[:, 0])
        if edge:
            around = functional.avg_pool2d(target[:, :1], EDGE, 1, EDGE // 2, count_include_pad=False)[:, 0]
            weight = weight + edge * 4 * around * (1 - around)
        weight = known * weight
        loss = (-(target * scores).sum(1) * weight).sum() / weight.sum().clamp(min=1)
        return loss, separation


def spread_of(maps):
    """How much each channel varies: its variance, never far below the mean of all."""
    spread = maps.reshape(-1, maps.shape[-1]).var(0)
    return spread + 0.1 * spread.mean() + 1e-6


def normalised(pictures):
    return pictures.float() / 127.5 - 1


def vary_colours(pictures):
    """Random contrast, brightness, saturation and tint of each picture; now and then no colour at all."""
    random = lambda channels=1: torch.rand(len(pictures), 1, 1, channels, device=pictures.device)
    uniform = lambda reach, channels=1: 1 + (random(channels) * 2 - 1) * reach
    gray = pictures.mean(3, keepdim=True)
    saturation = uniform(0.4) * (random() > 0.05)
    pictures = gray + (pictures - gray) * saturation
    middle = gray.mean((1, 2), keepdim=True)
    pictures = (middle + (pictures - middle) * uniform(0.3)) * uniform(0.25) * uniform(0.08, 3)
    return pictures.clamp(0, 255)
