"""The events of a run as tests pick them."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from core.tuning.events import Event, TrialStarted, TuningEnded
from core.tuning.scores.scoring import ScoringJob
from core.tuning.trials.executors import InProcessExecutor as InProcess
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor
from core.tuning.tune import tune


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


def executor_here(work: ScoringJob, workers: int = 1, limit: float | None = None) -> TrialExecutor:
    """Of one trial at a time in this process: to start another costs more than a short run."""
    return (InProcess if workers == 1 else ProcessExecutor)(work, workers, limit)


tune_here = partial(tune, executor=InProcess)
