"""The thread that owns the worker's process and forwards what it says to the window, in batches."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
from multiprocessing.connection import Connection, wait

from PySide6.QtCore import QThread, Signal

from app.worker.coalescing import coalesced
from app.worker.exit_codes import sentence_of
from app.worker.messages import Concluding, Died, Message, Ready, Request, Stop
from app.worker.process import run_worker

FRAME = 1 / 30  # seconds between two batches
PATIENCE = 2.0  # seconds from the flag to terminate
LAST_PATIENCE = 1.0  # seconds from terminate to kill
FAREWELL = 1.0  # seconds that a worker has to leave when the window closes
ATTEMPTS = 3  # starts in a row that may fail before the thread waits for a request


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
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._scratch = ""  # the process's folder for temporary files
        self._waiting: list[Message] = []
        self._flushed = 0.0
        self._failed_starts = 0
        self._stopping = 0  # the ticket of the run that was told to stop
        self._deadline: float | None = None
        self._forced = False

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
        return self._process.pid if self._process is not None else None

    def _wake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send_bytes(b"!")

    # Called by this thread ------------------------------------------------------------------

    def run(self) -> None:
        """Until closed: pass requests on, collect answers, notice the end of the process."""
        self._start_process()
        while not self._closing:
            sources: list = [self._wake_in]
            if self._process is not None and self._pipe is not None:
                sources += [self._pipe, self._process.sentinel]
            ready = wait(sources, timeout=self._pause())
            if self._wake_in in ready:
                self._wake_in.recv_bytes()
                self._pass_requests()
            if self._pipe in ready:
                self._collect()
            elif self._process is not None and self._process.sentinel in ready:
                self._bury()
            self._escalate()
            self._flush()
        self._end_process()
        self._wake_in.close()
        self._wake_out.close()

    def _pause(self) -> float | None:
        until = [self._flushed + FRAME] if self._waiting else []
        until += [self._deadline] if self._deadline is not None else []
        return max(0.0, min(until) - time.monotonic()) if until else None

    def _start_process(self) -> None:
        ours, theirs = self._context.Pipe()
        self._scratch = tempfile.mkdtemp(prefix="tunescope-")
        self._process = self._context.Process(
            target=run_worker, args=(theirs, self._engine, self._scratch), name="tunescope worker"
        )
        self._process.start()
        theirs.close()  # so that each side sees when the other is gone
        self._pipe = ours
        self._forced = False

    def _pass_requests(self) -> None:
        while not self._requests.empty():
            request = self._requests.get()
            if self._process is None:
                self._failed_starts = 0
                self._start_process()
            if isinstance(request.what, Stop):
                self._stopping = request.ticket
                self._deadline = time.monotonic() + PATIENCE
            with contextlib.suppress(OSError):  # the end of the process is noticed by itself
                self._pipe.send(request)

    def _collect(self) -> None:
        try:
            while self._pipe is not None and self._pipe.poll():
                self._receive(self._pipe.recv())
        except (EOFError, OSError):
            self._process.join(LAST_PATIENCE)
            self._bury()

    def _receive(self, message: Message) -> None:
        if isinstance(message.answer, Ready):
            self._failed_starts = 0
        if isinstance(message.answer, Concluding) and message.ticket == self._stopping:
            self._deadline = None
        self._waiting.append(message)

    def _escalate(self) -> None:
        if self._deadline is None or time.monotonic() < self._deadline or self._process is None:
            return
        if self._forced:
            _kill_family(self._process)
            self._deadline = None
        else:
            self._forced = True
            self._process.terminate()
            self._deadline = time.monotonic() + LAST_PATIENCE

    def _bury(self) -> None:
        """Take leave of a process that ended, say so, and start the next one."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        _kill_family(process)
        process.join()
        pipe.close()
        died = Died(sentence_of(process.exitcode), forced=self._forced)
        process.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._waiting.append(Message(0, 0, died))
        self._deadline = None
        self._failed_starts += 1
        if self._failed_starts < ATTEMPTS:
            self._start_process()

    def _flush(self) -> None:
        if self._waiting and time.monotonic() >= self._flushed + FRAME:
            batch, self._waiting = coalesced(self._waiting), []
            self._flushed = time.monotonic()
            self.arrived.emit(batch)

    def _end_process(self) -> None:
        if self._process is None:
            return
        self._pipe.close()  # the worker leaves when it sees that
        self._process.join(FAREWELL)
        _kill_family(self._process)
        self._process.join()
        self._process.close()
        self._process = None
        shutil.rmtree(self._scratch, ignore_errors=True)


def _kill_family(process: multiprocessing.process.BaseProcess) -> None:
    """Kill the process, and the processes that run its trials: they are in its own group."""
    if sys.platform != "win32" and process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
