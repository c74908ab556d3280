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
        self._each: dict[int, m.Export | m.Explain] = {}  # none of them replaces another

    def ask(self, what: m.Work) -> None:
        """Ask for something; an earlier request of its kind no longer counts."""
        self.last += 1
        if isinstance(what, (m.Export, m.Explain)):
            self._each[self.last] = what
        else:
            self._wanted[type(what)] = self.last
        self._send(m.Request(self.last, what))

    def conclude(self, what: m.Conclude) -> None:
        """Ask for the end of a run; its answers are the run's."""
        self.ask(what)
        self._wanted[m.Tune] = self._wanted[m.Conclude]

    def tell(self, control: m.Control) -> None:
        """Say something to the run that is going on."""
        self._send(m.Request(self._wanted[m.Tune], control))

    def leave_latest(self, kind: type) -> None:
        """Let the latest request of a kind be worked on no further; its answer still counts."""
        if kind in self._wanted:
            self._send(m.Request(self._wanted[kind], m.LeaveQuestion()))

    def waits_for(self, kind: type) -> bool:
        """Whether an answer of this kind counts."""
        return kind in self._wanted

    def forget(self, kind: type) -> bool:
        """Let answers of a kind count no longer; whether one did."""
        return self._wanted.pop(kind, None) is not None

    def answered(self, message: m.Message) -> tuple[bool, type | None]:
        """Whether an answer counts, and what it answers; None for what nobody asked for."""
        if message.id in self._each:
            going_on = isinstance(message.answer, m.Explained) and not message.answer.done
            asked = self._each[message.id] if going_on else self._each.pop(message.id)
            return True, type(asked)
        kind = next((k for k, id in self._wanted.items() if id == message.id), None)
        return message.id == 0 or kind is not None, kind

    def leave(self, question: str) -> None:
        """Let questions of a kind be answered no further."""
        for id, what in self._each.items():
            if isinstance(what, m.Explain) and what.question == question:
                self._send(m.Request(id, m.LeaveQuestion()))

    def unanswered(self) -> list[m.Explain]:
        """The questions about runs that nobody will answer any more; they are forgotten."""
        lost = [what for what in self._each.values() if isinstance(what, m.Explain)]
        self._each = {id: what for id, what in self._each.items() if what not in lost}
        return lost
