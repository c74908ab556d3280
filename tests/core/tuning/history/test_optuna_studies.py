"""Optuna's studies become past experience where they fit a model, and sentences where not."""

import contextlib
import shutil
import sqlite3

import optuna
import pytest
from history_facts import facts_of
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.export.optuna_study import export_study
from core.space import Axis, default_setting
from core.tuning.events import DatasetFacts, RunStarted, TrialFinished
from core.tuning.history.dataset_records import ImportCounts, statistics_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

STATISTICS = statistics_of(150, 4, 3)
SVM = facts_of(MODELS["svm"].space("multiclass"), task="multiclass", classes=3)


def study(storage, name="wine-cellar", trials=3, objective=None, **given) -> optuna.Study:
    made = optuna.create_study(
        study_name=name, storage=storage, **{"direction": "maximize"} | given
    )
    made.optimize(objective or svm_objective, n_trials=trials)
    return made


def svm_objective(trial: optuna.Trial) -> float:
    C = trial.suggest_float("C", 0.1, 10.0, log=True)
    return C / (C + trial.suggest_float("gamma", 0.01, 1.0))


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


def test_a_study_of_a_sqlite_url_is_taken_with_its_settings_and_scores(history, url, tmp_path):
    made = study(url)
    made.set_user_attr("owner", "marked-attribute")
    assert history.import_optuna(url, "svm", STATISTICS) == ImportCounts(1, 3, 0)
    (past,) = history.datasets_for(SVM)
    assert list(past.settings) == [trial.params for trial in made.trials]
    assert list(past.scores) == [trial.value for trial in made.trials]
    assert past.statistics == STATISTICS
    (entry,) = history.entries()
    assert (entry.imported, entry.strategy, entry.rows) == (True, "optuna", 150)
    history.export_to(tmp_path / "history.json")
    for file in tmp_path.glob("history*"):  # neither the study's name nor its attributes
        assert b"wine-cellar" not in file.read_bytes()
        assert b"marked-attribute" not in file.read_bytes()


@pytest.mark.parametrize(
    ("line", "size", "sentence"),
    [
        (b"2 litres of milk\n", 0, "this file is no journal of Optuna"),
        (b"{}", 9, "this file is no journal of Optuna"),
        (b'{"op_code": 0}\n', 10**12, "it is longer than 1,074 MB"),
    ],
)
def test_what_is_no_journal_is_refused_before_it_is_read(history, tmp_path, line, size, sentence):
    path = tmp_path / "study.log"
    with path.open("wb") as file:
        file.write(line)
        file.truncate(max(size, len(line)))  # takes no room on the disk
    with pytest.raises(UnusableError, match=sentence):
        history.import_optuna(str(path), "svm", STATISTICS)


def test_a_grown_study_is_completed_and_never_doubled(history, url):
    made = study(url)
    history.import_optuna(url, "svm", STATISTICS)
    made.optimize(svm_objective, n_trials=2)
    assert history.import_optuna(url, "svm", STATISTICS) == ImportCounts(0, 2, 1)
    assert len(history.datasets_for(SVM)[0].settings) == 5


def test_journals_and_sqlite_files_are_named_by_their_path(history, url, tmp_path):
    journal = tmp_path / "journal.log"
    study(JournalStorage(JournalFileBackend(str(journal))))
    study(url)
    assert history.import_optuna(str(journal), "svm", STATISTICS).trials == 3
    assert history.import_optuna(str(tmp_path / "studies.db"), "svm", STATISTICS).trials == 3


def test_one_study_of_several_can_be_named(history, url):
    study(url, "first")
    study(url, "second", trials=1)
    assert history.import_optuna(url, "svm", STATISTICS, "second").trials == 1
    with pytest.raises(UnusableError, match="no study “third”"):
        history.import_optuna(url, "svm", STATISTICS, "third")


