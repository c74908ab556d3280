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

from app.worker.messages import Concluding, Died, Message, Ready, Request, Stop
from app.worker.process import run_worker
from core.processes import LEAVES, OwnedProcess
from core.tuning.events import Progress, SurrogateFitted

FRAME = 1 / 30  # seconds between two batches
PATIENCE = 2.0  # seconds from the flag to terminate
ATTEMPTS = 3  # starts in a row that may fail before the thread waits for a request
LATEST_WINS = (SurrogateFitted, Progress)  # events that the next of their kind outdates


class WorkerThread(QThread):
    """Starts the process at once and keeps it warm; starts another when it ended.

    A request is written by this thread, never by the window's: a full pipe cannot freeze the
    window. A stop escalates: flag, 2 s, terminate, 1 s, kill, new worker.

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
        self._failed_starts = 0
        self._stopping = 0  # the request whose run was told to stop

    # Called by the window's thread ----------------------------------------------------------

    def ask(self, request: Request) -> None:
        """Hand a request to the worker; never blocks."""
        self._requests.put(request)
        self._wake()

    def close(self) -> None:
        """End the process and this thread, and wait for both (at most about 2 s)."""
        self._closing = True
        self._wake()
        self.wait()

    @property
    def process_id(self) -> int | None:
        """The number of the process, or None while there is none."""
        return self._process.id if self._process is not None else None

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send_bytes(b"!")

    # Called by this thread ------------------------------------------------------------------

    def run(self) -> None:
        """Until closed: pass requests on, collect answers, notice the end of the process."""
        self._start_process()
        while not self._closing:
            sources: list = [self._wake_in]
            process = self._process
            if process is not None:
                sources += [process.pipe, process.sentinel]
            ready = wait(sources, timeout=self._pause())
            if self._wake_in in ready:
                self._wake_in.recv_bytes()
                self._pass_requests()
            if process is not None and process.pipe in ready:
                self._collect(process)
            elif process is not None and process.sentinel in ready:
                self._bury(process)
            if self._process is not None:
                self._process.escalate()
            self._flush()
        if self._process is not None:
            self._process.end(LEAVES)
            self._process = None
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._wake_in.close()
        self._wake_out.close()

    def _pause(self) -> float | None:
        until = [self._flushed + FRAME] if self._waiting else []
        until += [self._process.deadline] if self._process and self._process.deadline else []
        return max(0.0, min(until) - time.monotonic()) if until else None

    def _start_process(self) -> OwnedProcess:
        self._scratch = tempfile.mkdtemp(prefix="tunescope-")
        given = (self._engine, self._scratch)
        self._process = OwnedProcess(self._context, run_worker, *given, name="worker", group=True)
        return self._process

    def _pass_requests(self) -> None:
        while not self._requests.empty():
            request = self._requests.get()
            process = self._process
            if process is None:
                self._failed_starts = 0
                process = self._start_process()
            if isinstance(request.what, Stop):
                self._stopping = request.id
                process.expect(PATIENCE)
            with contextlib.suppress(OSError):  # the end of the process is noticed by itself
                process.pipe.send(request)

    def _collect(self, process: OwnedProcess) -> None:
        try:
            while process.pipe.poll():
                self._receive(process, process.pipe.recv())
        except (EOFError, OSError):
            self._bury(process)

    def _receive(self, process: OwnedProcess, message: Message) -> None:
        if isinstance(message.answer, Ready):
            self._failed_starts = 0
        if isinstance(message.answer, Concluding) and message.id == self._stopping:
            process.expect(None)
        self._waiting.append(message)

    def _bury(self, process: OwnedProcess) -> None:
        """Take leave of a process that ended, say so, and start the next one."""
        self._process = None
        self._waiting.append(Message(0, Died(process.end(LEAVES), forced=process.forced)))
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._failed_starts += 1
        if self._failed_starts < ATTEMPTS:
            self._start_process()

    def _flush(self) -> None:
        if self._waiting and time.monotonic() >= self._flushed + FRAME:
            batch, self._waiting = coalesced(self._waiting), []
            self._flushed = time.monotonic()
            self.arrived.emit(batch)


def coalesced(waiting: list[Message]) -> list[Message]:
    """The same answers in the same order; of each outdated kind of event only the last one.

    A finished trial, a step or a change of state is never left out.
    """
    kept: list[Message] = []
    seen: set[tuple[int, type]] = set()
    for message in reversed(waiting):
        if isinstance(message.answer, LATEST_WINS):
            key = (message.id, type(message.answer))
            if key in seen:
                continue
            seen.add(key)
        kept.append(message)
    return kept[::-1]
