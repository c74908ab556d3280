"""Requests to end are heard, other signals are not taken for them, and all is put back."""

from __future__ import annotations

import os
import signal

import pytest

from app.diagnostics.interrupts import COMMAND, WINDOW, InterruptSignals

POSIX = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals there")


@pytest.fixture
def handled():
    return []


@pytest.fixture
def interrupts(handled):
    made = InterruptSignals(COMMAND, lambda number, frame: handled.append(number))
    made.socket.settimeout(5)
    yield made
    made.close()
    made.socket.close()


@POSIX
@pytest.mark.parametrize("number", COMMAND)
def test_a_request_is_heard_and_handled(interrupts, handled, number):
    os.kill(os.getpid(), number)
    assert interrupts.read_signal() == number
    assert handled == [number]


@POSIX
def test_another_signal_is_no_request(interrupts, handled):
    before = signal.signal(signal.SIGUSR1, lambda number, frame: None)
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert interrupts.read_signal() == 0
        assert handled == []
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_took_them_before_takes_them_again():
    before = [signal.getsignal(number) for number in COMMAND]
    made = InterruptSignals(COMMAND, lambda number, frame: None)
    made.close()
    assert made.read_signal() is None
    made.socket.close()
    assert [signal.getsignal(number) for number in COMMAND] == before
    assert signal.set_wakeup_fd(-1) == -1


@POSIX
def test_what_nohup_has_switched_off_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        made = InterruptSignals(WINDOW, lambda number, frame: None)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_IGN
        made.close()
        made.socket.close()
    finally:
        signal.signal(signal.SIGHUP, before)
