"""Signals to end, by a socket that is readable at once, also while Python runs no handler."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Sequence
from types import FrameType

COMMAND = (signal.SIGINT, signal.SIGTERM)
# SIGHUP comes when the terminal is closed; Windows has none.
WINDOW = (*COMMAND, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


class InterruptSignals:
    """Handles signals to end until closed; only in the main thread.

    An ignored signal (nohup) stays so, except for those of COMMAND. `socket` becomes readable with
    every signal, for `read_signal`.
    """

    def __init__(
        self, numbers: Sequence[int], handler: Callable[[int, FrameType | None], object]
    ) -> None:
        self.socket, self._written = socket.socketpair()
        # set_wakeup_fd takes no end that could block.
        self._written.setblocking(False)
        fd = self._written.fileno()
        heeded = [n for n in numbers if n in COMMAND or signal.getsignal(n) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, handler) for number in heeded}
        self._numbers = frozenset(heeded)
        # Many signals may fill the buffer, and one byte is enough to wake.
        self._wakeup = signal.set_wakeup_fd(fd, warn_on_full_buffer=False)

    def read_signal(self) -> int | None:
        """The received signal; 0 for others, None once closed."""
        signal_byte = self.socket.recv(1)
        if not signal_byte:
            return None
        return signal_byte[0] if signal_byte[0] in self._numbers else 0

    def close(self) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        # It ends a read that waits.
        self._written.close()
