"""The steps of the self-test: each is taken, timed and told in a line."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable


class StepFailedError(Exception):
    """A step of the self-test did not come out as it must; the message says how."""


class Steps:
    """Takes steps and says how each came out.

    Attributes:
        taken: how many.
        failed: the titles of those that failed.
    """

    def __init__(self) -> None:
        self.taken = 0
        self.failed: list[str] = []

    def take(self, title: str, act: Callable[[], object]) -> bool:
        """Do it; whether it came out as it must."""
        begun = time.monotonic()
        self.taken += 1
        try:
            act()
        except Exception as error:
            self.failed.append(title)
            sys.stdout.write(f"FAILED  {title}: {_told(error)}\n")
        else:
            sys.stdout.write(f"ok      {title} ({time.monotonic() - begun:.1f} s)\n")
        sys.stdout.flush()
        return title not in self.failed


def _told(error: Exception) -> str:
    from core.errors import UnusableError

    if isinstance(error, (StepFailedError, UnusableError)):
        return str(error)
    return "".join(traceback.format_exception(error)).strip()
