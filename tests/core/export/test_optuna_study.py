"""A run as an Optuna study: what Optuna itself reads there, in SQLite and in a journal."""

import contextlib
import os
import sqlite3
import sys
from datetime import datetime, timedelta

import optuna
import pytest
import sqlalchemy
from exported_files import exported
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.export import optuna_study
from core.export.exporters import check_export
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

pytestmark = pytest.mark.slow
SPACE = [
    Axis("C", "", "float", 1e-3, 1e3, True, default=1.0),
    Axis("k", "", "int", 1, 9, default=3),
    Axis("kernel", "", "choice", choices=("rbf", "linear", None), default="rbf"),
]
BEGAN = "2024-05-01T12:00:00+00:00"
SCORED = [TrialFinished(1, 0, {}, 0.5, [0.5])]


def setting(C, k, kernel="rbf"):
    return {"C": C, "k": k, "kernel": kernel}


def folder_of(path, events, model="svm", strategy="random", **started):
    plan = Plan(DataPlan("sample:iris"), model, strategy, seed=7)
    folder = RunFolder.create(plan, path=path)
    dataset = DatasetFacts(name="iris", task=Task.MULTICLASS)
    first = RunStarted(run=path.name, plan=plan.as_dict(), dataset=dataset, started_at=BEGAN)
    with folder.hold_lock():
        for event in (RunStarted(**{**vars(first), **started}), *events):
            folder.append(event)
    return folder


def storage_of(path):
    if not str(path).endswith("log"):
        return f"sqlite:///{path}"
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    return optuna.storages.JournalStorage(backend)


def study_of(path, name=None):
    return optuna.load_study(study_name=name, storage=storage_of(path))


def names_in(path):
    return set(optuna.get_all_study_names(storage_of(path)))


@pytest.fixture
def trials(tmp_path):
    # Four trials that ended, one of each kind, and one that did not; 2 ended before 1.
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
    return folder_of(tmp_path / "a run", events, space=SPACE, maximize=True)


@pytest.mark.parametrize("name", ["study.db", "study.log", "study.sqlite3"])
def test_trials_have_what_the_run_has(trials, tmp_path, name):
    assert export_study(trials, tmp_path / name) == "a run"
    study = study_of(tmp_path / name, "a run")
    assert study.direction == optuna.study.StudyDirection.MAXIMIZE
    assert (study.user_attrs["model"], study.user_attrs["seed"]) == ("svm", 7)
    assert study.metric_names == ["accuracy"]
    zero, one, failed, behind, lost = study.trials
    complete, pruned, fail = TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL
    assert [t.state for t in study.trials] == [complete, complete, fail, pruned, fail]
    assert [t.number for t in study.trials] == [0, 1, 2, 3, 4]
    assert (zero.value, one.value) == (0.9, 0.95)
    assert (zero.params, one.params) == (setting(1.0, 3), setting(10.0, 9, "linear"))
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
    told = {"reason": "improve", "expected": 0.93, "excluded": True}
    assert {name: one.user_attrs[name] for name in told} == told
    assert study.best_trial.number == 1


def exported_settings(tmp_path, settings, **started):
    """The trials of a run on these settings, as Optuna reads them."""
    events = [
        event
        for number, tried in enumerate(settings)
        for event in (TrialStarted(0, number, tried), TrialFinished(1, number, tried, 0.5, [0.5]))
    ]
    export_study(folder_of(tmp_path / "run", events, **started), tmp_path / "study.db")
    return study_of(tmp_path / "study.db", "run").trials


def test_values_beyond_the_space_widen_it(tmp_path):
    # An older version had other ranges and choices: Optuna refuses values that lie outside.
    odd = [{"C": 1e4, "k": 12, "kernel": "poly"}, {"C": 1.0, "k": 3, "kernel": "rbf", "new": "x"}]
    trials = exported_settings(tmp_path, odd, space=SPACE)
    assert [trial.params for trial in trials] == odd
    assert trials[0].distributions["C"].high == 1e4
    assert "poly" in trials[0].distributions["kernel"].choices


