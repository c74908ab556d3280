"""The clock of limits and budgets: what ran counts; sleep, halts and jumps of the time do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from core import awake_timer
from core.awake_timer import LONGEST, TICK, AwakeTimer


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
    monkeypatch.setattr(awake_timer, "time", made)
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


@pytest.mark.parametrize("name", ["scoring", "processes"])
def test_a_halt_takes_no_time_of_a_trial_and_forces_no_process(hands, monkeypatch, name):
    """One hour in the middle of a fit, and one in which a process could not react."""
    from core.processes import OwnedProcess
    from core.tuning.scores import scoring

    awake = AwakeTimer()
    assert awake.seconds == 0.0
    if name == "scoring":
        monkeypatch.setattr(scoring, "AWAKE", awake)

        def halted_fit(job, setting, fold):
            hands.now += 3600.0
            return scoring._FoldScore(0.5, None)

        monkeypatch.setattr(scoring, "_score_fold", halted_fit)
        job = scoring.ScoringJob("linear", "regression", "mse", 0, (), (None,))
        monkeypatch.setattr(scoring, "_model_event", lambda *_: None)
        assert scoring.score_setting(job, 0, {}).took == pytest.approx(TICK)
        return
    monkeypatch.setattr("core.processes.AWAKE", awake)
    process = object.__new__(OwnedProcess)
    process.forced = False
    process.expect_reaction(2.0)
    hands.now += 3600.0
    process.escalate()
    assert not process.forced


HALTED = """
import os, sys, time
from core.awake_timer import AwakeTimer
os.fork()
awake, start = AwakeTimer(tick=0.01, longest=0.1), time.monotonic()
awake.seconds
os.write(1, b".")
while time.monotonic() < start + 0.5:
    time.sleep(0.01)
os.write(1, f"{awake.seconds}\\n".encode())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no processes")
def test_a_halted_group_of_processes_counts_what_it_ran():
    with subprocess.Popen(
        [sys.executable, "-c", HALTED], stdout=subprocess.PIPE, start_new_session=True
    ) as program:
        assert program.stdout.read(2) == b".."  # both have begun
        os.killpg(program.pid, signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(0.5)
        os.killpg(program.pid, signal.SIGCONT)
        counted = [float(line) for line in program.stdout.read().split()]
    assert len(counted) == 2
    assert max(counted) < 0.3