def test_what_fits_is_taken_beside_what_does_not(history, url):
    study(url, "fits")
    study(url, "renamed", objective=lambda trial: trial.suggest_float("cost", 0.1, 1.0))
    study(url, "empty", trials=0)
    brought = history.import_optuna(url, "svm", STATISTICS)
    assert brought.datasets == 1
    renamed, empty = brought.left_out
    assert "“renamed” has 3 trials with other parameters" in renamed
    assert "cost" in renamed
    assert empty == "The study “empty” has no finished trial."


def test_choices_that_changed_are_named_and_their_trials_left_out(history, url):
    def forest(trial: optuna.Trial) -> float:
        trial.suggest_categorical("max_features", ["sqrt", "log2", 0.6])
        trial.suggest_int("n_estimators", 10, 50)
        return float(trial.suggest_int("min_samples_leaf", 1, 5))

    made = study(url, trials=0)
    for choice in ("sqrt", "log2", 0.6):
        made.enqueue_trial({"max_features": choice, "n_estimators": 20, "min_samples_leaf": 2})
    made.optimize(forest, n_trials=3)
    brought = history.import_optuna(url, "forest", STATISTICS)
    (sentence,) = brought.left_out
    assert brought.trials == 2
    assert "1 trial with a max_features" in sentence
    assert "log2 instead of sqrt" in sentence


def test_numbers_outside_of_the_space_are_left_out(history, url):
    made = study(url, trials=0)
    for C in (1e-3, 1.0):
        made.enqueue_trial({"C": C, "gamma": 0.1})
    made.optimize(
        lambda t: t.suggest_float("C", 1e-4, 1.0) * t.suggest_float("gamma", 0.1, 1.0), n_trials=2
    )
    brought = history.import_optuna(url, "svm", STATISTICS)
    assert brought.trials == 1
    assert "1 trial with C outside of 0.01 to 1000" in brought.left_out[0]


def test_unfinished_and_infinite_trials_are_not_taken(history, url):
    def objective(trial: optuna.Trial) -> float:
        svm_objective(trial)
        if trial.number == 0:
            raise optuna.TrialPruned
        return float("inf") if trial.number == 1 else 0.5

    study(url, objective=objective)
    assert history.import_optuna(url, "svm", STATISTICS).trials == 1


@pytest.mark.parametrize("name", ["constraints", "constraints:memory"])
def test_infeasible_trials_are_not_taken(history, url, name):
    kept = optuna.create_study(study_name="within", storage=url, direction="maximize")
    for memory in (-1.0, 0.0, 0.5, float("nan")):
        trial = kept.ask()
        notes = {name: [-1.0, memory] if name == "constraints" else memory}
        svm_objective(trial)
        kept._storage.set_trial_system_attr(trial._trial_id, *notes.popitem())
        kept.tell(trial, 1.0)
    assert history.import_optuna(url, "svm", STATISTICS).trials == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"direction": "minimize", "metric": "accuracy"}, "looks for the opposite"),
        ({"direction": "maximize", "metric": "log_loss"}, "looks for the opposite"),
        ({"direction": None, "directions": ["maximize"] * 2}, "several objectives"),
        ({"trials": 0}, "no finished trial"),
        ({"objective": lambda trial: trial.suggest_float("x", 0, 1)}, "other parameters"),
    ],
)
def test_a_storage_of_which_nothing_can_be_taken_is_a_sentence(history, url, given, words):
    if "directions" in given:
        given = {**given, "objective": lambda trial: (1.0, 2.0)}
    metric = given.get("metric", "")
    given = {name: value for name, value in given.items() if name != "metric"}
    study(url, **given)
    with pytest.raises(UnusableError, match=words):
        history.import_optuna(url, "svm", STATISTICS, metric=metric)
    assert history.entries() == []


@pytest.mark.parametrize(
    ("direction", "metric", "wanted"),
    [
        ("minimize", "", "log_loss"),
        ("minimize", "log_loss", "log_loss"),
        ("maximize", "", "accuracy"),
        ("maximize", "auc", "auc"),
    ],
)
def test_a_study_is_filed_by_its_direction_and_the_metric_that_is_named(
    history, url, direction, metric, wanted
):
    scores = [trial.value for trial in study(url, direction=direction).trials]
    history.import_optuna(url, "svm", STATISTICS, metric=metric)
    (entry,) = history.entries()
    assert entry.metric == wanted
    assert entry.best == (max if direction == "maximize" else min)(scores)


