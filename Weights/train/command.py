"""What the scripts share: numbers on the command line, and an end in one line where a file is at fault."""

import argparse
import contextlib
import functools
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conversion.errors import ConversionError


def ends_in_one_line(main):
    """For `main` of a script: tells in one line which file could not be read or written, and why."""
    script = Path(main.__code__.co_filename).name

    @functools.wraps(main)
    def run(arguments):
        try:
            main(arguments)
        except ConversionError as error:
            line = error
        except OSError as error:
            line = f"{error.filename}: {error.strerror}" if error.filename else error
        except KeyboardInterrupt:
            line = "stopped"
        else:
            return
        sys.exit(f"{script}: {line}")

    return run


@contextlib.contextmanager
def naming(path):
    """Names the file in the errors of reads and writes within, which do not name one themselves."""
    try:
        yield
    except OSError as error:
        if error.filename or not error.strerror:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def number(kind, least, most=math.inf):
    """An argument of argparse: an int or float from `least` to `most`."""

    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (least <= value <= most and math.isfinite(value)):
            bounds = f"from {least} to {most}" if math.isfinite(most) else f"of {least} or more"
            word = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {word} {bounds}")
        return value

    return read


count = number(int, 1)
natural = number(int, 0)
amount = number(float, 0)
