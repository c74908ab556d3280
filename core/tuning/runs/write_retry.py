"""A disk that is full, gone or locked: the run says so once, waits, and goes on by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from core.errors import UnusableError
from core.tuning.events import Event, Progress, RemarkMade

PAUSE = 1.0  # seconds between two attempts, in which a stop is heard


def write_with_retry(
    attempt: Callable[[], None], progress: Callable[[], Progress]
) -> Generator[Event, None, None]:
    """Write something, waiting until it can be written.

    Args:
        attempt: writes it, or raises UnusableError with the reason.
        progress: the beat of this moment.

    Yields:
        A sentence when it begins to wait, then a beat at every attempt, and a sentence at the end.
    """
    waits = False
    while True:
        try:
            attempt()
            break
        except UnusableError as error:
            if not waits:
                why = f"{error.where}: {error.what}"
                yield RemarkMade(
                    sentence=f"{why}. The run waits, and continues once it can be written."
                )
            waits = True
            yield progress()
            time.sleep(PAUSE)
    if waits:
        yield RemarkMade(sentence="The run can be written again and continues.")
