"""Trials in processes of their own, each with a time limit, and the folder that they share.

Only a process can be killed when its fit never ends, and its crash costs one trial.
"""

from __future__ import annotations

import contextlib
import functools
import math
import multiprocessing
import multiprocessing.util
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import connection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from core.awake_timer import AWAKE
from core.datasets.memory_limit import TrialMemory, memory_failure
from core.errors import UnusableError, write_error
from core.processes import LEAVES, MAIN_THREAD, OwnedProcess, leave_to_parent, memory_in_use
from core.space import Setting
from core.tuning.events import Event
from core.tuning.runs.run_lock import hold_run_lock, lock_holder
from core.tuning.scores.scoring import (
    ScoringJob,
    TrialRequest,
    TrialResult,
    import_model,
    one_line_error,
    score_trial,
)

SCRATCH, OWNER, DRAFT = "tunescope-", "owner", "draft"
MAX_SOCKET_BYTES = 91  # of a socket's name: Linux takes 107, macOS 103, others fewer
EXIT_PRIORITY = -200  # after multiprocessing has removed its own folder, at -100
SOCKET = "/pymp-12345678/listener-12345678"  # as multiprocessing names it


class ScratchFolder:
    """A temporary folder of this process; leftovers of killed processes are removed.

    `purpose` is a word in its name; `parent` "" for the usual folder. Raises OSError.
    """

    def __init__(self, purpose: str, parent: str = "") -> None:
        parent = parent or tempfile.gettempdir()
        _remove_leftovers(Path(parent), f"{SCRATCH}{purpose}-")
        self.path = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{purpose}-", dir=parent))
        lock_stack = contextlib.ExitStack()
        arguments = (lock_stack, self.path)
        self._remove = multiprocessing.util.Finalize(
            self, _delete_folder, arguments, exitpriority=EXIT_PRIORITY
        )
        try:
            lock_stack.enter_context(hold_run_lock(self.path / DRAFT))
            (self.path / DRAFT).rename(self.path / OWNER)  # visible once it is locked
        except OSError:
            self.remove_folder()
            raise

    def remove_folder(self) -> None:
        """Remove it with its content; the end of the process does so too."""
        self._remove()


def _delete_folder(lock_stack: contextlib.ExitStack, path: Path) -> None:
    lock_stack.close()
    shutil.rmtree(path, ignore_errors=True)


def _remove_leftovers(parent: Path, prefix: str) -> None:
    for folder in parent.glob(f"{prefix}*"):
        # A folder without a mark is still being made by its owner.
        mark = folder / OWNER
        if os.path.lexists(mark) and lock_holder(mark) is None:
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def shorten_sockets() -> ScratchFolder | None:
    """Give the sockets of multiprocessing short names; the new folder for them, if any."""
    # The name of a socket may have some hundred bytes, for which the folder for temporary files may
    # leave no room.
    usual = tempfile.gettempdir()
    if _has_room(usual):
        return None
    for folder in _short_folders():
        with contextlib.suppress(OSError):
            scratch_folder = ScratchFolder("sockets", folder)
            break
    else:
        problem = "the name of the folder for temporary files is too long for the sockets of trials"
        raise UnusableError(problem, where=usual, cure="name a shorter one in TMPDIR")
    before, tempfile.tempdir = tempfile.tempdir, str(scratch_folder.path)
    try:
        multiprocessing.util.get_temp_dir()  # cached for the life of the process
    finally:
        tempfile.tempdir = before
    return scratch_folder


def _short_folders() -> list[str]:
    """Folders with short names, the most private first."""
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm"]
    suffix = f"/{SCRATCH}sockets-12345678"
    return [folder for folder in candidates if os.path.isabs(folder) and _has_room(folder + suffix)]


def _has_room(folder: str) -> bool:
    return len(os.fsencode(folder)) + len(SOCKET) <= MAX_SOCKET_BYTES


NEARLY_ALL = 0.7  # of its bytes, with which a process that crashes is taken to have lacked memory
MEASURE_SECONDS = 1.0  # between two measurements of memory
STARTED = "begun"  # sent by a process when it starts a trial
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


# Threads of ours, which hold no lock that a copy of this process takes.
COPIED_THREADS = {MAIN_THREAD, "clock", "heartbeat", "interrupts", "listener", "progress"}