@pytest.mark.parametrize("several", [False, True])
def test_our_own_study_says_itself_what_it_is(history, tmp_path, several):
    plan = Plan(DataPlan("sample:iris"), "auto" if several else "svm", "random")
    models = ("svm", "forest") if several else ("svm",)
    settings = [default_setting(MODELS[name].space("multiclass")) for name in models]
    facts = DatasetFacts(name="iris", task="multiclass", rows=150, features=4, classes=list("abc"))
    axis = Axis("model", "", "choice", choices=models, default="svm")
    space = [axis] if several else MODELS["svm"].space("multiclass")
    started = RunStarted(
        run="mine", plan=plan.as_dict(), dataset=facts, metric="log_loss", maximize=False,
        space=list(space),
    )  # fmt: skip
    folder = RunFolder.create(plan, path=tmp_path / "mine")
    with folder.hold_lock():
        folder.append(started)
        for number, (name, setting) in enumerate(zip(models, settings, strict=True)):
            tried = {"model": name, **setting} if several else setting
            folder.append(TrialFinished(number=number, setting=tried, score=0.4, fold_scores=[0.4]))
    storage = str(tmp_path / "own.db")
    export_study(folder, storage)
    # Neither the model nor the sizes are asked for, and wrong ones have no effect.
    assert history.import_optuna(storage, "", statistics_of(9, 9, 2)).datasets == len(models)
    for entry in history.entries():
        assert (entry.rows, entry.features, entry.classes) == (150, 4, 3)
        assert (entry.metric, entry.best, entry.trials) == ("log_loss", 0.4, 1)
    assert {entry.model for entry in history.entries()} == set(models)


def test_what_is_no_storage_is_a_sentence_and_nothing_is_made_or_changed(history, tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("nothing of the kind\n")
    with contextlib.closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE mine (a)")
    before = other.read_bytes()
    for name in (text, other, tmp_path / "missing.db", tmp_path):
        for storage in (str(name), f"sqlite:///{name}"):
            with pytest.raises(UnusableError):
                history.import_optuna(storage, "svm", STATISTICS)
    with pytest.raises(UnusableError) as raised:
        history.import_optuna("nosuchdialect://me:secret@nowhere/studies", "svm", STATISTICS)
    assert "secret" not in raised.value.sentence
    assert other.read_bytes() == before
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize(
    ("model", "metric", "words"),
    [
        ("svn", "", "no model “svn”"),
        ("mlp", "fame", "no metric “fame”"),
        ("svm", "r2", "does not measure"),
    ],
)
def test_names_that_do_not_exist_are_said(history, model, metric, words):
    with pytest.raises(UnusableError, match=words):
        history.import_optuna("unread", model, STATISTICS, metric=metric)


def test_two_studies_that_began_in_the_same_moment_are_two(history, url):
    trials = study(None).trials
    for name in ("one", "two"):
        made = optuna.create_study(study_name=name, storage=url, direction="maximize")
        made.add_trials(trials)
    assert history.import_optuna(url, "svm", STATISTICS).datasets == 2
    assert history.import_optuna(url, "svm", STATISTICS) == ImportCounts(0, 0, 2)


def test_a_study_that_went_on_in_two_copies_is_two(history, url, tmp_path):
    made, copy = study(url), f"sqlite:///{tmp_path / 'copy.db'}"
    shutil.copy(tmp_path / "studies.db", tmp_path / "copy.db")
    for each in (made, optuna.load_study(study_name="wine-cellar", storage=copy)):
        each.optimize(svm_objective, n_trials=2)
    history.import_optuna(url, "svm", STATISTICS)
    assert history.import_optuna(copy, "svm", STATISTICS) == ImportCounts(1, 5, 0)
    assert history.import_optuna(copy, "svm", STATISTICS) == ImportCounts(0, 0, 1)
