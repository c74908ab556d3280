"""The worker's process, without Qt: one thread works, one queues work and hears pause and stop."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from app.worker import messages as m
from core.datasets.finding import FixableInputError, UnusableTargetError
from core.datasets.memory_limit import limit_own_memory
from core.errors import UnusableError
from core.extensions import extension_errors
from core.garbage_collection import collect_rarely, restore_collection
from core.processes import reserve_stack
from core.tuning import events

if TYPE_CHECKING:
    from app.worker.engine import Engine


THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
NICENESS = 10
BELOW_NORMAL = 0x00004000  # BELOW_NORMAL_PRIORITY_CLASS of Windows


@reserve_stack
def run_worker(pipe: Connection, engine: str, scratch: str) -> None:
    """Run until `pipe` closes, with the class `Engine` of a module and a temporary folder."""
    settle_down(scratch)
    collect_rarely()
    worker = _Worker(pipe, scratch)
    threading.Thread(target=worker.listen_to_pipe, name="listener", daemon=True).start()
    worker_engine = worker.make_engine(lambda: importlib.import_module(engine).Engine())
    worker.work_forever(worker_engine)


def settle_down(scratch: str) -> None:
    """One BLAS thread (before numpy is imported), a process group, a temporary folder."""
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch))
    tempfile.tempdir = scratch
    if sys.platform != "win32":
        # By its group the window can end the processes of the trials, too.
        os.setpgid(0, 0)
        # Ctrl-C is for the window.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()


def give_way() -> None:
    """Lower the priority: the window and other programs go first."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), BELOW_NORMAL)
    else:
        os.nice(NICENESS)


