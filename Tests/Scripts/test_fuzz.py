"""The fuzzer: what the pages say of its harnesses, and whether it notices what it is there for."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HARNESSES = ROOT / "Tests/Fuzz"
NAMES = sorted(path.stem for path in HARNESSES.glob("*.swift"))

HARNESS = """// modules: Broken
import CBroken

func fuzz(_ input: [UInt8]) {
    guard input.count == 2, input[0] == 7 else { return }
    switch input[1] {
    case 0: precondition(input[0] == 8, "a precondition")
    case 1: _ = input[Int(input[0])]
    case 2: print(outside(input))
    case 3: print(broken_sum(2_147_483_647, Int32(input[0])))
    case 4: print(broken_read(Int32(input[0])))
    default: break
    }
}

let seeds: [[UInt8]] = [[7, 9]]
"""
SWIFT = """
func outside(_ bytes: [UInt8]) -> UInt8 {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4, alignment: 1)
    defer { memory.deallocate() }
    return memory.load(fromByteOffset: Int(bytes[0]), as: UInt8.self)
}
"""
SHIM = """
#include <stdlib.h>
static inline int broken_sum(int a, int b) { return a + b; }
static inline int broken_read(int count) {
    volatile char *memory = (volatile char *)calloc(4, 1);
    int value = memory[count];
    free((void *)memory);
    return value;
}
"""


def fuzz(*arguments, root=ROOT):
    command = [root / "scripts/fuzz", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def words(name, key):
    found = re.search(rf"^// {key}: *(.*)$", (HARNESSES / f"{name}.swift").read_text(), re.M)
    return found[1].split() if found else []


def test_the_page_lists_every_harness():
    row = next(line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if "`scripts/fuzz" in line)
    assert sorted(re.findall(r"`(\w+)`", row.split("|")[2])) == NAMES


def test_the_help_lists_every_harness():
    assert re.search(r"Harnesses: (.*)", fuzz("--help").stdout.replace("\n", " "))[1].split() == [
        f"{name}," for name in NAMES[:-1]
    ] + [NAMES[-1]]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_harness_names_is_there(name):
    missing = [word for word in words(name, "modules") if not list((ROOT / "Sources" / word).rglob("*.swift"))]
    missing += [word for word in words(name, "files") if not (ROOT / "Sources" / word).is_file()]
    missing += [word for word in words(name, "seeds") if not (ROOT / word).exists()]
    assert missing == []
    assert words(name, "modules") + words(name, "files")


def test_every_dictionary_has_a_harness():
    assert {path.stem for path in HARNESSES.glob("*.dict")} <= set(NAMES)


@pytest.mark.parametrize(
    "arguments",
    [["nothing"], ["--seconds", "0"], ["--executions", "-1"], ["--seconds", "1", "--executions", "1"], ["--turn", "x"]],
)
def test_wrong_words_are_refused(arguments):
    outcome = fuzz(*arguments)
    assert outcome.returncode == 2 and "error:" in outcome.stderr and not outcome.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project whose readers have one fault of each kind."""
    if not os.environ.get("SILHOUETTE_TEST_FULL"):
        pytest.skip("compiling harnesses takes minutes: scripts/test --full")
    root = tmp_path_factory.mktemp("broken")
    for folder in ("scripts", "Tests/Fuzz", "Sources/Broken", "Sources/CBroken"):
        (root / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts/fuzz", root / "scripts")
    shutil.copytree(HARNESSES / "Support", root / "Tests/Fuzz/Support")
    (root / "Sources/Broken/Outside.swift").write_text(SWIFT)
    (root / "Sources/CBroken/module.modulemap").write_text('module CBroken { header "shim.h" export * }\n')
    (root / "Sources/CBroken/shim.h").write_text(SHIM)
    return root


@pytest.mark.parametrize(
    "fault, sign",
    [
        (0, "Precondition failed: a precondition"),
        (1, "Index out of range"),
        (2, "AddressSanitizer: heap-buffer-overflow"),
        (3, "deadly signal"),
        (4, "AddressSanitizer: heap-buffer-overflow"),
    ],
    ids=["precondition", "index", "Swift's memory", "overflow in C", "memory in C"],
)
def test_every_kind_of_fault_is_found(project, fault, sign):
    (project / "Tests/Fuzz/broken.swift").write_text(HARNESS)
    assert fuzz("broken", "--build", root=project).returncode == 0
    (project / "input").write_bytes(bytes([7, fault]))
    program = project / ".build/fuzz/broken/fuzz"
    # Swift's own report of a crash may wait for a debugger that does not come.
    quiet = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
    outcome = subprocess.run([program, project / "input"], capture_output=True, text=True, timeout=60, env=quiet)
    assert outcome.returncode != 0 and sign in outcome.stderr, outcome.stderr[-3000:]


def test_a_finding_is_told_and_the_corpus_grows(project):
    (project / "Tests/Fuzz/broken.swift").write_text(HARNESS)
    outcome = fuzz("broken", "--executions", "3000000", "--turn", "5", root=project)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "| broken | 1 |" in outcome.stdout and "| yes: .build/fuzz/broken/log.found |" in outcome.stdout
    assert list((project / ".build/fuzz/broken/findings").iterdir())


def test_nothing_is_found_where_nothing_is(project):
    (project / "Tests/Fuzz/sound.swift").write_text(
        "// modules: Broken\nfunc fuzz(_ input: [UInt8]) {}\nlet seeds: [[UInt8]] = [[1], [2]]\n"
    )
    outcome = fuzz("sound", "--executions", "100000", "--turn", "1", root=project)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    executions = re.search(r"\| sound \| 2 \| (\d+) \|", outcome.stdout)
    assert int(executions[1]) >= 100_000 and outcome.stdout.count("| none |") == 1


@pytest.mark.skipif(not os.environ.get("SILHOUETTE_TEST_FULL"), reason="takes minutes: scripts/test --full")
@pytest.mark.parametrize("name", NAMES)
def test_every_harness_runs(name):
    outcome = fuzz(name, "--seconds", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
