"""A run as an Optuna study: what Optuna itself reads there, in SQLite and in a journal."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from datetime import datetime, timedelta

import optuna
import pytest
import sqlalchemy
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from app.__main__ import main
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.export import optuna_study
from core.export.exporters import check_export, export_from_folder
from core.export.optuna_study import export_study
from core.space import Axis, default_setting
from core.tuning.events import (
    DatasetFacts,
    HyperGradientStep,
    PenaltyStep,
    RunFinished,
    RunStarted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.history.optuna_studies import studies_as_records
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

SPACE = (
    Axis("C", "", "float", 1e-3, 1e3, True, default=1.0),
    Axis("k", "", "int", 1, 9, default=3),
    Axis("kernel", "", "choice", choices=("rbf", "linear", None), default="rbf"),
)
BEGAN = "2024-05-01T12:00:00+00:00"


def setting(C, k, kernel="rbf"):
    return {"C": C, "k": k, "kernel": kernel}


def folder_of(path, events, model="svm", strategy="random", **started):
    plan = Plan(DataPlan("sample:iris"), model, strategy, seed=7)
    folder = RunFolder.create(plan, path=path)
    dataset = DatasetFacts(name="iris", task=Task.MULTICLASS)
    first = RunStarted(run=path.name, plan=plan.as_dict(), dataset=dataset, started_at=BEGAN)
    with folder.hold_lock():
        folder.append(RunStarted(**{**vars(first), **started}))
        for event in events:
            folder.append(event)
    return folder


@pytest.fixture
def trials(tmp_path):
    """Four trials that ended, one of each kind, and one that did not; 2 ended before 1."""
    events = [
        TrialStarted(0.5, 0, setting(1.0, 3), "default"),
        TrialFinished(2.5, 0, setting(1.0, 3), 0.9, [0.8, 1.0], 2.0, 2),
        TrialStarted(3.0, 1, setting(10.0, 9, "linear"), "improve", 0.93, 0.02),
        TrialStarted(3.0, 2, setting(0.01, 1, None), "explore"),
        TrialFailed(4.0, 2, setting(0.01, 1, None), "it took too long.", 1.0),
        TrialFinished(5.0, 1, setting(10.0, 9, "linear"), 0.95, [0.9, 1.0], 2.0, 2),
        TrialStarted(5.0, 3, setting(0.5, 2), "explore"),
        TrialFinished(6.0, 3, setting(0.5, 2), 0.4, [0.4], 1.0, 1, behind=True),
        TrialExcluded(6.5, 1),
        TrialStarted(7.0, 4, setting(2.0, 2), "explore"),
    ]
    return folder_of(tmp_path / "a run", events, space=list(SPACE), maximize=True)


@pytest.mark.parametrize("name", ["study.db", "study.log", "study.sqlite3"])
def test_trials_have_what_the_run_has(trials, tmp_path, name):
    where = tmp_path / name
    assert export_study(trials, where) == "a run"
    journal = optuna.storages.journal.JournalFileBackend(str(where))
    storage = (
        optuna.storages.JournalStorage(journal) if name.endswith("log") else f"sqlite:///{where}"
    )
    study = optuna.load_study(study_name="a run", storage=storage)
    assert study.direction == optuna.study.StudyDirection.MAXIMIZE
    assert study.user_attrs["model"] == "svm"
    assert study.user_attrs["seed"] == 7
    assert study.metric_names == ["accuracy"]
    zero, one, failed, behind, lost = study.trials
    complete, pruned, fail = TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL
    assert [t.state for t in study.trials] == [complete, complete, fail, pruned, fail]
    assert [t.number for t in study.trials] == [0, 1, 2, 3, 4]
    assert (zero.value, one.value) == (0.9, 0.95)
    assert zero.params == setting(1.0, 3)
    assert one.params == setting(10.0, 9, "linear")
    assert zero.distributions == {
        "C": FloatDistribution(1e-3, 1e3, log=True),
        "k": IntDistribution(1, 9),
        "kernel": CategoricalDistribution(("rbf", "linear", None)),
    }
    assert one.intermediate_values == {0: 0.9, 1: 1.0}
    assert behind.intermediate_values == {0: 0.4}
    assert behind.user_attrs["estimate"] == 0.4
    began = datetime.fromisoformat(BEGAN).astimezone().replace(tzinfo=None)
    assert zero.datetime_start == began + timedelta(seconds=0.5)
    assert zero.datetime_complete == began + timedelta(seconds=2.5)
    assert failed.user_attrs["failure"] == "it took too long."
    assert "ended" in lost.user_attrs["failure"]
    assert one.user_attrs["reason"] == "improve"
    assert one.user_attrs["expected"] == 0.93
    assert one.user_attrs["excluded"] is True
    assert study.best_trial.number == 1


def test_values_beyond_the_space_widen_it(tmp_path):
    """An older version had other ranges and choices: Optuna refuses values that lie outside."""
    odd = [{"C": 1e4, "k": 12, "kernel": "poly"}, {"C": 1.0, "k": 3, "kernel": "rbf", "new": "x"}]
    events = [
        event
        for number, one in enumerate(odd)
        for event in (TrialStarted(0, number, one), TrialFinished(1, number, one, 0.5, [0.5]))
    ]
    folder = folder_of(tmp_path / "run", events, space=list(SPACE))
    export_study(folder, tmp_path / "study.db")
    (study,) = optuna.get_all_study_summaries(f"sqlite:///{tmp_path}/study.db")
    first, second = optuna.load_study(
        study_name=study.study_name, storage=f"sqlite:///{tmp_path}/study.db"
    ).trials
    assert first.params == odd[0]
    assert second.params == odd[1]
    assert first.distributions["C"].high == 1e4
    assert "poly" in first.distributions["kernel"].choices


def test_parameters_of_several_models_do_not_collide(tmp_path):
    tried = [
        {"model": "svm", "C": 1.0, "kernel": "rbf"},
        {"model": "logistic", "C": 2.0},
        {"model": "knn", "weights": "uniform", "n_neighbors": 5},
    ]
    events = [
        event
        for number, one in enumerate(tried)
        for event in (TrialStarted(0, number, one), TrialFinished(1, number, one, 0.5, [0.5]))
    ]
    model = Axis("model", "", "choice", choices=("svm", "logistic", "knn"), default="svm")
    folder = folder_of(tmp_path / "run", events, model="auto", strategy="race", space=[model])
    export_study(folder, tmp_path / "study.db")
    trials = optuna.load_study(study_name="run", storage=f"sqlite:///{tmp_path}/study.db").trials
    assert trials[0].params == {"model": "svm", "svm.C": 1.0, "svm.kernel": "rbf"}
    assert trials[1].params == {"model": "logistic", "logistic.C": 2.0}
    assert trials[2].params["knn.n_neighbors"] == 5


def test_a_database_holds_what_optuna_itself_would_have_written(trials, tmp_path, monkeypatch):
    """Rows are added in one transaction; Optuna's add_trials writes one trial after the other."""
    ours, theirs = (f"sqlite:///{tmp_path}/{name}.db" for name in ("ours", "theirs"))
    export_study(trials, ours)
    monkeypatch.setattr(
        optuna_study, "_add_trials", lambda study, _, trials: study.add_trials(trials)
    )
    export_study(trials, theirs)

    def rows(path):
        with sqlite3.connect(path.removeprefix("sqlite:///")) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = [name for (name,) in tables.fetchall()]
            return {
                name: sorted(tuple(r)[1:] for r in database.execute(f"SELECT * FROM {name}"))
                if name.startswith("trial_")
                else database.execute(f"SELECT * FROM {name}").fetchall()
                for name in names
            }

    mine = rows(ours)
    assert len(mine["trials"]) == 5
    assert len(mine["trial_params"]) == 15
    assert mine == rows(theirs)
    one, other = (optuna.load_study(study_name="a run", storage=where) for where in (ours, theirs))
    assert one.trials == other.trials


