"""The guided filter (He, Sun, Tang 2010) with a colour picture as its guide: brings a map to the picture's edges."""

import torch
from torch.nn import functional


def guided(picture, maps, radius, epsilon):
    """maps: H x W, where the picture (H x W x 3, from 0 to 1) is flat they are smoothed, at its edges they follow it.

    In every window the result is a linear function of the picture's colours, the one that fits the map best.

    - epsilon: variances of the picture below this count as flat
    """
    side = 2 * radius + 1

    def mean(planes):
        for kernel, padding in (((side, 1), (radius, 0)), ((1, side), (0, radius))):
            planes = functional.avg_pool2d(planes[None], kernel, 1, padding, count_include_pad=False)[0]
        return planes

    colours = picture.permute(2, 0, 1)
    centre, level = mean(colours), mean(maps[None])
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    products = mean(torch.stack([colours[i] * colours[j] for i, j in pairs]))
    common = mean(colours * maps) - centre * level
    (rr, rg, rb, gg, gb, bb) = (
        p - centre[i] * centre[j] + (epsilon if i == j else 0) for (i, j), p in zip(pairs, products)
    )
    # The inverse of the symmetric 3x3 matrix, by its cofactors: solving one system a pixel takes fifty times as long.
    first = (gg * bb - gb * gb, rb * gb - rg * bb, rg * gb - rb * gg)
    second = (rr * bb - rb * rb, rb * rg - rr * gb, rr * gg - rg * rg)
    determinant = rr * first[0] + rg * first[1] + rb * first[2]
    rows = (first, (first[1], *second[:2]), (first[2], *second[1:]))
    slopes = torch.stack([sum(c * v for c, v in zip(row, common)) / determinant for row in rows])
    offsets = level - (slopes * centre).sum(0, keepdim=True)
    slopes, offset = mean(slopes), mean(offsets)[0]
    return ((slopes * colours).sum(0) + offset).clamp(0, 1)
