"""torchvision's DeepLabV3 networks with random weights, tensor by tensor against ONNX Runtime."""

import subprocess

import numpy as np
import onnx
import pytest
from conftest import WEIGHTS, error, run_converted, run_onnx
from conversion.converter import convert
from conversion.known import VOC_LABELS
from conversion.model_file import ModelFile
from conversion.network import Facts

SYSTEM_PYTHON = "/usr/bin/python3"


def need_torchvision():
    try:
        subprocess.run([SYSTEM_PYTHON, "-c", "import torchvision"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{SYSTEM_PYTHON} has no torchvision; the Debian package is python3-torchvision")


@pytest.mark.parametrize(
    "name,layers,dilations",
    [("deeplabv3_resnet50", 82, {1, 2, 4, 12, 24, 36}), ("deeplabv3_mobilenet_v3_large", 100, {1, 2, 12, 24, 36})],
)
def test_every_tensor_is_onnx_runtime_s(name, layers, dilations, tmp_path):
    need_torchvision()
    source, target = tmp_path / "network.onnx", tmp_path / "network.safetensors"
    subprocess.run(
        [SYSTEM_PYTHON, str(WEIGHTS / "export_torchvision.py"), name, str(source)], check=True, capture_output=True
    )
    convert(str(source), str(target), Facts(scale=[1 / 127.5], bias=[-1], order="RGB", labels=VOC_LABELS))
    model, original = ModelFile(str(target)), onnx.load(str(source))
    assert len(model.layers) == layers
    assert {layer.get("dilation", [1, 1])[0] for layer in model.layers} == dilations

    y, x = np.mgrid[0:129, 0:129]
    waves = np.stack([np.sin(x / 7 + y / 31), np.cos(x / 19 - y / 11), np.sin(x * y / 900)])
    tensor = (waves + np.random.default_rng(3).normal(0, 0.1, waves.shape))[None].astype(np.float32)
    found = run_converted(model, tensor)
    written = {output for node in original.graph.node for output in node.output}
    common = [output for output in found if output in written]
    expected = run_onnx(original, {"picture": tensor}, common)
    worst = max(error(found[key], expected[key]) for key in common)
    scores = model.document["output"]["name"]
    print(
        f"{name}: {len(common)} of {len(found)} tensors, largest difference {worst:.2g}, "
        f"of the scores {np.abs(found[scores] - expected[scores]).max():.2g}"
    )
    assert common == list(found)
    assert worst < 2e-3 and np.abs(found[scores] - expected[scores]).max() < 2e-3
    top = np.sort(expected[scores][0], 0)
    clear = top[-1] - top[-2] > 1e-2
    assert (found[scores][0].argmax(0) == expected[scores][0].argmax(0))[clear].all()
    assert len(np.unique(expected[scores][0].argmax(0))) >= 4  # or the test would say little