def test_a_study_whose_trials_cannot_be_added_is_taken_out_again(trials, tmp_path, monkeypatch):
    where = f"sqlite:///{tmp_path}/all.db"
    export_study(folder_of(tmp_path / "other", [TrialFinished(1, 0, {}, 0.5, [0.5])]), where)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(optuna_study, "_trial_row", full)
        with pytest.raises(UnusableError, match="the disk is full"):
            export_study(trials, where)
    assert optuna.get_all_study_names(where) == ["other"]
    export_study(trials, where)
    assert len(optuna.load_study(study_name="a run", storage=where).trials) == 5


def test_a_database_of_many_trials_is_written_in_one_transaction(tmp_path, monkeypatch):
    commits = []
    events = [
        TrialFinished(1.0 + k, k, setting(1.0 + k, 1 + k % 9), 0.5, [0.4, 0.6]) for k in range(60)
    ]
    spaces = list(SPACE)
    few = folder_of(tmp_path / "few", events[:2], space=spaces)
    many = folder_of(tmp_path / "many", events, space=spaces)
    opened = optuna_study._database_storage

    @contextlib.contextmanager
    def counted(url):
        with opened(url) as storage:
            sqlalchemy.event.listen(storage.engine, "commit", commits.append)
            yield storage

    monkeypatch.setattr(optuna_study, "_database_storage", counted)
    export_study(few, tmp_path / "few.db")
    before = len(commits)
    export_study(many, tmp_path / "many.db")
    assert len(commits) == 2 * before


