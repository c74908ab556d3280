"""The worker's process: it reads, tunes and exports, and leaves when the window is gone.

The main thread does one request after the other. A second thread only listens: it queues work,
hears pause and stop at any time, and ends the process when the pipe closes. No Qt in here.
"""

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
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from app.worker import messages as m
from core.collecting import as_usual, while_starting
from core.extensions import faults
from core.tuning.events import (
    EvaluationShortened,
    Event,
    RunFailed,
    RunFinished,
    SettingWanted,
    TrialExcluded,
    TuningEnded,
)

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


def run_worker(pipe: Connection, engine: str, scratch: str) -> None:
    """The whole life of the process.

    Args:
        pipe: our end; when the other end closes, the process ends at once.
        engine: the module whose class `Engine` does the work.
        scratch: a folder for temporary files that goes when the process does.
    """
    settle_down(scratch)
    while_starting()
    worker = _Worker(pipe, scratch)
    threading.Thread(target=worker.listen, name="listener", daemon=True).start()
    made = worker.started(lambda: importlib.import_module(engine).Engine())
    worker.work(made)


def settle_down(scratch: str) -> None:
    """One BLAS thread (before numpy comes), a group and a scratch of its own."""
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))
    os.environ.update(dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch))
    tempfile.tempdir = scratch
    if sys.platform != "win32":
        os.setpgid(0, 0)  # with it, the window can end the processes of the trials too
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the window
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            faulthandler.enable()