def _context(memory: int | None) -> Any:
    """How a process of trials is started that may take so many bytes, None for the usual share."""
    is_ours = {thread.name for thread in threading.enumerate()} <= COPIED_THREADS
    is_ours = is_ours and "jax" not in sys.modules  # whose own threads hold locks
    if sys.platform == "linux" and is_ours and memory is None:
        return multiprocessing.get_context("fork")  # nothing is imported a second time
    if "forkserver" in multiprocessing.get_all_start_methods():
        shorten_sockets()
        # A fork of this process would inherit its memory, and locks that other threads hold.
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

    limit: float | None  # seconds a trial may take, without the start of its process

    @property
    def workers(self) -> int:
        """How many trials run at the same time now."""

    @property
    def running(self) -> int:
        """How many trials are running."""

    @property
    def free_slots(self) -> int:
        return max(0, self.workers - self.running)  # workers may leave with running trials

    def submit(self, number: int, setting: Setting) -> None:
        """Start a trial; `free_slots` must be above 0."""
        self.submit_request(TrialRequest(number, setting))

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        """Start what a request asks for; `limit` in seconds, None for the executor's."""

    def limit_of(self, own_limit: float | None) -> float:
        """Seconds that a trial may take: its own limit, else the executor's, else infinite."""
        limit = self.limit if own_limit is None else own_limit
        return math.inf if limit is None else limit

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        """The trials that ended, waiting at most so many seconds for the first."""

    @property
    def memory(self) -> int | None:
        """Bytes in use by the run and its trials on this machine; None if unknown."""
        return None

    def worker_updates(self) -> Sequence[Event]:
        """The state of the workers, where it changed; nothing of this machine alone."""
        return ()

    def close(self) -> None:
        """End what is running."""


class ProcessExecutor(TrialExecutor):
    """Processes of this machine that score settings.

    A trial beyond the time limit is ended and counts as failed; `limit` may be changed while trials
    run.
    """

    def __init__(self, work: ScoringJob, workers: int = 1, time_limit: float | None = None) -> None:
        self.limit = time_limit
        self._folder = ScratchFolder("folds")
        self._file = self._folder.path / "work.joblib"
        import joblib

        # Written once and memory-mapped: all processes of a run share one copy of the folds.
        try:
            joblib.dump(work, self._file)
        except OSError as error:
            self._folder.remove_folder()
            cure = "make room, or name another folder in TMPDIR"
            raise write_error("the folds", self._file.parent, error, cure, room=cure) from error
        self._idle: list[OwnedProcess] = []
        # Written first: a folder for temporary files may lie in memory.
        self._memory = TrialMemory.allot(workers, work.memory)
        self._sizes: dict[int, int] = {}  # bytes by process id, when last measured
        self._measured = time.monotonic()
        self._busy: dict[OwnedProcess, _RunningTrial] = {}
        self._lost: list[TrialResult] = []  # trials that no process could be started for

    @property
    def workers(self) -> int:
        return self._memory.workers

    @property
    def running(self) -> int:
        # With those that could not be started and have not been reported.
        return len(self._busy) + len(self._lost)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
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
        try:
            worker.pipe.send(task)
        except OSError:
            return worker.end_process(LEAVES)
        self._busy[worker] = _RunningTrial(task.number, task.setting, AWAKE.seconds, limit=limit)
        return ""

    def _started(self) -> OwnedProcess:
        with _one_thread(), _without_script():
            arguments, name = (str(self._file), self._memory), "process of this trial"
            context = _context(self._memory.planned)
            return OwnedProcess(context, serve_trials, *arguments, name=name)

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        timeout = min(seconds, self._until_overdue())
        ready = connection.wait([worker.pipe for worker in self._busy], timeout=timeout)
        received = [self._received(worker) for worker in list(self._busy) if worker.pipe in ready]
        results = [*self._lost, *(result for result in received if result is not None)]
        self._lost = []
        # A result that came in time counts, though it is read late.
        return results or [*self._overdue(), *self._oversized()]

    def _until_overdue(self) -> float:
        begun = (busy for busy in self._busy.values() if busy.begun)
        ends = [busy.since + self.limit_of(busy.limit) for busy in begun]
        return 0.0 if self._lost else max(0.0, min(ends, default=math.inf) - AWAKE.seconds)

    def _received(self, worker: OwnedProcess) -> TrialResult | None:
        busy = self._busy[worker]
        try:
            message: TrialResult | str = worker.pipe.recv()
        except (EOFError, OSError):
            del self._busy[worker]
            took, size = AWAKE.seconds - busy.since, self._sizes.get(worker.pid, 0)
            why = worker.end_process(LEAVES)
            if size > NEARLY_ALL * self._memory.share:  # libraries crash where memory is refused
                why = memory_failure(size)
            return TrialResult(busy.number, busy.setting, (), took, failure=why)
        if isinstance(message, str):  # it has loaded the folds: only now its time counts
            busy.begun, busy.since = True, AWAKE.seconds
            return None
        del self._busy[worker]
        self._idle.append(worker)
        limit = self.limit_of(busy.limit)
        return message if message.took <= limit else _overdue_result(busy, message.took, limit)

    def _overdue(self) -> Iterator[TrialResult]:
        for worker, busy in list(self._busy.items()):
            took, limit = AWAKE.seconds - busy.since, self.limit_of(busy.limit)
            if busy.begun and took >= limit:
                worker.end_process()
                del self._busy[worker]
                yield _overdue_result(busy, took, limit)

    def _oversized(self) -> Iterator[TrialResult]:
        """End the largest trial where all of them leave too little memory to other programs."""
        if not self._measure() or not self._busy:
            return
        sizes = {worker: self._sizes[worker.pid] for worker in self._busy}
        if self._memory.is_short(sum(sizes.values())):
            worker = max(sizes, key=lambda worker: sizes[worker])
            busy, size = self._busy.pop(worker), sizes[worker]
            worker.end_process()
            took, why = AWAKE.seconds - busy.since, memory_failure(size)
            yield TrialResult(busy.number, busy.setting, (), took, failure=why)

    def _measure(self) -> bool:
        """Measure the processes, unless that was just done: the system walks through all pages."""
        if is_due := time.monotonic() - self._measured >= MEASURE_SECONDS:
            self._measured = time.monotonic()
            pids = [os.getpid(), *(worker.pid for worker in [*self._idle, *self._busy])]
            self._sizes = {pid: memory_in_use([pid]) or 0 for pid in pids}
        return is_due

    @property
    def memory(self) -> int | None:
        self._measure()
        return sum(self._sizes.values()) or None

    def close(self) -> None:
        for worker in [*self._idle, *self._busy]:
            worker.end_process()
        self._idle, self._busy = [], {}
        self._folder.remove_folder()


