"""Wait while a disk is full, gone or locked, then go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from core.errors import UnusableError
from core.tuning.events import Event, Progress, RemarkMade

PAUSE = 1.0  # seconds between two attempts, in which a stop is heard


def write_with_retry(
    attempt: Callable[[], None], progress: Callable[[], Progress]
) -> Generator[Event, None, None]:
    """Repeat `attempt` until it raises no UnusableError.

    Yields:
        A sentence when the wait begins, `progress()` at every failure, and a sentence at the end.
    """
    waits = False
    while True:
        try:
            attempt()
            break
        except UnusableError as error:
            if not waits:
                why = f"{error.where}: {error.what}"
                why += ". The run waits, and continues once it can be written."
                yield RemarkMade(sentence=why)
            waits = True
            yield progress()
            time.sleep(PAUSE)
    if waits:
        yield RemarkMade(sentence="The run can be written again and continues.")