def give_way() -> None:
    """From here on at low priority: the window and other programs go first."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), BELOW_NORMAL)
    else:
        os.nice(NICENESS)


class _Worker:
    """What both threads share: the pipe, the queue of work, and what was told about the run."""

    def __init__(self, pipe: Connection, scratch: str) -> None:
        self._pipe, self._scratch = pipe, scratch
        self._work: deque[m.Request] = deque()
        self._lock = threading.Lock()  # of the writing end
        self._told = threading.Condition()
        self._run = 0  # the request whose run is going on
        self._asked = 0  # the question that is being answered
        self._paused = False
        self._tests = False  # whether that run has come to its end and its winner is tested
        self._stop: dict[int, m.Stop] = {}
        self._left: set[int] = set()  # questions that nobody waits for any more
        self._requests: deque[Event] = deque()

    # The listening thread -------------------------------------------------------------------

    def listen(self) -> None:
        """Take what comes until the window is gone."""
        while True:
            try:
                request = self._pipe.recv()
            except (EOFError, OSError):
                self._leave()
            with self._told:
                if isinstance(request.what, m.Control):
                    self._hear(request)
                else:
                    self._queue(request)
                self._told.notify_all()

    def _queue(self, request: m.Request) -> None:
        """Put it last, and drop what it outdates: an estimate costs a second."""
        outdated: tuple[type, ...] = OUTDATES.get(type(request.what), ())
        self._work = deque(one for one in self._work if not isinstance(one.what, outdated))
        self._work.append(request)

    def _hear(self, request: m.Request) -> None:
        match request.what:
            case m.Stop() if self._is_wanted(request.id):
                self._stop[request.id] = request.what
                if self._tests:
                    self._shorten(request.id)
            case m.LeaveQuestion() if self._is_wanted(request.id) or request.id == self._asked:
                self._left.add(request.id)
            case _ if request.id != self._run:
                return
            case m.Pause():
                self._paused = True
            case m.Resume():
                self._paused = False
            case m.Exclude(number=number, excluded=excluded):
                self._requests.append(TrialExcluded(number=number, excluded=excluded))
            case m.TrySetting(setting=setting):
                self._requests.append(SettingWanted(setting=setting))

    def _shorten(self, id: int) -> None:
        """The winner is being tested already: get that over, if it is to be kept."""
        if self._stop[id].keep:
            self._requests.append(EvaluationShortened())
            self._say(id, m.Concluding())

    def _is_wanted(self, id: int) -> bool:
        return id == self._run or any(request.id == id for request in self._work)

    def _leave(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        if sys.platform != "win32":
            os.killpg(0, signal.SIGKILL)  # this process and those of its trials
        os._exit(0)

    # The working thread ---------------------------------------------------------------------

    def started(self, make: Callable[[], Any]) -> Any:
        """What `make` makes; where that fails, the reason is said and the process ends."""
        try:
            return make()
        except Exception as error:
            self._say(0, m.Broke(SORRY, details_of(error)))
            raise

    def work(self, engine: Any) -> None:
        """Do one request after the other, for ever."""
        exporters = self._guarded(0, engine.warm)
        as_usual()
        give_way()  # not before: on a busy machine a person would wait minutes for the start alone
        self._say(0, m.Ready(exporters or [], faults()))
        while True:
            with self._told:
                self._told.wait_for(lambda: self._work)
                request = self._work.popleft()
                self._asked = request.id if isinstance(request.what, (m.Explain, m.Use)) else 0
                if isinstance(request.what, m.Tune):
                    self._run, self._paused, self._tests = request.id, False, False
                    self._requests.clear()
            self._guarded(request.id, lambda asked=request: self._do(engine, asked))
            with self._told:
                self._run = self._asked = 0  # also where it was refused
                self._stop.pop(request.id, None)
                self._left.discard(request.id)

    def _do(self, engine: Any, request: m.Request) -> None:
        id = request.id
        match request.what:
            case m.Tune():
                self._tune(engine, id, request.what)
            case m.Conclude():
                self._say(id, m.Concluding())
                self._tell_all(id, engine.conclude(request.what))
                self._say(id, m.Ended())
            case m.Explain():
                self._explain(engine, id, request.what)
            case m.Use():
                uses = engine.using.use(request.what, lambda: self._is_left(id))
                with contextlib.closing(uses) as answers:
                    for one in answers:
                        self._say(id, one)
                        self._answer_single_rows(engine)
            case what:
                self._say(id, engine.answer(what))

    def _is_left(self, id: int) -> bool:
        """Whether no further rows are wanted: a person said so, or wants something else done."""
        with self._told:
            hurried = any(isinstance(one.what, (m.Tune, m.Use, m.Open)) for one in self._work)
            return hurried or id in self._left

    def _answer_single_rows(self, engine: Any) -> None:
        """While a large file is predicted, the form is not to wait for its end."""
        while True:
            with self._told:
                short = next((one for one in self._work if isinstance(one.what, SINGLE_ROWS)), None)
                if short is None:
                    return
                self._work.remove(short)
            self._guarded(short.id, lambda one=short: self._say(one.id, engine.answer(one.what)))

    def _explain(self, engine: Any, id: int, asked: m.Explain) -> None:
        """A question about a run is left as soon as a person wants something else done."""
        from core.errors import UnusableError

        try:
            with contextlib.closing(engine.explain(asked)) as answers:
                for one in answers:
                    self._say(id, one)
                    if not one.done and (why := self._why_left(id)):
                        self._say(id, m.Explained(asked, {"problem": why}))
                        return
        except UnusableError as error:
            self._say(id, m.Explained(asked, {"problem": error.sentence}))
        except MemoryError:
            self._say(id, m.Explained(asked, {"problem": NO_MEMORY}))
        except Exception as error:
            self._say(id, m.Explained(asked, {"problem": SORRY}, details=details_of(error)))

    def _why_left(self, id: int) -> str:
        """Why a question is answered no further; "" where it is."""
        with self._told:
            if id in self._left:
                return STOPPED
            hurried = any(not isinstance(one.what, PATIENT) for one in self._work)
            return INTERRUPTED if hurried else ""

    def _tune(self, engine: Any, id: int, request: m.Tune) -> None:
        folder = engine.folder(request)
        self._say(id, m.FolderMade(folder))
        event: Event | None = None
        with contextlib.closing(engine.tune(request, folder, self._requests)) as events:
            for event in events:
                self._say(id, event)
                self._wait_while_paused(id)
                if self._is_over(id, event):
                    break
        with self._told:
            stop, self._run = self._stop.pop(id, None), 0
        if stop is not None and not isinstance(event, (RunFinished, RunFailed)):
            self._say(id, m.Concluding())
            if stop.keep:
                self._tell_all(id, engine.conclude(m.Conclude(folder)))
        self._say(id, m.Ended())

    def _is_over(self, id: int, event: Event) -> bool:
        """Whether a run is left here; one whose winner is being tested is not, if that is kept."""
        with self._told:
            stop = self._stop.get(id)
            if isinstance(event, TuningEnded):
                self._tests = True
                if stop is not None:
                    self._shorten(id)
            return stop is not None and not (self._tests and stop.keep)

    def _tell_all(self, id: int, events: Iterator[Event]) -> None:
        for event in events:
            self._say(id, event)

    def _wait_while_paused(self, id: int) -> None:
        with self._told:
            if self._paused and id not in self._stop:
                self._say(id, m.Paused())
            while self._paused and id not in self._stop:
                self._told.wait()

    def _guarded(self, id: int, call: Any) -> Any:
        """Do it; what goes wrong becomes a sentence."""
        from core.datasets.understanding.offering import OfferingError
        from core.datasets.understanding.unusable_target import UnusableTargetError
        from core.errors import UnusableError

        try:
            return call()
        except UnusableTargetError as error:
            self._say(id, m.Refused(error.sentence, error.columns, error.texts))
        except OfferingError as error:
            offer = {"words": error.offer.words, "fields": dict(error.offer.fields)}
            self._say(id, m.Refused(error.sentence, offer=offer))
        except UnusableError as error:
            self._say(id, m.Refused(error.sentence))
        except MemoryError:
            self._say(id, m.Refused(NO_MEMORY))
        except Exception as error:
            self._say(id, m.Broke(SORRY, details_of(error)))
        return None

    def _say(self, id: int, answer: m.Answer) -> None:
        with self._lock:
            try:
                self._pipe.send(m.Message(id, answer))
            except OSError:
                self._leave()


OUTDATES: dict[type, tuple[type, ...]] = {
    m.Estimate: (m.Estimate,),
    m.SummarizeHistory: (m.SummarizeHistory,),
    m.Open: (m.Open, m.Estimate, m.SummarizeHistory),
    m.Tune: (m.Estimate, m.SummarizeHistory, m.Explain),
    m.Use: (m.Use,),
    m.DescribeModel: (m.DescribeModel, m.TryRow, m.FindRow),
    m.TryRow: (m.TryRow,),
    m.FindRow: (m.FindRow,),
}
PATIENT = (m.Estimate, m.SummarizeHistory, m.Explain)  # what waits for an answer to end
SINGLE_ROWS = (m.DescribeModel, m.TryRow, m.FindRow)  # what is answered between two parts
STOPPED = "Stopped. What was worked out until then is shown."
INTERRUPTED = "This was left because something else was asked for meanwhile."
NO_MEMORY = (
    "There is not enough memory for this; close other programs, or use fewer rows or columns."
)
SORRY = "Something in the program went wrong. This was not your doing; nothing else was changed."


def details_of(error: BaseException) -> str:
    """Where an exception came from, without its message: that could hold a value of the data."""
    lines = [type(error).__name__]
    for frame in traceback.extract_tb(error.__traceback__):
        place = frame.filename.replace("\\", "/").rsplit("/", 3)[-3:]
        lines.append(f"  {'/'.join(place)}, line {frame.lineno}, in {frame.name}")
    if error.__cause__ is not None:
        lines += ["caused by", details_of(error.__cause__)]
    return "\n".join(lines)
