"""The history as JSON, there and back; its starter; no bad file or damaged row does harm."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from importlib.resources import files

import pytest

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.samplers.transfer.history import TuningHistory
from core.space import Axis
from core.tuning.history.database import OURS, _create_tables
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History, starter_records
from core.tuning.scores.metrics import METRICS, default_metric

AXES = (
    Axis("C", "Trust", "float", 0.01, 100.0, log=True),
    Axis("kind", "Kind", "choice", choices=('é\n"', None, 0.5, True)),
)
FACTS = RunMetadata("svm", "binary", "log_loss", False, statistics_of(100, 4, 2), "gp", AXES)


@pytest.fixture
def other(tmp_path):
    with History(tmp_path / "other.sqlite3", starter=False) as opened:
        yield opened


def remember(history: History, trials: int = 3) -> str:
    id = history.begin_dataset(FACTS)
    for number in range(trials):
        kind = AXES[1].choices[number % 4]
        history.add_trial(id, number, {"C": 1 / (number + 3), "kind": kind}, math.pi * number)
    return id


def written(path, *datasets, **changes):
    path.write_text(json.dumps({"tunescope_history": 1, "datasets": datasets, **changes}))
    return path


def test_what_is_exported_and_imported_is_read_the_same(history, other, tmp_path):
    for trials in (3, 1, 6, 0):
        remember(history, trials)
    assert history.export_to(tmp_path / "all.json") == 4
    brought = other.import_from(tmp_path / "all.json")
    assert (brought.datasets, brought.trials, brought.known_already) == (4, 10, 0)
    assert other.datasets_for(FACTS) == history.datasets_for(FACTS)
    assert [entry.imported for entry in other.entries()] == [True] * 4
    assert {entry.when for entry in other.entries()} == {e.when for e in history.entries()}


def test_the_same_file_twice_doubles_nothing_and_a_longer_one_completes(history, other, tmp_path):
    id = remember(history, 3)
    history.export_to(tmp_path / "first.json")
    other.import_from(tmp_path / "first.json")
    again = other.import_from(tmp_path / "first.json")
    assert (again.datasets, again.trials, again.known_already) == (0, 0, 1)
    history.add_trial(id, 3, {"C": 5.0, "kind": None}, 0.5)
    history.export_to(tmp_path / "second.json")
    more = other.import_from(tmp_path / "second.json")
    assert (more.datasets, more.trials, more.known_already) == (0, 1, 1)
    assert other.datasets_for(FACTS) == history.datasets_for(FACTS)


def test_the_starter_history_is_not_exported(tmp_path):
    with History(tmp_path / "h.sqlite3") as history:
        remember(history)
        assert history.export_to(tmp_path / "all.json") == 1


def test_missing_binary_and_newer_files_are_sentences(history, tmp_path):
    with pytest.raises(UnusableError, match="cannot be read"):
        history.import_from(tmp_path / "missing.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnusableError, match="cannot be read"):
        history.import_from(tmp_path / "binary.json")
    newer = written(tmp_path / "newer.json", tunescope_history=7)
    with pytest.raises(UnusableError, match=r"newer version \(7\)"):
        history.import_from(newer)


def test_an_export_that_cannot_be_written_leaves_nothing(history, tmp_path):
    with pytest.raises(UnusableError, match="cannot be written"):
        history.export_to(tmp_path / "missing" / "all.json")
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(UnusableError, match="cannot be written"):
        history.export_to(tmp_path / "taken.json")
    assert not list(tmp_path.glob("*.part"))


FILE = files("resources") / "starter_history.json"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.sqlite3"


def facts_of(model: str, task: str) -> RunMetadata:
    metric = METRICS[default_metric(task)]
    statistics = statistics_of(300, 8, {"regression": 0, "binary": 2}.get(task, 4))
    space = MODELS[model].space(task)
    return RunMetadata(model, task, metric.name, metric.maximize, statistics, "gp", space)


def starters(history: History) -> list:
    return [entry for entry in history.entries() if entry.starter]


def test_a_new_history_has_it_and_it_stays_when_opened_again(path):
    for _ in range(2):
        with History(path) as history:
            assert len(starters(history)) == len(starter_records()) > 100


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
        facts = facts_of(model, task)
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
    ids = [dataset["id"] for dataset in json.loads(FILE.read_text())["datasets"]]
    assert len(set(ids)) == len(ids)


def test_removed_it_stays_removed_until_it_is_asked_for(path):
    with History(path) as history:
        own = history.begin_dataset(facts_of("svm", "binary"))
        history.add_trial(own, 0, {"C": 1.0, "gamma": 0.1}, 0.5)
        there = len(starters(history))
        assert history.forget_starter() == there
        assert [entry.id for entry in history.entries()] == [own]
    with History(path) as history:
        assert [entry.id for entry in history.entries()] == [own]
        assert history.restore_starter() == there
        assert history.restore_starter() == 0
        assert len(starters(history)) == there
        history.forget_all()
    with History(path) as history:
        assert history.entries() == []


def test_a_starter_dataset_that_was_forgotten_by_itself_stays_forgotten(path):
    with History(path) as history:
        gone = starters(history)[0].id
        history.forget_dataset(gone)
    with History(path) as history:
        assert gone not in {entry.id for entry in history.entries()}


# ---------------------------------------------------------- what a stranger's file or row may hold

STATISTICS = statistics_of(100, 4, 2)
SVM = RunMetadata(
    "svm", "binary", "accuracy", True, STATISTICS, "gp", MODELS["svm"].space("binary")
)
DEEP = "[" * 100_000 + "]" * 100_000

GOOD = {
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

HOSTILE = {
    "rows out of range": {"statistics": [800.0, 1.0, 2.0]},
    "negative columns": {"statistics": [5.0, -1.0, 2.0]},
    "half a class": {"statistics": [5.0, 1.0, 2.5]},
    "endless classes": {"statistics": [5.0, 1.0, 1e308]},
    "a flag as statistic": {"statistics": [5.0, 1.0, True]},
    "two statistics": {"statistics": [5.0, 1.0]},
    "no list of statistics": {"statistics": 5.0},
    "a score without end": {"trials": [[0, 1e308, 1.0, 1.0]]},
    "a number of 400 digits": {"trials": [[0, 0.5, 10**400, 1.0]]},
    "a score of 400 digits": {"trials": [[0, 10**400, 1.0, 1.0]]},
    "half a letter as model": {"model": "\ud800"},
    "half a letter as value": {"trials": [[0, 0.5, "\ud800", 1.0]]},
    "half a letter as axis": {"axes": ["C", "\udfff"]},
    "the terminal's own signs": {"strategy": "\x1b[2J"},
    "one for yes": {"maximize": 1},
    "a word for yes": {"maximize": "false"},
    "an axis twice": {"axes": ["C", "C"]},
    "an axis that is no text": {"axes": ["C", 3]},
    "a long name": {"metric": "a" * 100_000},
    "trials of another kind": {"trials": {"0": 1}},
    "a negative trial": {"trials": [[-1, 0.5, 1.0, 1.0]]},
    "a trial of 70 bits": {"trials": [[2**70, 0.5, 1.5, 0.1]]},
    "a word as score": {"trials": [[0, "high", 1.5, 0.1]]},
    "a value too few": {"trials": [[0, 0.5, 1.5]]},
    "a list as value": {"trials": [[0, 0.5, [1.5], 0.1]]},
    "no number as statistic": {"statistics": [math.nan, 1.4, 2.0]},
    "a path as id": {"id": "../../x"},
    "a number as model": {"model": 3},
    "no axes": {"axes": ...},
    "a number": 17,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_dataset_is_left_out_and_the_others_are_taken(history, tmp_path, name):
    bad = HOSTILE[name]
    if isinstance(bad, dict):
        bad = {k: v for k, v in {**GOOD, "id": "bad0", **bad}.items() if v is not ...}
    found = history.import_from(written(tmp_path / "all.json", bad, GOOD))
    assert found.left_out == ("Dataset 1 of the file is damaged and was left out.",)
    assert [entry.id for entry in history.entries()] == [GOOD["id"]]
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
    text = json.dumps({"tunescope_history": 1, "datasets": [GOOD]})
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        (tmp_path / "all.json").write_text(text.replace("0.25", number))
        assert len(history.import_from(tmp_path / "all.json").left_out) == 1


def test_values_that_do_not_fit_their_axes_are_not_read(history, tmp_path):
    trials = [[0, 0.5, 1.0, 0.1], [1, 0.5, 1e300, 0.1], [2, 0.5, "1", 0.1], [3, 0.5, True, 0.1],
              [4, 0.5, 1.0, None], [5, 0.5, 2**62, 0.1]]  # fmt: skip
    history.import_from(written(tmp_path / "all.json", {**GOOD, "trials": trials}))
    (past,) = history.datasets_for(SVM)
    assert past.settings == ({"C": 1.0, "gamma": 0.1},)


def test_one_is_not_yes_and_no_not_zero(history, tmp_path):
    axes = (Axis("on", "On", "choice", choices=(True, False)),)
    facts = RunMetadata("svm", "binary", "accuracy", True, STATISTICS, "gp", axes)
    trials = [[0, 0.5, True], [1, 0.5, 1], [2, 0.5, 0], [3, 0.5, False]]
    history.import_from(written(tmp_path / "all.json", {**GOOD, "axes": ["on"], "trials": trials}))
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
    good = {**GOOD, "trials": [[0, 0.5, 1.0, 0.1], [1, 0.25, 2.0, 0.2]]}
    history.import_from(written(tmp_path / "all.json", good, {**good, "id": "cd34"}))
    with contextlib.closing(sqlite3.connect(history.path)) as database:
        number = "number" if table == "datasets" else "dataset"
        database.execute(f"UPDATE {table} SET {change} WHERE {number} = 1")
        database.commit()
    entries = history.entries()
    assert "cd34" in [entry.id for entry in entries]
    past = history.datasets_for(SVM)
    assert "cd34" in [one.id for one in past]
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
    path = tmp_path / "history.sqlite3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        _create_tables(database)
        database.execute(f"PRAGMA application_id = {OURS}")
        database.execute("PRAGMA user_version = 1")
        database.execute(
            "INSERT INTO datasets VALUES "
            "(1, 'ab', '', 'svm', 'binary', 'accuracy', 1, 'gp', 5, 1, 2)"
        )
        good = json.dumps({"C": 1.0, "gamma": 0.1})
        for number, setting in enumerate([row, good]):
            database.execute("INSERT INTO trials VALUES (1, ?, ?, 0.5)", (number, setting))
    with History(path, starter=False) as history:
        assert history.notices == []
        (past,) = history.datasets_for(SVM)
        assert past.settings == ({"C": 1.0, "gamma": 0.1},)
