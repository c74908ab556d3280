"""Standard output and error that survive a lost reader."""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from core.wording import with_short_names


def print_remark(sentence: str) -> None:
    """Print what is no part of the result, to standard error."""
    print(with_short_names(sentence), file=sys.stderr)


class SafeStream(io.TextIOBase):
    """A stream (None for none) that drops text after a write error."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.fault: OSError | None = None  # the first error

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed: may be set; CPython's may not
        return self._stream.encoding if self._stream is not None else "utf-8"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        stream = self._open_stream()
        return stream is not None and stream.isatty()

    def fileno(self) -> int:
        """OSError without a stream."""
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()

    def write(self, text: str) -> int:
        with self._writing() as stream:
            if stream is not None:
                stream.write(text)
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        with self._writing() as stream:
            if stream is not None:
                # Text that waits in the stream comes before these bytes.
                stream.flush()
                stream.buffer.write(data)

    def flush(self) -> None:
        with self._writing() as stream:
            if stream is not None:
                stream.flush()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[TextIO | None]:
        try:
            yield self._open_stream()
        except OSError as error:
            self._give_up(error)

    def _open_stream(self) -> TextIO | None:
        # An imported module may keep this object after the stream was closed.
        if self._stream is None or self.fault is not None or self._stream.closed:
            return None
        return self._stream

    def _give_up(self, error: OSError) -> None:
        self.fault = error
        # Python would write the buffered text again at exit.
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


class OutputBytes(io.RawIOBase):
    """Standard output for a file's own bytes, in whatever encoding."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        content, stream = bytes(data), sys.stdout
        if isinstance(stream, SafeStream):
            stream.write_bytes(content)
        else:
            stream.buffer.write(content)
        return len(content)


@contextlib.contextmanager
def safe_streams() -> Iterator[tuple[SafeStream, SafeStream]]:
    """Replace sys.stdout and sys.stderr inside the block."""
    before = sys.stdout, sys.stderr
    out, error_stream = SafeStream(before[0]), SafeStream(before[1])
    # SafeStream has the methods of a TextIO, but does not inherit from typing.TextIO.
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, error_stream)
    try:
        yield out, error_stream
    finally:
        out.flush()
        error_stream.flush()
        sys.stdout, sys.stderr = before
