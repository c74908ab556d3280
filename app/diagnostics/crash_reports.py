"""Crash reports without data: of uncaught exceptions, and of a crash at the next start."""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from app.preferences import preferences as settings
from core.errors import write_error
from core.ordinary_files import read_ordinary
from core.writing import private_opener

MAX_STACK_BYTES = 1 << 20
QUIET_SECONDS = 10.0  # between two messages, so that a failing paint event does not flood
_ROOT = Path(__file__).parents[2]


class CrashReporter:
    """Passes uncaught exceptions to `show`, one in `QUIET_SECONDS`."""

    def __init__(
        self, show: Callable[[str, str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._clock = clock
        self._last = -QUIET_SECONDS
        self._unsaid = 0
        self._guard = threading.Lock()

    def report_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        # Threads may fail together: one message, and a true count of the others.
        with self._guard:
            now = self._clock()
            if now - self._last < QUIET_SECONDS:
                self._unsaid += 1
                return
            self._last, unsaid, self._unsaid = now, self._unsaid, 0
        sentence = (
            "Something unforeseen happened, and the last action may not have been carried out. "
            "Your files are untouched; you can continue."
        )
        self._show(sentence, details(kind, trace, unsaid))

    def install(self) -> None:
        sys.excepthook = self.report_exception
        threading.excepthook = lambda args: self.report_exception(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )


def details(kind: type[BaseException], trace: TracebackType | None, unsaid: int = 0) -> str:
    """Versions and code locations, without messages or values."""
    lines = [
        f"Tunescope on Python {platform.python_version()}, {platform.platform(terse=True)}",
        f"{kind.__module__}.{kind.__qualname__}",
    ]
    # Neither message nor source line: both may hold values of the data.
    for frame in traceback.extract_tb(trace):
        lines.append(f"  {_short_path(frame.filename)}, line {frame.lineno}, in {frame.name}")
    if unsaid:
        lines.append(f"{unsaid} more like it before.")
    return "\n".join(lines)


def _short_path(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(_ROOT):
        return path.relative_to(_ROOT).as_posix()
    # The rest of a path may hold the person's name.
    return "/".join(path.parts[-3:])


class FaultFile:
    """The file for the stack of a crash of the interpreter."""

    def __init__(self, folder: Path | None = None) -> None:
        self.fault = ""  # why it cannot be written, a sentence
        self._file: IO[str] | None = None
        try:
            self._folder = folder or settings.settings_folder()
            if not os.access(self._folder, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            folder = settings.settings_file().parent
            # A place below which nothing is found and nothing written.
            self._folder = Path(os.devnull)
            cure = "it is forgotten"
            self.fault = write_error("what the window remembers", folder, error, cure=cure).sentence
        self._path = self._folder / f"fault-{os.getpid()}.txt"

    def earlier_crash_text(self) -> str:
        stacks = []
        for path in sorted(self._folder.glob("fault-*.txt")):
            if path == self._path or _is_alive(path.stem.removeprefix("fault-")):
                continue
            with contextlib.suppress(OSError):
                if stack := read_ordinary(path, MAX_STACK_BYTES).decode(errors="replace").strip():
                    stacks.append(stack)
            # Another window, on Windows, has it open.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        return "\n\n".join(stacks)

    def watch_crashes(self) -> None:
        if self.fault:
            return
        self._file = open(  # noqa: SIM115 - until `close`
            self._path, "w", encoding="utf-8", opener=private_opener
        )
        faulthandler.enable(self._file)

    def close(self) -> None:
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
            self._path.unlink(missing_ok=True)


def _is_alive(number: str) -> bool:
    if not number.isdigit() or not hasattr(os, "kill") or os.name == "nt":
        # Windows refuses to delete an open file, so that no look is needed.
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    # Somebody else's process has this number now.
    except PermissionError:
        return True
    return True
