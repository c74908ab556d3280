"""Steps of the self-test: each is run, timed and printed in a line."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable


class StepFailedError(Exception):
    """A failed step; the message says how."""


class StepRunner:
    """Runs steps, times them and prints a line each."""

    def __init__(self) -> None:
        self.step_count = 0
        self.failed: list[str] = []

    def run_step(self, title: str, act: Callable[[], object]) -> bool:
        start_seconds = time.monotonic()
        self.step_count += 1
        try:
            act()
        # Whatever breaks is one step that failed: the others tell how much of the program works.
        except Exception as error:
            self.failed.append(title)
            sys.stdout.write(f"FAILED  {title}: {_error_text(error)}\n")
        else:
            sys.stdout.write(f"ok      {title} ({time.monotonic() - start_seconds:.1f} s)\n")
        # Whoever waits sees how far it is, also through a pipe.
        sys.stdout.flush()
        return title not in self.failed


def _error_text(error: Exception) -> str:
    from core.errors import UnusableError

    if isinstance(error, (StepFailedError, UnusableError)):
        return str(error)
    return "".join(traceback.format_exception(error)).strip()
