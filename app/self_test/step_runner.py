"""The steps of the self-test: each is taken, timed and told in a line."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable


class StepFailedError(Exception):
    """A step of the self-test did not come out as it must; the message says how."""


class StepRunner:
    """Takes steps and says how each came out.

    Attributes:
        step_count: how many.
        failed: the titles of those that failed.
    """

    def __init__(self) -> None:
        self.step_count = 0
        self.failed: list[str] = []

    def run_step(self, title: str, act: Callable[[], object]) -> bool:
        """Do it; whether it came out as it must."""
        start_seconds = time.monotonic()
        self.step_count += 1
        try:
            act()
        except Exception as error:
            self.failed.append(title)
            sys.stdout.write(f"FAILED  {title}: {_error_text(error)}\n")
        else:
            sys.stdout.write(f"ok      {title} ({time.monotonic() - start_seconds:.1f} s)\n")
        sys.stdout.flush()
        return title not in self.failed


def _error_text(error: Exception) -> str:
    from core.errors import UnusableError

    if isinstance(error, (StepFailedError, UnusableError)):
        return str(error)
    return "".join(traceback.format_exception(error)).strip()
