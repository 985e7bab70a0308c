"""Builds the copy, runs suites in it, and tells which tests failed."""

import functools
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field

from .breaks import ROOT

# A build, a suite: far beyond what any takes, since a break may make something wait for ever.
BUILD_SECONDS, SUITE_SECONDS = 3600, 900
FAILED = {
    "swift": re.compile(r'^✘ Test (?!run with)(?:"(.+?)"|(\S+?\(.*?\)))(?: with .*)? failed', re.M),
    "pytest": re.compile(r"^(?:FAILED|ERROR) (.+?)()(?: - .*)?$", re.M),
    "node": re.compile(r"^\s*not ok \d+ - (?!\S+\.js$)(.+)()", re.M),
}
# How many tests ran: a suite that has none notices nothing.
RAN = {
    "swift": re.compile(r"Test run with (\d+) test"),
    "pytest": re.compile(r"(\d+) (?:passed|failed|error)"),
    "node": re.compile(r"^# tests (\d+)", re.M),
}


class Failure(Exception):
    """Why nothing can be said."""


@dataclass
class Outcome:
    """What became of one break."""

    word: str
    tests: list[str] = field(default_factory=list)
    seconds: float = 0


def kind_of(suite):
    return "pytest" if suite.endswith(".py") else "node" if suite.endswith(".js") else "swift"


def filter_of(suite):
    """What `swift test --filter` takes for a test target or a suite of one."""
    if (ROOT / "Tests" / suite).is_dir():
        return rf"^{suite}\."
    target, _, name = suite.rpartition(".")
    return rf"^{target}\.{name}/" if target else rf"\.{name}/"


@functools.cache
def swift_tests(root):
    """The files of Swift tests, each with its text."""
    return [(path, path.read_text()) for path in sorted((root / "Tests").glob("*/**/*.swift"))]


def places_of(suite):
    """The files of a suite, relative to the checkout; none where there is no such suite."""
    if kind_of(suite) != "swift":
        return [suite] if (ROOT / suite).is_file() else []
    folder = ROOT / "Tests" / suite
    if folder.is_dir():
        found = list(folder.glob("**/*.swift"))
    else:
        target, _, name = suite.rpartition(".")
        defined = re.compile(rf"^(?:@Suite.* )?(?:struct|final class) {re.escape(name)}\b", re.M)
        found = [
            path
            for path, text in swift_tests(ROOT)
            if target in ("", path.relative_to(ROOT / "Tests").parts[0]) and defined.search(text)
        ]
    return [str(path.relative_to(ROOT)) for path in found]


def products(suites):
    """What has to be built for suites: the Swift tests, the program that some of them run, or nothing."""
    places = [place for suite in suites for place in places_of(suite)]
    wanted = []
    if any(kind_of(suite) == "swift" for suite in suites):
        wanted.append("SilhouettePackageTests")
    if any(place.startswith(("Tests/CommandLineTests/", "Tests/Browser/")) for place in places):
        wanted.append("silhouette")
    return wanted


def run(command, folder, seconds):
    """The exit code and all output of a command; None for a code where it did not end in time."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    environment.setdefault("SILHOUETTE_SHARED", str(ROOT.parent / "shared"))
    environment["SILHOUETTE_BINARY"] = str(folder / ".build/debug/silhouette")
    process = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, errors="replace", start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        # All that it began ends with it, also on Ctrl-C.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def build(copy, suites):
    """Builds what suites need. Why that fails; None where it does not."""
    for product in products(suites):
        code, output = run(["swift", "build", "--product", product], copy.folder, BUILD_SECONDS)
        if code != 0:
            errors = [line for line in output.splitlines() if "error:" in line]
            return (errors or output.splitlines() or ["the build did not end"])[-1]
    return None


def failures(copy, suite):
    """The tests of a suite that fail."""
    kind = kind_of(suite)
    command = {
        # What `swift test` runs in the end, without its look at the whole package first.
        "swift": [
            ".build/debug/SilhouettePackageTests.xctest",
            "--testing-library",
            "swift-testing",
            "--filter",
            filter_of(suite),
        ],
        "pytest": [".venv/bin/python", "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", suite],
        "node": ["node", "--test", "--test-reporter=tap", suite],
    }[kind]
    code, output = run(command, copy.folder, SUITE_SECONDS)
    if code is None:
        return [f"{suite} (did not end)"]
    # pytest says 5 where it found no test.
    if code == 0 or (kind == "pytest" and code == 5):
        if sum(map(int, RAN[kind].findall(output))) == 0:
            raise Failure(f"{suite}: no test ran\n{output[-1000:]}")
        return []
    names = [a or b for a, b in FAILED[kind].findall(output)]
    return list(dict.fromkeys(names)) or [f"{suite} (exit code {code})"]


def check_whole(copy, suites):
    """Makes sure that the suites pass where nothing is broken."""
    print(f"without a break: builds, then {', '.join(suites)}", flush=True)
    if error := build(copy, suites):
        raise Failure(f"the checkout does not build: {error}")
    for suite in suites:
        if names := failures(copy, suite):
            raise Failure(f"{suite} fails without a break: {', '.join(names)}")


def attempt(copy, one):
    """The outcome of one break, which is mended again."""
    began = time.monotonic()
    outcome = Outcome("SURVIVED")
    with copy.broken(one):
        if error := build(copy, one.tests):
            outcome = Outcome("does not build", [error])
        else:
            for suite in one.tests:
                if names := failures(copy, suite):
                    outcome = Outcome("killed", names)
                    break
    outcome.seconds = time.monotonic() - began
    return outcome


def table(rows):
    """A table in Markdown."""
    lines = ["| id | place | what breaks | outcome | by |", "|---|---|---|---|---|"]
    for one, outcome in rows:
        by = outcome.tests[0] if outcome.tests else ""
        if len(outcome.tests) > 1:
            by += f" and {len(outcome.tests) - 1} more"
        lines.append(f"| {one.id} | `{one.file}` | {one.breaks} | {outcome.word} | {by} |")
    return "\n".join(lines)


def try_all(copy, breaks, is_checked=True):
    """Tries breaks one by one and prints what became of each; the exit code."""
    if is_checked:
        check_whole(copy, list(dict.fromkeys(suite for one in breaks for suite in one.tests)))
    rows = []
    try:
        for one in breaks:
            outcome = attempt(copy, one)
            rows.append((one, outcome))
            by = f" by {', '.join(outcome.tests)}" if outcome.tests else ""
            print(f"{one.id}: {outcome.word}{by} ({outcome.seconds:.0f} s)", flush=True)
    finally:
        if rows:
            print("\n" + table(rows))
    killed = sum(outcome.word == "killed" for _, outcome in rows)
    print(f"\n{killed} of {len(breaks)} killed")
    return 0 if killed == len(breaks) else 1
