#!/usr/bin/env python3
"""Adds the digest of its tensors to a model file that has none (FORMAT.md), in place.

A file that has one is held against it. Needs the packages numpy and safetensors of requirements.txt beside it.
"""

import argparse
import sys

from conversion.errors import ConversionError


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="add_digest.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE.safetensors", help="model files")
    options = parser.parse_args(arguments)
    try:
        from conversion.container import add_digest, write
        from conversion.converter import read_file
        from conversion.model_file import ModelFile

        for path in options.files:
            had = "digest" in ModelFile(path).document
            if not had:
                write(path, add_digest(read_file(path)))
            print(f"{path}: {ModelFile(path).document['digest']}{', which it had' if had else ''}")
    except ModuleNotFoundError as error:
        sys.exit(
            f"add_digest.py: the Python package {error.name} is missing; scripts/setup convert installs it into .venv, "
            "then run this with .venv/bin/python"
        )
    except ConversionError as error:
        sys.exit(f"add_digest.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