@pytest.mark.parametrize("name", ["all.db", "all.log"])
def test_several_models_are_a_study_each(tmp_path, name):
    tried = [
        {"model": "svm", "C": 1.0, "kernel": "rbf"},
        {"model": "logistic", "C": 2.0},
        {"model": "svm", "C": 4.0, "kernel": "linear"},
    ]
    events = [
        event
        for n, setting in enumerate(tried)
        for event in (TrialStarted(n, n, setting), TrialFinished(n + 0.5, n, setting, n, [n], 0.5))
    ]
    events[-1] = TrialFailed(2.5, 2, tried[2], "it took too long.", 0.5)
    model = Axis("model", "", "choice", choices=("svm", "logistic"), default="svm")
    about = {"model": "auto", "strategy": "race", "space": [model], "maximize": True}
    folder = folder_of(tmp_path / "run", events, **about)
    where = tmp_path / name
    assert export_study(folder, where) == "run"
    assert names_in(where) == {"run/svm", "run/logistic"}
    svm, logistic = study_of(where, "run/svm"), study_of(where, "run/logistic")
    assert [trial.number for trial in svm.trials] == [0, 1]
    assert [trial.params for trial in svm.trials] == [
        {"C": 1.0, "kernel": "rbf"},
        {"C": 4.0, "kernel": "linear"},
    ]
    assert [trial.state for trial in svm.trials] == [TrialState.COMPLETE, TrialState.FAIL]
    assert [trial.user_attrs["trial"] for trial in svm.trials] == [0, 2]
    assert svm.user_attrs["model"] == "svm"
    assert isinstance(svm.trials[0].distributions["C"], FloatDistribution)
    assert svm.trials[0].distributions["C"].log
    (trial,) = logistic.trials
    assert (trial.params, trial.value) == ({"C": 2.0}, 1.0)
    began = datetime.fromisoformat(BEGAN).astimezone().replace(tzinfo=None)
    assert trial.datetime_start == began + timedelta(seconds=1)
    assert trial.datetime_complete == began + timedelta(seconds=1.5)
    # A killed program wrote the first of them alone: the other one joins it, once.
    optuna.delete_study(study_name="run/logistic", storage=storage_of(where))
    export_study(folder, where)
    assert len(study_of(where, "run/logistic").trials) == 1
    assert len(study_of(where, "run/svm").trials) == 2
    with pytest.raises(UnusableError, match="holds a study “run/logistic” already"):
        export_study(folder, where)
    assert names_in(where) == {"run/svm", "run/logistic"}
    # What is of the name and of other content stays, and nothing is written beside it.
    optuna.delete_study(study_name="run/svm", storage=storage_of(where))
    optuna.delete_study(study_name="run/logistic", storage=storage_of(where))
    optuna.create_study(study_name="run/logistic", storage=storage_of(where), direction="minimize")
    with pytest.raises(UnusableError, match="holds a study “run/logistic” already"):
        export_study(folder, where)
    assert names_in(where) == {"run/logistic"}


