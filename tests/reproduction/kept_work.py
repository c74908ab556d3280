"""Work in processes of one thread each, here or on a cluster, whose results are kept on disk."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextvars import ContextVar
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from threadpoolctl import threadpool_limits

from core.wording import rough_duration_text


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


# A key, the work to be done under it, and its arguments.
Part = tuple[str, Callable[..., Any], tuple[Any, ...]]


def finished_parts(
    ready: Callable[[], Iterable[Part]], processes: int
) -> Iterator[tuple[str, Any]]:
    """Key and result of all work, in processes of one thread each; with 0 of them it is done here.

    `ready` names what may be begun now, and is asked again after every result; when it names
    nothing and nothing runs, all is done.
    """
    connection = _cluster.get()
    max_running = max(1, processes if connection is None else connection.threads)
    running: dict[Future[Any], str] = {}
    with _executor(processes) as executor:
        while True:
            # One by one: to name the next part may take as long as a sampler's proposal.
            parts = iter(ready())
            while len(running) < max_running and (part := next(parts, None)) is not None:
                key, work, arguments = part
                if key not in running.values():
                    running[executor.submit(work, *arguments)] = key
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def _executor(processes: int) -> Executor:
    connection = _cluster.get()
    if connection is not None:
        executor: Executor = connection.client.get_executor(pure=False)
        return executor
    if not processes:
        return _OwnProcess()
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_one_thread)


class _OwnProcess(Executor):
    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*arguments, **options))
        return future


def _one_thread() -> None:
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    threadpool_limits(1)  # more would take the other processes' time


def time_left(start: float, done: int, missing: int) -> str:
    """The clock, and what is left if all takes as long as the `done` parts since `start` did."""
    seconds = (time.perf_counter() - start) / done * missing
    return f"at {time.strftime('%H:%M:%S')} about {rough_duration_text(seconds)} left"
