"""No file that is imported and no damaged row breaks the program: each is left out."""

import contextlib
import json
import sqlite3

import pytest

from core.estimators.registry import MODELS
from core.samplers.transfer.history import TuningHistory
from core.tuning.history.store import History, RunMetadata, statistics_of

SPACE = MODELS["svm"].space("binary")
STATISTICS = statistics_of(100, 4, 2)
FACTS = RunMetadata("svm", "binary", "accuracy", True, STATISTICS, "gp", SPACE)
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
}


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "history.sqlite3", starter=False) as opened:
        yield opened


def written(path, *datasets, version=1):
    path.write_text(json.dumps({"tunescope_history": version, "datasets": datasets}))
    return path


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_dataset_is_left_out_and_the_others_are_taken(history, tmp_path, name):
    bad = {**GOOD, "id": "bad0", **HOSTILE[name]}
    found = history.import_from(written(tmp_path / "all.json", bad, GOOD))
    assert found.left_out == ("Dataset 1 of the file is damaged and was left out.",)
    assert [entry.id for entry in history.entries()] == [GOOD["id"]]
    assert history.export_to(tmp_path / "again.json") == 1


@pytest.mark.parametrize(
    "text", [DEEP, "NaN", '{"tunescope_history": true, "datasets": []}', "\x00"]
)
def test_what_is_no_history_is_a_sentence(history, tmp_path, text):
    (tmp_path / "all.json").write_text(text)
    with pytest.raises(Exception, match="no history of datasets"):
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
    (past,) = history.datasets_for(FACTS)
    assert past.settings == ({"C": 1.0, "gamma": 0.1},)


def test_one_is_not_yes_and_no_not_zero(history, tmp_path):
    from core.space import Axis

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
    past = history.datasets_for(FACTS)
    assert "cd34" in [one.id for one in past]
    assert len(TuningHistory(past, STATISTICS).distances()) == len(past)
    history.matching_counts(FACTS)
    assert history.export_to(tmp_path / "again.json") >= 1
    json.loads((tmp_path / "again.json").read_text(), parse_constant=lambda name: 1 / 0)
    if len(entries) == 1:
        assert "1 dataset of the history cannot be read" in history.notices[0]
    history.forget_all()
    with contextlib.closing(sqlite3.connect(history.path)) as database:
        assert database.execute("SELECT count(*) FROM trials").fetchone() == (0,)


@pytest.mark.parametrize("row", ["nonsense", "[1, 2]", DEEP, "null", '{"C": 1e999}', ""])
def test_a_migration_puts_a_broken_row_aside(tmp_path, row):
    from core.tuning.history.schema_versions import OURS, _create_tables

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
        (past,) = history.datasets_for(FACTS)
        assert past.settings == ({"C": 1.0, "gamma": 0.1},)
