#!/usr/bin/env python3
"""Packs the training pictures, and asks the teacher about each of them once.

usage: prepare.py [--data FOLDER] [--work FOLDER] [--teacher FILE.safetensors]

Without --teacher only the pictures are packed. The teacher is a model file (Weights/convert.py makes one); it sees each
picture stretched to a square. It can be stopped at any time; the same command goes on.
train.py can run meanwhile: it takes up what has been answered so far.
"""

import argparse
import math
import re
import sys
import time
from pathlib import Path

import numpy as np
import torch
from command import count, ends_in_one_line, naming
from layers import upsample
from model import misfit
from outlines import draw_outlines
from PIL import Image
from store import (
    ANSWER,
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
from teacher import load_teacher
from trainee import normalised

# The teacher's network was trained for 513. With a smaller and mirrored view its mean has a person IoU 0.01 higher.
VIEWS = "513,385m"
STRIDE = 16  # of the teacher's answers


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="prepare.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=DEFAULT_DATA, help=f"training pictures; default {DEFAULT_DATA}")
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"folder for everything made; default {DEFAULT_WORK}")
    parser.add_argument("--teacher", help="a model file of 21 classes whose answers are learnt")
    parser.add_argument(
        "--views",
        type=read_views,
        default=VIEWS,
        help=f"sizes at which the teacher sees each picture, m: mirrored; it answers with the mean; default {VIEWS}",
    )
    parser.add_argument("--threads", type=count, default=1)
    options = parser.parse_args(arguments)
    work = Path(options.work).expanduser()
    if not (work / "index.json").exists():
        pack_pictures(find_pictures(Path(options.data).expanduser()), work)
    if options.teacher:
        ask_teacher(Store(work), Teacher(options.teacher, options.views, options.threads))
    store = Store(work)
    if store.done is not None:
        draw_outlines(store)


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
    """A network that is asked about whole pictures, at several sizes.

    - views: (size, mirrored) of each time that it sees the picture; its answer is their mean
    """

    def __init__(self, path, views, threads):
        torch.set_num_threads(threads)
        self.net, self.views = load_teacher(path), views

    @torch.no_grad()
    def answer(self, picture):
        """Probabilities CLASSES x GRID x GRID for an 8-bit picture."""
        answers = []
        for size, mirrored in self.views:
            seen = np.asarray(Image.fromarray(picture).resize((size, size), Image.BILINEAR))
            seen = torch.from_numpy(seen[:, ::-1].copy() if mirrored else seen.copy())
            logits = upsample(self.net(normalised(seen)[None])[0].permute(0, 3, 1, 2), GRID)
            answers.append(logits.softmax(1).flip(3) if mirrored else logits.softmax(1))
        return torch.cat(answers).mean(0).numpy()


def read_views(text):
    """(size, mirrored) of each view, from SIZE or SIZEm."""
    views = []
    for view in text.split(","):
        match = re.fullmatch(r"(\d+)(m?)", view)
        if match is None:
            raise argparse.ArgumentTypeError(f"{view!r} is not a size, perhaps with an m behind")
        if wrong := misfit(int(match[1]), STRIDE):
            raise argparse.ArgumentTypeError(f"{view!r}: {wrong}")
        views.append((int(match[1]), bool(match[2])))
    return views


def ask_teacher(store, teacher):
    """Answers for all pictures that have none yet, in an order that mixes all kinds."""
    folder, size = store.folder, math.prod(ANSWER)
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
            probabilities = teacher.answer(store.picture(index))
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
