#!/usr/bin/env python3
"""Converts a network into a Silhouette model file.

Reads TensorFlow Lite (.tflite, float or quantised), Core ML neural networks (.mlmodel) and ONNX (.onnx). What the file
does not say of itself comes from the flags. Needs the packages in requirements.txt beside this file.
"""

import argparse
import re
import sys
from fractions import Fraction


def parse(arguments):
    parser = argparse.ArgumentParser(prog="convert.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", metavar="IN", help="the .tflite, .mlmodel or .onnx file")
    parser.add_argument("output", metavar="OUT.safetensors", help="the model file to write")
    add_flags(parser)
    return parser.parse_args(arguments)


def add_flags(parser):
    """The flags that say what a file leaves open."""
    parser.add_argument("--scale", type=numbers, metavar="N[,N,N]",
                        help="the network sees byte * SCALE + BIAS; 1/127.5 is understood")
    parser.add_argument("--bias", type=numbers, metavar="N[,N,N]", help="see --scale; --bias=-1 for a negative one")
    parser.add_argument("--order", choices=["RGB", "BGR", "GRAY"], help="the order of the input's channels")
    parser.add_argument("--size", type=size, metavar="N|WIDTHxHEIGHT", help="of an input whose size is open")
    parser.add_argument("--labels", metavar="FILE|A,B,...|voc",
                        help="class names: a file with one on each line, a list, or the 21 of PASCAL VOC")
    parser.add_argument("--palette", metavar="FILE", help="class colours: a file with one #rrggbb on each line")
    parser.add_argument("--output-kind", choices=["logits", "probabilities"], help="what the scores are")
    parser.add_argument("--name", help="name of the network; default: the file's")
    parser.add_argument("--float16", action="store_true", help="store weights in half the bytes")


def numbers(text):
    try:
        values = [float(Fraction(part.split("/")[0]) / Fraction(part.split("/")[1] if "/" in part else 1))
                  for part in text.split(",")]
    except (ValueError, ZeroDivisionError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no number or list of numbers") from None
    return values


def size(text):
    match = re.fullmatch(r"(\d{1,5})(?:x(\d{1,5}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is neither N nor WIDTHxHEIGHT")
    return int(match[2] or match[1]), int(match[1])


def facts(options):
    """What the flags say."""
    from conversion import ConversionError, Facts
    from conversion.known import VOC_LABELS

    labels = palette = None
    if options.labels == "voc":
        labels = VOC_LABELS
    elif options.labels and "," in options.labels:
        labels = options.labels.split(",")
    elif options.labels:
        labels = read_lines(options.labels, "--labels")
    if options.palette:
        palette = []
        for line in read_lines(options.palette, "--palette"):
            if not re.fullmatch(r"#[0-9a-fA-F]{6}", line):
                raise ConversionError(f"--palette {options.palette}: {line!r} is no colour like #c08000")
            palette.append([int(line[at:at + 2], 16) for at in (1, 3, 5)])
    return Facts(scale=options.scale, bias=options.bias, order=options.order, labels=labels, palette=palette,
                 kind=options.output_kind, name=options.name)


def read_lines(path, flag):
    """The lines of a text file that hold something."""
    from conversion import ConversionError

    try:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file.read(1 << 20).splitlines() if line.strip()]
    except OSError as error:
        raise ConversionError(f"{flag} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConversionError(f"{flag} {path}: it is no UTF-8 text") from None


def main(arguments):
    options = parse(arguments)
    try:
        from conversion import ConversionError, convert
    except ModuleNotFoundError as error:
        sys.exit(f"convert.py: the Python package {error.name} is missing: "
                 "run this with a Python that has Weights/requirements.txt installed")
    try:
        convert(options.input, options.output, facts(options), options.size, options.float16)
    except ConversionError as error:
        sys.exit(f"convert.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
