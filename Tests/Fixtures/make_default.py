#!/usr/bin/env python3
"""Draws a picture for the default model, and keeps ONNX Runtime's answers. To be run again whenever that model changes.

usage: make_default.py [FOLDER]        default: the folder of this file

Needs Weights/requirements-dev.txt.
"""

import os
import sys

import numpy as np
from make_mini import HERE, run
from PIL import Image, ImageDraw, ImageFilter

from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from conversion.to_onnx import to_onnx

MODEL = os.path.join(HERE, "..", "..", "Weights", "silhouette-deeplabv3.safetensors")
STEP = 16  # the output is kept at every so many pixels
SHOWN = {"background", "bus", "person"}


def main(folder):
    model = ModelFile(MODEL)
    size = model.document["input"]
    picture = drawn_picture(size["width"])
    scores = run(to_onnx(model), {size["name"]: np.ascontiguousarray(model.normalise(picture))}, None)[0][0]
    labels = scores.argmax(0).astype(np.uint8)
    found = {VOC_LABELS[index] for index, count in enumerate(np.bincount(labels.ravel())) if count > labels.size / 20}
    if found != SHOWN:
        sys.exit(f"the model finds {', '.join(sorted(found))} in the picture, not {', '.join(sorted(SHOWN))}")
    base = os.path.join(folder, "default")
    Image.fromarray(picture).save(f"{base}.input.png")
    Image.fromarray(labels).save(f"{base}.labels.png")
    np.save(f"{base}.scores.npy", np.ascontiguousarray(scores[:, ::STEP, ::STEP].transpose(1, 2, 0)))


def drawn_picture(side):
    """A red bus and a man in blue on a meadow, side x side, 8-bit RGB."""
    down = np.linspace(0, 1, side)[:, None, None]
    sky = np.array([130, 170, 220]) * (1 - down) + np.array([225, 230, 235]) * down
    image = Image.fromarray(np.broadcast_to(sky, (side, side, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    at = lambda *corners: [corner * side / 256 for corner in corners]  # drawn for 256 x 256

    def boxes(colour, *corners, radius=0):
        for corner in corners:
            draw.rounded_rectangle(at(*corner), radius * side / 256, fill=colour)

    def discs(colour, *corners):
        for corner in corners:
            draw.ellipse(at(*corner), fill=colour)

    boxes((96, 120, 70), (0, 170, 256, 256))
    boxes((200, 60, 40), (8, 70, 150, 180), radius=8)
    boxes((40, 50, 66), *((x, 84, x + 20, 112) for x in range(16, 140, 26)))
    boxes((240, 240, 235), (8, 126, 150, 132))
    discs((25, 25, 28), (25, 164, 55, 194), (107, 164, 137, 194))
    discs((150, 150, 150), (34, 173, 46, 185), (116, 173, 128, 185))

    boxes((40, 48, 80), (188, 170, 203, 246), (207, 170, 222, 246))
    boxes((60, 110, 150), (180, 98, 230, 180), radius=12)
    boxes((60, 110, 150), (168, 102, 182, 172), (228, 102, 242, 172), radius=6)
    boxes((205, 158, 130), (198, 86, 212, 102))
    discs((218, 172, 144), (187, 48, 223, 94), (168, 166, 182, 182), (228, 166, 242, 182))
    draw.pieslice(at(185, 42, 225, 86), 180, 360, fill=(70, 45, 30))
    discs((30, 25, 25), (195.5, 66, 200.5, 71), (209.5, 66, 214.5, 71))
    draw.arc(at(197, 72, 213, 86), 20, 160, fill=(150, 70, 70), width=2)
    noise = np.random.default_rng(0).normal(0, 5, (side, side, 3))
    return np.clip(np.asarray(image.filter(ImageFilter.GaussianBlur(0.8))) + noise, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
