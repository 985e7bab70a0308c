"""convert.py as a command: what the flags do, what is refused, and that nothing is left behind."""

import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import WEIGHTS
from onnx import helper
from onnx_graphs import OnnxGraph
from safetensors import safe_open

KNOWN = ["--scale", "1/127.5", "--bias=-1", "--order", "RGB", "--labels", "a,b,c,d"]


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(WEIGHTS / "convert.py"), *map(str, arguments)], capture_output=True, text=True
    )


def document(path):
    with safe_open(str(path), "np") as file:
        return json.loads(file.metadata()["silhouette"])


@pytest.fixture
def network(tmp_path):
    """A network of four classes that says nothing of itself, and where its model file goes."""
    g = OnnxGraph()
    source = tmp_path / "street scenes.onnx"
    source.write_bytes(g.model(g.conv("picture", 3, 4)).SerializeToString())
    return source, tmp_path / "out" / "model.safetensors"


def convert(network, *flags):
    source, target = network
    target.parent.mkdir(exist_ok=True)
    done = run(source, target, *flags)
    if done.returncode != 0:
        assert list(target.parent.iterdir()) == []  # nothing is left behind
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("convert.py: ") and done.returncode == 1
    return done


def test_flags_fill_the_document(network, tmp_path):
    labels, palette = tmp_path / "labels.txt", tmp_path / "palette.txt"
    labels.write_text("road\nSpaß\n\n car \nsky\n", encoding="utf-8")
    palette.write_text("#000000\n#ff8000\n#0000FF\n#102030\n")
    done = convert(
        network,
        "--scale",
        "1/255,1/128,2",
        "--bias=-1,0,0.5",
        "--order",
        "BGR",
        "--labels",
        labels,
        "--palette",
        palette,
        "--output-kind",
        "probabilities",
        "--name",
        "street",
        "--size",
        "11x9",
    )
    assert (done.returncode, done.stderr) == (0, "")
    made = document(network[1])
    assert made["name"] == "street" and made["labels"] == ["road", "Spaß", "car", "sky"]
    assert made["palette"] == [[0, 0, 0], [255, 128, 0], [0, 0, 255], [16, 32, 48]]
    assert made["output"] == {"name": "Conv_0", "kind": "probabilities"}
    assert made["input"] == {
        "name": "picture",
        "width": 11,
        "height": 9,
        "order": "BGR",
        "scale": pytest.approx([1 / 255, 1 / 128, 2]),
        "bias": [-1, 0, 0.5],
    }
    assert made["source"]["file"] == "street scenes.onnx" and len(made["source"]["sha256"]) == 64


def test_without_a_name_it_is_the_file_s(network):
    assert convert(network, *KNOWN).returncode == 0
    assert document(network[1])["name"] == "street scenes"
    assert document(network[1])["output"]["kind"] == "logits"  # it ends in a convolution without activation


@pytest.mark.parametrize(
    "missing,flag", [("--scale", "--scale"), ("--bias=-1", "--bias"), ("--order", "--order"), ("--labels", "--labels")]
)
def test_what_is_not_known_is_refused_by_the_flag_s_name(missing, flag, network):
    flags = list(KNOWN)
    at = flags.index(missing)
    del flags[at : at + (1 if "=" in missing else 2)]
    done = convert(network, *flags)
    assert (
        done.returncode == 1 and f"not known: set {'--scale and --bias' if flag == '--bias' else flag}" in done.stderr
    )
    assert "street scenes.onnx" in done.stderr


def test_an_unclear_kind_of_scores_is_refused(tmp_path):
    g = OnnxGraph()
    source = tmp_path / "network.onnx"
    source.write_bytes(g.model(g.node("Relu", g.conv("picture", 3, 4))).SerializeToString())
    done = convert((source, tmp_path / "out" / "model.safetensors"), *KNOWN)
    assert done.returncode == 1 and "set --output-kind" in done.stderr


@pytest.mark.parametrize(
    "flags,message",
    [
        (["--labels", "a,b,c"], "3 labels for 4 classes: set them with --labels"),
        (["--labels", "no-such-file"], "--labels no-such-file: No such file or directory"),
        (["--palette", "no-such-file"], "--palette no-such-file: No such file or directory"),
        (["--scale", "1,2"], "2 values for 3 channels: set --scale"),
        (["--order", "GRAY"], "its input has 3 channels, which is no GRAY picture"),
        (["--size", "64"], "its input is 11x9, not as --size says"),
    ],
)
def test_flags_that_do_not_fit_are_refused(flags, message, network):
    done = convert(network, *KNOWN, *flags)
    assert done.returncode == 1 and message in done.stderr