def test_a_database_holds_what_optuna_itself_would_have_written(trials, tmp_path, monkeypatch):
    # Rows are added in one transaction; Optuna's add_trials writes one trial after the other.
    commits, counts, tables, studies = [], [], [], []
    opened = optuna_study._database_storage

    @contextlib.contextmanager
    def counted(url):
        with opened(url) as storage:
            sqlalchemy.event.listen(storage.engine, "commit", commits.append)
            yield storage

    monkeypatch.setattr(optuna_study, "_database_storage", counted)
    for name in ("ours.db", "theirs.db"):
        commits.clear()
        export_study(trials, tmp_path / name)
        counts.append(len(commits))
        with sqlite3.connect(tmp_path / name) as database:
            rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = [name for (name,) in rows.fetchall()]
            content = {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        for table in [name for name in names if name.startswith("trial_")]:
            content[table] = sorted(row[1:] for row in content[table])
        tables.append(content)
        studies.append(study_of(tmp_path / name).trials)
        monkeypatch.setattr(
            optuna_study, "_add_trials", lambda study, _, trials: study.add_trials(trials)
        )
    assert (len(tables[0]["trials"]), len(tables[0]["trial_params"])) == (5, 15)
    assert tables[0] == tables[1]
    assert studies[0] == studies[1]
    assert counts[1] - counts[0] == len(studies[0]) - 1


def test_a_study_whose_trials_cannot_be_added_is_taken_out_again(trials, tmp_path, monkeypatch):
    where = tmp_path / "all.db"
    other = folder_of(tmp_path / "other", SCORED)
    export_study(other, where)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(optuna_study, "_trial_row", full)
        with pytest.raises(UnusableError, match="the disk is full"):
            export_study(trials, where)
    assert names_in(where) == {"other"}
    export_study(trials, where)
    assert len(study_of(where, "a run").trials) == 5
    assert names_in(where) == {"a run", "other"}
    with pytest.raises(UnusableError, match="holds a study “other” already"):
        export_study(other, where)


@pytest.mark.parametrize(("name", "count"), [("all.db", 0), ("all.log", 2)])
def test_a_study_that_a_killed_program_began_is_completed(
    trials, tmp_path, monkeypatch, name, count
):
    where = tmp_path / name
    other = folder_of(tmp_path / "other", SCORED)
    export_study(other, where)
    if not (child := os.fork()):
        monkeypatch.setattr(
            optuna_study,
            "_add_trials",
            lambda study, _, trials: (study.add_trials(trials[:count]), os._exit(9)),
        )
        export_study(trials, where)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(study_of(where, "a run").trials) == count
    export_study(trials, where)
    export_study(trials, tmp_path / "alone.db")
    expected = [trial.params for trial in study_of(tmp_path / "alone.db").trials]
    assert [trial.params for trial in study_of(where, "a run").trials] == expected
    assert len(study_of(where, "other").trials) == 1
    with pytest.raises(UnusableError, match="holds a study “a run” already"):
        export_study(trials, where)


@pytest.mark.parametrize("held_out", [False, True])
def test_steps_of_a_penalty_learner_are_trials(tmp_path, held_out):
    steps = [
        HyperGradientStep(1.0 + k, k, 9.0 - k, {"a": float(k), "b": 0.0})
        if held_out
        else PenaltyStep(1.0 + k, k, 9.0 - k, 8.0, {"a": 1.0 + k, "b": 1.0})
        for k in range(3)
    ]
    end = RunFinished(5.0, "the penalties no longer change", Results())
    strategy, groups = "gradient" if held_out else "mm", {"a": 2, "b": 1}
    events, started = [*steps, end], {"kind": "penalties", "groups": groups}
    folder = folder_of(tmp_path / "run", events, strategy=strategy, **started)
    export_study(folder, tmp_path / "study.log")
    study = study_of(tmp_path / "study.log", "run")
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert [trial.value for trial in study.trials] == [9.0, 8.0, 7.0]
    assert set(study.trials[0].params) == {"penalty a", "penalty b"}
    assert study.trials[0].params["penalty b"] == 1.0


def test_foreign_files_stay_as_they_are(trials, tmp_path):
    base, notes = tmp_path / "music.db", tmp_path / "notes.log"
    with sqlite3.connect(base) as database:
        database.execute("create table songs (title)")
    notes.write_text("bought milk\n")
    for file, sentence in ((base, "holds no studies of Optuna"), (notes, "no journal of Optuna")):
        before = file.read_bytes()
        with pytest.raises(UnusableError, match=sentence):
            export_study(trials, file)
        assert file.read_bytes() == before
    with pytest.raises(UnusableError, match="no such folder"):
        export_study(trials, tmp_path / "nowhere" / "study.db")
    with pytest.raises(UnusableError, match="nothing was tried"):
        export_study(folder_of(tmp_path / "empty", []), tmp_path / "study.db")
    assert not (tmp_path / "study.db").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
@pytest.mark.parametrize("ending", [".db", ".log"])
def test_a_pipe_is_no_storage(trials, tmp_path, ending):
    pipe = tmp_path / f"study{ending}"
    os.mkfifo(pipe)
    with pytest.raises(UnusableError, match="no ordinary file"):
        export_study(trials, pipe)


def test_what_is_exported_can_be_imported_into_the_history(tmp_path):
    # The trial that was ended early has no score to import.
    space = list(MODELS["svm"].space("multiclass"))
    tried = default_setting(space)
    events = [
        TrialStarted(0, 0, tried, "default"),
        TrialFinished(1, 0, tried, 0.9, [0.9]),
        TrialStarted(1, 1, tried, "improve"),
        TrialFinished(2, 1, tried, 0.1, [0.1], behind=True),
    ]
    export_study(folder_of(tmp_path / "run", events, space=space), tmp_path / "study.db")
    (record,), _ = studies_as_records(str(tmp_path / "study.db"), "svm", (5.0, 1.0, 3.0), None, "")
    assert [trial.score for trial in record.trials] == [0.9]


@pytest.mark.parametrize("name", ["out.db", "out.log"])
def test_it_is_an_export_like_any_other(make_run, tmp_path, name):
    # What the window and `--export` write; a second run joins the file of the first.
    made = make_run()
    check_export(tmp_path / name, "binary", "logistic")
    with pytest.raises(UnusableError, match="whole run, not of one model"):
        check_export(tmp_path / name, which="default")
    where = exported(made.folder, tmp_path / name)
    (study,) = names_in(where)
    trials = state_from_events(made.folder.all_events()).trials
    assert len(study_of(where, study).trials) == len(trials)
    export_study(folder_of(tmp_path / "other", SCORED), where)
    assert names_in(where) == {study, "other"}
    with pytest.raises(UnusableError, match="already"):
        exported(made.folder, where)
    assert len(names_in(where)) == 2
