"""The list of breaks: Tests/Mutants/*.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "Tests/Mutants"
KEYS = {"id", "breaks", "file", "old", "new", "tests"}


class BreakError(Exception):
    """What is wrong with the list, or with what was asked of it."""


@dataclass(frozen=True)
class Break:
    """One place, and what is put there instead."""

    id: str
    # What no longer works.
    breaks: str
    # Relative to the checkout.
    file: str
    old: str
    new: str
    # Suites of Swift (names as --filter takes them), or files of Python's or the page's tests.
    tests: tuple[str, ...]

    @property
    def line(self):
        return f"{self.id:26} {self.file}: {self.breaks}"

    def applied(self, text):
        """The text of the file with the break in it."""
        count = text.count(self.old)
        if count != 1:
            raise BreakError(f"{self.id}: its old text is found {count} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def read_breaks(folder=FOLDER):
    """All breaks, in the order of their files."""
    breaks = []
    for path in sorted(folder.glob("*.toml")):
        try:
            entries = tomllib.loads(path.read_text())["break"]
        except (tomllib.TOMLDecodeError, KeyError) as error:
            raise BreakError(f"{path.name}: {error}") from error
        for entry in entries:
            if entry.keys() != KEYS:
                raise BreakError(f"{path.name}: a break has {', '.join(sorted(KEYS))}, not {', '.join(sorted(entry))}")
            breaks.append(Break(**entry | {"tests": tuple(entry["tests"])}))
    ids = [one.id for one in breaks]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise BreakError(f"two breaks are called {', '.join(twice)}")
    return breaks
