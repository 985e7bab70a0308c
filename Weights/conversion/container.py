"""The bytes of a model file: a safetensors container with the description in its metadata."""

import hashlib
import json
import os
import tempfile

import numpy as np
from safetensors.numpy import save

from .errors import ConversionError

DIGEST = "sha256:"  # and 64 hexadecimal digits


def encode(document: dict, layers: list, float16: bool) -> bytes:
    """The file. The same network gives the same bytes. Adds the digest of the tensors to the document.

    - float16: store weights, but not biases, as float16
    """
    tensors = {}
    for layer in layers:
        for role, values in (("weight", layer.weight), ("bias", layer.bias)):
            if values is None:
                continue
            if not np.isfinite(values).all():
                raise ConversionError(f"layer {layer.name}: its {role} holds a value that is not finite")
            # safetensors puts the wider type first, so every tensor begins at a multiple of its element's size.
            half = float16 and role == "weight"
            if half and np.abs(values).max() > np.finfo(np.float16).max:
                raise ConversionError(f"layer {layer.name}: its weights are too large for --float16")
            tensors[f"{layer.name}.{role}"] = np.ascontiguousarray(values, np.float16 if half else np.float32)
    # Which bytes the tensors become depends on nothing else in the file.
    document["digest"] = digest(tensor_bytes(save(tensors)))
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return save(tensors, {"silhouette": text})


def tensor_bytes(data) -> memoryview:
    """All bytes of a model file after its header: those of the tensors."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ConversionError("it is damaged: its header is longer than the file")
    return memoryview(data)[8 + length :]


def digest(values) -> str:
    """What a model file's document says of the bytes of its tensors."""
    return DIGEST + hashlib.sha256(values).hexdigest()


def add_digest(data: bytes) -> bytes:
    """The same file with a digest in its document, where it has none yet. Nothing else changes."""
    values, header = tensor_bytes(data), json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    text = header["__metadata__"]["silhouette"]
    if "digest" in json.loads(text):
        return data
    # Before the bracket that ends the document: all of its other bytes stay as they are.
    stripped = text.rstrip()
    header["__metadata__"]["silhouette"] = f'{stripped[:-1]},"digest":"{digest(values)}"}}'
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    encoded += b" " * (-len(encoded) % 8)
    return len(encoded).to_bytes(8, "little") + encoded + bytes(values)


def write(path: str, data: bytes):
    """Writes the whole file or nothing: a temporary name beside it, then a rename."""
    folder = os.path.dirname(path) or "."
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix="." + os.path.basename(path) + ".", dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # as open() would have made it; mkstemp allows the owner only
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise ConversionError(f"{path}: {error.strerror}") from None
