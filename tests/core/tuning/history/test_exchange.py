"""The history as JSON goes to another computer and back, and bad files are sentences."""

import json
import math

import pytest

from core.errors import UnusableError
from core.space import Axis
from core.tuning.history.store import History, RunMetadata, statistics_of

AXES = (
    Axis("C", "Trust", "float", 0.01, 100.0, log=True),
    Axis("kind", "Kind", "choice", choices=('é\n"', None, 0.5, True)),
)
FACTS = RunMetadata("svm", "binary", "log_loss", False, statistics_of(100, 4, 2), "gp", AXES)
GOOD = {
    "id": "ab12",
    "began": "2026-01-02T03:04:05+00:00",
    "model": "svm",
    "task": "binary",
    "metric": "log_loss",
    "strategy": "gp",
    "maximize": False,
    "statistics": [5.0, 1.4, 2.0],
    "axes": ["C", "kind"],
    "trials": [[0, 0.25, 1.5, None], [4, 0.5, 2.5, 0.5]],
}


@pytest.fixture
def history(tmp_path):
    with History(tmp_path / "history.sqlite3", starter=False) as opened:
        yield opened


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


def test_damaged_datasets_of_a_file_are_said_and_the_others_taken(history, tmp_path):
    wrong = [
        {**GOOD, "trials": [[0, "high", 1.5, None]]},
        {**GOOD, "trials": [[0, 0.5, 1.5]]},
        {**GOOD, "trials": [[0, 0.5, [1.5], None]]},
        {**GOOD, "trials": [[2**70, 0.5, 1.5, None]]},
        {**GOOD, "statistics": [5.0, 1.4]},
        {**GOOD, "statistics": [math.nan, 1.4, 2.0]},
        {**GOOD, "id": "../../x"},
        {**GOOD, "model": 3},
        {key: value for key, value in GOOD.items() if key != "axes"},
        17,
    ]
    brought = history.import_from(written(tmp_path / "mixed.json", *wrong, GOOD))
    assert (brought.datasets, brought.trials) == (1, 2)
    assert len(brought.left_out) == len(wrong)
    assert brought.left_out[0] == "Dataset 1 of the file is damaged and was left out."
    (earlier,) = history.datasets_for(FACTS)
    assert earlier.settings == ({"C": 1.5, "kind": None}, {"C": 2.5, "kind": 0.5})
    assert (earlier.scores, earlier.maximize) == ((0.25, 0.5), False)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"datasets": []}', '{"tunescope_history": 1}', "[" * 100_000]
)
def test_what_is_no_history_is_a_sentence(history, tmp_path, text):
    (tmp_path / "no.json").write_text(text)
    with pytest.raises(UnusableError, match="no history of datasets"):
        history.import_from(tmp_path / "no.json")


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
