"""The flags that say what a file leaves open, for `convert.py` and `fetch`."""

import argparse
import re
from fractions import Fraction

from .errors import ConversionError

MAX_TEXT_BYTES = 1 << 20


def add_flags(parser: argparse.ArgumentParser):
    """Adds the flags to a parser."""
    parser.add_argument(
        "--scale",
        type=numbers,
        metavar="N[,N,N]",
        help="the network sees byte * SCALE + BIAS, for each channel or for all; 1/127.5 is understood",
    )
    parser.add_argument(
        "--bias", type=numbers, metavar="N[,N,N]", help="see --scale; write --bias=-1 for a negative one"
    )
    parser.add_argument("--order", choices=["RGB", "BGR", "GRAY"], help="order of the input's channels")
    parser.add_argument(
        "--size", type=size, metavar="N|WIDTHxHEIGHT", help="size of the input where the file leaves it open"
    )
    parser.add_argument(
        "--labels",
        metavar="FILE|A,B,...|voc",
        help="names of the classes: a text file, one a line; a list; or the 21 of PASCAL VOC",
    )
    parser.add_argument("--palette", metavar="FILE", help="colours of the classes: a text file, one #rrggbb a line")
    parser.add_argument("--output-kind", choices=["logits", "probabilities"], help="what the scores are")
    parser.add_argument(
        "--output",
        dest="output_name",
        metavar="NAME",
        help="which output counts where there are several; default: the first",
    )
    parser.add_argument("--name", help="name of the network; default: the file's")
    parser.add_argument("--float16", action="store_true", help="store the weights in half the bytes")


def facts(options: argparse.Namespace):
    """What the flags say, as `Facts`."""
    from .known import VOC_LABELS
    from .network import Facts

    labels = palette = None
    if options.labels == "voc":
        labels = VOC_LABELS
    elif options.labels is not None and "," in options.labels:
        labels = options.labels.split(",")
    elif options.labels is not None:
        labels = lines(options.labels, "--labels")
    if options.palette is not None:
        palette = [colour(line, options.palette) for line in lines(options.palette, "--palette")]
    return Facts(
        scale=options.scale,
        bias=options.bias,
        order=options.order,
        labels=labels,
        palette=palette,
        kind=options.output_kind,
        name=options.name,
    )


def numbers(text):
    """One or several numbers, fractions included."""
    try:
        return [
            float(Fraction(above) / Fraction(below or 1))
            for above, _, below in (part.partition("/") for part in text.split(","))
        ]
    except (ValueError, ZeroDivisionError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor a list of numbers") from None


def size(text):
    """(height, width)"""
    match = re.fullmatch(r"(\d{1,5})(?:x(\d{1,5}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is neither N nor WIDTHxHEIGHT")
    return int(match[2] or match[1]), int(match[1])


def colour(text, path):
    """[red, green, blue] of #rrggbb"""
    if not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise ConversionError(f"--palette {path}: {text!r} is no colour like #c08000")
    return [int(text[at : at + 2], 16) for at in (1, 3, 5)]


def lines(path, flag):
    """The lines of a text file that hold something."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file.read(MAX_TEXT_BYTES).splitlines() if line.strip()]
    except OSError as error:
        raise ConversionError(f"{flag} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConversionError(f"{flag} {path}: it is no UTF-8 text") from None
