"""Calls of workers whose answer is awaited for a bounded time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class BackgroundCall:
    """A call in a thread of its own, so that a silent worker blocks nothing."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # A daemon: the program's end does not wait for who never answers.
        threading.Thread(target=self._run_call, args=(ask,), daemon=True).start()

    def _run_call(self, ask: Callable[[], Any]) -> None:
        try:
            self._answers.put(ask())
        except Exception as error:
            self._answers.put(error)

    def answer_within(self, seconds: float) -> Any:
        """The result or the exception raised; None where there is none yet."""
        try:
            return self._answers.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
