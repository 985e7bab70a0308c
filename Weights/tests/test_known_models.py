"""The four published networks, tensor by tensor against the runtimes they were made for."""

import importlib.util
import json

import numpy as np
import pytest
from conftest import error, litert, run_converted, run_onnx, shared
from conversion.converter import convert
from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from conversion.to_onnx import to_onnx
from PIL import Image

PICTURES = ["astronaut", "camera", "chelsea", "coco_000000000139", "coco_000000005037", "coco_000000011122", "rocket"]
FILES = {
    "257": "deeplabv3_257_mv_gpu.tflite",
    "apple": "DeepLabV3Int8LUT.mlmodel",
    "coral": "deeplabv3_mnv2_pascal_quant.tflite",
    "selfie": "selfie_segmentation.tflite",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Gives (original bytes, model file) of one of the networks, converted once without any flag."""
    made = {}

    def get(name):
        if name not in made:
            source, target = shared("models", FILES[name]), tmp_path_factory.mktemp("models") / f"{name}.safetensors"
            convert(str(source), str(target))
            made[name] = source.read_bytes(), ModelFile(str(target))
        return made[name]

    return get


def picture(folder, name):
    return np.asarray(Image.open(shared("golden", folder, f"{name}.input.png")))


@pytest.mark.parametrize("name,folder,tensors", [("257", "deeplabv3-257", 70), ("selfie", "selfie", 92)])
def test_every_tensor_is_litert_s(name, folder, tensors, models):
    data, model = models(name)
    x = model.normalise(picture(folder, "chelsea"))
    expected, _ = litert(data, x.transpose(0, 2, 3, 1))
    found = run_converted(model, x)
    common = sorted(set(found) & set(expected))
    worst = max(error(found[key].transpose(0, 2, 3, 1), expected[key]) for key in common)
    print(f"{name}: {len(common)} of {len(found)} tensors, largest difference {worst:.2g}")
    assert len(common) == len(found) == tensors
    assert worst < 5e-4


def test_quantised_tensors_stay_near_litert_s(models):
    data, model = models("coral")
    image = picture("deeplabv3-513-apple", "chelsea")
    expected, _ = litert(data, image[None])
    found = run_converted(model, model.normalise(image))
    near = []
    for key in set(found) & set(expected):
        ours, theirs = found[key].transpose(0, 2, 3, 1), expected[key]
        near.append(np.corrcoef(np.clip(ours, theirs.min(), theirs.max()).ravel(), theirs.ravel())[0, 1])
    print(f"coral: {len(near)} of {len(found)} tensors, smallest correlation {min(near):.4f}")
    assert len(near) == len(found) == 70 and min(near) > 0.98


def test_apple_s_logits_are_those_of_the_plain_evaluator(models):
    path = shared("golden", "coreml_numpy.py")
    specification = importlib.util.spec_from_file_location("coreml_numpy", path)
    reference = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(reference)
    _, model = models("apple")
    image = picture("deeplabv3-513-apple", "chelsea")
    expected = reference.CoreMLNet(str(shared("models", FILES["apple"]))).logits(image)
    found = run_converted(model, model.normalise(image))[model.document["output"]["name"]][0]
    print(f"apple: largest difference of the logits {np.abs(found - expected).max():.2g}")
    assert np.abs(found - expected).max() < 2e-3


@pytest.mark.parametrize(
    "name,folder,golden,least",
    [
        ("257", "deeplabv3-257", "deeplabv3-257", 0.9999),
        ("apple", "deeplabv3-513-apple", "deeplabv3-513-apple", 0.9999),
        ("coral", "deeplabv3-513-apple", "deeplabv3-513-coral", 0.98),
    ],
)
def test_labels_agree(name, folder, golden, least, models):
    _, model = models(name)
    network = to_onnx(model)
    for image in PICTURES:
        x = model.normalise(picture(folder, image))
        (scores,) = run_onnx(network, {model.document["input"]["name"]: x}).values()
        expected = np.asarray(Image.open(shared("golden", golden, f"{image}.labels.png")))
        agreement = (scores[0].argmax(0) == expected).mean()
        print(f"{name} {image}: {agreement:.6f}")
        assert agreement >= least, image


def test_selfie_masks_agree(models):
    _, model = models("selfie")
    network = to_onnx(model)
    for image in PICTURES:
        x = model.normalise(picture("selfie", image))
        (mask,) = run_onnx(network, {model.document["input"]["name"]: x}).values()
        expected = np.load(shared("golden", "selfie", f"{image}.mask.npy")).astype(np.float32)
        assert np.abs(mask[0, 0] - expected).max() < 1e-3, image  # the stored masks are rounded to float16


@pytest.mark.parametrize(
    "name,size,labels,kind,scale,bias",
    [
        ("257", 257, VOC_LABELS, "logits", 1 / 127.5, -1),
        ("apple", 513, VOC_LABELS, "logits", 1 / 127.5, -1),
        ("coral", 513, VOC_LABELS, "logits", 1 / 128, -1),
        ("selfie", 256, ["background", "person"], "probabilities", 1 / 255, 0),
    ],
)
def test_facts(name, size, labels, kind, scale, bias, models):
    _, model = models(name)
    document = model.document
    assert (document["input"]["width"], document["input"]["height"], document["input"]["order"]) == (size, size, "RGB")
    assert document["labels"] == labels and document["output"]["kind"] == kind
    assert document["input"]["scale"] == pytest.approx([scale] * 3) and document["input"]["bias"] == [bias] * 3
    assert document["source"]["licence"] == "Apache-2.0" and document["source"]["file"] == FILES[name]
    assert document["name"] == FILES[name].split(".")[0]
    assert len({layer["name"] for layer in model.layers}) == len(model.layers)
    json.dumps(document, allow_nan=False)


def test_metadata_says_what_a_file_s_checksum_does_not(tmp_path):
    """The 257 network with TFLite metadata in it: another checksum, the same facts."""
    source = shared("tools", "peers", "deeplabv3_257_with_metadata.tflite")
    document = convert(str(source), str(tmp_path / "model.safetensors"))
    assert document["labels"] == VOC_LABELS and document["input"]["order"] == "RGB"
    assert document["input"]["scale"] == pytest.approx([1 / 127.5] * 3) and document["input"]["bias"] == [-1] * 3
    assert "upstream" not in document["source"]
