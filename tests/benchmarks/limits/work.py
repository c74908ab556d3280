"""One piece of work with what it takes, the least that it could take, and what is asked of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TIMES = "times the limit"


@dataclass(frozen=True)
class Work:
    """A row of the table: seconds (or megabytes) now, at the limit and as asked.

    ``now`` and ``limit`` build their data themselves and return what was measured in ``unit``;
    both run in one process of their own, with one thread. ``limit`` measures the named operations
    on the same arrays (so many passes, products, Gram matrices), never a constant. Where the unit
    is TIMES, both are seconds, and ``asked`` is how many times the limit it may take.
    """

    name: str
    asked: float
    now: Callable[[], float]
    limit: Callable[[], float]
    limit_is: str
    unit: str = "s"


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The median processor seconds of a call, after the repeats; compile and warm up before."""
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)
