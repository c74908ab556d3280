"""The events of a run as tests pick them."""

import contextlib
from collections.abc import Callable, Iterable, Iterator

from core.tuning.events import Event, TrialStarted, TuningEnded


def of(kind, events: Iterable[Event]) -> list:
    """The events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def settings(events: Iterable[Event]) -> dict:
    """The setting of every trial that began, by its number."""
    return {event.number: event.setting for event in of(TrialStarted, events)}


def until(stream: Iterator[Event], last: Callable | type = TuningEnded) -> list[Event]:
    """The events up to the first of a kind, or that fits; then the run is cut off."""
    fits = (lambda event: isinstance(event, last)) if isinstance(last, type) else last
    events = []
    with contextlib.closing(stream):
        for event in stream:
            events.append(event)
            if fits(event):
                break
    return events


def about(number: int, kind: type) -> Callable[[Event], bool]:
    """Whether an event is of a kind and about the trial of a number."""
    return lambda event: isinstance(event, kind) and event.number == number
