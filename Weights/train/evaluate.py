#!/usr/bin/env python3
"""Measures model files on labelled pictures: what IoU and accuracy they reach.

usage: evaluate.py --data FOLDER [--subset voc|coco] MODEL...

A model is a .safetensors model file, or a .tflite, .mlmodel or .onnx file that Weights/convert.py can read without
flags. Each picture is stretched to the network's input (Pillow, bilinear), the labels are brought back to the picture's
size by nearest neighbour, void pixels are not counted, and one confusion matrix over all pictures gives the figures.
Of the pictures that are people by a twentieth or more, the person IoU is told by itself, and how well outlines are met:
the F score of the points of both outlines that lie at most 3 pixels from the other one. Of a border drawn as void the
outline is its middle. ONNX Runtime runs the network.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from command import count, ends_in_one_line
from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from metrics import MAIN, People, class_ious, confusion, figures, to_source
from PIL import Image
from store import read_mask, read_picture

SUBSETS = ("voc", "coco")


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="evaluate.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", metavar="MODEL", nargs="+")
    parser.add_argument("--data", required=True, help="a folder with voc/ or coco/, each of images and masks")
    parser.add_argument("--subset", choices=SUBSETS, help="one of the folders only")
    parser.add_argument("--threads", type=count, default=1)
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    pairs = find_pairs(Path(options.data), [options.subset] if options.subset else SUBSETS)
    networks = [Runner(path, options.threads) for path in options.models]
    matrices, people = zip(*(evaluate(network, pairs) for network in networks))
    names = [Path(path).stem for path in options.models]
    names = [name if names.count(name) == 1 else path for name, path in zip(names, options.models)]
    print(report(names, matrices, people, len(pairs)))
    if options.json:
        ious = [dict(zip(VOC_LABELS, map(number, class_ious(matrix)))) for matrix in matrices]
        results = {
            name: figures(matrix) | p.figures() | {"classes": classes, "pictures": len(pairs)}
            for name, matrix, p, classes in zip(names, matrices, people, ious)
        }
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


def number(value):
    """The value for JSON, which has no word for what is not a number."""
    return None if np.isnan(value) else round(float(value), 4)


def find_pairs(data: Path, subsets) -> list:
    """(picture, mask) of each picture that has a mask."""
    pairs = []
    for subset in subsets:
        for picture in sorted((data / subset / "images").glob("*.jpg")):
            mask = data / subset / "masks" / (picture.stem + ".png")
            if mask.exists():
                pairs.append((picture, mask))
    if not pairs:
        sys.exit(f"evaluate.py: {data}: no pairs; expected {', '.join(subsets)}, each with images and masks")
    return pairs


class Runner:
    """A model file in ONNX Runtime."""

    def __init__(self, path, threads=1):
        import onnxruntime
        from conversion.to_onnx import to_onnx

        self.model = model = open_model(path)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            to_onnx(model).SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
        labels = model.document["labels"]
        # Classes are told apart by name; what VOC does not know counts as background.
        self.classes = np.array([VOC_LABELS.index(label) if label in VOC_LABELS else 0 for label in labels])
        self.threshold = 0.0 if model.document["output"]["kind"] == "logits" else 0.5

    def labels(self, picture: Image.Image) -> np.ndarray:
        """VOC classes on the network's output map."""
        size = self.model.document["input"]
        mode = "L" if size["order"] == "GRAY" else "RGB"
        pixels = np.asarray(picture.convert(mode).resize((size["width"], size["height"]), Image.BILINEAR))
        pixels = pixels[..., None] if pixels.ndim == 2 else pixels
        pixels = pixels[..., ::-1] if size["order"] == "BGR" else pixels
        tensor = np.ascontiguousarray(self.model.normalise(pixels))
        scores = self.session.run(None, {size["name"]: tensor})[0][0]
        if len(scores) == 1:
            return self.classes[(scores[0] >= self.threshold).astype(int)]
        return self.classes[scores.argmax(0)]


def open_model(path) -> ModelFile:
    """A model file, converted first where it is one of another format."""
    if Path(path).suffix == ".safetensors":
        return ModelFile(path)
    from conversion.converter import convert

    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "model.safetensors")
        convert(path, target)
        return ModelFile(target)


def evaluate(network, pairs):
    """(the confusion matrix over all pairs, the figures of people). `network` has a method `labels`."""
    matrix, people = 0, People()
    for picture_path, mask_path in pairs:
        picture = read_picture(picture_path)
        truth = read_mask(mask_path, *picture.shape[:2])
        found = to_source(network.labels(Image.fromarray(picture)), *truth.shape)
        one = confusion(truth, found)
        matrix = matrix + one
        people.add(truth, found, one)
    return matrix, people


def report(names, matrices, people, count) -> str:
    """A Markdown table: a column for each model."""
    table = [figures(matrix) | part.figures() for matrix, part in zip(matrices, people)]
    main_names = ", ".join(VOC_LABELS[index] for index in MAIN)
    lines = [
        f"{count} pictures, one confusion matrix",
        "",
        "| | " + " | ".join(names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for key, title in (
        ("person", "person IoU"),
        ("accuracy", "pixel accuracy"),
        ("main", f"mean IoU ({main_names})"),
        ("miou", "mean IoU, all classes shown"),
        ("people", f"person IoU, the {people[0].pictures} pictures of people"),
        ("outline", "their outlines, F score at 3 pixels"),
    ):
        lines.append(f"| {title} | " + " | ".join(f"{row[key]:.4f}" for row in table) + " |")
    ious = [class_ious(matrix) for matrix in matrices]
    for index, label in enumerate(VOC_LABELS):
        cells = ("-" if np.isnan(row[index]) else f"{row[index]:.3f}" for row in ious)
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
