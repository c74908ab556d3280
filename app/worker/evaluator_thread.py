"""Evaluates surrogates in a small process, so that the window never waits."""

import contextlib
import threading
import time

from PySide6.QtCore import Signal

from app.worker.evaluator_process import EvaluationReply, EvaluationRequest, serve_requests
from app.worker.worker_thread import ProcessThread
from core.processes import LEAVES, OwnedProcess

PATIENCE = 30.0  # seconds for one answer, with the start of the process


class SurrogateEvaluator(ProcessThread):
    """Answers the latest request of each view; a killed process is started again."""

    arrived = Signal(object)  # EvaluationReply

    def __init__(self) -> None:
        super().__init__()
        self._wanted: dict[str, EvaluationRequest] = {}
        self._changed = threading.Condition()

    # Called by the window's thread ----------------------------------------------------------

    def ask(self, request: EvaluationRequest) -> None:
        """It replaces a waiting one of the same view."""
        with self._changed:
            if self._closing:
                return
            # Behind those of the others: a view that asks all the time must not starve them.
            self._wanted.pop(request.view, None)
            self._wanted[request.view] = request
            self._changed.notify()
        if not self.isRunning():
            self.start()

    def begin_shutdown(self) -> None:
        with self._changed:
            self._closing = True
            self._wanted.clear()
            self._changed.notify()

    # Called by this thread ------------------------------------------------------------------

    def run(self) -> None:
        # Where it cannot be started now, the first request tries again.
        with contextlib.suppress(OSError):
            self._living_process()
        while (request := self._next_request()) is not None:
            if (reply := self._answer_request(request)) is not None:
                self.arrived.emit(reply)
        self._end_process()

    def _next_request(self) -> EvaluationRequest | None:
        with self._changed:
            while not self._wanted and not self._closing:
                self._changed.wait()
            if self._closing:
                return None
            return self._wanted.pop(next(iter(self._wanted)))

    def _answer_request(self, request: EvaluationRequest) -> EvaluationReply | None:
        # Once more where the process was killed meanwhile.
        for _attempt in range(2):
            try:
                return self._exchange(request)
            except (EOFError, OSError):
                self._end_process()
        return EvaluationReply(request.view, request.number, problem="ended")

    def _exchange(self, request: EvaluationRequest) -> EvaluationReply | None:
        pipe = self._living_process().pipe
        pipe.send(request)
        deadline = time.monotonic() + PATIENCE
        while not pipe.poll(0.05):
            if self._closing:
                return None
            if time.monotonic() > deadline:
                raise EOFError
        reply: EvaluationReply = pipe.recv()
        return reply

    def _living_process(self) -> OwnedProcess:
        if self._process is None or not self._process.is_alive:
            self._end_process()
            self._process = OwnedProcess(self._context, serve_requests, name="evaluator")
        return self._process

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end_process(LEAVES)
        self._process = None
