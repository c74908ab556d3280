"""Programs that are forked from this process, which has imported all: a run begins in 0.1 s."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import pkgutil
import signal
import sys
import time
import types
from collections.abc import Callable
from multiprocessing import forkserver, resource_tracker, util
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy is loaded: no threads that a fork would not have

LAUNCH = "from multiprocessing.forkserver import main"
HANGS = 99  # in place of the exit status of a program that did not end
_start_python = util.spawnv_passfds


def warm_up() -> None:
    """Import the program's core and its command line, and let fork servers be forked."""
    import app.cli
    import core

    for package in (core, app.cli):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with contextlib.suppress(Exception):  # of an optional part that is not installed
                importlib.import_module(module.name)
    resource_tracker.ensure_running()
    util.spawnv_passfds = _fork_server


def _fork_server(path: Any, arguments: list[str], handles: list[int]) -> int:
    """What multiprocessing calls to start its fork server: a copy of this process becomes one."""
    if LAUNCH not in arguments[-1]:
        return int(_start_python(path, arguments, handles))
    if number := os.fork():
        return number
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        # As after exec: an end of a pipe that stayed open would hide the end of its process.
        kept = [2, *sorted(handles), os.sysconf("SC_OPEN_MAX")]
        for low, high in itertools.pairwise(kept):
            os.closerange(low + 1, high)
        exec(arguments[-1], {})
    finally:
        os._exit(0)


def start(work: Callable[[], Any], output: Path) -> int:
    """A program of its own session that does `work` and writes what it says; its number."""
    if number := os.fork():
        return number
    status = 3
    try:
        os.setsid()
        handle = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        # Processes of trials would run the script of this one.
        sys.modules["__main__"] = types.ModuleType("__main__")
        forkserver._forkserver.__init__()
        util._finalizer_registry.clear()
        status = int(work() or 0)
        util._exit_function()
        sys.stdout.flush()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def has_ended(number: int) -> bool:
    """Whether a program has ended, without taking its exit status."""
    ended = os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return ended is not None


def wait_for(number: int, seconds: float = 900.0) -> int:
    """The exit status of a program; `HANGS` for one that has to be killed."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    for member in [number, *descendants(number)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    os.waitpid(number, 0)
    return HANGS


def descendants(number: int) -> list[int]:
    """The processes below a process."""
    children, wanted = _members(1), [number]
    for parent in wanted:
        wanted += [child for child, above in children.items() if above == parent]
    return wanted[1:]


def session_members(number: int) -> list[int]:
    """The living processes of the session that a program began."""
    return [member for member, session in _members(3).items() if session == number]


def _members(column: int) -> dict[int, int]:
    """{process: a number of its status, 1 for the parent, 3 for the session} of all that live."""
    numbers = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            status = path.read_text().rpartition(")")[2].split()
            if status[0] != "Z":
                numbers[int(path.parent.name)] = int(status[column])
    return numbers