@pytest.mark.parametrize(
    "flags", [["--scale", "fast"], ["--scale", "1/0"], ["--scale", "1e999"], ["--size", "3x"], ["--order", "RBG"]]
)
def test_flags_that_make_no_sense_are_refused(flags, network):
    source, target = network
    done = run(source, target, *flags)
    assert done.returncode == 2 and not target.exists() and f"argument {flags[0]}" in done.stderr


def test_palette_lines_are_checked(network, tmp_path):
    palette = tmp_path / "palette.txt"
    palette.write_text("#000000\nred\n")
    assert "'red' is no colour like #c08000" in convert(network, *KNOWN, "--palette", palette).stderr
    palette.write_text("#000000\n")
    assert "1 colours for 4 classes: set them with --palette" in convert(network, *KNOWN, "--palette", palette).stderr


def test_half_precision_halves_the_weights(network):
    _, target = network
    convert(network, *KNOWN)
    with safe_open(str(target), "np") as file:
        whole = file.get_tensor("Conv_0.weight")
    convert(network, *KNOWN, "--float16")
    with safe_open(str(target), "np") as file:
        half, bias = file.get_tensor("Conv_0.weight"), file.get_tensor("Conv_0.bias")
    assert half.dtype == np.float16 and bias.dtype == np.float32
    assert (half == whole.astype(np.float16)).all()


def test_every_tensor_begins_at_a_multiple_of_its_element(tmp_path):
    g = OnnxGraph()
    x = g.conv(g.conv("picture", 3, 5, kernel=1), 5, 7, kernel=1)  # 15 and 35 weights
    source, target = tmp_path / "network.onnx", tmp_path / "out" / "model.safetensors"
    source.write_bytes(g.model(g.conv(x, 7, 4)).SerializeToString())
    assert convert((source, target), *KNOWN, "--float16").returncode == 0
    data = target.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    del header["__metadata__"]
    spans = sorted(entry["data_offsets"] for entry in header.values())
    bytes_of = {"F32": 4, "F16": 2}
    assert length % 8 == 0
    assert all(entry["data_offsets"][0] % bytes_of[entry["dtype"]] == 0 for entry in header.values())
    assert [end for _, end in spans] == [start for start, _ in spans[1:]] + [len(data) - 8 - length]
    assert {entry["dtype"] for entry in header.values()} == {"F32", "F16"}


def test_the_same_input_gives_the_same_bytes(network):
    convert(network, *KNOWN)
    first = network[1].read_bytes()
    convert(network, *KNOWN)
    assert network[1].read_bytes() == first


def test_places_that_cannot_be_read_or_written(network, tmp_path):
    source, target = network
    done = run(tmp_path / "none.onnx", target)
    assert (done.returncode, done.stderr) == (1, f"convert.py: {tmp_path}/none.onnx: No such file or directory\n")
    done = run(source, tmp_path / "no" / "model.safetensors", *KNOWN)
    assert (done.returncode, done.stderr) == (
        1,
        f"convert.py: {tmp_path}/no/model.safetensors: No such file or directory\n",
    )
    done = run(tmp_path, target)
    assert done.returncode == 1 and "Is a directory" in done.stderr
    other = tmp_path / "network.pb"
    other.write_bytes(b"x")
    assert "ends neither in .tflite nor in .mlmodel nor in .onnx" in run(other, target).stderr


def test_a_full_disc_leaves_nothing(network):
    """A limit on file sizes stands in for a full disc: writing fails half way."""
    source, target = network
    target.parent.mkdir()
    code = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)); "
        "sys.argv = sys.argv[1:]; sys.path.insert(0, sys.argv[0].rpartition('/')[0]); "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(WEIGHTS / "convert.py"), str(source), str(target), *KNOWN],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, f"convert.py: {target}: File too large\n")
    assert list(target.parent.iterdir()) == []


def test_one_of_several_outputs(tmp_path):
    g = OnnxGraph()
    first = g.conv("picture", 3, 4)
    model = g.model(g.conv(first, 4, 4))
    model.graph.output.append(helper.make_empty_tensor_value_info(first))
    source, target = tmp_path / "two.onnx", tmp_path / "out" / "model.safetensors"
    source.write_bytes(model.SerializeToString())
    done = convert((source, target), *KNOWN)
    said = f"convert.py: {source}: it has 2 outputs, Conv_1, Conv_0: Conv_1 is taken, --output NAME takes another\n"
    assert (done.returncode, done.stderr, document(target)["output"]["name"]) == (0, said, "Conv_1")
    done = convert((source, target), *KNOWN, "--output", "Conv_0")
    assert (done.returncode, done.stderr, document(target)["output"]["name"]) == (0, "", "Conv_0")
    target.unlink()
    assert (
        "it has no output Relu_5: --output takes one of Conv_1, Conv_0"
        in convert((source, target), *KNOWN, "--output", "Relu_5").stderr
    )
