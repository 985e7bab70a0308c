#!/usr/bin/env python3
"""Puts a work folder into one small file for a machine that trains faster, and back.

usage: pack.py pack [--work FOLDER] FILE.zip      pictures, masks and the teacher's answers in at most 60 MB
       pack.py unpack [--work FOLDER] FILE.zip    makes a work folder of it, for train.py

Pictures are scaled to a longest side of 256 and stored as WebP. Of the teacher's answer the two likeliest classes of
each cell are kept, and how likely the first is. The teacher's own file travels beside it.
"""

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from store import CLASSES, DEFAULT_WORK, GRID, LOG_STEPS, VOID, Store

MAX_BYTES = 60_000_000
LEVELS = 15  # of the likelihood, which lies between 0 and 1


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="pack.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["pack", "unpack"])
    parser.add_argument("file", metavar="FILE.zip")
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"default {DEFAULT_WORK}")
    parser.add_argument("--side", type=int, default=256, help="longest side of the pictures")
    parser.add_argument("--quality", type=int, default=55, help="of the pictures, from 1 to 100")
    options = parser.parse_args(arguments)
    if options.action == "pack":
        pack(Store(options.work), Path(options.file), options.side, options.quality)
    else:
        unpack(Path(options.file), Path(options.work).expanduser())


def pack(store, path, side, quality):
    """Writes the file; too large a one is removed again."""
    entries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for index, entry in enumerate(store.entries):
            name = f"{index:06d}"
            picture = Image.fromarray(store.picture(index))
            picture.thumbnail((side, side), Image.LANCZOS)
            archive.writestr(name + ".webp", encoded(picture, "WEBP", quality=quality, method=4))
            mask = store.mask(index)
            if mask is not None:
                mask = Image.fromarray(mask).resize(picture.size, Image.NEAREST)
                archive.writestr(name + ".png", encoded(mask, "PNG", optimize=True))
            answered = store.done is not None and bool(store.done[index])
            if answered:
                archive.writestr(name + ".answer", shorten(store.teacher[index]), zipfile.ZIP_LZMA)
            entries.append({key: entry[key] for key in ("name", "kind", "mask")} | {"answered": answered})
        archive.writestr("index.json", json.dumps(entries), zipfile.ZIP_DEFLATED)
    size = path.stat().st_size
    if size > MAX_BYTES:
        path.unlink()
        sys.exit(f"pack.py: {size} bytes are more than {MAX_BYTES}: set a smaller --side or --quality")
    answers = sum(entry["answered"] for entry in entries)
    print(f"{path}: {size} bytes, {len(entries)} pictures, {answers} answers of the teacher")


def encoded(picture, kind, **settings) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **settings)
    return file.getvalue()


def shorten(answer) -> bytes:
    """The likeliest class of each cell, the next, and the share of the first of these two."""
    order = np.argsort(answer, 0, kind="stable")[:2]
    pair = np.exp(-np.take_along_axis(answer, order, 0).astype(np.float32) / LOG_STEPS)
    share = np.round(pair[0] / pair.sum(0) * LEVELS)
    # Where the first is certain the next says nothing.
    second = np.where(share == LEVELS, 0, order[1])
    return np.stack([order[0], second, share]).astype(np.uint8).tobytes()


def restore(data: bytes) -> np.ndarray:
    """The answer as store.py keeps it."""
    first, second, share = np.frombuffer(data, np.uint8).reshape(3, GRID, GRID)
    share = share.astype(np.float32) / LEVELS
    answer = np.full((CLASSES, GRID, GRID), 1e-4, np.float32)
    for cells, values in ((second, 1 - share), (first, share)):
        np.put_along_axis(answer, cells[None].astype(np.int64), np.maximum(values, 1e-4)[None], 0)
    return np.clip(np.round(-np.log(answer) * LOG_STEPS), 0, 255).astype(np.uint8)


def unpack(path, work):
    """Makes the files that store.py describes, the index comes last."""
    if (work / "index.json").exists():
        sys.exit(f"pack.py: {work}: it has an index.json already; set another --work")
    work.mkdir(parents=True, exist_ok=True)
    with (
        zipfile.ZipFile(path) as archive,
        open(work / "pictures.bin", "wb") as pictures,
        open(work / "masks.bin", "wb") as masks,
        open(work / "teacher.bin", "wb") as teacher,
        open(work / "done.bin", "wb") as done,
    ):
        entries = json.loads(archive.read("index.json"))
        for index, entry in enumerate(entries):
            name = f"{index:06d}"
            picture = Image.open(io.BytesIO(archive.read(name + ".webp"))).convert("RGB")
            pictures.write(np.asarray(picture).tobytes())
            entry["width"], entry["height"] = picture.size
            if entry["mask"]:
                mask = np.asarray(Image.open(io.BytesIO(archive.read(name + ".png"))))
                masks.write(mask.tobytes())
            answered = entry.pop("answered")
            empty = np.full((CLASSES, GRID, GRID), VOID, np.uint8)
            teacher.write((restore(archive.read(name + ".answer")) if answered else empty).tobytes())
            done.write(bytes([answered]))
    (work / "index.json").write_text(json.dumps(entries))
    print(f"{work}: {len(entries)} pictures")


if __name__ == "__main__":
    main(sys.argv[1:])
