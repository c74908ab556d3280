"""Folders for what a run keeps outside of its own: removed with the process, even a killed one's.

The name of a socket may have some hundred bytes, which the folder for temporary files can take up
alone: the sockets of the fork server then lie in a shorter place.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing.util
import os
import shutil
import tempfile
from pathlib import Path

from core.errors import UnusableError
from core.tuning.runs.ownership import owner_of, owning

SCRATCH, OWNER, DRAFT = "tunescope-", "owner", "draft"
LONGEST = 91  # bytes of a socket's name: Linux takes 107, macOS 103, others fewer
LAST = -200  # at the end of a process multiprocessing removes its own folder before, at -100
SOCKET = "/pymp-12345678/listener-12345678"  # as multiprocessing calls it


class Scratch:
    """A folder that is this process's alone. Folders of killed processes are removed on the way.

    Args:
        what: a word for its name.
        place: where it lies; "" for the folder for temporary files.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, what: str, place: str = "") -> None:
        place = place or tempfile.gettempdir()
        _sweep(Path(place), f"{SCRATCH}{what}-")
        self.path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{what}-", dir=place))
        mine = contextlib.ExitStack()
        self._remove = multiprocessing.util.Finalize(
            self, _remove, (mine, self.path), exitpriority=LAST
        )
        try:
            mine.enter_context(owning(self.path / DRAFT))
            (self.path / DRAFT).rename(self.path / OWNER)  # others see it once it is locked
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove it with all that is in it; the end of the process does so too."""
        self._remove()


def _remove(mine: contextlib.ExitStack, path: Path) -> None:
    mine.close()
    shutil.rmtree(path, ignore_errors=True)


def _sweep(place: Path, prefix: str) -> None:
    """Remove what a killed process could not remove itself."""
    for folder in place.glob(f"{prefix}*"):
        mark = folder / OWNER
        if os.path.lexists(mark) and owner_of(mark) is None:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def shorten_sockets() -> Scratch | None:
    """See that sockets of multiprocessing have names that are short enough; where they lie, if new.

    Raises:
        UnusableError: no place has a short name.
    """
    usual = tempfile.gettempdir()
    if _has_room(usual):
        return None
    for place in _places():
        with contextlib.suppress(OSError):
            made = Scratch("sockets", place)
            break
    else:
        raise UnusableError(
            "the name of the folder for temporary files is too long for the sockets of trials",
            where=usual,
            cure="name a shorter one in TMPDIR",
        )
    before, tempfile.tempdir = tempfile.tempdir, str(made.path)
    try:
        multiprocessing.util.get_temp_dir()  # it is asked once and stays for the whole process
    finally:
        tempfile.tempdir = before
    return made


def _places() -> list[str]:
    """Folders of short names, the most private one first."""
    given = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm"]
    own = f"/{SCRATCH}sockets-12345678"
    return [place for place in given if os.path.isabs(place) and _has_room(place + own)]


def _has_room(place: str) -> bool:
    return len(os.fsencode(place)) + len(SOCKET) <= LONGEST
