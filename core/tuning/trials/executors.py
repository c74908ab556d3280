"""Trials in processes of their own, each with a time limit.

Only a process can be killed when its fit never ends, and its crash costs one trial; joblib's pool
cannot end a single task. With a fork server, a fresh process is ready in some 20 ms.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, Protocol

from core.datasets.sampling.memory_limit import available_memory
from core.errors import write_error
from core.processes import LEAVES, OwnedProcess, limit_memory, watch_parent
from core.space import Setting
from core.tuning.events import Event
from core.tuning.runs.run_clock import AWAKE
from core.tuning.scores.scoring import (
    ScoringJob,
    TrialRequest,
    TrialResult,
    import_model,
    one_line_error,
    score_trial,
)
from core.tuning.trials.scratch_folder import ScratchFolder, shorten_sockets

MEMORY_SHARE, MIN_MEMORY = 0.25, 10**9  # of the free memory, and bytes, for each process
STARTED = "begun"  # sent by a process when it starts a trial
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _context() -> Any:
    if "forkserver" in multiprocessing.get_all_start_methods():
        shorten_sockets()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["core.tuning.trials.executors"])
        return context
    return multiprocessing.get_context("spawn")


@dataclass
class _RunningTrial:
    number: int
    setting: Setting
    since: float
    begun: bool = False
    limit: float | None = None  # of its own, in place of the executor's


class TrialExecutor(Protocol):
    """Runs trials: in processes of this machine, or on the workers of a cluster."""

    limit: float | None

    @property
    def workers(self) -> int:
        """How many trials run at the same time now."""

    @property
    def free_slots(self) -> int:
        """How many more trials may be submitted now."""

    @property
    def running(self) -> int:
        """How many trials are running."""

    def submit(self, number: int, setting: Setting) -> None:
        """Start a trial."""

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        """Start what a request asks for."""

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        """The trials that ended, waiting at most so many seconds for the first."""

    def worker_updates(self) -> Sequence[Event]:
        """The state of the workers, where it changed."""

    def close(self) -> None:
        """End what is running."""


class ProcessExecutor:
    """Processes of this machine that score settings.

    Args:
        work: written to a file once and memory-mapped by every process.
        workers: how many trials run at the same time.
        time_limit: seconds after which a trial is ended and counts as failed, without the start of
            its process; None for never. `limit` may be changed while trials run.

    Raises:
        UnusableError: no room for the folds, or no place for the sockets.
    """

    def __init__(self, work: ScoringJob, workers: int = 1, time_limit: float | None = None) -> None:
        self.workers, self.limit = workers, time_limit
        self._context = _context()
        self._folder = ScratchFolder("folds")
        self._file = self._folder.path / "work.joblib"
        import joblib

        try:
            joblib.dump(work, self._file)
        except OSError as error:
            self._folder.remove_folder()
            cure = "make room, or name another folder in TMPDIR"
            raise write_error("the folds", self._file.parent, error, cure, room=cure) from error
        self._idle: list[OwnedProcess] = []
        self._memory = work.memory
        self._busy: dict[OwnedProcess, _RunningTrial] = {}
        self._lost: list[TrialResult] = []  # trials that no process could be started for

    @property
    def free_slots(self) -> int:
        """How many more trials may be submitted now."""
        return self.workers - self.running

    @property
    def running(self) -> int:
        """How many trials are running."""
        return len(self._busy) + len(self._lost)

    def submit(self, number: int, setting: Setting) -> None:
        """Start a trial; `free_slots` must be above 0. Without a process for it, it fails."""
        self.submit_request(TrialRequest(number, setting))

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        """Start what a request asks for; `limit` in seconds, None for the executor's."""
        why = "none"
        while self._idle and why:  # some may have died while they waited for a trial
            why = self._send_request(self._idle.pop(), task, limit)
        if why:
            try:
                why = self._send_request(self._started(), task, limit)
            except (OSError, EOFError) as error:
                why = f"No process could be started for it ({one_line_error(error)})."
        if why:
            self._lost.append(TrialResult(task.number, task.setting, failure=why))

    def _send_request(self, worker: OwnedProcess, task: TrialRequest, limit: float | None) -> str:
        """Send a request to a process; why that failed, or ""."""
        try:
            worker.pipe.send(task)
        except OSError:
            return worker.end_process(LEAVES)
        self._busy[worker] = _RunningTrial(task.number, task.setting, AWAKE.seconds, limit=limit)
        return ""

    def _started(self) -> OwnedProcess:
        with _one_thread():
            usual = max(MIN_MEMORY, int(available_memory() * MEMORY_SHARE))
            arguments = (str(self._file), self._memory or usual)
            name = "process of this trial"
            return OwnedProcess(self._context, serve_trials, *arguments, name=name)

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        """The trials that ended, waiting at most so many seconds for the first."""
        timeout = min(seconds, self._until_overdue())
        ready = connection.wait([worker.pipe for worker in self._busy], timeout=timeout)
        received = [self._received(worker) for worker in list(self._busy) if worker.pipe in ready]
        results = [*self._lost, *(result for result in received if result is not None)]
        self._lost = []
        return results or list(self._overdue())

    def _until_overdue(self) -> float:
        ends = [busy.since + self._limit_of(busy) for busy in self._busy.values() if busy.begun]
        return 0.0 if self._lost else max(0.0, min(ends, default=math.inf) - AWAKE.seconds)

    def _limit_of(self, busy: _RunningTrial) -> float:
        limit = self.limit if busy.limit is None else busy.limit
        return math.inf if limit is None else limit

    def _received(self, worker: OwnedProcess) -> TrialResult | None:
        busy = self._busy[worker]
        try:
            message: TrialResult | str = worker.pipe.recv()
        except (EOFError, OSError):
            del self._busy[worker]
            took = AWAKE.seconds - busy.since
            why = worker.end_process(LEAVES)
            return TrialResult(busy.number, busy.setting, (), took, failure=why)
        if isinstance(message, str):
            busy.begun, busy.since = True, AWAKE.seconds
            return None
        del self._busy[worker]
        self._idle.append(worker)
        limit = self._limit_of(busy)
        return message if message.took <= limit else _overdue_result(busy, message.took, limit)

    def _overdue(self) -> Iterator[TrialResult]:
        for worker, busy in list(self._busy.items()):
            took, limit = AWAKE.seconds - busy.since, self._limit_of(busy)
            if busy.begun and took >= limit:
                worker.end_process()
                del self._busy[worker]
                yield _overdue_result(busy, took, limit)

    def worker_updates(self) -> Sequence[Event]:
        """Nothing to report of this machine."""
        return ()

    def close(self) -> None:
        """End every process at once and remove the file."""
        for worker in [*self._idle, *self._busy]:
            worker.end_process()
        self._idle, self._busy = [], {}
        self._folder.remove_folder()


def _overdue_result(busy: _RunningTrial, took: float, limit: float) -> TrialResult:
    why = f"It took longer than the time limit of {limit:g} s."
    return TrialResult(busy.number, busy.setting, (), took, failure=why)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    # Children (and the fork server itself) read these before they load BLAS.
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def serve_trials(pipe: Connection, file: str, memory: int) -> None:
    """Main function of a trial process: load the folds, then score requests from the pipe.

    A fit that would take more than `memory` bytes fails, and the process lives on.
    """
    import joblib

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the run's to handle
    watch_parent()  # a trial must not outlive a killed run
    work = joblib.load(file, mmap_mode="r")
    work = replace(work, folds=tuple(work.folds), memory=memory)
    limit_memory(memory)
    while True:
        try:
            task = pipe.recv()
            import_model(work, task.setting)  # its seconds would be taken for those of the fit
            pipe.send(STARTED)
            pipe.send(score_trial(work, task))
        except (EOFError, OSError):  # the run has ended
            return
