"""Downloads against a server on this machine, and the command `fetch`."""

import contextlib
import hashlib
import http.server
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from conftest import WEIGHTS, shared
from conversion.download import CheckedRedirects, check_scheme, download
from conversion.errors import ConversionError
from conversion.model_file import ModelFile
from onnx_graphs import OnnxGraph

FLAGS = ["--scale", "1/127.5", "--bias=-1", "--order", "RGB", "--labels", "a,b,c,d"]


def network():
    g = OnnxGraph()
    return g.model(g.conv("picture", 3, 4)).SerializeToString()


DATA = network()
SUM = hashlib.sha256(DATA).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Each path misbehaves in its own way."""

    def do_GET(self):
        with contextlib.suppress(ConnectionError):
            getattr(self, "get_" + self.path.strip("/").split(".")[0].split("/")[0])()

    def answer(self, data, length=None, code=200, **headers):
        self.send_response(code)
        if length is not False:
            self.send_header("Content-Length", str(len(data) if length is None else length))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    def get_network(self):
        self.answer(DATA)

    def get_unlabelled(self):
        self.answer(DATA, length=False)

    def get_truncated(self):
        self.answer(DATA[:-100], length=len(DATA))

    def get_missing(self):
        self.answer(b"no", code=404)

    def get_other(self):
        self.answer(DATA[:-1] + b"?")

    def get_large(self):
        self.answer(b"", length=1 << 40)

    def get_endless(self):
        self.answer(b"", length=False)
        while True:
            self.wfile.write(bytes(1 << 16))

    def get_hang(self):
        self.server.released.wait(20)

    def get_stall(self):
        self.answer(DATA[:50], length=len(DATA))
        self.server.released.wait(20)

    def get_trickle(self):
        self.answer(b"", length=len(DATA))
        for byte in DATA:
            self.wfile.write(bytes([byte]))
            if self.server.released.wait(0.05):
                return

    def get_away(self):
        self.answer(b"", code=302, Location="http://192.0.2.1/network.onnx")

    def get_file(self):
        self.answer(b"", code=302, Location="file:///etc/hostname")

    def get_near(self):
        self.answer(b"", code=302, Location="/network.onnx")

    def get_circle(self):
        self.answer(b"", code=302, Location="/circle/" + "x" * len(self.path))

    def get_nonsense(self):
        self.wfile.write(b"SSH-2.0-OpenSSH\r\n")

    def get_lies(self):
        self.answer(b"x", length="many")

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads, running.released = True, threading.Event()
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}"
    running.released.set()
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.mark.parametrize("path", ["network.onnx", "unlabelled", "near"])
def test_downloads(path, server):
    assert download(f"{server}/{path}", SUM) == DATA


@pytest.mark.parametrize(
    "path,message",
    [
        ("truncated", f"the connection broke after {len(DATA) - 100} of {len(DATA)} bytes"),
        ("missing", "the server answers 404"),
        ("other", f"wrong content, SHA-256 {hashlib.sha256(DATA[:-1] + b'?').hexdigest()}, expected {SUM}"),
        ("large", f"{1 << 40} bytes are more than the 1048576 that are allowed"),
        ("endless", "more than the 1048576 bytes that are allowed"),
        ("hang", "no answer within 0.5 s"),
        ("stall", "no answer within 0.5 s"),
        ("trickle", "too slow"),
        ("away", "http://192.0.2.1/network.onnx: only https addresses are allowed"),
        ("file", "Redirection to url 'file:///etc/hostname' is not allowed"),
        ("circle", "the server answers 302"),
        ("nonsense", "not reachable"),
        ("lies", "wrong content"),
    ],
)
def test_refuses(path, message, server):
    start = time.monotonic()
    with pytest.raises(ConversionError) as caught:
        download(f"{server}/{path}", SUM, timeout=0.5, deadline=1, max_bytes=1 << 20)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert time.monotonic() - start < 5


def test_nobody_listens():
    with pytest.raises(ConversionError, match=r"^http://127.0.0.1:1/x: not reachable \(Connection refused\)$"):
        download("http://127.0.0.1:1/x", SUM)


@pytest.mark.parametrize(
    "url,allowed",
    [
        ("https://example.org/x", True),
        ("http://localhost:80/x", True),
        ("http://[::1]/x", True),
        ("http://example.org/x", False),
        ("ftp://example.org/x", False),
        ("file:///x", False),
        ("x", False),
        ("", False),
        ("http://localhost.example.org/", False),
    ],
)
def test_addresses(url, allowed):
    if allowed:
        check_scheme(url)
    else:
        with pytest.raises(ConversionError, match="only https addresses are allowed"):
            check_scheme(url)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:80/x", "http://[::1]/x", "http://localhost/x", "https://127.0.0.2/x"]
)
def test_no_redirect_leads_from_the_network_to_this_machine(target):
    request = urllib.request.Request("https://example.org/network.onnx")
    with pytest.raises(ConversionError, match=f"redirects to {re.escape(target)}, which is not allowed"):
        CheckedRedirects().redirect_request(request, None, 302, "Found", {}, target)


# The command


def fetch(tmp_path, *arguments, **environment):
    """Runs the command under the Python of the tests, with a cache of its own."""
    # It prefers the checkout's virtual environment, where there is one; the same packages are in both.
    env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "no_proxy": "*"} | environment
    done = subprocess.run(
        [sys.executable, str(WEIGHTS / "fetch"), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )
    if done.returncode not in (0, 2):
        assert done.stderr.startswith("fetch: ") and done.stderr.count("\n") == 1 and done.stdout == ""
        assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    return done


def test_fetch_converts_into_the_cache(server, tmp_path):
    done = fetch(tmp_path, "--url", server + "/network.onnx", "--sha256", SUM.upper(), *FLAGS)
    target = tmp_path / "cache" / "silhouette" / "network.safetensors"
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"the model is ready: {target}\n")
    assert ModelFile(str(target)).document["source"]["sha256"] == SUM
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_a_relative_cache_folder_counts_as_none(server, tmp_path):
    done = fetch(
        tmp_path, "--url", server + "/network.onnx", "--sha256", SUM, *FLAGS, XDG_CACHE_HOME="cache", HOME=str(tmp_path)
    )
    assert done.stdout == f"the model is ready: {tmp_path}/.cache/silhouette/network.safetensors\n"


def test_fetch_compares_with_the_official_checksum(server, tmp_path):
    done = fetch(tmp_path, "--url", server + "/network.onnx")
    assert done.returncode == 1
    assert (
        f"wrong content, SHA-256 {SUM}, expected 68a539782c2c6a72f8aac3724600124a85ed977162b44e84cbae5db717c933c6"
        in done.stderr
    )


@pytest.mark.parametrize(
    "path,message", [("missing", "404"), ("hang", "no answer within 0.5 s"), ("truncated", "broke")]
)
def test_fetch_says_what_went_wrong(path, message, server, tmp_path):
    done = fetch(tmp_path, "--url", f"{server}/{path}", "--timeout", "0.5")
    assert done.returncode == 1 and message in done.stderr


def test_fetch_takes_a_file(tmp_path):
    source = tmp_path / "mine.onnx"
    source.write_bytes(DATA)
    assert "set --order" in fetch(tmp_path, "--from", source).stderr
    assert (
        fetch(tmp_path, "--from", tmp_path / "none.onnx").stderr
        == f"fetch: {tmp_path}/none.onnx: No such file or directory\n"
    )
    done = fetch(tmp_path, "--from", source, "-o", tmp_path / "there" / "model.safetensors", *FLAGS)
    assert done.returncode == 0 and (tmp_path / "there" / "model.safetensors").exists()


def test_fetch_says_which_model_is_used_where_another_one_comes_first(tmp_path):
    source, cache = tmp_path / "mine.onnx", tmp_path / "cache" / "silhouette"
    source.write_bytes(DATA)
    assert fetch(tmp_path, "--from", source, *FLAGS).stdout == f"the model is ready: {cache}/mine.safetensors\n"
    # The first by name, before it Apple's, before that the 257x257 one.
    for first in ["more", "mind", "DeepLabV3Int8LUT", "deeplabv3_257_mv_gpu"]:
        (cache / f"{first}.safetensors").write_bytes(b"here")
        done = fetch(tmp_path, "--from", source, *FLAGS)
        used = f"silhouette uses {cache}/{first}.safetensors nevertheless: name this one with -m"
        assert (used in done.stdout) == (first != "more"), done.stdout


@pytest.mark.parametrize("file", ["deeplabv3_257_mv_gpu.tflite", "DeepLabV3Int8LUT.mlmodel"])
def test_fetch_takes_an_official_file_without_flags(file, tmp_path):
    done = fetch(tmp_path, "--from", shared("models", file))
    target = tmp_path / "cache" / "silhouette" / (file.split(".")[0] + ".safetensors")
    assert (done.returncode, done.stderr) == (0, "") and len(ModelFile(str(target)).document["labels"]) == 21


def test_fetch_does_not_download_twice(tmp_path):
    """What is in the cache is left alone; no network is needed."""
    target = tmp_path / "cache" / "silhouette" / "deeplabv3_257_mv_gpu.safetensors"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"here")
    done = fetch(tmp_path)
    first, gain = done.stdout.splitlines()
    assert (done.returncode, first) == (0, f"the model is there already: {target}")
    assert "instead of" in gain
    assert target.read_bytes() == b"here"


def test_fetch_cannot_write(server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    done = fetch(
        tmp_path, "--url", server + "/network.onnx", "--sha256", SUM, *FLAGS, XDG_CACHE_HOME=str(tmp_path / "file")
    )
    assert done.stderr == f"fetch: {tmp_path}/file/silhouette: Not a directory\n"
    done = fetch(tmp_path, "--url", server + "/network.onnx", "--sha256", SUM, *FLAGS, XDG_CACHE_HOME="", HOME="")
    assert "neither HOME nor XDG_CACHE_HOME is set" in done.stderr


@pytest.mark.parametrize("flags", [["--from", "a", "--url", "b"], ["--sha256", "0"], ["--model", "513"]])
def test_fetch_flags_that_make_no_sense(flags, tmp_path):
    done = fetch(tmp_path, *flags)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_missing_packages_are_named(tmp_path):
    """A copy without a virtual environment, under a Python without packages."""
    subprocess.run(["cp", "-r", str(WEIGHTS), str(tmp_path / "Weights")], check=True)
    for command in (["fetch"], ["convert.py", "in.onnx", "out.safetensors"]):
        done = subprocess.run(
            [sys.executable, "-S", str(tmp_path / "Weights" / command[0]), *command[1:]], capture_output=True, text=True
        )
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert "is missing; scripts/setup convert installs it into .venv" in done.stderr


def test_official_files_are_the_known_ones():
    from conversion.known import KNOWN

    text = (WEIGHTS / "fetch").read_text()
    sums = [line.split('"')[3] for line in text.splitlines() if line.startswith(('    "257":', '    "apple":'))]
    assert len(sums) == 2
    assert [KNOWN[value].upstream.rpartition("/")[2] for value in sums] == [
        "deeplabv3_257_mv_gpu.tflite",
        "DeepLabV3Int8LUT.mlmodel",
    ]
