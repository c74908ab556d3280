"""Events as lines of strict JSON, and back, for run files and --json."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from core.json_reading import line_reader, read_as
from core.records import strict_json, to_plain
from core.space import check_axis
from core.tuning.events import Event, RunStarted

_FORMER_TAGS = {"PastRecalled": "HistoryRead"}  # in the run folders of earlier versions
_BEGINNING = b'{"event": "'  # of a line by `to_json`


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
        event = _reader(data[: data.index(b'"', len(_BEGINNING))])(data)
    except (ValueError, RecursionError):
        event = _read_slowly(data)
    if isinstance(event, RunStarted):
        assert event.run_plan  # read now, rather than where it is needed
        for axis in event.space:
            check_axis(axis)
    return event


def _read_slowly(line: bytes) -> Event:
    """Read any line, also where null stands for NaN."""
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(plain, dict):
        raise ValueError("not an event")
    return read_as(_event_class(str(plain.get("event"))), plain)


@cache
def _reader(beginning: bytes) -> Callable[[bytes], Event]:
    return line_reader(_event_class(beginning.removeprefix(_BEGINNING).decode()))


def _event_class(tag: str) -> type[Event]:
    kind = Event.class_by_tag.get(_FORMER_TAGS.get(tag, tag))
    if kind is None:
        raise ValueError("not an event")
    return kind
