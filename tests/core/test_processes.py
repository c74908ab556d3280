"""Owned processes: each leaves when its pipe closes, and is ended where it does not."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from core.processes import OwnedProcess, exit_in_words

SPAWN = multiprocessing.get_context("spawn")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no signals there")


def echo(pipe, *given):
    """Answers until its pipe closes."""
    try:
        while True:
            pipe.send((*given, pipe.recv()))
    except EOFError:
        return


def stubborn(pipe, group):
    """Heeds neither its pipe nor SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = 0
    if group:
        os.setpgid(0, 0)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid
    pipe.send(child)
    time.sleep(60)


def dies(pipe, number):
    pipe.recv()
    os.kill(os.getpid(), number)


def gone(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{number}/stat") as file:  # what nobody has waited for is gone too
        return file.read().rpartition(")")[2].split()[0] == "Z"


def test_a_process_answers_and_leaves_when_its_pipe_closes():
    process = OwnedProcess(SPAWN, echo, "said", name="echo")
    process.pipe.send(7)
    assert process.pipe.recv() == ("said", 7)
    assert process.alive
    assert process.id != os.getpid()
    assert process.end(patience=30) == "The echo ended unexpectedly (exit status 0)."
    assert process.pipe.closed


@POSIX
@pytest.mark.parametrize(("number", "why"), [(9, "memory"), (11, "crashed"), (15, "ended by")])
def test_its_own_exit_is_told_and_not_that_it_was_killed_afterwards(number, why):
    process = OwnedProcess(SPAWN, dies, number, name="worker")
    process.pipe.send("go")
    with pytest.raises((EOFError, OSError)):
        process.pipe.recv()
    assert why in process.end(patience=30)


@POSIX
def test_one_that_does_not_leave_is_killed_with_its_group():
    process = OwnedProcess(SPAWN, stubborn, True, name="stubborn", group=True)
    numbers = process.id, process.pipe.recv()
    began = time.monotonic()
    assert process.end(patience=0.1) == "The stubborn did not react and was ended."
    assert time.monotonic() - began < 10
    until = time.monotonic() + 10
    while not all(map(gone, numbers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert all(map(gone, numbers))


@POSIX
def test_escalation_asks_first_and_kills_then():
    process = OwnedProcess(SPAWN, stubborn, False, name="stubborn")
    process.pipe.recv()
    process.escalate()  # nothing is expected of it
    process.expect(0.0)
    process.escalate()
    assert process.forced
    assert process.alive  # it does not heed SIGTERM
    until = time.monotonic() + 30
    while process.alive and time.monotonic() < until:
        process.escalate()
        time.sleep(0.01)
    assert not process.alive
    assert process.deadline == 0.0
    process.end()


def test_one_that_reacted_is_left_alone():
    process = OwnedProcess(SPAWN, echo, name="echo")
    process.expect(0.0)
    process.expect(None)
    process.escalate()
    assert not process.forced
    process.end(patience=30)


@pytest.mark.parametrize(
    ("code", "word"),
    [(-9, "memory"), (-11, "crashed"), (-15, "ended by"), (1, "exit status 1"),
     (0xC0000005 - 2**32, "crashed")],
)  # fmt: skip
def test_an_exit_code_is_a_sentence(code, word):
    said = exit_in_words(code, "worker")
    assert said.startswith("The worker ")
    assert word in said
    assert said.endswith(".")
