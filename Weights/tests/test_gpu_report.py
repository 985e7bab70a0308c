"""What scripts/gpu-report runs in PyTorch, on the CPU, against ONNX Runtime."""

import importlib.util
from importlib.machinery import SourceFileLoader

import numpy as np
import pytest
from conftest import ROOT, run_onnx
from onnx_graphs import OnnxGraph

torch = pytest.importorskip("torch", reason="PyTorch is absent; Weights/train/requirements.txt names it")

LOADER = SourceFileLoader("gpu_report", str(ROOT / "scripts/gpu-report"))
gpu_report = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_report", LOADER))
LOADER.exec_module(gpu_report)


@pytest.mark.parametrize("gate", ["Sigmoid", "HardSigmoid"])
def test_pytorch_runs_the_network_that_the_file_describes(convert_onnx, tmp_path, gate):
    g = OnnxGraph(height=10, width=11)
    x = g.node("Relu", g.conv("picture", 3, 8, strides=[2, 2], pads=[0, 0, 1, 1]))  # as TensorFlow pads
    x = g.conv(x, 8, 8, group=8, pads=[0, 1, 2, 1])
    x = g.node("Mul", x, g.node(gate, g.conv(g.node("GlobalAveragePool", x), 8, 8, kernel=1)))
    x = g.node("Concat", x, g.conv(x, 8, 4, pads=[2] * 4, dilations=[2, 2]), axis=1)
    model = g.model(g.conv(x, 12, 4, kernel=1))
    convert_onnx(model)
    run, size = gpu_report.torch_run(tmp_path / "network.safetensors", "cpu", half=False)
    picture = g.picture()
    (expected,) = run_onnx(model, {"picture": picture}).values()
    found = run(torch.from_numpy(picture)).numpy()
    assert (size["height"], size["width"]) == (10, 11)
    assert np.array_equal(found, expected.argmax(1))
    assert len(np.unique(found)) > 1
