"""`tunescope history`: what it lists, changes and refuses, each in a sentence."""

import json

import optuna
import pytest

from app.cli import main
from core.space import Axis
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History

AXES = (Axis("C", "Penalty weight", "float", 1e-3, 1e3, log=True, default=1.0),)


def facts(rows=500):
    return RunMetadata("svm", "binary", "accuracy", True, statistics_of(rows, 12, 2), "gp", AXES)


@pytest.fixture
def filled(own_history):
    """A history of two datasets from here and none of the program's."""
    with History() as history:
        history.forget_starter()
        for rows in (500, 2000):
            id = history.begin_dataset(facts(rows))
            for number, score in enumerate((0.7, 0.9, 0.8)):
                history.add_trial(id, number, {"C": 0.5 + number}, score)
        return [entry.id for entry in history.entries()]


def run(capsys, *words):
    status = main(["history", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def entries():
    with History() as history:
        return history.entries()


def test_the_list_has_a_line_a_dataset_and_json_everything(capsys, filled):
    status, out, _ = run(capsys)
    assert status == 0
    head, *lines = out.splitlines()
    assert head.split()[:3] == ["id", "when", "model"]
    assert len(lines) == 2
    assert any("2000 × 12" in line and "accuracy 90.0\u00a0%" in line for line in lines)
    listed = json.loads(run(capsys, "--json")[1])
    assert [entry["id"] for entry in listed] == filled
    assert listed[0]["trials"] == 3


def test_a_few_letters_of_an_id_forget_it(capsys, filled):
    short = run(capsys)[1].splitlines()[1].split()[0]
    status, _, err = run(capsys, "forget", short)
    assert (status, err) == (0, "Deleted: 1 dataset.\n")
    assert [entry.id for entry in entries()] == filled[1:]


def test_an_id_that_is_none_or_many_is_refused(capsys, filled):
    assert run(capsys, "forget", "xyz") == (
        2, "", "tunescope: no dataset is called “xyz”; tunescope history lists their ids.\n"
    )  # fmt: skip
    status, _, err = run(capsys, "forget")
    assert status == 2
    assert "give IDs, or --all, or --starter" in err
    assert len(entries()) == 2


def test_all_is_forgotten_and_the_starter_comes_back(capsys, filled):
    assert run(capsys, "forget", "--all")[0] == 0
    assert entries() == []
    assert "The history is empty" in run(capsys)[2]
    assert run(capsys, "restore")[0] == 0
    there = entries()
    assert all(entry.starter for entry in there)
    assert run(capsys, "forget", "--starter")[2].startswith(f"Deleted: {len(there)} dataset")


def test_off_keeps_what_is_there_and_says_so(capsys, filled):
    assert run(capsys, "off")[0] == 0
    with History() as history:
        assert not history.enabled
    _, out, err = run(capsys)
    assert "The history is off" in err
    assert len(out.splitlines()) == 3
    run(capsys, "on")
    with History() as history:
        assert history.enabled


def test_what_one_computer_writes_another_takes_in_once(capsys, filled, tmp_path, monkeypatch):
    file = str(tmp_path / "along.json")
    assert run(capsys, "export", file)[1].strip() == file
    monkeypatch.setenv("TUNESCOPE_HISTORY", str(tmp_path / "other.sqlite3"))
    assert "Imported: 2 datasets with 6 trials." in run(capsys, "import", file)[2]
    assert {entry.id for entry in entries() if not entry.starter} == set(filled)
    assert (
        "nothing new to import. In the history already: 2 datasets."
        in run(capsys, "import", file)[2]
    )


def test_a_file_that_is_no_history_is_one_sentence(capsys, filled, tmp_path):
    file = tmp_path / "no.json"
    file.write_text("{")
    status, out, err = run(capsys, "import", str(file))
    assert (status, out) == (2, "")
    assert err.startswith(f"tunescope: {file}: ")
    assert len(err.splitlines()) == 1
    assert run(capsys, "import", str(tmp_path / "missing.json"))[0] == 2


def test_optuna_studies_become_experience(capsys, filled, tmp_path):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = optuna.create_study(storage=storage, study_name="mine", direction="maximize")
    C = optuna.distributions.FloatDistribution(1e-2, 1e2, log=True)
    gamma = optuna.distributions.FloatDistribution(1e-4, 1.0, log=True)
    space = {"C": C, "gamma": gamma}
    for number in range(4):
        params = {"C": 1.0 + number, "gamma": 0.1}
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=space, value=0.8 + 0.01 * number)
        )
    words = ("import-optuna", storage, "--model", "svm", "--rows", "700", "--columns", "9")
    status, _, err = run(capsys, *words, "--classes", "3")
    assert status == 0, err
    assert "Imported: 1 dataset with 4 trials" in err
    taken = next(entry for entry in entries() if entry.imported)
    assert (taken.model, taken.rows, taken.features, taken.classes) == ("svm", 700, 9, 3)
    assert taken.best == pytest.approx(0.83)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x.db", "--model", "tree"], "there is no model “tree”"),
        (["x.db", "--model", "svm", "--rows", "0"], "rows: “0” is out of range"),
        (["sqlite:///missing.db", "--model", "svm"], "missing.db"),
    ],
)
def test_studies_that_cannot_be_taken_are_one_sentence(
    capsys, filled, tmp_path, monkeypatch, words, sentence
):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, "import-optuna", *words)
    assert (status, out) == (2, "")
    assert sentence in err.splitlines()[-1]
    assert len(entries()) == 2


def test_a_damaged_file_is_renamed_and_said(capsys, own_history):
    own_history.write_bytes(b"no database at all" * 100)
    status, _, err = run(capsys)
    assert status == 0
    assert "damaged" in err
