"""The committed small networks give the answers beside them, and their script still makes them."""

import runpy

import numpy as np
import pytest
from conftest import FIXTURES, run_converted
from conversion.model_file import ModelFile
from PIL import Image


def answers(name):
    """The model file, and the result of every layer for its picture."""
    model = ModelFile(str(FIXTURES / f"{name}.safetensors"))
    picture = np.asarray(Image.open(FIXTURES / f"{name}.input.png"))
    if model.document["input"]["order"] == "BGR":
        picture = picture[..., ::-1]
    return model, run_converted(model, model.normalise(picture))


def test_mini():
    model, found = answers("mini")
    scores = found[model.layers[-2]["output"]][0].transpose(1, 2, 0)
    assert np.abs(scores - np.load(FIXTURES / "mini.scores.npy")).max() < 7e-4
    labels = found[model.document["output"]["name"]][0].argmax(0)
    expected = np.asarray(Image.open(FIXTURES / "mini.labels.png"))
    assert (labels == expected).all()
    assert len(np.unique(expected)) >= 8


def test_mini_selfie():
    model, found = answers("mini-selfie")
    mask = np.load(FIXTURES / "mini-selfie.mask.npy")
    assert mask.shape == (40, 48) and 0.2 < (mask >= 0.5).mean() < 0.8
    assert np.abs(found[model.document["output"]["name"]][0, 0] - mask).max() < 1e-5


def test_the_networks_cover_every_operator():
    used = {
        layer["op"]
        for name in ("mini", "mini-selfie")
        for layer in ModelFile(str(FIXTURES / f"{name}.safetensors")).layers
    }
    assert used == {
        "conv2d",
        "depthwiseConv2d",
        "transposeConv2d",
        "add",
        "mul",
        "concat",
        "globalAveragePool",
        "averagePool",
        "maxPool",
        "resizeBilinear",
    }


@pytest.mark.parametrize("ending", [".safetensors", ".input.png"])
def test_the_script_makes_the_same_networks(ending, tmp_path):
    runpy.run_path(str(FIXTURES / "make_mini.py"))["main"](str(tmp_path))
    for name in ("mini", "mini-selfie"):
        made, committed = tmp_path / (name + ending), FIXTURES / (name + ending)
        if ending == ".safetensors":
            made, committed = ModelFile(str(made)), ModelFile(str(committed))
            assert made.layers == committed.layers
            # Statistics of the pictures are rounded, but may round otherwise on another processor.
            assert all(np.abs(made.tensor(key) - committed.tensor(key)).max() < 0.05 for key in committed.tensors)
        else:
            assert (np.asarray(Image.open(made)) == np.asarray(Image.open(committed))).all()
