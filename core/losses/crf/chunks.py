"""Work in a fixed number of parts, done by threads where it is large.

The parts depend on the work alone, and their results are put together in their order, so that the
number of threads changes no bit of a result. The threads belong to the process for its lifetime.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

_PARTS = 16
_LEAST = 400_000  # multiplications worth a part of its own


def parts_of(ends: np.ndarray) -> np.ndarray:
    """Where parts of about equal cost begin among items, and the number of items.

    Args:
        ends: cumulative cost before every item and after the last, shape (items + 1,).
    """
    parts = int(np.clip(ends[-1] // _LEAST, 1, _PARTS))
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], parts + 1)[1:-1])
    return np.concatenate(([0], cuts, [len(ends) - 1])).astype(np.int64)


def each_part(work: Callable[[int, int, int], None], bounds: np.ndarray, threads: int) -> None:
    """Calls work(part, first, last) for every part; on several threads where there are parts.

    This thread is one of them: a sweep over a few hundred sequences is over in a millisecond, of
    which handing every part to another thread took half.
    """
    places = [int(bound) for bound in bounds]
    calls = list(zip(range(len(places) - 1), places[:-1], places[1:], strict=True))
    threads = min(threads, len(calls))

    def share(thread: int) -> None:
        for call in calls[thread::threads]:
            work(*call)

    others = [_pool(os.getpid(), threads - 1).submit(share, one) for one in range(1, threads)]
    share(0)
    for other in others:
        other.result()


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    # By process: a fork takes the object along, but not its threads.
    return ThreadPoolExecutor(threads, thread_name_prefix="crf")
