"""Ctrl-C, and the system's other requests to end: heard at once, whatever Python is busy with.

Python runs a handler of signals only between two of its own steps. The wakeup socket becomes
readable in that very moment, for an event loop or for a thread that waits for it.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Sequence
from types import FrameType

COMMAND = (signal.SIGINT, signal.SIGTERM)
# The third comes when the terminal is closed; Windows has none.
WINDOW = (*COMMAND, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class InterruptSignals:
    """Takes the requests to end, until closed; only in the main thread.

    Args:
        numbers: of the signals; one that whoever started the program has switched off (nohup)
            stays so, except for Ctrl-C.
        handler: what Python does with each of them when it can.

    Attributes:
        socket: becomes readable with every signal; `read_signal` says which it was.
    """

    def __init__(
        self, numbers: Sequence[int], handler: Callable[[int, FrameType | None], object]
    ) -> None:
        self.socket, self._written = socket.socketpair()
        self._written.setblocking(False)
        fd = self._written.fileno()
        heeded = [n for n in numbers if n in COMMAND or signal.getsignal(n) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, handler) for number in heeded}
        self._numbers = frozenset(heeded)
        self._wakeup = signal.set_wakeup_fd(fd, warn_on_full_buffer=False)

    def read_signal(self) -> int | None:
        """The signal that the socket has become readable with.

        Returns:
            Its number; 0 for one that is no request to end, None once this is closed.
        """
        signal_byte = self.socket.recv(1)
        if not signal_byte:
            return None
        return signal_byte[0] if signal_byte[0] in self._numbers else 0

    def close(self) -> None:
        """Leave the requests to what took them before."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._written.close()  # whoever waits for the socket sees its end
