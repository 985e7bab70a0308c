"""The copy of the checkout in which breaks are tried."""

import contextlib
import fcntl
import shutil
import subprocess

from .breaks import ROOT, BreakError

FOLDER = ROOT / ".build-mutants"


class Copy:
    """The files of the checkout, those that git does not know yet included.

    Only what differs is written, so that little is built anew.
    """

    def __init__(self, folder=FOLDER):
        self.folder = folder

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        self.lock = (self.folder / ".lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BreakError(f"{self.folder} is in use by another run") from None
        self.update()
        return self

    def __exit__(self, *_):
        self.lock.close()

    def update(self):
        """Makes the copy what the checkout is."""
        command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names:
            source, target = ROOT / name, self.folder / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            # Its time is that of now: what is put back is newer than what was built with a break in it.
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
        # Of an earlier state; what the builds and the tests make is in folders whose names begin with a dot.
        for top in self.folder.iterdir():
            if top.name.startswith("."):
                continue
            for path in [top, *top.rglob("*")]:
                if path.is_file() and str(path.relative_to(self.folder)) not in names:
                    path.unlink()
        environment = self.folder / ".venv"
        if not environment.is_symlink():
            environment.symlink_to(ROOT / ".venv")

    @contextlib.contextmanager
    def broken(self, one):
        """With a break in its place."""
        path = self.folder / one.file
        whole = path.read_text()
        try:
            path.write_text(one.applied(whole))
            yield
        finally:
            path.write_text(whole)
