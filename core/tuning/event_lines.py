"""The lines of a run's events: strict JSON, one event a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Union

import msgspec

from core.json_reading import json_decoder, read_as, structure_of
from core.records import strict_json, to_plain
from core.space import check_axis
from core.tuning.events import (
    Event,
    MembersDisagree,
    RunStarted,
    SequencesLabelled,
    TrialFinished,
    TrialStarted,
)

_STRUCTURES = {TrialStarted, TrialFinished}
_FORMER_TAGS = {"PastRecalled": "HistoryRead"}  # in the run folders of earlier versions


def to_json(event: Event) -> str:
    """One line of strict JSON (NaN becomes null), without the line's end."""
    plain = {"event": event.tag, **to_plain(event)}
    return json.dumps(strict_json(plain), ensure_ascii=False, allow_nan=False)


def from_json(line: str | bytes) -> Event:
    """The event that `to_json` wrote. Unknown fields of newer versions are ignored.

    Raises:
        ValueError: the line is torn, names no event, or a field has another type.
    """
    data = line.encode(errors="surrogatepass") if isinstance(line, str) else line
    try:
        (event,) = events_of_lines(data + b"\n")
    except (ValueError, RecursionError):
        # A null for a NaN, or a line written by hand: the quick reader knows neither.
        event = _read_slowly(data)
        _check_event(event)
    return event


def events_of_lines(block: bytes) -> list[Event]:
    """The events of whole lines.

    Raises:
        ValueError: `from_json` is needed for one of them.
    """
    rows = _block_reader()(block)
    if len(rows) != block.count(b"\n"):
        raise ValueError("a line without an event")
    return [row if type(row) in _STRUCTURES else _event_of(row) for row in rows]


def _check_event(event: Event) -> None:
    if isinstance(event, (SequencesLabelled, MembersDisagree)):
        lengths = {len(row) if isinstance(row, list) else -1 for row in event.shares}
        if lengths - {len(event.classes)}:
            raise ValueError("probabilities of other classes")
    if isinstance(event, RunStarted):
        assert event.run_plan  # read now, rather than where it is needed
        # A stranger's space must not reach a sampler: it may name no numbers, or endless ones.
        for axis in event.space:
            check_axis(axis)


def _read_slowly(line: bytes) -> Event:
    """Read any line, also where null stands for NaN."""
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(plain, dict):
        raise ValueError("not an event")
    return read_as(_event_class(str(plain.get("event"))), plain)


class _EventRow(msgspec.Struct):
    """The fields of an event that is a dataclass."""

    event_class: ClassVar[type[Event]]


def _event_of(row: _EventRow) -> Event:
    event = row.event_class(*msgspec.structs.astuple(row))
    _check_event(event)
    return event


@cache
def _block_reader() -> Callable[[bytes], list[Any]]:
    # Of structures alone msgspec reads several kinds at once, in half the time.
    kinds = {tag: _event_class(tag) for tag in (*Event.class_by_tag, *_FORMER_TAGS)}
    rows = [
        structure_of(
            kind, bases=(_EventRow,), namespace={"event_class": kind}, tag_field="event", tag=tag
        )
        for tag, kind in kinds.items()
        if kind not in _STRUCTURES
    ]
    return json_decoder(Union[(*_STRUCTURES, *rows)]).decode_lines


def _event_class(tag: str) -> type[Event]:
    kind = Event.class_by_tag.get(_FORMER_TAGS.get(tag, tag))
    if kind is None:
        raise ValueError("not an event")
    return kind
