"""What is trained: the network, its loss, and its parameters as one vector."""

from contextlib import nullcontext

import torch
from model import DeepLabV3, upsample
from store import CLASSES, HINTS
from torch import nn
from torch.nn import functional

PRESENT = 0.01  # the share of a picture that a class must have to count as shown


class Weights:
    """The parameters of a network as one vector that processes can share, those with weight decay first."""

    def __init__(self, model):
        named = sorted(model.parameters(), key=lambda p: p.dim() == 1)  # stable
        self.decayed = sum(p.numel() for p in named if p.dim() > 1)
        self.parameters = named
        self.values = torch.cat([p.detach().reshape(-1) for p in named])

    def bind(self, values, gradients):
        """Makes the parameters and their gradients views of two vectors."""
        at = 0
        for p in self.parameters:
            p.data = values[at : at + p.numel()].view(p.shape)
            p.grad = gradients[at : at + p.numel()].view(p.shape)
            at += p.numel()


class Trainee(nn.Module):
    """The network, and what only training needs: comparing its features with the teacher's, and naming the classes
    of the whole picture."""

    def __init__(self, width, head):
        super().__init__()
        self.net = DeepLabV3(width, head)
        self.compare = nn.Conv2d(head, HINTS, 1)
        self.presence = nn.Conv2d(self.net.pooled[0].in_channels, CLASSES, 1)

    def losses(self, batch, device, focus=0):
        """Of a batch of `Samples`: by pixel, against the teacher's features, by the classes of the whole picture.

        - focus: how much more a pixel weighs that is no background than one that is
        """
        pictures, target, known, hints, hint_weight = (part.to(device) for part in batch)
        pictures = vary_colours(pictures.permute(0, 3, 1, 2).float()) / 127.5 - 1
        # Half the bits are quicker on a GPU only.
        with nullcontext() if device == "cpu" else torch.autocast("cuda", torch.bfloat16):
            logits, features, mean = self.net(pictures.contiguous(memory_format=torch.channels_last))
        features, mean = features.float(), mean.float()
        scores = functional.log_softmax(upsample(logits.float(), target.shape[-1]), 1)
        weight = known * (1 + focus * (1 - target[:, 0]))
        loss = (-(target * scores).sum(1) * weight).sum() / weight.sum().clamp(min=1)
        errors = (self.compare(features) - hints).pow(2).mean(1)
        hint_loss = (errors * hint_weight).sum() / hint_weight.sum().clamp(min=1)
        shown = ((target * known[:, None]).sum((2, 3)) > PRESENT * known.sum((1, 2))[:, None]).float()
        named = self.presence(mean)[:, :, 0, 0]
        presence_loss = functional.binary_cross_entropy_with_logits(named, shown, reduction="none").sum(1).mean()
        return loss, hint_loss, presence_loss


def vary_colours(pictures):
    """Random contrast, brightness, saturation and tint of each picture; now and then no colour at all."""
    random = lambda channels=1: torch.rand(len(pictures), channels, 1, 1, device=pictures.device)
    uniform = lambda reach, channels=1: 1 + (random(channels) * 2 - 1) * reach
    gray = pictures.mean(1, keepdim=True)
    saturation = uniform(0.4) * (random() > 0.05)
    pictures = gray + (pictures - gray) * saturation
    middle = gray.mean((2, 3), keepdim=True)
    pictures = (middle + (pictures - middle) * uniform(0.3)) * uniform(0.25) * uniform(0.08, 3)
    return pictures.clamp(0, 255)
