"""Past runs are read beside the window, which stays usable and may stop it."""

from __future__ import annotations

import gc
import threading
import time
from functools import partial

import pytest

from app.session import shown_run as module
from app.session.run_loader import LatestTask, load_run
from app.session.shown_run import ShownRun
from core.tuning.events import RunFinished, RunStarted, TrialFinished, TrialStarted, from_json
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.runs import run_folder
from core.tuning.runs.run_folder import RunFolder

PLAN = Plan(DataPlan("x.csv"), "svm", "random")


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(PLAN, root=tmp_path)
    made.append(RunStarted(plan=PLAN.as_dict(), total=500))
    for number in range(500):
        made.append(TrialFinished(number=number, score=number / 500))
    made.append(RunFinished(results=Results(trials=500)))
    made.close()
    return made


@pytest.fixture
def reading(qapp):
    made = LatestTask()
    yield made
    made.shutdown()


def test_another_thread_reads_and_folds(reading, folder, qtbot, monkeypatch):
    threads = set()

    class Watched(ShownRun):
        def add_event(self, event):
            threads.add(threading.get_ident())
            super().add_event(event)

    monkeypatch.setattr("app.session.run_loader.ShownRun", Watched)
    with qtbot.waitSignal(reading.done, timeout=60_000) as heard:
        reading.start(partial(load_run, folder.path))
    run, plan = heard.args[0]
    assert threads
    assert threading.get_ident() not in threads
    assert plan == PLAN
    assert run.events == folder.all_events()
    assert (run.state.best_trial.number, run.phase, run.folder) == (499, "finished", folder.path)
    assert not reading.goes_on


def test_what_was_stopped_says_nothing_and_ends_at_once(reading, folder, qtbot, monkeypatch):
    slow = threading.Event()
    monkeypatch.setattr(
        run_folder, "from_json", lambda line: (slow.set(), time.sleep(0.002), from_json(line))[2]
    )
    said = []
    reading.done.connect(said.append)
    reading.start(partial(load_run, folder.path))
    assert slow.wait(10)
    begun = time.monotonic()
    reading.stop()
    assert time.monotonic() - begun < 0.9  # of more than a second that it would take
    qtbot.wait(50)
    assert said == []


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("how", ["whole", "damaged", "stopped"])
def test_the_collector_is_as_it_was(reading, folder, qtbot, monkeypatch, on, how):
    seen = []

    class Watched(ShownRun):
        def add_event(self, event):
            if not seen and how == "stopped":
                reading._task.requestInterruption()
            seen.append(gc.isenabled())
            super().add_event(event)

    monkeypatch.setattr("app.session.run_loader.ShownRun", Watched)
    if how == "damaged":
        with (folder.path / "events.jsonl").open("ab") as file:
            file.write(b"{}\n")
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with qtbot.waitSignal(reading.done, timeout=60_000) as heard:
            reading.start(partial(load_run, folder.path))
        assert gc.isenabled() is on
        assert isinstance(heard.args[0], str) == (how == "damaged")
    finally:
        (gc.enable if before else gc.disable)()
    assert set(seen) == {False}
    assert (len(seen) < 100) == (how == "stopped")


def test_a_setting_that_start_and_end_tell_is_kept_once():
    run = ShownRun([TrialStarted(number=3, setting={"C": 1.0})], None)
    same = TrialFinished(number=3, setting={"C": 1.0}, score=0.5)
    run.add_event(same)
    assert same.setting == {"C": 1.0}
    assert run.events[1].setting is run.events[0].setting is run.state.trials[0].setting
    run.add_event(TrialStarted(number=4, setting={"C": 1.0}))
    other = TrialFinished(number=4, setting={"C": 2.0}, score=0.5)
    run.add_event(other)
    assert (run.events[2].setting, other.setting) == ({"C": 1.0}, {"C": 2.0})


def test_only_the_last_one_counts(reading, folder, tmp_path, qtbot):
    other = RunFolder.create(PLAN, root=tmp_path)
    other.append(RunStarted(plan=PLAN.as_dict()))
    other.close()
    found = []
    reading.done.connect(lambda loaded: found.append(loaded[0].folder))
    reading.start(partial(load_run, folder.path))
    with qtbot.waitSignal(reading.done, timeout=60_000):
        reading.start(partial(load_run, other.path))
    qtbot.wait(50)
    assert found == [other.path]


def test_a_damaged_run_is_refused_with_its_line(still, folder, qtbot):
    with (folder.path / "events.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with qtbot.waitSignal(still.problem, timeout=60_000) as heard:
        still.open_run(folder.path)
    assert "line 503" in heard.args[0]
    assert still.events == []


def test_a_run_that_starts_meanwhile_is_not_replaced(with_data, folder, qtbot):
    with_data.open_run(folder.path)
    with_data.start()
    qtbot.wait(200)
    assert with_data.state == "running"
    assert with_data.events == []


def test_moments_are_few(folder):
    assert len(ShownRun(folder.all_events(), None)._snapshots) == 1 + 502 // module.KEPT_EVERY


def test_a_slow_disk_does_not_freeze_the_window(reading, folder, monkeypatch):
    slow, usual = threading.Event(), RunFolder.open

    def wait(path):
        slow.wait(30)
        return usual(path)

    monkeypatch.setattr(RunFolder, "open", wait)
    reading.start(partial(load_run, folder.path))
    time.sleep(0.1)
    began = time.monotonic()
    reading.stop()
    assert time.monotonic() - began < 0.2
    assert not reading.goes_on
    slow.set()