class _Worker:
    """What both threads share."""

    def __init__(self, pipe: Connection, scratch: str) -> None:
        self._pipe, self._scratch = pipe, scratch
        self._work: deque[m.Request] = deque()
        self._lock = threading.Lock()  # of the writing end
        self._condition = threading.Condition()
        self._run = 0  # the request whose run goes on
        self._current_id = 0  # of the request that is being answered
        self._paused = False
        self._is_testing = False  # whether that run's selected model is being tested
        self._stop: dict[int, m.StopRun] = {}
        self._cancelled_ids: set[int] = set()
        self._requests: deque[events.Event] = deque()

    # The listening thread -------------------------------------------------------------------

    def listen_to_pipe(self) -> None:
        while True:
            try:
                request = self._pipe.recv()
            except (EOFError, OSError):
                self._exit_process()
            with self._condition:
                if isinstance(request.payload, m.Control):
                    self._handle_control(request)
                else:
                    self._queue_work(request)
                self._condition.notify_all()

    def _queue_work(self, request: m.Request) -> None:
        new = request.work

        def is_outdated(work: m.Work) -> bool:
            is_replaced = work.only_latest and type(work) is type(new)
            return is_replaced or isinstance(new, work.outdated_by)

        self._work = deque(waiting for waiting in self._work if not is_outdated(waiting.work))
        self._work.append(request)

    def _handle_control(self, request: m.Request) -> None:
        match request.payload:
            case m.StopRun() if self._is_wanted(request.id):
                self._stop[request.id] = request.payload
                if self._is_testing:
                    self._shorten(request.id)
            case m.CancelExplanation() if (
                self._is_wanted(request.id) or request.id == self._current_id
            ):
                self._cancelled_ids.add(request.id)
            # Of a run that ended while the request was on its way.
            case _ if request.id != self._run:
                return
            case m.Pause():
                self._paused = True
            case m.Resume():
                self._paused = False
            case m.Exclude(number=number, excluded=excluded):
                self._requests.append(events.TrialExcluded(number=number, excluded=excluded))
            case m.TrySetting(setting=setting):
                self._requests.append(events.SettingRequested(setting=setting))

    def _shorten(self, id: int) -> None:
        # A run that is thrown away needs no test at all.
        if self._stop[id].keep:
            self._requests.append(events.EvaluationShortened())
            self._send_answer(id, m.Concluding())

    def _is_wanted(self, id: int) -> bool:
        return id == self._run or any(request.id == id for request in self._work)

    def _exit_process(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        # This process and those of its trials, which would go on for a window that is gone.
        if sys.platform != "win32":
            os.killpg(0, signal.SIGKILL)
        os._exit(0)

    # The working thread ---------------------------------------------------------------------

    def make_engine(self, make: Callable[[], Engine]) -> Engine:
        """Where it fails, send the reason and raise."""
        try:
            return make()
        except Exception as error:
            self._send_answer(0, m.WorkerDefect(SORRY, details_of(error)))
            raise

    def work_forever(self, engine: Engine) -> None:
        exporters: list[m.ExportFormat] = []
        while self._has_data_to_open():  # a file that the program was started with
            self._handle_next(engine)
        try:
            exporters = engine.warm_up()
        except Exception as error:
            self._send_answer(0, refusal_of(error))
        restore_collection()
        # Not before: on a busy machine the start would take minutes.
        give_way()
        self._send_answer(0, m.Ready(exporters, extension_errors()))
        while True:
            self._handle_next(engine)

    def _has_data_to_open(self) -> bool:
        with self._condition:
            return bool(self._work) and isinstance(self._work[0].payload, m.OpenData)

    def _handle_next(self, engine: Engine) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._work)
            request = self._work.popleft()
            self._current_id = request.id
            if isinstance(request.payload, m.Tune):
                self._run, self._paused, self._is_testing = request.id, False, False
                self._requests.clear()
        limit_own_memory()  # by what is free now: the window may be open for days
        self._handle_request(engine, request)
        with self._condition:
            self._run = self._current_id = 0  # also where it was refused
            self._stop.pop(request.id, None)
            self._cancelled_ids.discard(request.id)

    def _handle_request(self, engine: Engine, request: m.Request) -> None:
        id, work = request.id, request.work
        try:
            if isinstance(work, m.Tune):
                self._run_tuning(engine, id, work)
                return
            stop_reason = partial(self._stop_reason, id, work.yields_to)
            with contextlib.closing(engine.answers(work, stop_reason)) as answers:
                for answer in answers:
                    self._send_answer(id, answer)
                    self._answer_between(engine, work.lets_through)
        except Exception as error:
            self._send_answer(id, work.refused(refusal_of(error)))

    def _stop_reason(self, id: int, yields_to: int) -> str:
        """Why the current request is left; "" where it is not."""
        with self._condition:
            if id in self._cancelled_ids:
                return STOPPED
            is_hurried = any(request.work.urgency >= yields_to for request in self._work)
            return INTERRUPTED if is_hurried else ""

    def _answer_between(self, engine: Engine, kinds: tuple[type[m.Work], ...]) -> None:
        while kinds:
            with self._condition:
                request = next((r for r in self._work if isinstance(r.payload, kinds)), None)
                if request is None:
                    return
                self._work.remove(request)
            self._handle_request(engine, request)

    def _run_tuning(self, engine: Engine, id: int, request: m.Tune) -> None:
        folder = engine.folder(request)
        self._send_answer(id, m.FolderMade(folder))
        event: events.Event | None = None
        with contextlib.closing(engine.tune(request, folder, self._requests)) as stream:
            for event in stream:
                self._send_answer(id, event)
                self._wait_while_paused(id)
                if self._is_over(id, event):
                    break
        # From here on a stop comes too late, and must not end the next run.
        with self._condition:
            stop, self._run = self._stop.pop(id, None), 0
        if stop is not None and not isinstance(event, (events.RunFinished, events.RunFailed)):
            self._send_answer(id, m.Concluding())
            for event in engine.conclude(m.Conclude(folder)) if stop.keep else ():
                self._send_answer(id, event)
        self._send_answer(id, m.RunEnded())

    def _is_over(self, id: int, event: events.Event) -> bool:
        with self._condition:
            stop = self._stop.get(id)
            if isinstance(event, events.TuningEnded):
                self._is_testing = True
                if stop is not None:
                    self._shorten(id)
            # The test of a model that is kept goes on, shortened.
            return stop is not None and not (self._is_testing and stop.keep)

    def _wait_while_paused(self, id: int) -> None:
        with self._condition:
            if self._paused and id not in self._stop:
                self._send_answer(id, m.Paused())
            while self._paused and id not in self._stop:
                self._condition.wait()

    def _send_answer(self, id: int, answer: m.Answer) -> None:
        # Both threads write: the listening one answers a stop.
        with self._lock:
            try:
                self._pipe.send(m.Message(id, answer))
            except OSError:
                self._exit_process()


STOPPED = "Stopped. What was worked out until then is shown."
INTERRUPTED = "This was left because something else was asked for meanwhile."
NO_MEMORY = (
    "There is not enough memory for this; close other programs, or use fewer rows or columns."
)
SORRY = "Something in the program went wrong. This was not your doing; nothing else was changed."


def refusal_of(error: Exception) -> m.Refusal:
    """What a person is told of an error."""
    match error:
        case UnusableTargetError():
            return m.InputRefused(error.sentence, error.columns, error.texts)
        case FixableInputError():
            return m.InputRefused(error.sentence, offer=error.offer)
        case UnusableError():
            return m.InputRefused(error.sentence)
        case MemoryError():
            return m.InputRefused(NO_MEMORY)
    return m.WorkerDefect(SORRY, details_of(error))


def details_of(error: BaseException) -> str:
    """The traceback without the message, which could hold a value of the data."""
    lines = [type(error).__name__]
    for frame in traceback.extract_tb(error.__traceback__):
        path_parts = frame.filename.replace("\\", "/").rsplit("/", 3)[-3:]
        lines.append(f"  {'/'.join(path_parts)}, line {frame.lineno}, in {frame.name}")
    if error.__cause__ is not None:
        lines += ["caused by", details_of(error.__cause__)]
    return "\n".join(lines)
