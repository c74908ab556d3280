"""The destination of an export: a file appears whole, or a sentence says why not."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from core.errors import UnusableError, write_error
from core.writing import whole_file


def write_whole_file(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a draft, then rename it; UnusableError as below, or the disk is full."""
    check_destination(path)
    try:
        with whole_file(path) as draft:
            write(draft)
    except OSError as error:
        raise write_error("the file", path, error) from error


def check_destination(path: Path) -> None:
    """UnusableError where nothing can be written: no folder, no permission, a folder so called."""
    if path.is_dir():
        raise UnusableError("a folder has this name", where=str(path), cure="choose another name")
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if not folder.is_dir():
        fault = "there is no such folder"
        raise UnusableError(fault, where=str(folder), cure="create it or choose another")
    if not os.access(folder, os.W_OK):
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise write_error("the file", path, refused)
