"""Stops and ends at any moment: nothing is lost, nobody waits for ever, the sentences are true."""

from __future__ import annotations

import os
import sys
import time

import pytest

from app.session.session import Session
from app.worker import worker_thread
from app.worker.worker_thread import PATIENCE
from core import processes
from core.processes import LEAVES, STALLED
from core.tuning.events import RunFinished, RunStopped, TrialFinished, TuningEnded

pytestmark = pytest.mark.slow  # processes that hang, and how long they are waited for
AT_ONCE = 0.1  # seconds that the window may stand still
ENDS = STALLED + PATIENCE + 2 * LEAVES + 2.0


def reach(qtbot, session, state, seconds=60.0):
    qtbot.waitUntil(lambda: session.state == state, timeout=int(1000 * seconds))


def begun(qtbot, session, kind=TrialFinished, **options):
    session.set_plan(trials=options.pop("trials", 3), options=options)
    session.start()
    qtbot.waitUntil(lambda: any(isinstance(e, kind) for e in session.events), timeout=60_000)
    return session._worker.process_id


def at_once(call):
    began = time.monotonic()
    call()
    assert time.monotonic() - began < AT_ONCE


def kinds(session):
    return [type(event) for event in session.events]


@pytest.fixture
def problems(session):
    said = []
    session.problem.connect(said.append)
    return said


def test_a_stop_when_the_run_ends_or_has_ended_changes_nothing(opened, qtbot, problems):
    def stop(events):
        if isinstance(events[-1], RunFinished):
            opened.stop()

    opened.events_arrived.connect(stop)
    first = begun(qtbot, opened)
    reach(qtbot, opened, "finished")
    opened._end_run(keep=True)  # as if the end had not been heard yet
    qtbot.wait(int(1000 * (PATIENCE + LEAVES + 0.5)))
    assert opened._worker.process_id == first
    assert problems == []
    assert kinds(opened)[-1] is RunFinished
    opened._set_state("finished")
    opened.more_trials(1)  # and the worker works on
    reach(qtbot, opened, "running")
    reach(qtbot, opened, "finished")


@pytest.mark.parametrize("keeps", [True, False])
def test_a_stop_while_the_winner_is_tested_keeps_the_test(opened, qtbot, problems, keeps):
    first = begun(qtbot, opened, TuningEnded, testing_seconds=600)
    folder = opened.run_folder
    if keeps:
        opened.stop()
        reach(qtbot, opened, "finished", PATIENCE)
        assert opened._worker.process_id == first
        assert kinds(opened)[-2:] == [TuningEnded, RunFinished]
        assert opened.results.stopped_because == "it was shortened"
    else:
        opened.discard_run()
        reach(qtbot, opened, "idle")
    assert folder.exists() is keeps
    assert problems == []


@pytest.mark.parametrize(
    ("fault", "is_seen_gone"),
    [({"halted_at": 2}, False), ({"halted_at": 2}, True), ({"half_said_at": 1}, False)],
)
def test_a_halted_worker_is_replaced_and_the_results_come(
    opened, qtbot, monkeypatch, fault, is_seen_gone
):
    kill = processes._kill_process

    def kill_and_see_it_gone(process, group):  # its pipe is reset then: the stop is still unread
        kill(process, group)
        process.join(LEAVES)

    if is_seen_gone:
        monkeypatch.setattr(processes, "_kill_process", kill_and_see_it_gone)
    first = begun(qtbot, opened, trials=50, **fault)
    qtbot.wait(300)
    at_once(opened.stop)
    reach(qtbot, opened, "finished", ENDS + 10)
    assert opened._worker.process_id != first or "halted_at" not in fault
    assert kinds(opened)[-1] is RunStopped


def test_half_a_message_costs_the_current_trial_and_the_run_can_go_on(opened, qtbot, problems):
    begun(qtbot, opened, trials=5, half_said_at=2)
    reach(qtbot, opened, "interrupted", ENDS)
    assert problems == [
        "The worker did not react and was ended. 2 trials are kept; the current one is lost."
    ]
    opened.resume()
    reach(qtbot, opened, "finished")


@pytest.mark.parametrize("fault", ["halted_at", "half_said_at"])
def test_closing_waits_for_no_worker(opened, qtbot, fault):
    first = begun(qtbot, opened, trials=5, **{fault: 1})
    qtbot.wait(300)
    at_once(opened.begin_shutdown)
    began = time.monotonic()
    opened.shutdown()
    assert time.monotonic() - began < ENDS
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_whoever_does_not_wait_for_the_results_keeps_the_run(opened, qtbot, problems):
    begun(qtbot, opened, trials=1000, trial_seconds=0.02, concluding_seconds=600)
    opened.stop()
    qtbot.wait(300)
    opened.abandon_run()
    reach(qtbot, opened, "interrupted", 5)
    assert problems == []
    assert opened.shown.plan == opened.plan  # it can be gone on with
    opened.abandon_run()  # nothing is waited for any more
    assert opened.state == "interrupted"


def test_a_worker_whose_engine_cannot_be_imported_is_said_at_once(qapp, qtbot, tmp_path):
    session = Session(tmp_path / "runs", worker_thread.WorkerThread(engine="no_such_engine"))
    said, details = [], []
    session.problem.connect(
        lambda sentence: (said.append(sentence), details.append(session.details))
    )
    try:
        qtbot.waitUntil(lambda: bool(said), timeout=60_000)
        qtbot.wait(1_000)
        assert len(said) == 1
        assert said[0].startswith("The worker, which reads data and tunes, could not be started.")
        assert "ModuleNotFoundError" in details[0]
        session.open_file("some.csv")  # tries once more
        qtbot.waitUntil(lambda: len(said) == 2, timeout=60_000)
    finally:
        session.shutdown()


def test_a_worker_that_the_system_does_not_start_is_said_at_once(
    qapp, qtbot, tmp_path, monkeypatch, fake_worker
):
    def exhausted(*_given, **_named):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(worker_thread, "OwnedProcess", exhausted)
        session = Session(tmp_path / "runs", fake_worker())
        said = []
        session.problem.connect(said.append)
        qtbot.waitUntil(lambda: bool(said), timeout=5_000)
    try:
        assert "could not be started (Resource temporarily unavailable)" in said[0]
        with qtbot.waitSignal(session.data_changed, timeout=60_000):
            session.open_file("some.csv")  # there is room for a process again
    finally:
        session.shutdown()


def test_a_worker_that_never_pauses_is_stopped_all_the_same(opened, qtbot):
    begun(qtbot, opened, trials=1_000_000, surrogates=20)
    opened.stop()
    reach(qtbot, opened, "finished", 10)
    assert kinds(opened)[-1] is RunStopped


def test_a_defect_of_the_thread_leaves_no_process(opened, qtbot, monkeypatch, capfd):
    number = opened._worker.process_id

    def spoilt():
        raise RuntimeError("no request today")

    monkeypatch.setattr(opened._worker, "_pass_requests", spoilt)
    monkeypatch.setattr(sys, "excepthook", lambda *error: None)
    with qtbot.captureExceptions():
        opened.open_file("other.csv")
        qtbot.waitUntil(opened._worker.isFinished, timeout=10_000)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
