"""Events as lines of strict JSON, and back: how run files and --json carry them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from core.space import check_axes
from core.tuning.events import Event, RunStarted
from core.tuning.typed_json import finite, read_all_as, read_as

_FORMER_NAMES = {"PastRecalled": "HistoryRead"}  # in the run folders of earlier versions


def to_json(event: Event) -> str:
    """One line of strict JSON (no NaN: not-a-number becomes null), without the line's end."""
    plain = {"event": type(event).__name__, **asdict(event)}
    return json.dumps(finite(plain), ensure_ascii=False, allow_nan=False)


def from_json(line: str | bytes) -> Event:
    """The event that `to_json` wrote. Unknown fields of newer versions are passed over.

    Raises:
        ValueError: the line is torn, names no event, or a field has another type.
    """
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    return from_plain(plain)


def read_together(lines: bytes) -> list[Event] | None:
    """The events of several whole lines, in half the time that one by one takes.

    None where one of them cannot be read; `from_json` says which and why.
    """
    try:
        plains = json.loads(b"[" + lines[:-1].replace(b"\n", b",") + b"]")
        if len(plains) != lines.count(b"\n") or not {dict}.issuperset(map(type, plains)):
            return None
        names = [str(plain.get("event")) for plain in plains]
        made = {
            name: iter(read_all_as(_kind(name), _named(name, names, plains), before=("event",)))
            for name in set(names)
        }
    except (ValueError, RecursionError):
        return None
    try:
        return [_checked(next(made[name])) for name in names]
    except ValueError:
        return None


def _named(name: str, names: list[str], plains: list[Any]) -> list[Any]:
    return [plain for one, plain in zip(names, plains, strict=True) if one == name]


def from_plain(plain: Any) -> Event:
    """The event that a parsed line holds.

    Raises:
        ValueError: it names no event, or a field has another type.
    """
    if not isinstance(plain, dict):
        raise ValueError("not an event")
    return _checked(read_as(_kind(str(plain.get("event"))), plain))


def _checked(event: Event) -> Event:
    """The event, if it describes a space that can be searched and drawn."""
    if isinstance(event, RunStarted):
        check_axes(event.space)
    return event


def _kind(name: str) -> type[Event]:
    """The kind of event that a name means.

    Raises:
        ValueError: none.
    """
    kind = Event.names.get(_FORMER_NAMES.get(name, name))
    if kind is None:
        raise ValueError("not an event")
    return kind
