"""The list of breaks that scripts/mutants tries: each still fits its file, and the suites that it names are there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from mutant_runs import breaks, copy, runs  # noqa: E402

SCRIPT = ROOT / "scripts/mutants"
BREAKS = breaks.read_breaks()


def mutants(*arguments):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("one", BREAKS, ids=lambda one: one.id)
def test_every_break_applies_and_has_suites(one):
    text = (ROOT / one.file).read_text()
    assert one.applied(text) != text
    assert one.tests and [suite for suite in one.tests if not runs.places_of(suite)] == []


def test_list_and_what_is_no_break():
    listed = mutants("list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [one.id for one in BREAKS]
    assert [line.split()[0] for line in mutants("list", "SHA256", "whole blocks").stdout.splitlines()] == ["sha-length"]
    for arguments in (["run"], ["run", "--all", "sha-length"], ["run", "no-such-break"]):
        done = mutants(*arguments)
        assert done.returncode == 1 and done.stderr.startswith("scripts/mutants: ") and done.stderr.count("\n") == 1


ENTRY = """[[break]]
id = '{id}'
breaks = 'all'
file = 'a.py'
old = 'a'
new = 'b'
tests = ['x.py']
"""


@pytest.mark.parametrize(
    "text,message",
    [
        (ENTRY.format(id="a") + ENTRY.format(id="a"), "two breaks are called a"),
        (ENTRY.format(id="a") + "more = 1", "not breaks, file, id, more, new, old, tests"),
        ("[[break]]\nid = 'a'", "not id"),
        ("[[", "Test.toml: "),
        ("", "Test.toml: 'break'"),
    ],
)
def test_a_damaged_list_is_refused(tmp_path, text, message):
    (tmp_path / "Test.toml").write_text(text)
    with pytest.raises(breaks.BreakError, match=message):
        breaks.read_breaks(tmp_path)


# A checkout of its own, whose only suite is a file of Python's tests.


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "code.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "test_code.py").write_text(
        "from code_under_test import double\n\n\ndef test_double():\n    assert double(3) == 6\n"
    )
    (tmp_path / "code.py").rename(tmp_path / "code_under_test.py")
    (tmp_path / ".gitignore").write_text("/.build-*/\n/.venv/\n")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for module in (breaks, copy, runs):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


def a_break(old, new):
    return breaks.Break("one", "doubles", "code_under_test.py", old, new, ("test_code.py",))


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name[0] != "."}


def test_breaks_are_tried_in_a_copy_and_mended(checkout, capsys):
    before = contents(checkout)
    folder = checkout / ".build-mutants"
    with copy.Copy(folder) as tried:
        assert runs.try_all(tried, [a_break("2 * x", "3 * x")]) == 0
        assert contents(folder) == before
        assert runs.try_all(tried, [a_break("2 * x", "x + x")]) == 1
    assert contents(folder) == contents(checkout) == before
    output = capsys.readouterr().out
    assert "one: killed by test_code.py::test_double" in output and "one: SURVIVED" in output
    assert "| one | `code_under_test.py` | doubles | killed | test_code.py::test_double |" in output


def test_a_suite_that_fails_without_a_break_or_has_no_test_says_nothing_of_breaks(checkout):
    (checkout / "code_under_test.py").write_text("def double(x):\n    return 0 * x\n")
    with (
        copy.Copy(checkout / ".build-mutants") as tried,
        pytest.raises(runs.Failure, match=r"test_code\.py fails without a break"),
    ):
        runs.try_all(tried, [a_break("0 * x", "x")])
    (checkout / "code_under_test.py").write_text("def double(x):\n    return 2 * x\n")
    (checkout / "test_code.py").write_text("import pytest\n\n@pytest.mark.skip\ndef test():\n    pass\n")
    for _ in range(2):
        with copy.Copy(checkout / ".build-mutants") as tried, pytest.raises(runs.Failure, match="no test ran"):
            runs.try_all(tried, [a_break("2 * x", "x")])
        (checkout / "test_code.py").write_text("")


def test_the_copy_follows_the_checkout_and_one_run_has_it(checkout):
    folder = checkout / ".build-mutants"
    with copy.Copy(folder) as first, pytest.raises(breaks.BreakError, match="in use by another run"):
        first.update()
        copy.Copy(folder).__enter__()
    (checkout / "new.py").write_text("new = 1\n")
    (checkout / "test_code.py").unlink()
    with copy.Copy(folder):
        assert contents(folder) == contents(checkout)


def test_what_runs_ends_with_an_interruption(tmp_path):
    """The suite and what it started; the copy is mended by the next run at the latest."""
    marker = tmp_path / "child"
    code = f"""
import signal, sys; sys.path.insert(0, {str(ROOT / "scripts")!r})
from pathlib import Path
from mutant_runs.runs import run
# A background job of a script ignores it, and so would what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
run(["sh", "-c", "sleep 100 & echo $! > {marker}.new && mv {marker}.new {marker} && wait"], Path("/"), 100)
"""
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stderr=subprocess.DEVNULL)
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(20) != 0
    child = int(marker.read_text())
    for _ in range(500):
        # It may stay as a zombie until somebody has asked how it ended.
        try:
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the suite's child is still there")
