"""Ctrl-C, and the system's other requests to end: heard at once, whatever Python is busy with.

Python runs a handler of signals only between two of its own steps. The wakeup socket becomes
readable in that very moment, for an event loop or for a thread that waits for it.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

# SIGHUP comes when the terminal is closed; Windows has none.
ASKS_TO_END = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if (number := getattr(signal, name, None)) is not None
)


class Interrupts:
    """Takes the requests to end, until closed; only in the main thread.

    Args:
        handler: what Python does with each of them when it can.

    Attributes:
        socket: a byte arrives in it for every request, the signal's number.
    """

    def __init__(self, handler: Callable[[int, FrameType | None], object]) -> None:
        self.socket, self._written = socket.socketpair()
        self._written.setblocking(False)
        fd = self._written.fileno()
        self._before = {number: signal.signal(number, handler) for number in ASKS_TO_END}
        self._wakeup = signal.set_wakeup_fd(fd, warn_on_full_buffer=False)

    def close(self) -> None:
        """Leave the requests to what took them before."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._written.close()  # whoever waits for the socket sees its end
