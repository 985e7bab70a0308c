"""Reads a model file back."""

import json

import numpy as np
from safetensors import safe_open

from .container import digest, tensor_bytes
from .errors import ConversionError
from .network import Layer
from .shapes import check, output_shape


class ModelFile:
    """A model file: its document, its tensors as float32, and the shapes of all maps (height, width, channels).

    Its tensors are held against its digest, where it has one.
    """

    def __init__(self, path):
        try:
            with safe_open(path, "np") as file:
                self.document = json.loads((file.metadata() or {})["silhouette"])
                self.tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            if "digest" in self.document:
                with open(path, "rb") as file:
                    found = digest(tensor_bytes(file.read()))
                if found != self.document["digest"]:
                    raise ConversionError(f"its tensors are damaged: {found}, expected {self.document['digest']}")
            self.read()
        except ConversionError as error:
            raise ConversionError(f"{path}: {error}") from None
        except Exception as error:  # safetensors raises an exception of its own, and OSError, and json's
            raise ConversionError(f"{path}: it is no model file ({type(error).__name__})") from None

    def read(self):
        """What follows from the document."""
        self.layers = self.document["layers"]
        size = self.document["input"]
        self.shapes = {size["name"]: check((size["height"], size["width"], len(size["scale"])), "the input")}
        for entry in self.layers:
            layer = Layer(
                entry["op"],
                entry["name"],
                entry["inputs"],
                entry["output"],
                self.tensors.get(entry.get("weight")),
                self.tensors.get(entry.get("bias")),
                entry.get("activation", "none"),
                entry,
            )
            self.shapes[entry["output"]] = check(
                output_shape(layer, [self.shapes[name] for name in entry["inputs"]]), f"layer {entry['name']}"
            )

    def tensor(self, name) -> np.ndarray:
        """The values of a tensor as float32."""
        return self.tensors[name].astype(np.float32)

    def normalise(self, picture) -> np.ndarray:
        """What the first layer reads (1 x C x height x width), from 8-bit height x width x C in the model's order."""
        scale, bias = (np.asarray(self.document["input"][key], np.float32) for key in ("scale", "bias"))
        return (picture.astype(np.float32) * scale + bias).transpose(2, 0, 1)[None]
