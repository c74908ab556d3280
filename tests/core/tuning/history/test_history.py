"""The history remembers settings and scores, gives back what fits, and forgets for good."""

import math
from pathlib import Path

import pytest

from core.samplers.transfer.history import EarlierDataset
from core.space import Axis
from core.tuning.history.dataset_records import HistoryCounts, RunMetadata, statistics_of
from core.tuning.history.store import History, history_path

AXES = (
    Axis("C", "Trust", "float", 0.01, 100.0, log=True, default=1.0),
    Axis("depth", "Depth", "int", 1, 9, default=3),
    Axis("kind", "Kind", "choice", choices=("rbf", None, 0.5), default="rbf"),
)
GOOD = {"C": 2.5, "depth": 4, "kind": None}


def facts(rows: int = 100, features: int = 4, classes: int = 3, **changes) -> RunMetadata:
    given = {"model": "svm", "task": "multiclass", "metric": "accuracy", "maximize": True}
    given |= {"statistics": statistics_of(rows, features, classes), "strategy": "gp", "axes": AXES}
    return RunMetadata(**(given | changes))


def remember(history: History, *settings, scores=None, **about) -> str:
    id = history.begin_dataset(facts(**about))
    for number, setting in enumerate(settings or (GOOD,)):
        history.add_trial(id, number, setting, scores[number] if scores else 0.5)
    return id


def test_statistics_are_rounded_natural_logarithms():
    assert statistics_of(150, 4, 3) == (5.011, 1.386, 3.0)
    assert statistics_of(1, 0, 0) == (0.0, 0.0, 0.0)


