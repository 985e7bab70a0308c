#!/usr/bin/env python3
"""Converts a network into a Silhouette model file.

Reads TensorFlow Lite (.tflite, float or quantised), Core ML neural networks (.mlmodel) and ONNX (.onnx). What the file
does not say of itself comes from the flags. Needs the packages of requirements.txt beside it.
"""

import argparse
import sys

from conversion.errors import ConversionError
from conversion.flags import add_flags, facts


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="convert.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", metavar="IN", help="a .tflite, .mlmodel or .onnx file")
    parser.add_argument("output", metavar="OUT.safetensors", help="the model file to write")
    add_flags(parser)
    options = parser.parse_args(arguments)
    try:
        from conversion.converter import convert

        convert(
            options.input,
            options.output,
            facts(options),
            options.size,
            options.float16,
            options.output_name,
            lambda line: print(f"convert.py: {line}", file=sys.stderr),
        )
    except ModuleNotFoundError as error:
        sys.exit(
            f"convert.py: the Python package {error.name} is missing; scripts/setup convert installs it into .venv, "
            "then run this with .venv/bin/python"
        )
    except ConversionError as error:
        sys.exit(f"convert.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
