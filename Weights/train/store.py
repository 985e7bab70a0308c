"""Where the training data lies: pictures, masks and the teacher's answers, packed into a few large files.

    index.json      one entry a picture: name, kind, height, width, mask (whether it has one)
    pictures.bin    8-bit RGB, one picture after another
    masks.bin       8-bit class indices, 255 = void, of the pictures that have a mask
    teacher.bin     8-bit log-probabilities, CLASSES x GRID x GRID a picture, in steps of -1 / LOG_STEPS
    people.bin      8-bit share of people in every pixel, from the mask, the answer and the picture's edges (prepare.py)
    done.bin        1 for each picture that the teacher has answered, 2 where people.bin has it too

The grid spans the picture from corner to corner: cell (0, 0) is its first pixel, the last cell its last.
"""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = 21
VOID = 255
PERSON = 15
GRID = 33
ANSWER = (CLASSES, GRID, GRID)
LOG_STEPS = 16

# Pictures of these kinds have masks that are true everywhere; `ccp` labels one person and nobody behind.
TRUE_MASKS = ("voc", "coco")
KINDS = ("voc", "coco", "ccp", "unlabelled")
VALIDATION_SHARE = 22  # one of so many pairs of TRUE_MASKS is for validation: about 150

DEFAULT_WORK = "~/.cache/silhouette/train"
DEFAULT_DATA = Path(__file__).resolve().parents[3] / "shared/train"  # beside the checkout


def write_index(work, entries):
    """Writes index.json, after all else: without it nothing counts."""
    (work / "index.json.part").write_text(json.dumps(entries))
    (work / "index.json.part").rename(work / "index.json")


def read_picture(path) -> np.ndarray:
    """Height x width x 3 of a file."""
    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path}: it cannot be read ({error})") from None


def read_mask(path, height, width) -> np.ndarray:
    """Height x width of class indices and VOID, of a file."""
    try:
        with Image.open(path) as picture:
            mask = np.asarray(picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SystemExit(f"{path}: it cannot be read ({error})") from None
    if mask.dtype != np.uint8 or mask.shape != (height, width):
        raise SystemExit(f"{path}: expected an 8-bit mask of {width}x{height}")
    if (wrong := (mask >= CLASSES) & (mask != VOID)).any():
        raise SystemExit(f"{path}: value {mask[wrong][0]} is no class")
    return mask


class Store:
    """The packed files of a work folder, mapped into memory."""

    def __init__(self, work):
        self.folder = Path(work).expanduser()
        picture = mask = 0
        try:
            self.entries = json.loads((self.folder / "index.json").read_text())
            for entry in self.entries:
                area = entry["height"] * entry["width"]
                entry["at"], entry["mask_at"] = picture, mask if entry["mask"] else None
                picture += 3 * area
                mask += area if entry["mask"] else 0
        except FileNotFoundError:
            raise SystemExit(f"{self.folder}: no index.json; run prepare.py first") from None
        except (ValueError, TypeError, KeyError):
            raise SystemExit(f"{self.folder}/index.json: damaged; remove it and run prepare.py again") from None
        self.pictures = self.map_file("pictures.bin", picture)
        self.masks = self.map_file("masks.bin", mask) if mask else None
        self.teacher = self.done = self.people_shares = None
        if (self.folder / "done.bin").exists():
            self.teacher = self.map_file("teacher.bin", *(len(self), *ANSWER))
            self.done = self.map_file("done.bin", len(self))
        if (self.folder / "people.bin").exists():
            self.people_shares = self.map_file("people.bin", picture // 3)

    def __len__(self):
        return len(self.entries)

    def map_file(self, name, *shape):
        """8-bit values that other processes may change meanwhile."""
        path, expected = self.folder / name, math.prod(shape)
        size = path.stat().st_size if path.exists() else 0
        if size != expected or not size:
            answers = ("teacher.bin", "people.bin", "done.bin")
            made = f"{name} and done.bin" if name in answers else "index.json"
            raise SystemExit(f"{path}: {size} bytes, not {expected}; remove {made} and run prepare.py again")
        return np.memmap(path, np.uint8, "r", shape=shape)

    def picture(self, index) -> np.ndarray:
        """Height x width x 3."""
        entry = self.entries[index]
        shape = (entry["height"], entry["width"], 3)
        return self.pictures[entry["at"] : entry["at"] + shape[0] * shape[1] * 3].reshape(shape)

    def mask(self, index) -> np.ndarray | None:
        """Height x width of class indices; None without a mask."""
        entry = self.entries[index]
        if entry["mask_at"] is None:
            return None
        shape = (entry["height"], entry["width"])
        return self.masks[entry["mask_at"] : entry["mask_at"] + shape[0] * shape[1]].reshape(shape)

    def people(self, index) -> np.ndarray:
        """Height x width: the share of people in each pixel, 255: all of it."""
        entry = self.entries[index]
        shape, at = (entry["height"], entry["width"]), entry["at"] // 3
        return self.people_shares[at : at + shape[0] * shape[1]].reshape(shape)

    def truth_known(self, index) -> bool:
        """Whether the picture has a mask that is true everywhere."""
        entry = self.entries[index]
        return entry["mask"] and entry["kind"] in TRUE_MASKS

    def validation(self) -> list:
        """The pictures that are kept out of training: those to measure on, fixed by their names."""
        share = lambda name: hashlib.sha256(name.encode()).digest()[0] % VALIDATION_SHARE
        return [i for i, entry in enumerate(self.entries) if self.truth_known(i) and share(entry["name"]) == 0]

    def training(self) -> list:
        """The pictures to train on."""
        kept = set(self.validation())
        return [i for i in range(len(self)) if i not in kept]
