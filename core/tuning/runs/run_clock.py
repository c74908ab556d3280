"""The run's time, without the pauses between its events."""

from collections.abc import Generator
from typing import TypeVar

from core.awake_timer import AWAKE
from core.tuning.events import Event

T = TypeVar("T")

ABANDONED = "The time of the run was up."  # why a trial that was running then has no score


class RunClock:
    """Seconds of work since the run first started, `seconds` of them before a resumption."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._since: float | None = AWAKE.seconds

    @property
    def seconds(self) -> float:
        running = AWAKE.seconds - self._since if self._since is not None else 0.0
        return self._seconds + running

    def stamped(self, events: Generator[Event, None, T]) -> Generator[Event, None, T]:
        """The same events, each with its second; the clock stands still between them."""
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            # Whoever reads the events may pause between them, which is no time of the run.
            self._seconds, self._since = self.seconds, None
            yield event.with_fields(seconds=round(self._seconds, 4))
            self._since = AWAKE.seconds


def time_is_up(minutes: float) -> str:
    """The reason for the end of a run of so many minutes."""
    return f"the time of {minutes:g} {'minute' if minutes == 1 else 'minutes'} was up"
