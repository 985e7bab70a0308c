"""A model file whose network is right, but coarse: it knows roughly where a subject is, whatever it is shown."""

import json
import struct

import numpy as np
from PIL import Image

SIDE = 257
CERTAINTY = 6  # logits by which the subject exceeds the background, far from its edge
ERROR = 0.06  # of a cell's share of subject, standard deviation


def coarse(alpha, cells, random):
    """What a network with so many columns and rows of answers could know of a scene: how much of a cell is subject,
    mixed with the cells around it, and not exactly. Logits, subject less background.

    The first and the last cell are centred on the first and the last pixel, as in DeepLab.
    """
    small = np.asarray(Image.fromarray(alpha).resize((SIDE, SIDE), Image.Resampling.BOX), float) / 255
    step = (SIDE - 1) // (cells - 1)
    share = small
    for axis in (0, 1):
        share = np.moveaxis(share, axis, 0)
        padded = np.pad(share, ((step // 2, step // 2), (0, 0)), mode="edge")
        share = np.stack([padded[step * cell : step * cell + step + 1].mean(0) for cell in range(cells)])
        padded = np.pad(share, ((1, 1), (0, 0)), mode="edge")
        share = np.moveaxis((padded[:-2] + 2 * share + padded[2:]) / 4, 0, axis)
    share = share + random.normal(0, ERROR, share.shape)
    return CERTAINTY * (2 * share - 1)


def model_file(logits):
    """The bytes of a model file that answers so: a constant, spread to a map by one transposed convolution, resized as
    DeepLab does."""
    cells = len(logits)
    document = {
        "version": 1,
        "name": "coarse",
        "input": {
            "name": "picture",
            "width": SIDE,
            "height": SIDE,
            "order": "RGB",
            "scale": [1 / 255] * 3,
            "bias": [0] * 3,
        },
        "output": {"name": "answer", "kind": "logits"},
        "labels": ["background", "subject"],
        "layers": [
            layer("globalAveragePool", "picture", "mean"),
            layer("conv2d", "mean", "one", weight="zero", bias="one"),
            layer("transposeConv2d", "one", "map", weight="map"),
            layer("resizeBilinear", "map", "answer", size=[SIDE, SIDE], convention="alignCorners"),
        ],
    }
    tensors = {
        "zero": np.zeros((1, 3, 1, 1), "<f4"),
        "one": np.ones(1, "<f4"),
        "map": np.stack([np.zeros((cells, cells)), logits])[:, None].astype("<f4"),
    }
    header, offset = {"__metadata__": {"silhouette": json.dumps(document)}}, 0
    for name, tensor in tensors.items():
        end = offset + tensor.nbytes
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(tensor.tobytes() for tensor in tensors.values())


def layer(operator, source, name, **keys):
    return {"op": operator, "name": name, "inputs": [source], "output": name, **keys}
