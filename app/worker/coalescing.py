"""Which answers may be left out when several wait for the window: only what is soon outdated."""

from __future__ import annotations

from app.worker.messages import Happened, Message
from core.tuning.events import Progress, SurrogateFitted

LATEST_WINS = (SurrogateFitted, Progress)


def coalesced(waiting: list[Message]) -> list[Message]:
    """The same answers in the same order; of each outdated kind of event only the last one.

    A finished trial, a step or a change of state is never left out.
    """
    kept: list[Message] = []
    seen: set[tuple[int, type]] = set()
    for message in reversed(waiting):
        answer = message.answer
        if isinstance(answer, Happened) and isinstance(answer.event, LATEST_WINS):
            key = (message.ticket, type(answer.event))
            if key in seen:
                continue
            seen.add(key)
        kept.append(message)
    return kept[::-1]
