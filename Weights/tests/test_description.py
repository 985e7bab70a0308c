"""The document of a model file, and reading it back."""

import numpy as np
import pytest
from conftest import run_converted
from conversion.container import encode
from conversion.description import describe
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from conversion.network import Facts, Layer, Network
from conversion.simplify import simplify

FACTS = Facts(name="test", scale=[1], bias=[0], order="RGB", kind="logits")


def network(outputs, *more):
    """A 1x1 convolution on 3 x 4 pixels, and layers after it."""
    weight = np.random.default_rng(3).uniform(-1, 1, (outputs, 3, 1, 1)).astype(np.float32)
    layers = [Layer("conv2d", "scores", ["picture"], "scores", weight), *more]
    return Network("picture", (3, 4, 3), layers, layers[-1].output)


@pytest.mark.parametrize(
    "outputs,labels,expected",
    [
        (1, ["cat"], ["background", "cat"]),
        (1, ["nothing", "cat"], ["nothing", "cat"]),
        (3, [" a ", "", "b", "c"], ["a", "b", "c"]),
    ],
)
def test_labels(outputs, labels, expected):
    assert describe(network(outputs), FACTS.overlaid(Facts(labels=labels)), {})["labels"] == expected


@pytest.mark.parametrize("outputs,labels", [(1, ["a", "b", "c"]), (3, ["a", "b"]), (2, ["a"]), (3, [])])
def test_labels_must_be_as_many_as_classes(outputs, labels):
    with pytest.raises(ConversionError, match=f"{len(labels)} labels for {max(outputs, 2)} classes"):
        describe(network(outputs), FACTS.overlaid(Facts(labels=labels)), {})


def test_four_channels_are_no_matter_of_their_order():
    made = network(2)
    made.shape = (3, 4, 4)
    with pytest.raises(ConversionError, match="its input has 4 channels, only 3"):
        describe(made, FACTS.overlaid(Facts(order=None, labels=["a", "b"])), {})


def test_what_has_its_default_is_left_out():
    layer = describe(network(2), FACTS.overlaid(Facts(labels=["a", "b"])), {})["layers"][0]
    assert layer == {
        "op": "conv2d", "name": "scores", "inputs": ["picture"], "output": "scores", "weight": "scores.weight"
    }  # fmt: skip


def test_names_become_what_a_model_file_may_hold():
    made = network(2)
    made.layers.append(Layer("activation", "scores", ["scores"], "a\nb\x00" + "ü" * 600, activation="relu"))
    made.layers.append(Layer("activation", "", ["a\nb\x00" + "ü" * 600], "a b?" + "ü" * 600, activation="relu"))
    made.output = made.layers[-1].output
    simplify(made)
    names = [name for layer in made.layers for name in (layer.name, layer.output)] + [made.input, made.output]
    assert all(0 < len(name.encode()) <= 480 and name.isprintable() for name in names)
    assert [layer.name for layer in made.layers] == ["scores", "unnamed"]
    assert made.layers[1].inputs == [made.layers[0].output] and made.layers[0].output.startswith("a b?ü")
    facts = FACTS.overlaid(Facts(labels=["a", "b"], licence="line one\nline two " + "x" * 1000))
    assert describe(made, facts, {})["source"]["licence"].startswith("line one line two xxx")


def test_numbers_are_the_shortest_of_float32():
    facts = FACTS.overlaid(Facts(labels=["a", "b"], scale=[1 / 127.5], bias=[-1 / 3]))
    size = describe(network(2), facts, {})["input"]
    assert size["scale"] == [0.007843138] * 3 and size["bias"] == [-0.33333334] * 3


def test_weights_beyond_float16_are_not_made_infinite():
    made = network(4)
    made.layers[0].weight[0, 0, 0, 0] = -65504
    document = describe(made, FACTS.overlaid(Facts(labels=list("abcd"))), {})
    encode(document, made.layers, float16=True)
    made.layers[0].weight[0, 0, 0, 0] = -65536
    encode(document, made.layers, float16=False)
    with pytest.raises(ConversionError, match=r"^layer scores: its weights are too large for --float16$"):
        encode(document, made.layers, float16=True)


def test_a_model_file_runs_as_onnx(tmp_path):
    """With operators that the converter itself does not write."""
    made = network(
        4, Layer("softmax", "confidence", ["scores"], "confidence"), Layer("argMax", "label", ["confidence"], "label")
    )
    document = describe(made, FACTS.overlaid(Facts(labels=["background", "label"])), {})
    path = tmp_path / "model.safetensors"
    path.write_bytes(encode(document, made.layers, float16=False))
    model = ModelFile(str(path))
    picture = np.random.default_rng(4).integers(0, 256, (3, 4, 3)).astype(np.uint8)
    found = run_converted(model, model.normalise(picture))
    scores = np.einsum("hwi,oi->ohw", picture.astype(np.float32), made.layers[0].weight[:, :, 0, 0])
    assert np.allclose(found["scores"][0], scores, rtol=1e-4, atol=1e-3)
    assert np.allclose(found["confidence"][0].sum(0), 1, atol=1e-5)
    assert (found["label"][0, 0] == scores.argmax(0)).all()
