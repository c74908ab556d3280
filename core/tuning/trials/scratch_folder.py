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
from core.tuning.runs.run_lock import hold_run_lock, lock_holder

SCRATCH, OWNER, DRAFT = "tunescope-", "owner", "draft"
LONGEST = 91  # bytes of a socket's name: Linux takes 107, macOS 103, others fewer
LAST = -200  # at the end of a process multiprocessing removes its own folder before, at -100
SOCKET = "/pymp-12345678/listener-12345678"  # as multiprocessing calls it


class ScratchFolder:
    """A folder that is this process's alone. Folders of killed processes are removed on the way.

    Args:
        what: a word for its name.
        place: where it lies; "" for the folder for temporary files.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, purpose: str, parent: str = "") -> None:
        parent = parent or tempfile.gettempdir()
        _remove_leftovers(Path(parent), f"{SCRATCH}{purpose}-")
        self.path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{purpose}-", dir=parent))
        mine = contextlib.ExitStack()
        self._remove = multiprocessing.util.Finalize(
            self, _delete_folder, (mine, self.path), exitpriority=LAST
        )
        try:
            mine.enter_context(hold_run_lock(self.path / DRAFT))
            (self.path / DRAFT).rename(self.path / OWNER)  # others see it once it is locked
        except OSError:
            self.remove_folder()
            raise

    def remove_folder(self) -> None:
        """Remove it with all that is in it; the end of the process does so too."""
        self._remove()


def _delete_folder(mine: contextlib.ExitStack, path: Path) -> None:
    mine.close()
    shutil.rmtree(path, ignore_errors=True)


def _remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove what a killed process could not remove itself."""
    for folder in parent.glob(f"{prefix}*"):
        mark = folder / OWNER
        if os.path.lexists(mark) and lock_holder(mark) is None:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def shorten_sockets() -> ScratchFolder | None:
    """See that sockets of multiprocessing have names that are short enough; where they lie, if new.

    Raises:
        UnusableError: no place has a short name.
    """
    usual = tempfile.gettempdir()
    if _has_room(usual):
        return None
    for folder in _short_folders():
        with contextlib.suppress(OSError):
            scratch_folder = ScratchFolder("sockets", folder)
            break
    else:
        raise UnusableError(
            "the name of the folder for temporary files is too long for the sockets of trials",
            where=usual,
            cure="name a shorter one in TMPDIR",
        )
    before, tempfile.tempdir = tempfile.tempdir, str(scratch_folder.path)
    try:
        multiprocessing.util.get_temp_dir()  # it is asked once and stays for the whole process
    finally:
        tempfile.tempdir = before
    return scratch_folder


def _short_folders() -> list[str]:
    """Folders of short names, the most private one first."""
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm"]
    suffix = f"/{SCRATCH}sockets-12345678"
    return [folder for folder in candidates if os.path.isabs(folder) and _has_room(folder + suffix)]


def _has_room(folder: str) -> bool:
    return len(os.fsencode(folder)) + len(SOCKET) <= LONGEST
