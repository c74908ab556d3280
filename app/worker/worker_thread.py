"""The thread that owns the worker's process and forwards what it says to the window, in batches."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import shutil
import tempfile
import time
from multiprocessing.connection import wait

from PySide6.QtCore import QThread, Signal

from app.worker.messages import (
    AbandonRun,
    Conclude,
    Concluding,
    InputRefused,
    Message,
    Ready,
    Request,
    RunEnded,
    StopRun,
    Tune,
    WorkerDefect,
    WorkerDied,
)
from app.worker.worker_process import run_worker
from core.processes import LEAVES, OwnedProcess
from core.tuning.events import Progress, SurrogateFitted, WorkersSeen

FRAME = 1 / 30  # seconds between two batches
PATIENCE = 2.0  # seconds from the flag to terminate
CLOSES = 3.0  # seconds from `leave` until the process is killed from outside
NO_START = "The worker, which reads data and tunes, could not be started"
START_AGAIN = "Whatever you do next starts it again; close other programs first."
LATEST_WINS = (
    SurrogateFitted,
    Progress,
    WorkersSeen,
)  # events that the next of their kind outdates


class WorkerThread(QThread):
    """Starts the process at once and keeps it warm; starts another when it ended.

    A request is written by this thread, never by the window's: a full pipe cannot freeze the
    window. A stop escalates: flag, 2 s, terminate, 1 s, kill, new worker. A process that cannot be
    started, or ends before it is ready, is told at once; the next request starts another.

    Args:
        engine: the module whose functions do the work; tests put their own in its place.
    """

    arrived = Signal(list)  # of Message

    def __init__(self, engine: str = "app.worker.engine") -> None:
        super().__init__()
        self._engine = engine
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._context = multiprocessing.get_context("spawn")
        self._wake_in, self._wake_out = self._context.Pipe(duplex=False)
        self._closing = False
        self._process: OwnedProcess | None = None
        self._scratch = ""  # the process's folder for temporary files
        self._waiting: list[Message] = []
        self._flushed = 0.0
        self._is_ready = False
        self._start_fault: Message | None = None  # what went wrong before it was ready
        self._going_on: set[int] = set()  # the requests whose runs the process has in hand

    # Called by the window's thread ----------------------------------------------------------

    def ask(self, request: Request) -> None:
        """Hand a request to the worker; never blocks."""
        self._requests.put(request)
        self._wake_thread()

    def begin_shutdown(self) -> None:
        """Let the process and this thread end; `close` waits for both."""
        self._closing = True
        self._wake_thread()

    def close(self) -> None:
        """End the process and this thread, and wait for both (some milliseconds, at most 6 s)."""
        self.begin_shutdown()
        if not self.wait(int(1000 * CLOSES)):
            if (process := self._process) is not None:
                process.kill()
            self.wait()

    @property
    def process_id(self) -> int | None:
        """The number of the process, or None while there is none."""
        return self._process.pid if self._process is not None else None

    def _wake_thread(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send_bytes(b"!")

    # Called by this thread ------------------------------------------------------------------

    def run(self) -> None:
        """Until closed: pass requests on, collect answers, notice the end of the process."""
        try:
            self._serve_requests()
        finally:  # also where this very thread has a defect
            if self._process is not None:
                self._process.end_process(LEAVES)
                self._process = None
                shutil.rmtree(self._scratch, ignore_errors=True)
            self._wake_in.close()
            self._wake_out.close()

    def _serve_requests(self) -> None:
        self._start_process()
        while not self._closing:
            sources: list = [self._wake_in]
            process = self._process
            if process is not None:
                sources += [process.pipe, process.sentinel]
            ready = wait(sources, timeout=self._wait_seconds())
            if self._wake_in in ready:
                self._wake_in.recv_bytes()
                self._pass_requests()
            if process is not None and process.pipe in ready:
                self._collect(process)
            elif process is not None and process.sentinel in ready:
                self._handle_process_end(process)
            if self._process is not None:
                self._process.escalate()
            self._flush_messages()

    def _wait_seconds(self) -> float | None:
        until = [self._flushed + FRAME] if self._waiting else []
        until += [self._process.deadline] if self._process and self._process.deadline else []
        return max(0.0, min(until) - time.monotonic()) if until else None

    def _start_process(self) -> OwnedProcess | None:
        """A new process; None where there is none to be had, which is said."""
        self._is_ready, self._start_fault = False, None
        try:
            self._scratch = tempfile.mkdtemp(prefix="tunescope-")
            process_arguments = (self._engine, self._scratch)
            self._process = OwnedProcess(
                self._context, run_worker, *process_arguments, name="worker", group=True
            )
        except OSError as error:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._say_died(f"{NO_START} ({error.strerror or error}). {START_AGAIN}")
        return self._process

    def _pass_requests(self) -> None:
        while not self._requests.empty():
            request = self._requests.get()
            process = self._process or self._start_process()
            if process is None:
                return
            if isinstance(request.payload, StopRun):
                if request.id not in self._going_on:
                    continue  # it ended meanwhile, or its process did
                process.expect_reaction(PATIENCE)
            elif isinstance(request.payload, AbandonRun):
                if request.id in self._going_on:
                    process.forced = True
                    process.kill()
                continue
            elif isinstance(request.payload, (Tune, Conclude)):
                self._going_on.add(request.id)
            try:
                process.pipe.send(request)
            except BlockingIOError:  # half of it was sent: nothing after it can be read
                process.forced = True
                process.kill()
            except OSError:
                continue  # the end of the process is noticed by itself

    def _collect(self, process: OwnedProcess) -> None:
        until = time.monotonic() + FRAME  # however much it says, requests are passed on between
        try:
            while process.pipe.poll() and time.monotonic() < until:
                self._receive(process, process.pipe.recv())
        except EOFError:
            self._handle_process_end(process)
        except Exception:  # half a message, or none of ours: nothing after it can be read
            process.forced = process.forced or process.is_alive
            self._handle_process_end(process)

    def _receive(self, process: OwnedProcess, message: Message) -> None:
        match message.answer:
            case Ready():
                self._is_ready = True
                self._waiting += [self._start_fault] if self._start_fault else []
            case WorkerDefect() if not self._is_ready:
                self._start_fault = message
                return
            case Concluding():
                process.expect_reaction(None)
            case RunEnded() | InputRefused() | WorkerDefect() if message.id in self._going_on:
                self._going_on.discard(message.id)
                process.expect_reaction(None)
        self._waiting.append(message)

    def _handle_process_end(self, process: OwnedProcess) -> None:
        """Take leave of a process that ended, say so, and start the next one."""
        self._process = None
        self._going_on.clear()
        sentence = process.end_process(LEAVES)
        shutil.rmtree(self._scratch, ignore_errors=True)
        if self._is_ready:
            self._say_died(sentence, process.forced)
            self._start_process()
        else:
            fault = self._start_fault.answer if self._start_fault else None
            details = fault.details if isinstance(fault, WorkerDefect) else ""
            self._say_died(f"{NO_START}. {sentence} {START_AGAIN}", details=details)

    def _say_died(self, sentence: str, forced: bool = False, details: str = "") -> None:
        self._waiting.append(Message(0, WorkerDied(sentence, forced, details)))

    def _flush_messages(self) -> None:
        if self._waiting and time.monotonic() >= self._flushed + FRAME:
            batch, self._waiting = coalesce_messages(self._waiting), []
            self._flushed = time.monotonic()
            self.arrived.emit(batch)


def coalesce_messages(waiting: list[Message]) -> list[Message]:
    """The same answers in the same order; of each outdated kind of event only the last one.

    A finished trial, a step or a change of state is never left out.
    """
    messages: list[Message] = []
    seen: set[tuple[int, type]] = set()
    for message in reversed(waiting):
        if isinstance(message.answer, LATEST_WINS):
            key = (message.id, type(message.answer))
            if key in seen:
                continue
            seen.add(key)
        messages.append(message)
    return messages[::-1]
