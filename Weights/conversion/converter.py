"""From the bytes of a file to the bytes of a model file."""

import hashlib
import os
import warnings

from .container import encode, write
from .description import describe
from .errors import ConversionError
from .known import KNOWN
from .network import Facts, Network
from .simplify import simplify

MAX_FILE_BYTES = 1 << 30
MAX_LINE = 1000  # characters of an error


def convert(
    source: str, target: str, flags: Facts | None = None, size=None, float16: bool = False, output=None, say=None
) -> dict:
    """Converts a file and gives the document that was written into the result. Parameters: see `convert_bytes`.

    Raises ConversionError, whose text begins with the file's name; then there is no result.
    """
    document, result = convert_bytes(read_file(source), source, flags, size, float16, output, say)
    write(target, result)
    return document


def read_file(path: str) -> bytes:
    """The bytes of a file of at most MAX_FILE_BYTES."""
    try:
        with open(path, "rb") as file:
            is_larger = os.fstat(file.fileno()).st_size > MAX_FILE_BYTES
            # A pipe has no size.
            data = b"" if is_larger else file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConversionError(f"{path}: {error.strerror}") from None
    if is_larger or len(data) > MAX_FILE_BYTES:
        raise ConversionError(f"{path}: it is larger than {MAX_FILE_BYTES >> 20} MiB")
    return data


def convert_bytes(
    data: bytes, path: str, flags: Facts | None = None, size=None, float16: bool = False, output=None, say=None
) -> tuple:
    """The document and the bytes of the model file.

    What the flags say goes before what is known of the file, and that before what the file says of itself.

    - path: where the bytes are from: for the format, the name, and errors
    - size: (height, width) for an input whose size the file leaves open
    - float16: store weights as float16
    - output: the name of the output that counts where there are several; default: the first
    - say: called with each line that the user should know, which begins with the file's name
    """
    file = os.path.basename(path).encode("utf-8", "replace").decode("utf-8")  # a file's name may be any bytes
    stem, ending = os.path.splitext(file)
    digest = hashlib.sha256(data).hexdigest()
    try:
        # An error is one line: no warnings. What is not finite in the end is refused with the layer's name.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = simplify(read_network(data, ending.lower(), size, output))
            if size is not None and tuple(network.shape[:2]) != tuple(size):
                raise ConversionError(f"its input is {network.shape[1]}x{network.shape[0]}, not as --size says")
            facts = (
                Facts(name=stem).overlaid(network.facts).overlaid(KNOWN.get(digest, Facts())).overlaid(flags or Facts())
            )
            document = describe(network, facts, {"file": file, "sha256": digest})
            result = encode(document, network.layers, float16)
            for note in network.notes if say is not None else []:
                say(f"{path}: {printable(note)}")
            return document, result
    except ConversionError as error:
        raise ConversionError(f"{path}: {printable(str(error))}") from None
    except MemoryError:
        raise ConversionError(f"{path}: not enough memory") from None


def printable(line: str) -> str:
    """The line; names in a file may be any characters, and as long as the file."""
    line = "".join(c if c.isprintable() else "?" for c in line)
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 4] + " ..."


def read_network(data: bytes, ending: str, size=None, output=None) -> Network:
    """The network in a file of one of the formats, as its reader gives it.

    - ending: `.tflite`, `.mlmodel` or `.onnx`
    - size, output: see `convert_bytes`
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
        return read(data, size, output)
    except (ConversionError, MemoryError):
        raise
    except Exception as error:  # the libraries raise anything on damaged bytes, down to struct.error
        reason = " ".join(str(error).split())[:160]
        raise ConversionError(f"it is damaged or no {ending} file ({type(error).__name__}: {reason})") from None