def test_the_file_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(tmp_path / "elsewhere.db"))
    assert history_path() == tmp_path / "elsewhere.db"
    monkeypatch.delenv("TUNESCOPE_HISTORY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert history_path().name == "history.sqlite3"


def test_what_was_added_is_read_in_order_after_opening_again(tmp_path):
    settings = [GOOD, {"C": 0.01, "depth": 9, "kind": "rbf"}, {"C": 100.0, "depth": 1, "kind": 0.5}]
    with History(tmp_path / "h.sqlite3", starter=False) as history:
        id = history.begin_dataset(facts())
        history.add_trial(id, 7, settings[2], -1.5)
        history.add_trial(id, 0, settings[0], 0.25)
        history.add_trial(id, 3, settings[1], 0.75)
    with History(tmp_path / "h.sqlite3", starter=False) as history:
        found = history.datasets_for(facts())
    expected = EarlierDataset(id, (4.605, 1.386, 3.0), tuple(settings), (0.25, 0.75, -1.5))
    assert found == (expected,)


def test_a_trial_added_twice_is_there_once_and_unchanged(history):
    id = remember(history, GOOD)
    history.add_trial(id, 0, {**GOOD, "C": 9.0}, 0.9)
    assert history.datasets_for(facts())[0].settings == (GOOD,)
    assert history.datasets_for(facts())[0].scores == (0.5,)


def test_only_the_axes_of_a_setting_are_kept_and_a_setting_that_lacks_one_is_not(history):
    remember(history, {**GOOD, "age": 77}, {"C": 1.0, "depth": 2})
    assert history.datasets_for(facts())[0].settings == (GOOD,)
    assert b"age" not in Path(history.path).read_bytes()


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_not_kept(history, score):
    remember(history, GOOD, scores=[score])
    assert history.datasets_for(facts()) == ()


@pytest.mark.parametrize(
    "other", [{"model": "forest"}, {"metric": "auc"}, {"task": "regression"}, {"task": "sequence"}]
)
def test_another_model_metric_or_kind_of_task_is_not_read(history, other):
    remember(history, **other)
    assert history.datasets_for(facts()) == ()
    assert len(history.datasets_for(facts(**other))) == 1


def test_two_classes_and_many_are_of_one_kind(history):
    remember(history, classes=2, task="binary")
    assert len(history.datasets_for(facts(task="multiclass"))) == 1


@pytest.mark.parametrize(
    "setting",
    [
        {**GOOD, "C": 101.0},
        {**GOOD, "C": 0.0099},
        {**GOOD, "C": "2.5"},
        {**GOOD, "C": True},
        {**GOOD, "depth": 10},
        {**GOOD, "depth": 2.5},
        {**GOOD, "kind": "poly"},
    ],
)
def test_a_setting_outside_of_the_space_is_not_read_but_its_neighbours_are(history, setting):
    wide = (
        Axis("C", "", "float", 0.0, 1e6),
        Axis("depth", "", "float", 0.0, 99.0),
        Axis("kind", "", "choice", choices=("rbf", None, 0.5, "poly")),
    )
    remember(history, setting, GOOD, axes=wide)
    assert history.datasets_for(facts())[0].settings == (GOOD,)


def test_a_space_with_other_axes_reads_nothing(history):
    remember(history)
    assert history.datasets_for(facts(axes=AXES[:2])) == ()
    renamed = (Axis("cost", "", "float", 0.01, 100.0), *AXES[1:])
    assert history.datasets_for(facts(axes=renamed)) == ()
    assert len(history.datasets_for(facts(axes=AXES[::-1]))) == 1


def test_a_dataset_without_trials_and_the_present_one_are_not_read(history):
    history.begin_dataset(facts())
    own = remember(history)
    other = remember(history)
    assert [one.id for one in history.datasets_for(facts(), without=own)] == [other]


def test_the_nearest_are_read_in_the_order_they_came_in(history):
    rows = [5000, 110, 90, 20000, 100, 40000]
    ids = [remember(history, rows=count) for count in rows]
    found = history.datasets_for(facts(rows=100), max_datasets=3)
    assert [one.id for one in found] == [ids[1], ids[2], ids[4]]


def test_known_counts_those_within_one_deviation(history):
    assert history.matching_counts(facts()) == HistoryCounts(0, 0, 0)
    for rows in (100, 100, 100, 100_000):
        remember(history, rows=rows)
    # Deviation of log rows over 100 four times and 100,000 once: 0.4 × log 1000; the last is 2.5
    # of them away.
    assert history.matching_counts(facts(rows=100)) == HistoryCounts(4, 3, 0)


def test_switched_off_it_neither_remembers_nor_reads_in_any_program(history):
    remember(history)
    with History(history.path, starter=False) as other:
        other.set_enabled(False)
        assert not history.enabled
        assert history.begin_dataset(facts()) == ""
        history.add_trial("", 0, GOOD, 0.5)
        assert history.datasets_for(facts()) == ()
        other.set_enabled(True)
    assert history.enabled
    assert len(history.datasets_for(facts())) == 1
    assert len(history.entries()) == 1


def test_entries_tell_what_a_page_shows_the_latest_first(history):
    remember(history, GOOD, GOOD, scores=[0.5, 0.75], rows=1234, features=56)
    remember(history, GOOD, GOOD, scores=[0.5, 0.75], maximize=False, metric="log_loss")
    remember(history, GOOD, scores=[math.nan])
    empty, loss, first = history.entries()
    assert (first.model, first.task, first.metric) == ("svm", "multiclass", "accuracy")
    assert abs(first.rows - 1234) <= 1
    assert (first.features, first.classes, first.trials, first.best) == (56, 3, 2, 0.75)
    assert (loss.best, empty.best, empty.trials) == (0.5, None, 0)
    assert (first.starter, first.imported) == (False, False)
    assert first.when.endswith("+00:00")


def test_a_forgotten_dataset_takes_no_more_trials(history):
    kept, gone = remember(history), remember(history)
    history.forget_dataset(gone)
    history.add_trial(gone, 1, GOOD, 0.5)
    assert [one.id for one in history.datasets_for(facts())] == [kept]
    with History(history.path, starter=False) as other:
        other.add_trial(gone, 2, GOOD, 0.5)
        assert [one.id for one in other.entries()] == [kept]
    history.forget_all()
    assert history.entries() == []
