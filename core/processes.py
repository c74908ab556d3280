"""Processes that belong to this one: started with a pipe, ended within a limit, exits in words.

The worker of the window, the evaluator of surrogates and the processes of trials are such. One
leaves when its pipe closes; one that does not is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

LEAVES = 1.0  # seconds from the end of its pipe, or from SIGTERM, until a process is killed
OUT_OF_MEMORY = {-9, 137, 0xC0000017}
CRASHED = {-4, -6, -7, -8, -11, 132, 134, 139, 0xC0000005, 0xC0000409, 0xC00000FD}
ENDED_BY_SOMEONE = {-1, -2, -15, 130, 143, 0xC000013A}


class OwnedProcess:
    """One process and our end of its pipe.

    Args:
        context: of multiprocessing.
        serve: its whole life: (its end of the pipe, *arguments).
        name: in a list of processes, and in the sentence about its exit.
        group: whether it makes a process group of its own, which is killed with it; otherwise it
            may have no processes itself.

    Attributes:
        pipe: closed once the process has ended.
        forced: whether `escalate` had to end it.
    """

    def __init__(
        self, context: Any, serve: Callable[..., None], *given: Any, name: str, group: bool = False
    ) -> None:
        self.name, self.forced = name, False
        self._group, self._deadline = group, 0.0
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, *given), name=f"tunescope {name}", daemon=not group
        )
        self._process.start()
        theirs.close()  # so that each side sees when the other is gone

    @property
    def id(self) -> int:
        """Its number, by which the system knows it."""
        return int(self._process.pid)

    @property
    def sentinel(self) -> int:
        """What multiprocessing.connection.wait takes: ready once the process has ended."""
        return int(self._process.sentinel)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return bool(self._process.is_alive())

    @property
    def deadline(self) -> float:
        """When `escalate` has something to do, in seconds of time.monotonic(); 0.0 for never."""
        return self._deadline

    def expect(self, seconds: float | None) -> None:
        """It must have reacted so many seconds from now; None: it has."""
        self._deadline = 0.0 if seconds is None else time.monotonic() + seconds

    def escalate(self) -> None:
        """Where it did not react in time: ask the system to end it, and kill it a second later."""
        if not self._deadline or time.monotonic() < self._deadline:
            return
        if self.forced:
            self._kill()
            self.expect(None)
        else:
            self.forced = True
            self._process.terminate()
            self.expect(LEAVES)

    def end(self, patience: float = 0.0) -> str:
        """Close its pipe, wait, kill what is left; why it ended, as a sentence."""
        self.pipe.close()
        self._process.join(patience)
        code = self._process.exitcode
        self._kill()
        self._process.join()
        self._process.close()
        if code is None or self.forced:
            return f"The {self.name} did not react and was ended."
        return exit_in_words(code, self.name)

    def _kill(self) -> None:
        if self._group and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()


def exit_in_words(code: int, name: str) -> str:
    """What happened, in plain words; negative codes are signals, as multiprocessing gives them."""
    code = code if code >= -64 else code + 2**32
    if code in OUT_OF_MEMORY:
        return f"The {name} was stopped by the system, most likely out of memory."
    if code in CRASHED:
        return f"The {name} crashed inside a numerical library."
    if code in ENDED_BY_SOMEONE:
        return f"The {name} was ended by another program or by the system."
    return f"The {name} ended unexpectedly (exit status {code})."
