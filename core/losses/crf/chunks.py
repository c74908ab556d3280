"""Work in chunks, done by threads where it is large; their number changes no bit of a result."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

_MAX_CHUNKS = 16
_MIN_CHUNK_COST = 400_000  # multiplications worth a chunk of its own


def chunk_bounds(ends: np.ndarray) -> np.ndarray:
    """Where chunks of about equal cost begin, and their end, from cumulative costs (items + 1,)."""
    chunk_count = int(np.clip(ends[-1] // _MIN_CHUNK_COST, 1, _MAX_CHUNKS))
    cuts = np.searchsorted(ends, np.linspace(0, ends[-1], chunk_count + 1)[1:-1])
    return np.concatenate(([0], cuts, [len(ends) - 1])).astype(np.int64)


def run_chunks(work: Callable[[int, int, int], None], bounds: np.ndarray, threads: int) -> None:
    """Calls work(chunk, first, last) for every chunk, on several threads, of which this is one."""
    edges = [int(bound) for bound in bounds]
    calls = list(zip(range(len(edges) - 1), edges[:-1], edges[1:], strict=True))
    threads = min(threads, len(calls))

    def run_share(thread: int) -> None:
        for call in calls[thread::threads]:
            work(*call)

    pool = _thread_pool(os.getpid(), threads - 1) if threads > 1 else None
    futures = [pool.submit(run_share, thread) for thread in range(1, threads)] if pool else []
    run_share(0)
    for future in futures:
        future.result()


@cache
def _thread_pool(process: int, threads: int) -> ThreadPoolExecutor:
    # By process: a fork takes the object along, but not its threads.
    return ThreadPoolExecutor(threads, thread_name_prefix="crf")
