"""Work in a fixed number of chunks, done by threads where it is large.

The chunks depend on the work alone, and their results are put together in their order, so that the
number of threads changes no bit of a result. The threads belong to the process for its lifetime.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

_MAX_CHUNKS = 16
_MIN_CHUNK_COST = 400_000  # multiplications worth a chunk of its own


def chunk_bounds(ends: np.ndarray) -> np.ndarray:
    """Where chunks of about equal cost begin among items, and the number of items.

    Args:
        ends: cumulative cost before every item and after the last, shape (items + 1,).
    """
    chunk_count = int(np.clip(ends[-1] // _MIN_CHUNK_COST, 1, _MAX_CHUNKS))
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], chunk_count + 1)[1:-1])
    return np.concatenate(([0], cuts, [len(ends) - 1])).astype(np.int64)


def run_chunks(work: Callable[[int, int, int], None], bounds: np.ndarray, threads: int) -> None:
    """Calls work(chunk, first, last) for every chunk, on several threads where there are several.

    This thread is one of them: a sweep over a few hundred sequences is over in a millisecond, of
    which handing every chunk to another thread took half.
    """
    edges = [int(bound) for bound in bounds]
    calls = list(zip(range(len(edges) - 1), edges[:-1], edges[1:], strict=True))
    threads = min(threads, len(calls))

    def run_share(thread: int) -> None:
        for call in calls[thread::threads]:
            work(*call)

    futures = [
        _thread_pool(os.getpid(), threads - 1).submit(run_share, thread)
        for thread in range(1, threads)
    ]
    run_share(0)
    for future in futures:
        future.result()


@cache
def _thread_pool(process: int, threads: int) -> ThreadPoolExecutor:
    # By process: a fork takes the object along, but not its threads.
    return ThreadPoolExecutor(threads, thread_name_prefix="crf")
