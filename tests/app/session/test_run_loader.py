"""Past runs: read beside the window, their state after any event, what the collector spares."""

from __future__ import annotations

import gc
import math
import threading
import time
from functools import partial

import pytest

from app.session import shown_run as module
from app.session.run_loader import LatestTask, load_run
from app.session.shown_run import MAX_UNFROZEN_EVENTS, FrozenEvents, ShownRun
from core.tuning.events import (
    Progress,
    RunFinished,
    RunResumed,
    RunStarted,
    SurrogateFitted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

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


def test_another_thread_reads_and_folds_and_only_the_last_one_counts(
    reading, folder, qtbot, monkeypatch, tmp_path
):
    other = RunFolder.create(PLAN, root=tmp_path)
    other.append(RunStarted(plan=PLAN.as_dict()))
    other.close()
    threads, loaded = set(), []

    class Watched(ShownRun):
        def add_events(self, events):
            threads.add(threading.get_ident())
            super().add_events(events)

    monkeypatch.setattr("app.session.run_loader.ShownRun", Watched)
    reading.done.connect(loaded.append)
    reading.start(partial(load_run, other.path))
    with qtbot.waitSignal(reading.done, timeout=60_000):
        reading.start(partial(load_run, folder.path))
    qtbot.wait(50)
    [(run, plan)] = loaded
    assert threads
    assert threading.get_ident() not in threads
    assert plan == PLAN
    assert run.events == folder.all_events()
    assert len(run._snapshots) == 1 + 502 // module.KEPT_EVERY
    assert (run.state.best_trial.number, run.phase, run.folder) == (499, "finished", folder.path)
    assert not reading.goes_on


def test_what_was_stopped_says_nothing_and_ends_at_once(reading, folder, qtbot, monkeypatch):
    slow = threading.Event()

    class Slow(ShownRun):
        def add_events(self, events):
            slow.set()
            time.sleep(0.1)
            super().add_events(events)

    monkeypatch.setattr("app.session.run_loader.ShownRun", Slow)
    said = []
    reading.done.connect(said.append)
    reading.start(partial(load_run, folder.path))
    assert slow.wait(10)
    begun = time.monotonic()
    reading.stop()
    assert time.monotonic() - begun < 0.9  # of more than a second that it would take
    qtbot.wait(50)
    assert said == []


@pytest.mark.parametrize(
    ("on", "how"), [(True, "whole"), (False, "whole"), (True, "damaged"), (True, "stopped")]
)
def test_the_collector_is_as_it_was(reading, folder, qtbot, monkeypatch, on, how):
    seen, read = [], []

    class Watched(ShownRun):
        def add_events(self, events):
            if not seen and how == "stopped":
                reading._task.requestInterruption()
            seen.append(gc.isenabled())
            read.extend(events)
            super().add_events(events)

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
    assert (len(read) < 502) == (how != "whole")  # of a block and a half only the block


def test_a_setting_that_start_and_end_tell_is_kept_once():
    run = ShownRun([TrialStarted(number=3, setting={"C": 1.0})], None)
    same = TrialFinished(number=3, setting={"C": 1.0}, score=0.5)
    run.add_events([same])
    assert same.setting == {"C": 1.0}
    assert run.events[1].setting is run.events[0].setting is run.state.trials[0].setting
    run.add_events([TrialStarted(number=4, setting={"C": 1.0})])
    other = TrialFinished(number=4, setting={"C": 2.0}, score=0.5)
    run.add_events([other])
    assert (run.events[2].setting, other.setting) == ({"C": 1.0}, {"C": 2.0})


def test_a_damaged_run_is_refused_and_none_replaces_a_run_that_starts(with_data, folder, qtbot):
    with_data.open_run(folder.path)
    with_data.start()
    qtbot.wait(200)
    assert (with_data.state, with_data.events) == ("running", [])
    with_data._show_run([], None)
    with (folder.path / "events.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with qtbot.waitSignal(with_data.problem, timeout=60_000) as heard:
        with_data.open_run(folder.path)
    assert "line 503" in heard.args[0]
    assert with_data.events == []


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


# The run that is shown ------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """Few surrogates and moments, so that a short run has all that a long one has."""
    monkeypatch.setattr(module, "SURROGATES_KEPT", 6)
    monkeypatch.setattr(module, "KEPT_EVERY", 10)


def long_run(trials):
    yield RunStarted(plan={"strategy": "gp"}, total=trials)
    for number in range(trials):
        yield SurrogateFitted(trials=number)
        yield TrialStarted(number=number, reason="improve" if number else "default")
        if number % 7 == 3:
            yield TrialFailed(number=number, reason="It failed.")
        else:
            yield TrialFinished(number=number, score=math.sin(number), fits=5, took=0.5)
        if number % 11 == 5:
            yield TrialExcluded(number=number - 2)
        if number == trials // 2:
            yield RunResumed(done=number + 1, total=trials)
            yield TrialFinished(number=1, score=2.0, fits=5)  # told again
    yield RunFinished(results=Results(trials=trials))


def facts(state):
    return (
        state.numbers.tolist(),
        [trial.failure or trial.score for trial in state.trials],
        state.best_trial,
        state.default_trial,
        state.without_improvement,
        state.excluded,
        state.is_excluded.tolist(),
        state.fit_count,
        state.results,
    )


def test_every_moment_is_what_its_events_add_up_to(small, monkeypatch):
    run, fed = ShownRun(long_run(60), None), []
    assert len(run.events) < len(list(long_run(60)))  # surrogates were forgotten
    consume = type(run.state).consume
    monkeypatch.setattr(
        type(run.state), "consume", lambda self, event: (fed.append(event), consume(self, event))
    )
    for count in [*range(0, len(run.events), 7), *run.stops, len(run.events)]:
        fed.clear()
        moment = run.state_after(count)
        assert len(fed) <= 2 * module.KEPT_EVERY  # a little more where surrogates went
        assert facts(moment) == facts(state_from_events(run.events[:count]))
    assert facts(run.state) == facts(state_from_events(long_run(60)))


def test_stops_are_the_ends_of_trials_also_after_surrogates_were_forgotten(small):
    run = ShownRun(long_run(60), None)
    for position, stop in enumerate(run.stops, start=1):
        past = run.events[:stop]
        assert sum(isinstance(e, (TrialFinished, TrialFailed)) for e in past) == position
        assert run.events[stop:] == [] or isinstance(run.events[stop], TrialStarted | TrialFinished)
    kept = [event.trials for event in run.events if isinstance(event, SurrogateFitted)]
    assert len(kept) <= 7
    assert (kept[0], kept[-1]) == (0, 59)


def test_how_a_run_rests_and_how_far_it_may_go_on():
    assert ShownRun([], None).phase == "idle"
    events = list(long_run(8))
    assert ShownRun(events[:9], None).phase == "interrupted"
    run = ShownRun(events, None)
    assert (run.phase, run.budget_for(20)) == ("finished", 20)


def looked_through(events):
    ids = set(map(id, events))
    return sum(id(one) in ids for one in gc.get_objects())


def events_of(count):
    return [Progress(done=number) for number in range(count)]


@pytest.mark.usefixtures("whole_collections")
def test_only_the_latest_events_of_a_long_run_are_looked_through():
    spared, events = FrozenEvents(), events_of(MAX_UNFROZEN_EVENTS - 1)
    spared.add_events(len(events))
    assert looked_through(events) == len(events)  # of a short one all
    assert gc.get_freeze_count() == 0
    spared, events = FrozenEvents(), []
    for _ in range(7):
        some = events_of(MAX_UNFROZEN_EVENTS // 2)
        events += some
        spared.add_events(len(some))
        assert looked_through(events) < MAX_UNFROZEN_EVENTS
    assert looked_through(events) == MAX_UNFROZEN_EVENTS // 2


@pytest.mark.usefixtures("whole_collections")
def test_what_a_run_took_with_it_is_given_back_with_the_next():
    spared = FrozenEvents()
    spared.add_events(MAX_UNFROZEN_EVENTS)
    ring = []
    ring.append(ring)
    gc.freeze()
    events = events_of(MAX_UNFROZEN_EVENTS)
    spared.begin_again(len(events))
    assert looked_through(events) == 0
    spared.begin_again(3)
    assert looked_through([ring]) == 1
    assert gc.get_freeze_count() == 0
