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
import lzma
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
from command import ends_in_one_line, naming, number
from PIL import Image, UnidentifiedImageError
from store import ANSWER, DEFAULT_WORK, GRID, LOG_STEPS, VOID, Store, write_index

MAX_BYTES = 60_000_000
LEVELS = 15  # of the likelihood, which lies between 0 and 1
# What reading a damaged file may raise.
DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, UnidentifiedImageError),
    *(ValueError, LookupError, TypeError, EOFError, NotImplementedError),
)


@ends_in_one_line
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="pack.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["pack", "unpack"])
    parser.add_argument("file", metavar="FILE.zip", type=Path)
    parser.add_argument("--work", default=DEFAULT_WORK, help=f"default {DEFAULT_WORK}")
    parser.add_argument("--side", type=number(int, 16, 4096), default=256, help="longest side of the pictures")
    parser.add_argument("--quality", type=number(int, 1, 100), default=55, help="of the pictures, from 1 to 100")
    options = parser.parse_args(arguments)
    if options.action == "pack":
        pack(Store(options.work), options.file, options.side, options.quality)
    else:
        unpack(options.file, Path(options.work).expanduser())


def pack(store, path, side, quality):
    """Writes the whole file or nothing."""
    entries, part = [], path.with_name(path.name + ".part")
    try:
        with naming(part), zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            fill(archive, store, side, quality, entries)
        size = part.stat().st_size
        if size > MAX_BYTES:
            sys.exit(f"pack.py: {size} bytes are more than {MAX_BYTES}: set a smaller --side or --quality")
        part.replace(path)
    finally:
        if part.is_file():
            part.unlink()
    answers = sum(entry["answered"] for entry in entries)
    print(f"{path}: {size} bytes, {len(entries)} pictures, {answers} answers of the teacher")


def fill(archive, store, side, quality, entries):
    """Puts all pictures, masks and answers into the archive, and the index last."""
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
    answer = np.full(ANSWER, 1e-4, np.float32)
    for cells, values in ((second, 1 - share), (first, share)):
        np.put_along_axis(answer, cells[None].astype(np.int64), np.maximum(values, 1e-4)[None], 0)
    return np.clip(np.round(-np.log(answer) * LOG_STEPS), 0, 255).astype(np.uint8)


def unpack(path, work):
    """Makes the files that store.py describes, the index comes last."""
    if (work / "index.json").exists():
        sys.exit(f"pack.py: {work}: it has an index.json already; set another --work")
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            work.mkdir(parents=True, exist_ok=True)
            with naming(work):
                spread_out(archive, work)
    except DAMAGES as error:
        sys.exit(f"pack.py: {path}: it is no pack, or damaged ({type(error).__name__})")


def spread_out(archive, work):
    """Writes everything in the archive into the work folder."""
    with (
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
            empty = np.full(ANSWER, VOID, np.uint8)
            teacher.write((restore(archive.read(name + ".answer")) if answered else empty).tobytes())
            done.write(bytes([answered]))
    write_index(work, entries)
    print(f"{work}: {len(entries)} pictures")


if __name__ == "__main__":
    main(sys.argv[1:])
