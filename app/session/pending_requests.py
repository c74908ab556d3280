"""The requests to the worker that still wait for answers."""

from __future__ import annotations

from collections.abc import Callable

from app.worker import messages as m


class PendingRequests:
    """Requests to the worker; the latest of a kind counts, of exports and questions each."""

    def __init__(self, send: Callable[[m.Request], None]) -> None:
        self._send = send
        self.last = 0  # the latest id
        self._wanted: dict[type, int] = {}  # the latest request of each kind
        self._open_requests: dict[int, m.Export | m.Explain] = {}  # none of them replaces another

    def ask(self, payload: m.Work) -> None:
        """Send a request; it replaces an earlier one of its kind."""
        self.last += 1
        if isinstance(payload, (m.Export, m.Explain)):
            self._open_requests[self.last] = payload
        else:
            self._wanted[type(payload)] = self.last
        self._send(m.Request(self.last, payload))

    def conclude(self, payload: m.Conclude) -> None:
        """Request the end of a run; its answers belong to the run."""
        self.ask(payload)
        self._wanted[m.Tune] = self._wanted[m.Conclude]

    def send_control(self, control: m.Control) -> None:
        """Send a control to the run that goes on."""
        self._send(m.Request(self._wanted[m.Tune], control))

    def cancel_latest(self, kind: type) -> None:
        """Cancel the latest request of a kind; its answer still counts."""
        if kind in self._wanted:
            self._send(m.Request(self._wanted[kind], m.CancelExplanation()))

    def waits_for(self, kind: type) -> bool:
        """Whether an answer of this kind counts."""
        return kind in self._wanted

    def forget_kind(self, kind: type) -> bool:
        """Ignore answers of a kind; returns whether one was awaited."""
        return self._wanted.pop(kind, None) is not None

    def answered(self, message: m.Message) -> tuple[bool, type | None]:
        """Whether an answer counts, and the kind of its request, if there was one."""
        if message.id in self._open_requests:
            request = self._open_requests[message.id]
            if not isinstance(message.answer, m.Explained) or message.answer.done:
                del self._open_requests[message.id]
            return True, type(request)
        kind = next((k for k, id in self._wanted.items() if id == message.id), None)
        return message.id == 0 or kind is not None, kind

    def cancel_questions(self, question: str) -> None:
        """Cancel questions of a kind."""
        for id, payload in self._open_requests.items():
            if isinstance(payload, m.Explain) and payload.question == question:
                self._send(m.Request(id, m.CancelExplanation()))

    def unanswered(self) -> list[m.Explain]:
        """Remove the questions that will not be answered, and return them."""
        requests = self._open_requests
        self._open_requests = {id: r for id, r in requests.items() if not isinstance(r, m.Explain)}
        return [request for request in requests.values() if isinstance(request, m.Explain)]
