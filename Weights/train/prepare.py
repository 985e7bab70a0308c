#!/usr/bin/env python3
"""Packs the training pictures, and asks the teacher about each of them once.

usage: prepare.py [--data FOLDER] [--work FOLDER] [--teacher FILE.safetensors]

Without --teacher only the pictures are packed. The teacher is a model file (Weights/convert.py makes one); it is run by
ONNX Runtime on the picture stretched to its input. It can be stopped at any time; the same command goes on.
train.py can run meanwhile: it takes up what has been answered so far.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np
from command import count, ends_in_one_line, naming
from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from PIL import Image
from store import (
    ANSWER,
    CLASSES,
    DEFAULT_DATA,
    DEFAULT_WORK,
    GRID,
    KINDS,
    LOG_STEPS,
    Store,
    read_mask,
    read_picture,
    write_index,
)


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="prepare.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=DEFAULT_DATA, help=f"training pictures; default {DEFAULT_DATA}")
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"folder for everything made; default {DEFAULT_WORK}")
    parser.add_argument("--teacher", help="a model file of 21 classes whose answers are learnt")
    parser.add_argument("--flip", action="store_true", help="average with the mirrored picture: twice the time")
    parser.add_argument("--threads", type=count, default=1)
    options = parser.parse_args(arguments)
    work = Path(options.work).expanduser()
    if not (work / "index.json").exists():
        pack_pictures(find_pictures(Path(options.data).expanduser()), work)
    if options.teacher:
        ask_teacher(Store(work), options.teacher, options.flip, options.threads)


def find_pictures(data: Path) -> list:
    """(kind, name, picture, mask or None) of everything in a folder laid out as KINDS of images and masks."""
    found = []
    for kind in KINDS:
        folder = data / kind
        images = folder / "images" if (folder / "images").is_dir() else folder
        for picture in sorted(images.glob("*.jpg")) if images.is_dir() else []:
            mask = folder / "masks" / (picture.stem + ".png")
            found.append((kind, picture.stem, picture, mask if mask.exists() else None))
    if not found:
        raise SystemExit(f"{data}: no pictures; expected folders {', '.join(KINDS)} (see README.md)")
    return found


def pack_pictures(found: list, work: Path):
    """Decodes everything once."""
    entries, started = [], time.time()
    work.mkdir(parents=True, exist_ok=True)
    with naming(work), open(work / "pictures.bin", "wb") as pictures, open(work / "masks.bin", "wb") as masks:
        for kind, name, path, mask_path in found:
            picture = read_picture(path)
            height, width = picture.shape[:2]
            pictures.write(picture.tobytes())
            if mask_path is not None:
                masks.write(read_mask(mask_path, height, width).tobytes())
            entries.append(
                {"name": name, "kind": kind, "height": height, "width": width, "mask": mask_path is not None}
            )
    write_index(work, entries)
    print(f"{len(entries)} pictures packed in {time.time() - started:.0f} s", flush=True)


class Teacher:
    """A model file run by ONNX Runtime: logits on the map where the network makes them."""

    def __init__(self, path, threads):
        import onnx
        import onnxruntime
        from conversion.to_onnx import to_onnx

        self.model = model = ModelFile(path)
        writers = {layer["output"]: layer for layer in model.layers}
        last = writers[model.document["output"]["name"]]
        while last is not None and last["op"] == "resizeBilinear":
            last = writers.get(last["inputs"][0])
        if last is None or last["op"] != "conv2d" or model.shapes[last["output"]][2] != CLASSES:
            raise SystemExit(f"{path}: no network that ends with a convolution to {CLASSES} classes")
        if model.document["labels"] != list(VOC_LABELS) or model.document["input"]["order"] != "RGB":
            raise SystemExit(f"{path}: its classes must be those of PASCAL VOC in their order, its input RGB")
        graph = to_onnx(model)
        del graph.graph.output[:]
        graph.graph.output.append(onnx.helper.make_empty_tensor_value_info(last["output"]))
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            graph.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
        self.to_grid = [pooling(side, GRID) for side in model.shapes[last["output"]][:2]]

    def answer(self, picture, flip):
        """Probabilities CLASSES x GRID x GRID for an 8-bit picture."""
        size = self.model.document["input"]
        picture = np.asarray(Image.fromarray(picture).resize((size["width"], size["height"]), Image.BILINEAR))
        answers = []
        for step in (1, -1)[: 2 if flip else 1]:
            tensor = self.model.normalise(picture[:, ::step])
            logits = self.session.run(None, {size["name"]: np.ascontiguousarray(tensor)})[0][0]
            answers.append(softmax(logits)[..., ::step])
        rows, columns = self.to_grid
        return rows @ (sum(answers) / len(answers)) @ columns.T


def pooling(size, cells):
    """A matrix (cells x size) that takes the mean around each cell, corner to corner, with triangular weights."""
    reach = max((size - 1) / (cells - 1), 1)
    at = np.arange(cells)[:, None] * (size - 1) / (cells - 1)
    weights = np.maximum(1 - np.abs(np.arange(size)[None] - at) / reach, 0)
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)


def softmax(logits):
    powers = np.exp(logits - logits.max(0))
    return powers / powers.sum(0)


def ask_teacher(store, path, flip, threads):
    """Answers for all pictures that have none yet, in an order that mixes all kinds."""
    teacher, folder, size = Teacher(path, threads), store.folder, math.prod(ANSWER)
    if store.done is None:
        for name, length in (("teacher.bin", size), ("done.bin", 1)):  # the answers count once there is done.bin
            with naming(folder / name), open(folder / name, "wb") as file:
                file.truncate(length * len(store))
    # Written, not mapped: a write to a map on a full disk ends the process.
    with naming(folder), open(folder / "teacher.bin", "r+b") as answers, open(folder / "done.bin", "r+b") as marks:
        done = np.frombuffer(marks.read(), np.uint8).copy()
        started, fresh = time.time(), 0
        for index in np.random.default_rng(0).permutation(len(store)):
            if done[index]:
                continue
            probabilities = teacher.answer(store.picture(index), flip)
            answer = np.clip(np.round(-np.log(np.maximum(probabilities, 1e-9)) * LOG_STEPS), 0, 255)
            for file, at, data in ((answers, index * size, answer.astype(np.uint8).tobytes()), (marks, index, b"\1")):
                file.seek(at)
                file.write(data)
                file.flush()
            done[index] = 1
            fresh += 1
            if fresh % 200 == 0:
                rate = fresh / (time.time() - started)
                print(f"teacher: {done.sum(dtype=int)} of {len(store)}, {rate:.2f} pictures/s", flush=True)
    print(f"teacher: {done.sum(dtype=int)} of {len(store)} answered", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
