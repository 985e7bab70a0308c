#!/usr/bin/env python3
"""Makes a picture for the default model, and ONNX Runtime's answers. To be run again whenever that model changes.

usage: make_default.py [FOLDER]        default: the folder of this file

Needs Weights/requirements-dev.txt.
"""

import os
import sys

import numpy as np
from make_mini import HERE, run, synthetic_picture
from PIL import Image

from conversion.model_file import ModelFile
from conversion.to_onnx import to_onnx

MODEL = os.path.join(HERE, "..", "..", "Weights", "silhouette-deeplabv3.safetensors")
STEP = 16  # the output is kept at every so many pixels


def main(folder):
    model = ModelFile(MODEL)
    size = model.document["input"]
    picture = synthetic_picture(size["width"], size["height"], seed=42)
    scores = run(to_onnx(model), {size["name"]: np.ascontiguousarray(model.normalise(picture))}, None)[0][0]
    base = os.path.join(folder, "default")
    Image.fromarray(picture).save(f"{base}.input.png")
    Image.fromarray(scores.argmax(0).astype(np.uint8)).save(f"{base}.labels.png")
    np.save(f"{base}.scores.npy", np.ascontiguousarray(scores[:, ::STEP, ::STEP].transpose(1, 2, 0)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