class InProcessExecutor(TrialExecutor):
    """Scores settings in this process, one at a time; nothing ends a trial that takes long."""

    workers = 1

    def __init__(self, work: ScoringJob, workers: int = 1, time_limit: float | None = None) -> None:
        self.limit, self._work, self._results = time_limit, work, list[TrialResult]()

    @property
    def running(self) -> int:
        return len(self._results)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        self._results.append(score_trial(self._work, task))

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        results, self._results = self._results, []
        return results


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


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    # A new process runs its parent's script once more, of which a trial needs nothing: without
    # `if __name__ == "__main__"` in it, it would start a run of its own.
    script = vars(sys.modules["__main__"])
    names = ("__file__", "__spec__")
    before: dict[str, Any] = {name: script[name] for name in names if name in script}
    script.update(dict.fromkeys(before))
    try:
        yield
    finally:
        script.update(before)


def serve_trials(pipe: Connection, file: str, memory: TrialMemory) -> None:
    """Main function of a trial process: load the folds, then score requests from the pipe."""
    import joblib
    from threadpoolctl import threadpool_limits

    leave_to_parent()  # a trial must not outlive a killed run
    threadpool_limits(1)  # of libraries that a copy of the run's process has with it
    # A fit that would take more than this fails, and the process lives on.
    bound, work = memory.limit_process(), None
    try:
        work = joblib.load(file, mmap_mode="r")
        work = replace(work, folds=tuple(work.folds), memory=bound)
    except FileNotFoundError:  # the run has ended meanwhile
        return
    except MemoryError:
        pass
    while True:
        try:
            task = pipe.recv()
            if work is not None:
                import_model(work, task.setting)  # its seconds would be taken for those of the fit
            pipe.send(STARTED)
            if work is None:
                why = memory_failure(bound)
                pipe.send(TrialResult(task.number, task.setting, failure=why))
            else:
                pipe.send(score_trial(work, task))
        except (EOFError, OSError):  # the run has ended
            return
