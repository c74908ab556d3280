"""The thread that owns the worker's process and forwards its messages in batches."""

import contextlib
import multiprocessing
import queue
import shutil
import tempfile
import time
from multiprocessing.connection import wait

from PySide6.QtCore import QThread, Signal

from app.worker import messages as m
from app.worker.worker_process import run_worker
from core.awake_timer import AWAKE
from core.processes import LEAVES, OwnedProcess
from core.tuning.events import Progress, SurrogateFitted, WorkersSeen

FRAME = 1 / 30  # seconds between two batches
PATIENCE = 2.0  # seconds from a stop to terminate
CLOSES = 3.0  # seconds until the process is killed
NO_START = "The worker, which reads data and tunes, could not be started"
START_AGAIN = "Whatever you do next starts it again; close other programs first."
LATEST_WINS = (SurrogateFitted, Progress, WorkersSeen)  # outdated by the next of their kind


class ProcessThread(QThread):
    """A thread that owns a process: it alone talks to it, and both end together."""

    def __init__(self) -> None:
        super().__init__()
        self._context = multiprocessing.get_context("spawn")  # never a fork once Qt is up
        self._closing = False
        self._process: OwnedProcess | None = None

    def begin_shutdown(self) -> None:
        """End process and thread; `shutdown` waits for both."""
        raise NotImplementedError

    def shutdown(self) -> None:
        """End process and thread, and wait for both (at most 6 s)."""
        self.begin_shutdown()
        if not self.wait(int(1000 * CLOSES)):
            if (process := self._process) is not None:
                process.kill()
            self.wait()

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process is not None else None


class WorkerThread(ProcessThread):
    """Starts the process at once and keeps it warm; starts another when it ended.

    This thread writes the requests: a full pipe cannot freeze the window. A stop escalates: flag, 2
    s, terminate, 1 s, kill, new worker. A failed start is reported at once; the next request tries
    again. `engine` is the module of the class `Engine`.
    """

    arrived = Signal(list)  # of m.Message

    def __init__(self, engine: str = "app.worker.engine") -> None:
        super().__init__()
        self._engine = engine
        self._requests: queue.SimpleQueue[m.Request] = queue.SimpleQueue()
        self._wake_in, self._wake_out = self._context.Pipe(duplex=False)
        self._scratch = ""  # the process's folder for temporary files
        self._waiting: list[m.Message] = []
        self._flushed = 0.0
        self._is_ready = False
        self._start_fault: m.Message | None = None  # before it was ready
        self._going_on: set[int] = set()  # requests of runs

    # Called by the window's thread ----------------------------------------------------------

    def ask(self, request: m.Request) -> None:
        """Never blocks."""
        self._requests.put(request)
        self._wake_thread()

    def begin_shutdown(self) -> None:
        self._closing = True
        self._wake_thread()

    def _wake_thread(self) -> None:
        with contextlib.suppress(OSError):
            self._wake_out.send_bytes(b"!")

    # Called by this thread ------------------------------------------------------------------

    def run(self) -> None:
        try:
            self._serve_requests()
        # Also after a defect of this thread: no process stays behind.
        finally:
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
        waits = [self._flushed + FRAME - time.monotonic()] if self._waiting else []
        if self._process is not None and self._process.deadline is not None:
            waits.append(self._process.deadline - AWAKE.seconds)
        return max(0.0, min(waits)) if waits else None

    def _start_process(self) -> OwnedProcess | None:
        self._is_ready, self._start_fault = False, None
        try:
            self._scratch = tempfile.mkdtemp(prefix="tunescope-")
            arguments = (self._context, run_worker, self._engine, self._scratch)
            self._process = OwnedProcess(*arguments, name="worker", group=True)
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
            if isinstance(request.payload, m.StopRun):
                # It ended meanwhile, or its process did.
                if request.id not in self._going_on:
                    continue
                process.expect_reaction(PATIENCE)
            elif isinstance(request.payload, m.AbandonRun):
                if request.id in self._going_on:
                    process.forced = True
                    process.kill()
                continue
            elif isinstance(request.payload, (m.Tune, m.Conclude)):
                self._going_on.add(request.id)
            try:
                process.pipe.send(request)
            # Half of it was sent: nothing after it can be read.
            except BlockingIOError:
                process.forced = True
                process.kill()
            except OSError:
                continue  # `_serve_requests` notices the end of the process

    def _collect(self, process: OwnedProcess) -> None:
        # A worker that sends without end must not keep requests waiting.
        deadline = time.monotonic() + FRAME
        try:
            while process.pipe.poll() and time.monotonic() < deadline:
                self._receive(process, process.pipe.recv())
        except EOFError:
            self._handle_process_end(process)
        # Half a message, or a foreign one: nothing after it can be read.
        except Exception:
            process.forced = process.forced or process.is_alive
            self._handle_process_end(process)

    def _receive(self, process: OwnedProcess, message: m.Message) -> None:
        match message.answer:
            case m.Ready():
                self._is_ready = True
                self._waiting += [self._start_fault] if self._start_fault else []
            case m.WorkerDefect() if message.id == 0 and not self._is_ready:
                self._start_fault = message
                return
            case m.Concluding():
                process.expect_reaction(None)
            case m.RunEnded() | m.InputRefused() | m.WorkerDefect() if message.id in self._going_on:
                self._going_on.discard(message.id)
                process.expect_reaction(None)
        self._waiting.append(message)

    def _handle_process_end(self, process: OwnedProcess) -> None:
        self._process = None
        self._going_on.clear()
        sentence = process.end_process(LEAVES)
        shutil.rmtree(self._scratch, ignore_errors=True)
        # One that never was ready would fail again at once: the next request starts another.
        if self._is_ready:
            self._say_died(sentence, process.forced)
            self._start_process()
        else:
            fault = self._start_fault.answer if self._start_fault else None
            details = fault.details if isinstance(fault, m.WorkerDefect) else ""
            self._say_died(f"{NO_START}. {sentence} {START_AGAIN}", details=details)

    def _say_died(self, sentence: str, forced: bool = False, details: str = "") -> None:
        self._waiting.append(m.Message(0, m.WorkerDied(sentence, forced, details)))

    def _flush_messages(self) -> None:
        if self._waiting and time.monotonic() >= self._flushed + FRAME:
            batch, self._waiting = coalesce_messages(self._waiting), []
            self._flushed = time.monotonic()
            self.arrived.emit(batch)


def coalesce_messages(waiting: list[m.Message]) -> list[m.Message]:
    """The messages, of each kind of outdated events only the last one."""
    messages: list[m.Message] = []
    seen_kinds: set[tuple[int, type]] = set()
    # From the end: of what outdates itself the last one stays, at its place.
    for message in reversed(waiting):
        if isinstance(message.answer, LATEST_WINS):
            key = (message.id, type(message.answer))
            if key in seen_kinds:
                continue
            seen_kinds.add(key)
        messages.append(message)
    return messages[::-1]
