"""The session on a worker whose engine does no statistics: data, plans, runs, and their ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.worker.messages import Export, Exported, Message
from core.tuning.events import ModelSelected, RunResumed, TrialExcluded, TrialFinished
from core.tuning.runs.past_runs import list_runs
from tests.app.worker.fake_engine import IN_TRIAL


def reach(qtbot, session, state):
    qtbot.waitUntil(lambda: session.state == state, timeout=60_000)


def scores(session):
    return [e.number for e in session.events if isinstance(e, TrialFinished)]


def test_files_are_read_and_refused(opened, qtbot):
    """One worker: its first file, others that cannot be read, and another one."""
    assert (opened.summary["name"], opened.data.file) == ("some.csv", "some.csv")
    plan = opened.plan
    assert (plan.model, plan.strategy, plan.groups) == ("logistic", "mm", "prefix")
    with qtbot.waitSignal(opened.problem, timeout=60_000) as heard:
        opened.open_file("missing.csv")
    assert heard.args == ["missing.csv: there is no such file; choose another."]
    with qtbot.waitSignal(opened.problem, timeout=60_000) as heard:
        opened.open_file("defect.csv")
    assert "went wrong" in heard.args[0]
    assert "ValueError" in opened.details
    assert "fake_engine.py" in opened.details
    assert "4711" not in opened.details + heard.args[0]  # a value of the data
    assert opened.data.file == "some.csv"
    activities = []
    opened.busy_changed.connect(activities.append)
    with qtbot.waitSignal(opened.data_changed, timeout=60_000):
        opened.open_file("/data/slow.csv")
    assert activities == ["Reading slow.csv …", ""]
    with qtbot.waitSignal(opened.problem, timeout=60_000) as heard:
        opened.open_file("deadly.csv")
    assert "killed (signal 9)" in heard.args[0]
    names = []
    opened.data_changed.connect(lambda: names.append(opened.summary["name"]))
    opened.open_file("slow one.csv")  # by another worker, and it is not waited for
    opened.open_file("other.csv")
    qtbot.waitUntil(lambda: bool(names), timeout=60_000)
    qtbot.wait(50)
    assert names == ["other.csv"]


def test_a_plan_stays_where_it_fits_and_changes_to_the_recommended_one(opened, qtbot):
    opened.choose_model("svm")
    assert opened.plan.strategy == "gp"
    with qtbot.waitSignal(opened.data_changed, timeout=60_000):
        opened.change_data(target="blood")
    assert opened.summary["target"] == "blood"
    assert (opened.plan.model, opened.plan.data.target) == ("svm", "blood")
    opened.choose_strategy("random")
    opened.choose_model("logistic")
    assert opened.plan.strategy == "random"


def test_changes_of_the_plan_bring_one_estimate(opened, qtbot):
    qtbot.waitUntil(lambda: opened.estimate is not None, timeout=60_000)
    given = []
    opened.estimate_changed.connect(lambda: given.append(opened.estimate))
    opened.set_plan(trials=3)
    opened.set_plan(trials=7)
    qtbot.waitUntil(lambda: opened.estimate is not None, timeout=60_000)
    assert given[:-1] == [None, None]
    assert given[-1]["trials"] == 7

    problems = []
    opened.problem.connect(problems.append)
    opened.set_plan(folds=1)
    qtbot.waitUntil(lambda: opened.estimate is not None, timeout=60_000)
    assert opened.estimate["unusable"]
    assert opened.estimate["sentence"] == "folds: “1” is out of range; give at least 2."
    assert problems == []


def test_one_run_from_its_start_until_it_is_a_past_run(opened, qtbot, tmp_path):
    opened.set_plan(trials=3)
    opened.select_model("trial", 1)  # there is no run yet
    assert opened.state == "idle"
    opened.start()
    reach(qtbot, opened, "finished")
    folder = opened.run_folder
    assert scores(opened) == [0, 1, 2]
    assert opened.results["test"] == {"accuracy": 1.0}
    with qtbot.waitSignal(opened.exported, timeout=60_000) as heard:
        opened.export_model("json", tmp_path / "out.json")
    assert heard.args == [str(tmp_path / "out.json")]
    assert (tmp_path / "out.json").read_text() == "json"

    before, problems = opened.results, []
    opened.problem.connect(problems.append)
    opened.select_model("trial", 99)
    qtbot.waitUntil(lambda: bool(problems), timeout=20_000)
    assert "no trial 99" in problems[0]
    assert (opened.state, opened.results) == ("finished", before)
    opened.select_model("trial", 1)
    assert opened.state == "stopping"
    reach(qtbot, opened, "finished")
    assert opened.shown.state.picked == ModelSelected(kind="trial", number=1)
    assert opened.results is not before
    opened.exclude_trial(0)
    reach(qtbot, opened, "stopping")
    reach(qtbot, opened, "finished")
    assert TrialExcluded(0.0, 0, True) in opened.events

    opened.more_trials(20)
    assert opened.state == "running"
    reach(qtbot, opened, "finished")
    assert len(scores(opened)) == 23
    assert any(isinstance(event, RunResumed) for event in opened.events)

    events = list(opened.events)
    with qtbot.waitSignal(opened.data_changed, timeout=60_000):
        opened.open_file("other.csv")
    assert opened.state == "idle"
    assert [Path(run.path) for run in list_runs(folder.parent).runs] == [folder]
    with qtbot.waitSignals([opened.run_opened, opened.data_changed], timeout=60_000):
        opened.open_run(folder)
        assert opened.state == "idle"  # a thread reads it
    assert (opened.state, opened.events) == ("finished", events)
    assert opened.plan.trials == 3


def test_of_many_surrogates_few_arrive_and_every_trial_does(opened, qtbot):
    opened.set_plan(trials=50, options={"surrogates": 20})
    opened.start()
    reach(qtbot, opened, "finished")
    assert scores(opened) == list(range(50))
    fitted = sum(type(e).__name__ == "SurrogateFitted" for e in opened.events)
    assert 0 < fitted < 1000


def test_a_run_is_paused_loses_a_trial_and_is_stopped_while_its_data_stay(opened, qtbot):
    opened.set_plan(trials=1000, options={"trial_seconds": 0.02})
    opened.start()
    with qtbot.waitSignal(opened.problem) as heard:
        opened.open_file("other.csv")
    assert "Stop it first" in heard.args[0]
    qtbot.waitUntil(lambda: len(scores(opened)) >= 2, timeout=60_000)
    opened.pause()
    reach(qtbot, opened, "paused")
    before = len(opened.events)
    qtbot.wait(100)
    assert len(opened.events) == before
    opened.resume()
    qtbot.waitUntil(lambda: len(opened.events) > before, timeout=60_000)
    opened.exclude_trial(1)
    qtbot.waitUntil(lambda: TrialExcluded(0.0, 1, True) in opened.events, timeout=60_000)
    opened.stop()
    reach(qtbot, opened, "finished")
    assert opened.results["trials"] > 2
    # A discarded run leaves nothing.
    opened.start()
    qtbot.waitUntil(lambda: len(scores(opened)) >= 2, timeout=60_000)
    folder = opened.run_folder
    opened.discard_run()
    reach(qtbot, opened, "idle")
    assert not folder.exists()
    assert opened.events == []


@pytest.mark.slow
def test_stopping_a_trial_that_never_ends_still_ends_with_results(opened, qtbot):
    opened.set_plan(trials=3, options={"trial_seconds": 600, "stubborn": True})
    opened.start()
    qtbot.waitUntil(lambda: len(opened.events) >= 2, timeout=60_000)
    # Its event is seen before the worker is in it, where a stop is still heard.
    qtbot.waitUntil((opened.run_folder / IN_TRIAL).exists, timeout=60_000)
    first = opened._worker.process_id
    opened.stop()
    reach(qtbot, opened, "finished")
    assert opened.results.trials == 2
    assert opened._worker.process_id != first


def test_a_killed_worker_costs_the_current_trial_only_and_the_run_goes_on(opened, qtbot):
    opened.set_plan(trials=6, options={"killed_at": 3})
    with qtbot.waitSignal(opened.problem, timeout=60_000) as heard:
        opened.start()
    assert heard.args == [
        "The worker was killed (signal 9). 3 trials are kept; the current one is lost."
    ]
    assert opened.state == "interrupted"
    opened.resume()
    reach(qtbot, opened, "finished")
    assert scores(opened) == [0, 1, 2, 3, 4, 5]


def test_what_had_to_be_done_before_a_file_was_saved_is_said(still):
    for action in (still.pause, still.resume, still.stop, still.start):
        action()  # there is nothing to do
        assert (still.state, still.worker.asked) == ("idle", [])
    still.shown.folder = Path("run")
    heard, saved = [], []
    still.problem.connect(heard.append)
    still.exported.connect(saved.append)
    for remark in ("The model was fitted again.", ""):
        still.export_model("skops", "model.skops")
        still.worker.answer(Exported("model.skops", remark))
    assert heard == ["The model was fitted again."]
    assert saved == ["model.skops"] * 2


def test_answers_to_several_exports_at_once_all_count(still):
    still.shown.folder = Path("run")
    saved = []
    still.exported.connect(saved.append)
    for name in ("one", "two", "three"):
        still.export_model("json", name)
    exports = enumerate(still.worker.all_of(Export), start=1)
    still.worker.arrived.emit([Message(id, Exported(export.path)) for id, export in exports])
    assert saved == ["one", "two", "three"]