@pytest.mark.parametrize("held_out", [False, True])
def test_steps_of_a_penalty_learner_are_trials(tmp_path, held_out):
    steps = [
        HyperGradientStep(1.0 + k, k, 9.0 - k, {"a": float(k), "b": 0.0})
        if held_out
        else PenaltyStep(1.0 + k, k, 9.0 - k, 8.0, {"a": 1.0 + k, "b": 1.0})
        for k in range(3)
    ]
    folder = folder_of(
        tmp_path / "run",
        [*steps, RunFinished(5.0, "the penalties no longer change", Results())],
        strategy="gradient" if held_out else "mm",
        kind="penalties",
        groups={"a": 2, "b": 1},
    )
    export_study(folder, tmp_path / "study.log")
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.log"))
    study = optuna.load_study(study_name="run", storage=optuna.storages.JournalStorage(backend))
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert [trial.value for trial in study.trials] == [9.0, 8.0, 7.0]
    assert set(study.trials[0].params) == {"penalty a", "penalty b"}
    assert study.trials[0].params["penalty b"] == 1.0


def test_a_storage_takes_several_runs_and_a_name_once(trials, tmp_path):
    other = folder_of(tmp_path / "other", [TrialFinished(1, 0, {}, 0.5, [0.5])])
    where = f"sqlite:///{tmp_path}/all.db"
    export_study(trials, where)
    export_study(other, where)
    assert set(optuna.get_all_study_names(where)) == {"a run", "other"}
    with pytest.raises(UnusableError, match="holds a study “other” already"):
        export_study(other, where)


def test_foreign_files_stay_as_they_are(trials, tmp_path):
    base = tmp_path / "music.db"
    with sqlite3.connect(base) as database:
        database.execute("create table songs (title)")
    before = base.read_bytes()
    with pytest.raises(UnusableError, match="holds no studies of Optuna"):
        export_study(trials, base)
    assert base.read_bytes() == before
    notes = tmp_path / "notes.log"
    notes.write_text("bought milk\n")
    with pytest.raises(UnusableError, match="no journal of Optuna"):
        export_study(trials, notes)
    assert notes.read_text() == "bought milk\n"
    with pytest.raises(UnusableError, match="no such folder"):
        export_study(trials, tmp_path / "nowhere" / "study.db")
    with pytest.raises(UnusableError, match="nothing was tried"):
        export_study(folder_of(tmp_path / "empty", []), tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()


def test_what_is_exported_can_be_imported_into_the_history(tmp_path):
    """The trial that was ended early has no score to import."""
    space = MODELS["svm"].space("multiclass")
    tried = default_setting(space)
    events = [
        TrialStarted(0, 0, tried, "default"),
        TrialFinished(1, 0, tried, 0.9, [0.9]),
        TrialStarted(1, 1, tried, "improve"),
        TrialFinished(2, 1, tried, 0.1, [0.1], behind=True),
    ]
    folder = folder_of(tmp_path / "run", events, space=list(space))
    export_study(folder, tmp_path / "study.db")
    (record,), _ = studies_as_records(str(tmp_path / "study.db"), "svm", (5.0, 1.0, 3.0), None, "")
    assert [trial.score for trial in record.trials] == [0.9]


def test_on_the_command_line(trials, tmp_path, capsys):
    where = tmp_path / "out.db"
    command = ["export", str(trials.path), "--format", "optuna", "--out", str(where)]
    assert main(command) == 0
    assert f"Saved:  {where}" in capsys.readouterr().out
    assert optuna.get_all_study_names(f"sqlite:///{where}") == ["a run"]
    assert main([*command, "--json"]) == 2  # the study is there already
    assert "already" in capsys.readouterr().err
    assert main([*command[:-1], str(tmp_path / "out.log"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exports"] == [str(tmp_path / "out.log")]
    assert main(["export", str(trials.path), "--out", str(where)]) == 2


@pytest.mark.parametrize("name", ["out.db", "out.log"])
def test_it_is_an_export_like_any_other(make_run, tmp_path, name):
    """What the window and `--export` write; a second run joins the file of the first."""
    made = make_run()
    check_export(tmp_path / name, "binary", "logistic")
    with pytest.raises(UnusableError, match="whole run, not of one model"):
        check_export(tmp_path / name, which="default")
    where = export_from_folder(made.folder, tmp_path / name)
    backend = optuna.storages.journal.JournalFileBackend(str(where))
    storage = (
        optuna.storages.JournalStorage(backend) if name.endswith("log") else f"sqlite:///{where}"
    )
    (study,) = optuna.get_all_study_names(storage)
    trials = optuna.load_study(study_name=study, storage=storage).trials
    assert len(trials) == len(state_from_events(made.folder.all_events()).trials)
    other = folder_of(tmp_path / "other", [TrialFinished(1, 0, {}, 0.5, [0.5])])
    export_study(other, where)
    assert set(optuna.get_all_study_names(storage)) == {study, "other"}
    with pytest.raises(UnusableError, match="already"):
        export_from_folder(made.folder, where)
    assert len(optuna.get_all_study_names(storage)) == 2
