"""The digest of the tensors in a model file: written, checked where there is one, added where there is none."""

import hashlib
import json
import subprocess
import sys

import pytest
from conftest import FIXTURES, WEIGHTS
from conversion.container import encode
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from onnx_graphs import OnnxGraph


def add_digest(*paths):
    return subprocess.run(
        [sys.executable, str(WEIGHTS / "add_digest.py"), *map(str, paths)], capture_output=True, text=True
    )


def parts(data):
    """The document and the bytes of the tensors, by nothing but the words of FORMAT.md."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["silhouette"]), data[8 + length :]


def without_digest(path):
    """The file as it was written before there were digests."""
    model = ModelFile(str(path))
    document = {key: value for key, value in model.document.items() if key != "digest"}
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["__metadata__"]["silhouette"] = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    encoded = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data[8 + length :])


@pytest.fixture
def model(convert_onnx, tmp_path):
    g = OnnxGraph()
    convert_onnx(g.model(g.conv(g.conv("picture", 3, 5), 5, 4)), labels=["Spa\u00df", "b", "c", "d"])
    return tmp_path / "network.safetensors"


def test_the_digest_is_that_of_all_bytes_after_the_header(model):
    document, values = parts(model.read_bytes())
    assert document["digest"] == "sha256:" + hashlib.sha256(values).hexdigest()
    assert len(values) == sum(tensor.nbytes for tensor in ModelFile(str(model)).tensors.values())


def test_each_changed_byte_is_found(model):
    data = bytearray(model.read_bytes())
    _, values = parts(data)
    for place in (len(data) - len(values), len(data) - len(values) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        model.write_bytes(damaged)
        with pytest.raises(ConversionError, match=r"its tensors are damaged: sha256:\w{64}, expected sha256:\w{64}$"):
            ModelFile(str(model))


def test_a_file_without_one_is_valid_and_gets_the_same_bytes_as_one_with_it(model):
    data = model.read_bytes()
    without_digest(model)
    assert "digest" not in ModelFile(str(model)).document and model.read_bytes() != data
    done = add_digest(model)
    expected = parts(data)[0]["digest"]
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{model}: {expected}\n", "")
    assert model.read_bytes() == data
    assert add_digest(model).stdout == f"{model}: {expected}, which it had\n" and model.read_bytes() == data


@pytest.mark.parametrize("name", ["mini.safetensors", "mini-selfie.safetensors"])
def test_old_files_change_in_nothing_else(name, tmp_path):
    path, data = tmp_path / name, (FIXTURES / name).read_bytes()
    path.write_bytes(data)
    before, values = parts(data)
    before.pop("digest", None)
    assert add_digest(path).returncode == 0
    after, kept = parts(path.read_bytes())
    assert list(after)[-1] == "digest" and {key: after[key] for key in before} == before and kept == values


def test_a_wrong_one_and_other_files_are_refused(model, tmp_path):
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    done = add_digest(model)
    assert done.returncode == 1 and done.stderr.startswith(f"add_digest.py: {model}: its tensors are damaged: sha256:")
    assert done.stderr.count("\n") == 1 and model.read_bytes() == data
    none = tmp_path / "none.safetensors"
    none.write_bytes(b"{}")
    done = add_digest(none)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1) and "it is no model file" in done.stderr


def test_a_network_gives_the_same_digest_in_the_document(model):
    """The document that a conversion gives is the one that it writes."""
    document = {"version": 1}
    assert parts(encode(document, [], False))[0] == document and document["digest"].startswith("sha256:e3b0c442")
