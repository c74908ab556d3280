"""Temporary folders that are removed with the process, even a killed one's.

The name of a socket may have some hundred bytes; where the folder for temporary files leaves no
room for it, the sockets of the fork server lie in a shorter one.
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
MAX_SOCKET_BYTES = 91  # of a socket's name: Linux takes 107, macOS 103, others fewer
EXIT_PRIORITY = -200  # after multiprocessing has removed its own folder, at -100
SOCKET = "/pymp-12345678/listener-12345678"  # as multiprocessing names it


class ScratchFolder:
    """A temporary folder of this process; leftovers of killed processes are removed.

    `purpose` is a word in its name; `parent` "" for the usual folder. Raises OSError.
    """

    def __init__(self, purpose: str, parent: str = "") -> None:
        parent = parent or tempfile.gettempdir()
        _remove_leftovers(Path(parent), f"{SCRATCH}{purpose}-")
        self.path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{purpose}-", dir=parent))
        lock_stack = contextlib.ExitStack()
        arguments = (lock_stack, self.path)
        self._remove = multiprocessing.util.Finalize(
            self, _delete_folder, arguments, exitpriority=EXIT_PRIORITY
        )
        try:
            lock_stack.enter_context(hold_run_lock(self.path / DRAFT))
            (self.path / DRAFT).rename(self.path / OWNER)  # visible once it is locked
        except OSError:
            self.remove_folder()
            raise

    def remove_folder(self) -> None:
        """Remove it with its content; the end of the process does so too."""
        self._remove()


def _delete_folder(lock_stack: contextlib.ExitStack, path: Path) -> None:
    lock_stack.close()
    shutil.rmtree(path, ignore_errors=True)


def _remove_leftovers(parent: Path, prefix: str) -> None:
    for folder in parent.glob(f"{prefix}*"):
        mark = folder / OWNER
        if os.path.lexists(mark) and lock_holder(mark) is None:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def shorten_sockets() -> ScratchFolder | None:
    """Give the sockets of multiprocessing short names; the new folder for them, if any.

    Raises:
        UnusableError: no folder has a short name.
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
        multiprocessing.util.get_temp_dir()  # cached for the life of the process
    finally:
        tempfile.tempdir = before
    return scratch_folder


def _short_folders() -> list[str]:
    """Folders with short names, the most private first."""
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm"]
    suffix = f"/{SCRATCH}sockets-12345678"
    return [folder for folder in candidates if os.path.isabs(folder) and _has_room(folder + suffix)]


def _has_room(folder: str) -> bool:
    return len(os.fsencode(folder)) + len(SOCKET) <= MAX_SOCKET_BYTES
