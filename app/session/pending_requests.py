"""What was asked of the worker: which answers still count, and what they answer."""

from __future__ import annotations

from collections.abc import Callable

from app.worker import messages as m


class PendingRequests:
    """Asks the worker; the latest request of a kind counts, of exports and questions each.

    Args:
        send: hands a request to the worker.

    Attributes:
        last: the id of the latest request; 0 before the first.
    """

    def __init__(self, send: Callable[[m.Request], None]) -> None:
        self._send = send
        self.last = 0
        self._wanted: dict[type, int] = {}  # the latest request of each kind
        self._open_requests: dict[int, m.Export | m.Explain] = {}  # none of them replaces another

    def ask(self, payload: m.Work) -> None:
        """Ask for something; an earlier request of its kind no longer counts."""
        self.last += 1
        if isinstance(payload, (m.Export, m.Explain)):
            self._open_requests[self.last] = payload
        else:
            self._wanted[type(payload)] = self.last
        self._send(m.Request(self.last, payload))

    def conclude(self, payload: m.Conclude) -> None:
        """Ask for the end of a run; its answers are the run's."""
        self.ask(payload)
        self._wanted[m.Tune] = self._wanted[m.Conclude]

    def send_control(self, control: m.Control) -> None:
        """Say something to the run that is going on."""
        self._send(m.Request(self._wanted[m.Tune], control))

    def cancel_latest(self, kind: type) -> None:
        """Let the latest request of a kind be worked on no further; its answer still counts."""
        if kind in self._wanted:
            self._send(m.Request(self._wanted[kind], m.CancelExplanation()))

    def waits_for(self, kind: type) -> bool:
        """Whether an answer of this kind counts."""
        return kind in self._wanted

    def forget_kind(self, kind: type) -> bool:
        """Let answers of a kind count no longer; whether one did."""
        return self._wanted.pop(kind, None) is not None

    def answered(self, message: m.Message) -> tuple[bool, type | None]:
        """Whether an answer counts, and what it answers; None for what nobody asked for."""
        if message.id in self._open_requests:
            going_on = isinstance(message.answer, m.Explained) and not message.answer.done
            request = (
                self._open_requests[message.id] if going_on else self._open_requests.pop(message.id)
            )
            return True, type(request)
        kind = next((k for k, id in self._wanted.items() if id == message.id), None)
        return message.id == 0 or kind is not None, kind

    def cancel_questions(self, question: str) -> None:
        """Let questions of a kind be answered no further."""
        for id, payload in self._open_requests.items():
            if isinstance(payload, m.Explain) and payload.question == question:
                self._send(m.Request(id, m.CancelExplanation()))

    def unanswered(self) -> list[m.Explain]:
        """The questions about runs that nobody will answer any more; they are forgotten."""
        lost = [
            payload for payload in self._open_requests.values() if isinstance(payload, m.Explain)
        ]
        self._open_requests = {
            id: payload for id, payload in self._open_requests.items() if payload not in lost
        }
        return lost
