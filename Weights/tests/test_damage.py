"""Damaged files: one clear line each, whatever the libraries behind the readers raise."""

import random
import resource
import subprocess
import sys
import time
import tracemalloc

import pytest
from conftest import FIXTURES, WEIGHTS, shared
from conversion.converter import MAX_FILE_BYTES, convert_bytes, read_file
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from conversion.network import Facts
from onnx_graphs import OnnxGraph
from test_coreml import CoreMLGraph
from test_tflite import atrous_as_space_to_batch, half_precision_weights, quantised, transposed
from tflite_graphs import TFLiteGraph

FACTS = Facts(scale=[1], bias=[0], order="RGB", labels=["a", "b", "c", "d"], kind="logits")


def onnx_network():
    g = OnnxGraph()
    x = g.node("Relu", g.batch_norm(g.conv("picture", 3, 4), 4))
    size = g.node("Concat", g.constant([1, 4], "int64"), g.constant([20, 30], "int64"), axis=0)
    return g.model(g.node("Resize", x, "", "", size, mode="linear")).SerializeToString()


def coreml_network():
    g = CoreMLGraph()
    _, x = g.layer("pooling", [g.conv("image", 3, 4)[1]])
    return g.data(g.conv(x, 4, 4)[1])


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "holes.onnx"
    with open(path, "wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    tracemalloc.start()
    try:
        with pytest.raises(ConversionError, match=r"holes\.onnx: it is larger than 1024 MiB"):
            read_file(str(path))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def tflite_network(build):
    g = TFLiteGraph()
    return g.data(build(g))


NETWORKS = {
    "onnx": (onnx_network, "network.onnx"),
    "coreml": (coreml_network, "network.mlmodel"),
    "tflite": (lambda: tflite_network(atrous_as_space_to_batch), "network.tflite"),
    "tflite transposed": (lambda: tflite_network(transposed), "network.tflite"),
    "tflite half": (lambda: tflite_network(half_precision_weights), "network.tflite"),
    "tflite quantised": (lambda: quantised(0, 0, 0.1, [0.02, 0.01, 0.005, 0.04]), "network.tflite"),
}


def attempt(data, name):
    """Whether the file converts; where it does not, the error is one line that names it."""
    start = time.monotonic()
    try:
        convert_bytes(data, name, FACTS)
        return True
    except ConversionError as error:
        assert str(error).startswith(name + ": ") and "\n" not in str(error)
        return False
    finally:
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("network", NETWORKS)
def test_truncated(network):
    build, name = NETWORKS[network]
    data = build()
    assert attempt(data, name)
    for length in {*range(0, len(data), max(1, len(data) // 100)), len(data) - 1}:
        attempt(data[:length], name)
    assert not attempt(data[: len(data) // 2], name) and not attempt(b"", name)


@pytest.mark.parametrize("network", NETWORKS)
def test_bytes_changed_cut_and_inserted(network):
    build, name = NETWORKS[network]
    data, generator, refused = build(), random.Random(5), 0
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(generator.choice([1, 1, 2, 8])):
            at = generator.randrange(len(damaged))
            kind = generator.choice(["flip", "flip", "set", "cut", "insert"])
            if kind == "flip":
                damaged[at] ^= 1 << generator.randrange(8)
            elif kind == "set":
                damaged[at] = generator.choice([0, 1, 4, 127, 255])
            else:
                damaged[at : at + 4 * (kind == "cut")] = bytes(4 * (kind == "insert"))
        refused += not attempt(bytes(damaged), name)
    assert refused > 10


@pytest.mark.parametrize("name", ["network.onnx", "network.mlmodel", "network.tflite"])
def test_other_bytes(name):
    generator = random.Random(6)
    for length in (1, 7, 64, 4096):
        for _ in range(20):
            assert not attempt(generator.randbytes(length), name)
    assert not attempt((FIXTURES / "mini.safetensors").read_bytes(), name)


def test_names_that_are_no_text():
    data = onnx_network()
    assert not attempt(data.replace(b"Relu_", b"Rel\xff_"), "network.onnx")


def test_layers_without_inputs():
    g = OnnxGraph()
    g.conv("picture", 3, 4)
    for kind in ("Relu", "Concat", "Add", "Conv", "Resize", "Shape"):
        assert not attempt(g.model(g.node(kind)).SerializeToString(), "network.onnx")


def test_a_count_beyond_the_file_takes_no_memory(tmp_path):
    """The number of tensors of a file is set to two thousand million, and memory is limited to 4 GB."""
    g = TFLiteGraph()
    data = bytearray(g.data(half_precision_weights(g)))
    count = len(g.tensors).to_bytes(4, "little")
    damaged = tmp_path / "network.tflite"
    for at in range(0, len(data) - 4, 4):
        if data[at : at + 4] == count:
            copy = bytearray(data)
            copy[at : at + 4] = (2_000_000_000).to_bytes(4, "little")
            damaged.write_bytes(copy)
            done = subprocess.run(
                [
                    sys.executable,
                    str(WEIGHTS / "convert.py"),
                    str(damaged),
                    str(tmp_path / "o.safetensors"),
                    "--scale",
                    "1",
                    "--bias",
                    "0",
                    "--order",
                    "RGB",
                    "--labels",
                    "a,b,c,d",
                    "--output-kind",
                    "logits",
                ],
                capture_output=True,
                text=True,
                timeout=60,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
            )
            assert "Traceback" not in done.stderr and done.returncode in (0, 1)


def test_published_files_damaged():
    """The known networks with a few bytes changed: no checksum fits then, so facts come from the flags."""
    generator = random.Random(7)
    for file in ("selfie_segmentation.tflite", "deeplabv3_257_mv_gpu.tflite"):
        data = shared("models", file).read_bytes()
        assert not attempt(data[:100_000], file)
        for _ in range(20):
            damaged = bytearray(data)
            for _ in range(200):
                damaged[generator.randrange(len(data))] = generator.randrange(256)
            attempt(bytes(damaged), file)


def test_a_short_run_of_the_fuzzer(tmp_path):
    """fuzz_readers.py, whose long runs are done by hand."""
    done = subprocess.run(
        [sys.executable, str(WEIGHTS / "tests" / "fuzz_readers.py"), "--runs", "600", "--findings", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "600 runs" in done.stdout and " 0 findings" in done.stdout, done.stdout[-3000:]


def test_model_files_that_are_none(tmp_path):
    path = tmp_path / "model.safetensors"
    data = (FIXTURES / "mini.safetensors").read_bytes()
    for damaged in (b"", data[:1000], b"\xff" * 64, data[:-4]):
        path.write_bytes(damaged)
        with pytest.raises(ConversionError, match="it is no model file"):
            ModelFile(str(path))
