"""What is trained: the network, its loss, and its parameters as one vector."""

import numpy as np
import torch
from model import DeepLabV3, upsample
from store import HINTS
from torch import nn
from torch.nn import functional


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
    """The network, and the convolution that compares its features with the teacher's."""

    def __init__(self, width, head):
        super().__init__()
        self.net = DeepLabV3(width, head)
        self.compare = nn.Conv2d(head, HINTS, 1)

    def losses(self, batch, device):
        """(against the classes, against the teacher's features) of a batch of `Samples`."""
        pictures, target, weight, hints, hint_weight = (torch.from_numpy(np.ascontiguousarray(a)) for a in batch)
        pictures = vary_colours(pictures.permute(0, 3, 1, 2).float()).to(device) / 127.5 - 1
        logits, features = self.net(pictures.contiguous(memory_format=torch.channels_last))
        target, weight, hints, hint_weight = (t.to(device) for t in (target, weight, hints, hint_weight))
        scores = functional.log_softmax(upsample(logits.float(), target.shape[-1]), 1)
        loss = (-(target * scores).sum(1) * weight).sum() / weight.sum().clamp(min=1)
        errors = (self.compare(features) - hints).pow(2).mean(1)
        hint_loss = (errors * hint_weight).sum() / hint_weight.sum().clamp(min=1)
        return loss, hint_loss


def vary_colours(pictures):
    """Random contrast, brightness, saturation and tint of each picture; now and then no colour at all."""
    count = len(pictures)
    uniform = lambda reach, channels=1: 1 + (torch.rand(count, channels, 1, 1) * 2 - 1) * reach
    gray = pictures.mean(1, keepdim=True)
    saturation = uniform(0.4) * (torch.rand(count, 1, 1, 1) > 0.05)
    pictures = gray + (pictures - gray) * saturation
    middle = gray.mean((2, 3), keepdim=True)
    pictures = (middle + (pictures - middle) * uniform(0.3)) * uniform(0.25) * uniform(0.08, 3)
    return pictures.clamp(0, 255)
