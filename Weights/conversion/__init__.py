"""Turns networks of other formats into Silhouette's model files (`../FORMAT.md`)."""

import hashlib
import os

from .container import encode, write
from .description import describe
from .errors import ConversionError
from .known import KNOWN
from .network import Facts, Network
from .simplify import simplify

MAX_FILE_BYTES = 2 << 30


def read_network(data: bytes, ending: str, size=None) -> Network:
    """The network in a file of one of the formats, as its reader gives it.

    - ending: `.tflite`, `.mlmodel` or `.onnx`
    - size: (height, width) for an input whose size the file leaves open
    """
    # The libraries behind the readers are large: only the one that is needed is loaded.
    if ending == ".tflite":
        from .tflite_reader import read
    elif ending == ".mlmodel":
        from .coreml_reader import read
    elif ending == ".onnx":
        from .onnx_reader import read
    else:
        raise ConversionError("its name ends neither in .tflite nor in .mlmodel nor in .onnx")
    try:
        return read(data, size)
    except (ConversionError, MemoryError):
        raise
    except Exception as error:  # the libraries raise anything on damaged bytes, down to struct.error
        raise ConversionError(f"it is damaged or no {ending} file ({type(error).__name__}: {first_line(error)})") from None


def first_line(error):
    """The first line of an error's text."""
    return str(error).strip().split("\n")[0][:200]


def convert(source: str, target: str, flags: Facts = Facts(), size=None, float16: bool = False) -> dict:
    """Converts a file and gives the document that was written into the result.

    What the flags say goes before what is known of the file, and that before what the file says of itself.
    Raises ConversionError, whose text begins with the file's name.
    """
    try:
        with open(source, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConversionError(f"{source}: {error.strerror}") from None
    try:
        if len(data) > MAX_FILE_BYTES:
            raise ConversionError(f"it is larger than {MAX_FILE_BYTES} bytes")
        stem, ending = os.path.splitext(os.path.basename(source))
        digest = hashlib.sha256(data).hexdigest()
        network = simplify(read_network(data, ending.lower(), size))
        facts = Facts(name=stem).overlaid(network.facts).overlaid(KNOWN.get(digest, Facts())).overlaid(flags)
        if size is not None and tuple(network.shape[:2]) != tuple(size):
            raise ConversionError(f"its input is {network.shape[1]}x{network.shape[0]}, not as --size says")
        document = describe(network, facts, {"file": os.path.basename(source), "sha256": digest})
        result = encode(document, network.layers, float16)
    except ConversionError as error:
        raise ConversionError(f"{source}: {error}") from None
    except MemoryError:
        raise ConversionError(f"{source}: not enough memory") from None
    write(target, result)
    return document
