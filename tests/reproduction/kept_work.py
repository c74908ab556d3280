"""Work in processes of one thread each, here or on a cluster, whose results are kept on disk."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextvars import ContextVar
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from threadpoolctl import threadpool_limits


def kept_folder() -> Path:
    """The folder of finished parts; without it everything is measured anew."""
    return user_cache_path("tunescope") / "reproductions"


class Checkpoint:
    """Results by key, a JSON line each; `folder` defaults to the user's cache."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self._path = (folder or kept_folder()) / f"{name}.jsonl"
        self._results: dict[str, Any] = {}
        written = self._path.read_text(encoding="utf-8") if self._path.is_file() else ""
        self._torn = bool(written) and not written.endswith("\n")
        for line in written.splitlines():
            self._read_line(line)

    def _read_line(self, line: str) -> None:
        try:
            key, result = json.loads(line)
        except ValueError:  # the line that was being written when it was stopped, or no line
            return
        self._results[key] = result

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def record_result(self, key: str, result: Any) -> None:
        """Record a finished part (plain data)."""
        self._results[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # A line that a stop cut short must not swallow the next one.
            file.write("\n" * self._torn + json.dumps([key, result]) + "\n")
        self._torn = False


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_cluster: ContextVar[Any] = ContextVar("cluster", default=None)


@contextlib.contextmanager
def on_cluster(connection: Any) -> Iterator[None]:
    """Pools opened inside use this `ClusterConnection`; None: this machine."""
    token = _cluster.set(connection)
    try:
        yield
    finally:
        _cluster.reset(token)


class WorkerPool:
    """Processes of one thread each; with 0 of them, work is done here."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._running: dict[Future[Any], str] = {}
        self._executor: Any = None
        self._cluster = _cluster.get()

    def __enter__(self) -> WorkerPool:
        if self._cluster is not None:
            self._executor = self._cluster.client.get_executor(pure=False)
        elif self._processes:
            self._executor = ProcessPoolExecutor(
                self._processes, mp_context=get_context("spawn"), initializer=_one_thread
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            if self._cluster is None:
                self._executor.shutdown(cancel_futures=True)
            else:
                self._executor.shutdown(wait=False)

    @property
    def has_free_process(self) -> bool:
        """Whether a process is idle."""
        process_count = self._processes if self._cluster is None else self._cluster.threads
        return len(self._running) < max(1, process_count)

    def is_running(self, key: str) -> bool:
        """Whether the work of that key is running."""
        return key in self._running.values()

    def submit(self, work: Callable[..., Any], arguments: tuple[Any, ...], key: str) -> None:
        """Start work."""
        if self._executor is None:
            done: Future[Any] = Future()
            done.set_result(work(*arguments))
            self._running[done] = key
        else:
            self._running[self._executor.submit(work, *arguments)] = key

    def as_completed(self, at_least: int = 0) -> Iterator[tuple[str, Any]]:
        """Key and result of finished work; `at_least` so many, or all."""
        count = at_least or len(self._running)
        while count > 0 and self._running:
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                count -= 1
                yield self._running.pop(future), future.result()


def _one_thread() -> None:
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    threadpool_limits(1)  # more would take the other processes' time
