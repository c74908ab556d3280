"""The run's time counts work only: no sleep of the computer, no halt of the process, no wall."""

import threading
import time

import pytest

from core.tuning.events import Progress
from core.tuning.runs import run_clock
from core.tuning.runs.run_clock import LONGEST, TICK, AwakeTimer, RunClock, time_is_up


class Hands:
    """The clocks of a system, put by hand."""

    def __init__(self):
        self.now = self.used = 1000.0

    def monotonic(self):
        return self.now

    def process_time(self):
        return self.used

    def sleep(self, _seconds):
        threading.Event().wait()  # the ticking thread waits for ever: the test looks itself


@pytest.fixture
def hands(monkeypatch):
    made = Hands()
    monkeypatch.setattr(run_clock, "time", made)
    return made


@pytest.mark.parametrize(
    ("passed", "used", "counted"),
    [
        (0.4, 0.0, 0.4),  # waiting for trials is work of the run
        (LONGEST, 0.1, LONGEST),  # so is a busy computer
        (3600.0, 0.0, TICK),  # asleep
        (60.0, 58.0, 58.0),  # compiled code kept the ticking thread from looking
        (10.0, 20.0, 10.0),  # on two processors
    ],
)
def test_a_gap_in_which_nothing_was_worked_is_no_time(hands, passed, used, counted):
    awake = AwakeTimer()
    assert awake.seconds == 0.0
    hands.now += passed
    hands.used += used
    assert awake.seconds == pytest.approx(counted)
    hands.now += 1.0
    assert awake.seconds == pytest.approx(counted + 1.0)


def test_a_pause_between_events_is_no_time():
    passing = RunClock(5.0)
    events = passing.stamped(iter([Progress(done=1), Progress(done=2)]))
    first = next(events)
    time.sleep(0.3)
    second = next(events)
    assert 5.0 <= first.seconds <= second.seconds < first.seconds + 0.25


def test_one_minute_is_one():
    assert time_is_up(1.0) == "the time of 1 minute was up"
    assert time_is_up(0.5) == "the time of 0.5 minutes was up"
