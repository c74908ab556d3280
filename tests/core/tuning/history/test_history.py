"""The history gives back what fits, forgets for good, and goes to JSON and back."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from history_facts import SVM, facts_of, opened

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis
from core.tuning.history import dataset_records
from core.tuning.history.database import OURS, _create_tables, set_switch
from core.tuning.history.dataset_records import (
    HistoryCounts,
    ImportCounts,
    RunMetadata,
    statistics_of,
)
from core.tuning.history.store import History, history_path, starter_records
from core.tuning.scores.metrics import METRICS, default_metric

AXES = (
    Axis("C", "Trust", "float", 0.01, 100.0, log=True, default=1.0),
    Axis("depth", "Depth", "int", 1, 9, default=3),
    Axis("kind", "Kind", "choice", choices=("rbf", None, 0.5), default="rbf"),
)
GOOD = {"C": 2.5, "depth": 4, "kind": None}


def facts(rows: int = 100, features: int = 4, classes: int = 3, **changes) -> RunMetadata:
    usual = facts_of(AXES, task="multiclass")
    return replace(usual, statistics=statistics_of(rows, features, classes), **changes)


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
    scores, numbers = (0.25, 0.75, -1.5), (0, 3, 7)
    with opened(tmp_path / "h.sqlite3") as history:
        id = history.begin_dataset(facts())
        for at in (2, 0, 1):
            history.add_trial(id, numbers[at], settings[at], scores[at])
    with opened(tmp_path / "h.sqlite3") as history:
        found = history.datasets_for(facts())
    assert found == (EarlierDataset(id, (4.605, 1.386, 3.0), tuple(settings), scores),)


def test_a_trial_added_twice_is_there_once_and_unchanged(history):
    id = remember(history, GOOD)
    history.add_trial(id, 0, {**GOOD, "C": 9.0}, 0.9)
    (dataset,) = history.datasets_for(facts())
    assert (dataset.settings, dataset.scores) == ((GOOD,), (0.5,))


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
    remember(history, classes=2, task="binary")  # two classes and many are of one kind
    assert len(history.datasets_for(facts())) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("C", value) for value in (101.0, 0.0099, "2.5", True)),
        *(("depth", value) for value in (10, 2.5)),
        ("kind", "poly"),
    ],
)
def test_a_setting_outside_of_the_space_is_not_read_but_its_neighbours_are(history, name, value):
    wide = (
        Axis("C", "", "float", 0.0, 1e6),
        Axis("depth", "", "float", 0.0, 99.0),
        Axis("kind", "", "choice", choices=("rbf", None, 0.5, "poly")),
    )
    remember(history, {**GOOD, name: value}, GOOD, axes=wide)
    assert history.datasets_for(facts())[0].settings == (GOOD,)


def test_a_space_with_other_axes_reads_nothing(history):
    remember(history)
    assert history.datasets_for(facts(axes=AXES[:2])) == ()
    renamed = (Axis("cost", "", "float", 0.01, 100.0), *AXES[1:])
    assert history.datasets_for(facts(axes=renamed)) == ()
    assert len(history.datasets_for(facts(axes=AXES[::-1]))) == 1


def test_a_dataset_without_trials_and_the_present_one_are_not_read(history):
    history.begin_dataset(facts())
    own, other = remember(history), remember(history)
    assert [one.id for one in history.datasets_for(facts(), without=own)] == [other]


def test_the_nearest_are_read_in_the_order_they_came_in(history):
    rows = [5000, 110, 90, 20000, 100, 40000]
    ids = [remember(history, rows=count) for count in rows]
    found = history.datasets_for(facts(rows=100), max_datasets=3)
    assert [one.id for one in found] == [ids[1], ids[2], ids[4]]


def test_known_counts_those_within_one_deviation(history):
    assert history.matching_counts(facts()) == HistoryCounts(0, 0, 0)
    for rows, features in ((100, 4), (100, 5), (100, 3), (100, 400), (100_000, 4)):
        remember(history, rows=rows, features=features)
    # The first has the form of the present dataset, and may be it. Deviation of log rows over 100
    # four times and 100,000 once: 0.4 × log 1000, the last is 2.5 of them away; of log features
    # over 4, 5, 3, 400 and 4: 1.86, and the third is 2.5 of them away.
    counts = history.matching_counts(facts(rows=100, features=4))
    assert counts == HistoryCounts(4, 2, 0, same=1)


def test_switched_off_it_neither_remembers_nor_reads_in_any_program(history):
    remember(history)
    with opened(history.path) as other:
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
    with opened(history.path) as other:
        other.add_trial(gone, 2, GOOD, 0.5)
        assert [one.id for one in other.entries()] == [kept]
    history.forget_all()
    assert history.entries() == []


OTHER_AXES = (
    Axis("C", "Trust", "float", 0.01, 100.0, log=True),
    Axis("kind", "Kind", "choice", choices=('é\n"', None, 0.5, True)),
)
FACTS = replace(facts_of(OTHER_AXES, metric="log_loss"), maximize=False)


@pytest.fixture
def other(tmp_path):
    with opened(tmp_path / "other.sqlite3") as empty:
        yield empty


def remember_some(history: History, trials: int = 3) -> str:
    id = history.begin_dataset(FACTS)
    for number in range(trials):
        kind = OTHER_AXES[1].choices[number % 4]
        history.add_trial(id, number, {"C": 1 / (number + 3), "kind": kind}, math.pi * number)
    return id


def written(path, *datasets, **changes):
    path.write_text(json.dumps({"tunescope_history": 1, "datasets": datasets, **changes}))
    return path


def test_what_is_exported_and_imported_is_read_the_same(history, other, tmp_path):
    for trials in (3, 1, 6, 0):
        remember_some(history, trials)
    id = history.begin_dataset(FACTS, f"{history.fresh_id()}-logistic-l1l2")  # of several models
    history.add_trial(id, 0, {"C": 1.0, "kind": OTHER_AXES[1].choices[0]}, 0.5)
    assert history.export_to(tmp_path / "all.json") == 5
    assert other.import_from(tmp_path / "all.json") == ImportCounts(5, 11, 0)
    assert other.datasets_for(FACTS) == history.datasets_for(FACTS)
    assert [entry.imported for entry in other.entries()] == [True] * 5
    assert {entry.when for entry in other.entries()} == {e.when for e in history.entries()}


def test_the_same_file_twice_doubles_nothing_and_a_longer_one_completes(history, other, tmp_path):
    id, file = remember_some(history, 3), tmp_path / "all.json"
    history.export_to(file)
    other.import_from(file)
    assert other.import_from(file) == ImportCounts(0, 0, 1)
    history.add_trial(id, 3, {"C": 5.0, "kind": None}, 0.5)
    history.export_to(file)
    assert other.import_from(file) == ImportCounts(0, 1, 1)
    assert other.datasets_for(FACTS) == history.datasets_for(FACTS)


def test_missing_binary_and_newer_files_are_sentences(history, tmp_path):
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    written(tmp_path / "newer.json", tunescope_history=7)
    for name, why in (
        ("missing", "cannot be read"),
        ("binary", "cannot be read"),
        ("newer", r"\(7\)"),
    ):
        with pytest.raises(UnusableError, match=why):
            history.import_from(tmp_path / f"{name}.json")


def test_an_export_that_cannot_be_written_leaves_nothing(history, tmp_path):
    (tmp_path / "taken.json").mkdir()
    for path in (tmp_path / "missing" / "all.json", tmp_path / "taken.json"):
        with pytest.raises(UnusableError, match="cannot be written"):
            history.export_to(path)
    assert not list(tmp_path.glob("*.part"))


FILE = files("resources") / "starter_history.json"


def model_facts(model: str, task: str) -> RunMetadata:
    metric, space = METRICS[default_metric(task)], MODELS[model].space(task)
    statistics = statistics_of(300, 8, 0 if task == "regression" else 2)
    facts = facts_of(space, model, task, metric.name)
    return replace(facts, maximize=metric.maximize, statistics=statistics)


def starters(history: History) -> list:
    return [entry for entry in history.entries() if entry.starter]


def test_a_new_history_has_it_and_it_stays_when_opened_again(path, tmp_path):
    for opening in (1, 2):
        with History(path) as history:
            assert len(starters(history)) == len(starter_records()) > 100
            remember_some(history)
            assert history.export_to(tmp_path / "all.json") == opening  # it is not exported


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (name, task)
        for name in ("linear", "logistic", "elastic-net", "svm", "forest", "boosting", "mlp")
        for task in ("binary", "regression")
        if task in MODELS[name].tasks
    ],
)
def test_every_model_of_tables_finds_datasets_in_it(path, model, task):
    with History(path) as history:
        facts = model_facts(model, task)
        past = history.datasets_for(facts)
        assert len(past) >= 3
        assert all(one.starter for one in past)
        assert min(len(one.scores) for one in past) >= 5
        known = history.matching_counts(facts)
        assert (known.datasets, known.starter) == (len(past), len(past))
        assert 0 < known.similar < known.datasets


def test_all_of_it_lies_in_the_models_spaces_and_is_scored_as_they_are_by_default():
    for record in starter_records():
        model = MODELS[record.model]
        assert record.task in model.tasks
        assert record.metric == default_metric(record.task)
        assert record.maximize == METRICS[record.metric].maximize
        for trial in record.trials:
            setting = dict(zip(record.axes, trial.values, strict=True))
            for axis in model.space(record.task):
                value = setting.pop(axis.name)
                inside = value in axis.choices or axis.low <= value <= axis.high
                assert inside, (record.model, axis.name, value)
            assert not setting
            assert trial.score <= 1.0


def test_it_is_small_and_its_ids_are_its_own():
    assert len(FILE.read_bytes()) < 1_000_000
    ids = [record.id for record in starter_records()]
    assert len(set(ids)) == len(ids)


def test_removed_it_stays_removed_until_it_is_asked_for(path):
    with History(path) as history:
        gone = starters(history)[0].id
        history.forget_dataset(gone)
    with History(path) as history:
        assert gone not in {entry.id for entry in history.entries()}
        own, there = remember_some(history), len(starters(history))
        assert history.forget_starter() == there
        assert [entry.id for entry in history.entries()] == [own]
    with History(path) as history:
        assert [entry.id for entry in history.entries()] == [own]
        assert history.restore_starter() == there + 1
        assert history.restore_starter() == 0
        assert len(starters(history)) == there + 1
        history.forget_all()
    with History(path) as history:
        assert history.entries() == []


def test_the_first_edition_which_knew_the_samples_is_replaced(path):
    with History(path) as history, history._file.writing() as database:
        set_switch(database, "starter", "there")
        known = replace(starter_records()[0], id="aa", statistics=statistics_of(178, 13, 3))
        dataset_records.write_records(database, [known], dataset_records.STARTER)
    with History(path) as history:
        assert {one.id for one in starters(history)} == {one.id for one in starter_records()}
        history.forget_starter()
    with History(path) as history:
        assert starters(history) == []


def test_no_sample_has_taught_it():
    """No dataset in it has the rows, columns and classes of a sample, or of a part of one."""
    forms = [(150, 4, 3), (178, 13, 3), (569, 30, 2), (1797, 64, 10), (442, 10, 0)]
    for record in starter_records():
        for rows, columns, classes in forms:
            statistics = statistics_of(rows, columns, classes)
            assert record.statistics[1:] != statistics[1:] or record.statistics[0] != statistics[0]


# ---------------------------------------------------------- what a stranger's file or row may hold

DEEP = "[" * 100_000 + "]" * 100_000
STATISTICS = SVM.statistics

SOUND = {
    "id": "ab12",
    "began": "2026-01-02T03:04:05+00:00",
    "model": "svm",
    "task": "binary",
    "metric": "accuracy",
    "strategy": "gp",
    "maximize": True,
    "statistics": [5.0, 1.4, 2.0],
    "axes": ["C", "gamma"],
    "trials": [[0, 0.25, 1.0, 0.1]],
}


def one_trial(*values):
    return {"trials": [list(values)]}


HOSTILE = {
    "rows out of range": {"statistics": [800.0, 1.0, 2.0]},
    "negative columns": {"statistics": [5.0, -1.0, 2.0]},
    "half a class": {"statistics": [5.0, 1.0, 2.5]},
    "endless classes": {"statistics": [5.0, 1.0, 1e308]},
    "a flag as statistic": {"statistics": [5.0, 1.0, True]},
    "two statistics": {"statistics": [5.0, 1.0]},
    "no list of statistics": {"statistics": 5.0},
    "no number as statistic": {"statistics": [math.nan, 1.4, 2.0]},
    "a score without end": one_trial(0, 1e308, 1.0, 1.0),
    "a number of 400 digits": one_trial(0, 0.5, 10**400, 1.0),
    "a score of 400 digits": one_trial(0, 10**400, 1.0, 1.0),
    "half a letter as value": one_trial(0, 0.5, "\ud800", 1.0),
    "a negative trial": one_trial(-1, 0.5, 1.0, 1.0),
    "a trial of 70 bits": one_trial(2**70, 0.5, 1.5, 0.1),
    "a word as score": one_trial(0, "high", 1.5, 0.1),
    "a value too few": one_trial(0, 0.5, 1.5),
    "a list as value": one_trial(0, 0.5, [1.5], 0.1),
    "trials of another kind": {"trials": {"0": 1}},
    "half a letter as model": {"model": "\ud800"},
    "a number as model": {"model": 3},
    "half a letter as axis": {"axes": ["C", "\udfff"]},
    "an axis twice": {"axes": ["C", "C"]},
    "an axis that is no text": {"axes": ["C", 3]},
    "no axes": {"axes": ...},
    "the terminal's own signs": {"strategy": "\x1b[2J"},
    "one for yes": {"maximize": 1},
    "a word for yes": {"maximize": "false"},
    "a long name": {"metric": "a" * 100_000},
    "a path as id": {"id": "../../x"},
    "a number": 17,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_dataset_is_left_out_and_the_others_are_taken(history, tmp_path, name):
    bad = HOSTILE[name]
    if isinstance(bad, dict):
        bad = {k: v for k, v in {**SOUND, "id": "bad0", **bad}.items() if v is not ...}
    found = history.import_from(written(tmp_path / "all.json", bad, SOUND))
    assert found.left_out == ("Dataset 1 of the file is damaged and was left out.",)
    assert [entry.id for entry in history.entries()] == [SOUND["id"]]
    assert history.export_to(tmp_path / "again.json") == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "NaN", "\x00", "[" * 100_000, DEEP, '{"datasets": []}',
     '{"tunescope_history": 1}', '{"tunescope_history": true, "datasets": []}'],
)  # fmt: skip
def test_what_is_no_history_is_a_sentence(history, tmp_path, text):
    (tmp_path / "all.json").write_text(text)
    with pytest.raises(UnusableError, match="no history of datasets"):
        history.import_from(tmp_path / "all.json")


def test_a_file_with_numbers_that_json_does_not_know_leaves_them_out(history, tmp_path):
    text = json.dumps({"tunescope_history": 1, "datasets": [SOUND]})
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        (tmp_path / "all.json").write_text(text.replace("0.25", number))
        assert len(history.import_from(tmp_path / "all.json").left_out) == 1


def test_values_that_do_not_fit_their_axes_are_not_read(history, tmp_path):
    trials = [[0, 0.5, 1.0, 0.1], [1, 0.5, 1e300, 0.1], [2, 0.5, "1", 0.1], [3, 0.5, True, 0.1],
              [4, 0.5, 1.0, None], [5, 0.5, 2**62, 0.1]]  # fmt: skip
    history.import_from(written(tmp_path / "all.json", {**SOUND, "trials": trials}))
    (past,) = history.datasets_for(SVM)
    assert past.settings == ({"C": 1.0, "gamma": 0.1},)


def test_one_is_not_yes_and_no_not_zero(history, tmp_path):
    facts = facts_of((Axis("on", "On", "choice", choices=(True, False)),))
    trials = [[0, 0.5, True], [1, 0.5, 1], [2, 0.5, 0], [3, 0.5, False]]
    history.import_from(written(tmp_path / "all.json", {**SOUND, "axes": ["on"], "trials": trials}))
    (past,) = history.datasets_for(facts)
    assert past.settings == ({"on": True}, {"on": False})


DAMAGE = {
    "datasets": ["log_rows = 'many'", "log_rows = 1e308", "log_features = -3", "classes = 0.5",
                 "axes = x'ff00'", "axes = '[1, 2]'", "model = x'ffff'", "began = 7.5",
                 "id = x'00ff'", "log_rows = 9e999"],
    "trials": ["score = 'good'", "score = 9e999", "score = x'00'", "setting = x'ff'",
               "setting = 'nonsense'", "setting = '[NaN, 1]'", "setting = '{\"C\": 1}'",
               "setting = '[[[1]]]'", f"setting = '{DEEP}'", "setting = '[1e999, 1.0]'"],
}  # fmt: skip


@pytest.mark.parametrize(("table", "change"), [(t, c) for t in DAMAGE for c in DAMAGE[t]])
def test_a_damaged_row_is_passed_over(history, tmp_path, table, change):
    good = {**SOUND, "trials": [[0, 0.5, 1.0, 0.1], [1, 0.25, 2.0, 0.2]]}
    history.import_from(written(tmp_path / "all.json", good, {**good, "id": "cd34"}))
    with contextlib.closing(sqlite3.connect(history.path, isolation_level=None)) as database:
        number = "number" if table == "datasets" else "dataset"
        database.execute(f"UPDATE {table} SET {change} WHERE {number} = 1")
    entries, past = history.entries(), history.datasets_for(SVM)
    for kept in (entries, past):
        assert "cd34" in [dataset.id for dataset in kept]
    assert len(TuningHistory(past, STATISTICS).distances()) == len(past)
    history.matching_counts(SVM)
    assert history.export_to(tmp_path / "again.json") >= 1
    json.loads((tmp_path / "again.json").read_text(), parse_constant=lambda name: 1 / 0)
    if len(entries) == 1:
        assert "1 dataset of the history cannot be read" in history.notices[0]
    history.forget_all()
    with contextlib.closing(sqlite3.connect(history.path)) as database:
        assert database.execute("SELECT count(*) FROM trials").fetchone() == (0,)


@pytest.mark.parametrize("row", ["nonsense", "[1, 2]", DEEP, "null", '{"C": 1e999}', ""])
def test_a_migration_puts_a_broken_row_aside(tmp_path, row):
    path, good = tmp_path / "history.sqlite3", json.dumps({"C": 1.0, "gamma": 0.1})
    about = "(1, 'ab', '', 'svm', 'binary', 'accuracy', 1, 'gp', 5, 1, 2)"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        _create_tables(database)
        database.execute(f"PRAGMA application_id = {OURS}")
        database.execute("PRAGMA user_version = 1")
        database.execute(f"INSERT INTO datasets VALUES {about}")
        for number, setting in enumerate([row, good]):
            database.execute("INSERT INTO trials VALUES (1, ?, ?, 0.5)", (number, setting))
    with opened(path) as history:
        assert history.notices == []
        (past,) = history.datasets_for(SVM)
        assert past.settings == ({"C": 1.0, "gamma": 0.1},)
