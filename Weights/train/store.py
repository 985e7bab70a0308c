"""Where the training data lies: pictures, masks and the teacher's answers, packed into a few large files.

    index.json      one entry a picture: name, kind, height, width, mask (whether it has one)
    pictures.bin    8-bit RGB, one picture after another
    masks.bin       8-bit class indices, 255 = void, of the pictures that have a mask
    teacher.bin     8-bit log-probabilities, CLASSES x GRID x GRID a picture, in steps of -1 / LOG_STEPS
    done.bin        1 for each picture that the teacher has answered

The grid spans the picture from corner to corner: cell (0, 0) is its first pixel, the last cell its last.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

CLASSES = 21
VOID = 255
GRID = 33
LOG_STEPS = 16

# Pictures of these kinds have masks that are true everywhere; `ccp` labels one person and nobody behind.
TRUE_MASKS = ("voc", "coco")
KINDS = ("voc", "coco", "ccp", "unlabelled")
VALIDATION_SHARE = 22  # one of so many pairs of TRUE_MASKS is for validation: about 150

DEFAULT_WORK = "~/.cache/silhouette/train"
DEFAULT_DATA = "../shared/train"


def is_validation(name: str, kind: str) -> bool:
    """Whether the picture is kept out of training to measure on; fixed by its name."""
    return kind in TRUE_MASKS and hashlib.sha256(name.encode()).digest()[0] % VALIDATION_SHARE == 0


class Store:
    """The packed files of a work folder, mapped into memory."""

    def __init__(self, work):
        self.folder = Path(work).expanduser()
        try:
            self.entries = json.loads((self.folder / "index.json").read_text())
        except FileNotFoundError:
            raise SystemExit(f"{self.folder}: no index.json; run prepare.py first") from None
        picture = mask = 0
        for entry in self.entries:
            area = entry["height"] * entry["width"]
            entry["at"], entry["mask_at"] = picture, mask if entry["mask"] else None
            picture += 3 * area
            mask += area if entry["mask"] else 0
        self.pictures = np.memmap(self.folder / "pictures.bin", np.uint8, "r")
        self.masks = np.memmap(self.folder / "masks.bin", np.uint8, "r") if mask else None
        self.teacher = self.done = None
        if (self.folder / "done.bin").exists():
            self.teacher = self.map_file("teacher.bin", (CLASSES, GRID, GRID), "r")
            self.done = self.map_file("done.bin", (), "r")

    def __len__(self):
        return len(self.entries)

    def map_file(self, name, shape, mode):
        """One row a picture of 8-bit values."""
        path, whole = self.folder / name, (len(self.entries), *shape)
        if mode != "r" and (not path.exists() or path.stat().st_size != np.prod(whole)):
            with open(path, "wb") as file:
                file.truncate(int(np.prod(whole)))
        return np.memmap(path, np.uint8, mode, shape=whole)

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

    def validation(self) -> list:
        """The pictures that are kept out of training."""
        return [i for i, entry in enumerate(self.entries) if is_validation(entry["name"], entry["kind"])]

    def training(self) -> list:
        """The pictures to train on."""
        kept = set(self.validation())
        return [i for i in range(len(self)) if i not in kept]
