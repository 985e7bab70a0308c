"""The bytes of a model file: a safetensors container with the description in its metadata."""

import json
import os
import tempfile

import numpy as np
from safetensors.numpy import save

from .errors import ConversionError


def encode(document: dict, layers: list, float16: bool) -> bytes:
    """The file. The same network gives the same bytes.

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
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return save(tensors, {"silhouette": text})


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
