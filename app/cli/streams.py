"""Standard output and error while a command runs: that nobody reads them ends no run."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO, cast


class SafeStream(io.TextIOBase):
    """A stream of the process; what cannot be written is dropped from then on.

    Args:
        stream: the stream; None where the process was started without one.

    Attributes:
        fault: the first error that writing gave, if any.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed: may be set; CPython's may not
        """Of the stream."""
        return self._stream.encoding if self._stream is not None else "utf-8"

    def writable(self) -> bool:
        """Always, though it may lead nowhere."""
        return True

    def isatty(self) -> bool:
        """Whether a person looks on at a terminal."""
        stream = self._open_stream()
        return stream is not None and stream.isatty()

    def fileno(self) -> int:
        """Of the stream; OSError where it has none."""
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write, or drop it."""
        if (stream := self._open_stream()) is not None:
            try:
                stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Hand on what waits, or drop it."""
        if (stream := self._open_stream()) is not None:
            try:
                stream.flush()
            except OSError as error:
                self._give_up(error)

    def _open_stream(self) -> TextIO | None:
        # What is imported meanwhile may keep this for longer than the stream is there.
        if self._stream is None or self.fault is not None or self._stream.closed:
            return None
        return self._stream

    def _give_up(self, error: OSError) -> None:
        self.fault = error
        # What waits in the stream would be tried again as the process ends.
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


@contextlib.contextmanager
def safe_streams() -> Iterator[tuple[SafeStream, SafeStream]]:
    """Standard output and error, in place of the process's own while inside."""
    before = sys.stdout, sys.stderr
    out, error_stream = SafeStream(before[0]), SafeStream(before[1])
    # What programs call of a TextIO, it has; typing.TextIO asks for inheritance.
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, error_stream)
    try:
        yield out, error_stream
    finally:
        out.flush()
        error_stream.flush()
        sys.stdout, sys.stderr = before
