"""A command in a process of its own: what a stranger's model does to it is told in a sentence."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from app.cli.commands import FAILED, main

_ENDED_BY_PERSON = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP)


def run_guarded(words: Sequence[str]) -> int:
    """Run a command in a copy of this process, with a bound on memory; its exit status."""
    from core.datasets.memory_limit import limit_own_memory
    from core.processes import exit_text, watch_parent

    sys.stdout.flush()
    child = os.fork()
    if not child:
        watch_parent()
        limit_own_memory()
        return main(words)

    def pass_on(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal interrupts the copy as well
    signal.signal(signal.SIGTERM, pass_on)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code >= 0:
        return code
    if -code not in _ENDED_BY_PERSON:
        cause = exit_text(code, "process that opened the model")
        cure = "Give a model that Tunescope exported, or fewer rows at once."
        print(f"tunescope: {cause} {cure}", file=sys.stderr)
        return FAILED
    return 128 - code
