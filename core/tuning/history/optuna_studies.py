"""Optuna studies for the history: read from any storage, checked against a model's space."""

import hashlib
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalRedisBackend
from optuna.study import Study, StudyDirection
from optuna.trial import TrialState

from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.facts import uncapitalized
from core.estimators.model import Model
from core.estimators.multi_model import MODEL
from core.estimators.recipe import CLASS_WEIGHT
from core.estimators.registry import MODELS
from core.ordinary_files import open_ordinary
from core.samplers.proposing_sampler import is_feasible, trial_constraints
from core.samplers.transfer.history import Statistics
from core.space import Axis
from core.tuning.history.database import connection_to
from core.tuning.history.dataset_records import (
    DatasetRecord,
    StoredTrial,
    settings_in,
    sound_statistics,
    statistics_of,
)
from core.tuning.problem_setup import registry_entry
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import METRICS, default_metric
from core.wording import count_text

SQLITE = "sqlite:///"
HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True)
class StudyFacts:
    """What a study was made with: what it says itself where it is ours, else what a person does."""

    model: str  # "" where unknown
    task: str  # "" for the task of the model and the classes
    metric: str  # "" for a usual one of the study's direction
    statistics: Statistics


StudyTrials = list[tuple[int, dict[str, Any], float]]  # number, parameters, score


def studies_as_records(
    storage: str, model: str, statistics: Statistics, study: str | None, metric: str
) -> tuple[list[DatasetRecord], list[str]]:
    """The studies that can be imported, and a sentence for everything that cannot."""
    told_facts = StudyFacts(model, "", metric, statistics)
    if model:
        _check_names(told_facts)
    where = re.sub(r"//[^@/]*@", "//", storage)  # without a password
    records, left_out = [], []
    for optuna_study in _studies(storage, study, where):
        facts = _own_facts(optuna_study, statistics) or told_facts
        # Values in the space alone: names and attributes of studies may tell of the data.
        for name, trials in _trials_by_model(optuna_study, facts.model).items():
            record, sentences = _as_record(optuna_study, replace(facts, model=name), trials)
            left_out += sentences
            if record is not None:
                records.append(record)
    if not records:
        why = left_out[0].rstrip(".") if left_out else "there is no study"
        raise UnusableError(
            f"nothing can be taken: {why}",
            where=where,
            cure="choose the model, the number of classes and the metric that the study was made "
            "with",
        )
    return records, left_out


def _own_facts(study: Study, statistics: Statistics) -> StudyFacts | None:
    attributes = study.user_attrs
    try:
        task, names = Task(attributes["dataset task"]), study.metric_names or []
        (metric,) = names
        classes = {Task.REGRESSION: 0, Task.BINARY: 2}.get(task, statistics[2])
        sizes = attributes["dataset rows"], attributes["dataset features"]
        statistics = statistics_of(*sizes, attributes.get("dataset classes", classes))
        metric = metric if metric in METRICS else ""
        return StudyFacts(attributes["model"], task, metric, sound_statistics(statistics))
    except (KeyError, ValueError, TypeError):
        return None


def _trials_by_model(study: Study, model: str) -> dict[str, StudyTrials]:
    trials_by_model: dict[str, StudyTrials] = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        params, name = trial.params, model
        trial_model = params.get(MODEL)
        prefix = f"{trial_model}."
        if trial_model in MODELS and all(key.startswith(prefix) for key in params if key != MODEL):
            name = str(trial_model)
            params = {key.removeprefix(prefix): params[key] for key in params if key != MODEL}
        # Of several objectives nothing is judged here: the study is refused by that name later.
        has_score = len(trial.values or ()) != 1 or math.isfinite(trial.values[0])
        if has_score and is_feasible(trial_constraints(trial)):
            trials_by_model.setdefault(name, []).append((trial.number, params, trial.values[0]))
    return trials_by_model or {model: []}


def _check_names(facts: StudyFacts) -> tuple[Model, str, Metric | None]:
    model = registry_entry(MODELS, "model", facts.model)
    task = facts.task or _dataset_task(model, facts.statistics)
    if task not in model.tasks:
        cure = "give the number of classes, 0 for numbers"
        raise UnusableError(f"{model.name} cannot do {task}", cure=cure)
    if not facts.metric:
        return model, task, None
    metric = registry_entry(METRICS, "metric", facts.metric)
    if task not in metric.tasks:
        raise UnusableError(f"{metric.name} does not measure this task ({task})")
    return model, task, metric


def _dataset_task(model: Model, statistics: Statistics) -> str:
    if len(model.tasks) == 1:
        return model.tasks[0]
    return {0: Task.REGRESSION, 2: Task.BINARY}.get(int(statistics[2]), Task.MULTICLASS)


# -------------------------------------------------------------------------------------- reading


def _studies(storage: str, study: str | None, where: str) -> list[Study]:
    try:
        optuna_storage = _open_storage(storage, where)
        names = [study] if study else optuna.get_all_study_names(optuna_storage)
        return [optuna.load_study(study_name=name, storage=optuna_storage) for name in names]
    except UnusableError:
        raise
    except KeyError as error:
        raise UnusableError(f"there is no study “{study}”", where=where) from error
    except Exception as error:  # whatever a storage, its driver or a damaged file may raise
        words = getattr(error, "strerror", None) or str(error)
        lines = words.strip().splitlines() or [type(error).__name__]
        problem = f"this storage of Optuna cannot be read ({lines[0].rstrip('.')})"
        cure = "give a storage URL, or the path of a journal or SQLite file"
        raise UnusableError(problem, where=where, cure=cure) from error


def _open_storage(storage: str, where: str) -> BaseStorage:
    if storage.startswith(("redis://", "rediss://")):
        return JournalStorage(JournalRedisBackend(storage))
    path = Path(storage.removeprefix(SQLITE))
    if "://" in storage and not storage.startswith(SQLITE):
        return RDBStorage(storage)
    if not path.is_file():  # Optuna would make one
        raise UnusableError("there is no such file", where=where)
    with open_ordinary(path, sys.maxsize) as file:
        is_sqlite = file.read(len(HEADER)) == HEADER
    if not is_sqlite and not storage.startswith(SQLITE):
        refuse_other_texts(path, where)
        return JournalStorage(JournalFileBackend(str(path)))
    refuse_other_databases(path, where)
    return RDBStorage(SQLITE + str(path))


def refuse_other_texts(path: Path, where: str) -> None:
    """Raise UnusableError unless a file begins like a journal of Optuna, which appends to any."""
    with open_ordinary(path) as file:
        line = file.readline(1 << 16)
    try:
        is_journal = "op_code" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        is_journal = False
    if not is_journal:
        fault = "this file is no journal of Optuna"
        raise UnusableError(fault, where=where, cure="choose another one")


def refuse_other_databases(path: Path, where: str) -> None:
    """Raise UnusableError unless an SQLite file is Optuna's, which writes tables into any."""
    with connection_to(path, "mode=ro") as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "trial_params"} <= tables:
        raise UnusableError("this database holds no studies of Optuna", where=where)


# ------------------------------------------------------------------------------------- checking


def _as_record(
    study: Study, facts: StudyFacts, trials: StudyTrials
) -> tuple[DatasetRecord | None, list[str]]:
    subject = f"The study “{study.study_name}”"
    if not trials:
        return None, [f"{subject} has no finished trial."]
    if len(study.directions) != 1:
        return None, [f"{subject} has several objectives."]
    if not facts.model:
        return None, [f"{subject} does not say which model it tuned."]
    try:
        model, task, metric = _check_names(facts)
    except UnusableError as error:
        return None, [f"{subject}: {error.sentence}"]
    if metric is None:
        usual = METRICS[default_metric(task)]
        metric = usual if _has_direction(study, usual) else METRICS[Task(task).averaged_metric]
    if not _has_direction(study, metric):
        better = "larger" if metric.maximize else "smaller"
        return None, [f"{subject} looks for the opposite: a {better} {metric.name} is better."]
    space = model.space_of(task, rare=any(CLASS_WEIGHT.name in params for _, params, _ in trials))
    names = tuple(axis.name for axis in space)
    stored_trials, problems = _stored_trials(space, trials, model)
    sentences = [f"{subject} has {problem}." for problem in problems]
    if not stored_trials:
        return None, sentences
    id = _identity(study, model, names, metric, facts.statistics)
    begun = study.get_trials(deepcopy=False)[0].datetime_start
    began = "" if begun is None else begun.astimezone(UTC).isoformat(timespec="seconds")
    scored = (model.name, task, metric.name, metric.maximize, "optuna")
    record = DatasetRecord(id, began, *scored, facts.statistics, names, stored_trials)
    return record, sentences


def _stored_trials(
    space: Sequence[Axis], trials: StudyTrials, model: Model
) -> tuple[tuple[StoredTrial, ...], list[str]]:
    names = [axis.name for axis in space]
    fitting_trials = [trial for trial in trials if set(trial[1]) == set(names)]
    problems = []
    if len(fitting_trials) < len(trials):
        differing = sorted({name for _, params, _ in trials for name in params} ^ set(names))
        problems.append(
            f"{count_text(len(trials) - len(fitting_trials), 'trial')} with other parameters than "
            f"{uncapitalized(model.title)} ({', '.join(names)}); see "
            f"{', '.join(differing or names)}"
        )
    rows = [tuple(params[name] for name in names) for _, params, _ in fitting_trials]
    pairs = zip(fitting_trials, settings_in(space, names, rows), strict=True)
    stored_trials = tuple(
        StoredTrial(number, tuple(setting.values()), float(score))
        for (number, _, score), setting in pairs
        if setting is not None
    )
    return stored_trials, [*problems, *_misfits(space, rows)]


def _has_direction(study: Study, metric: Metric) -> bool:
    wanted = StudyDirection.MAXIMIZE if metric.maximize else StudyDirection.MINIMIZE
    return study.directions[0] == wanted


def _misfits(space: Sequence[Axis], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    misfits = []
    for position, axis in enumerate(space):
        values = [(row[position],) for row in rows]
        settings = settings_in((axis,), (axis.name,), values)
        pairs = zip(values, settings, strict=True)
        wrong = [value for (value,), setting in pairs if setting is None]
        count = count_text(len(wrong), "trial")
        if wrong and axis.kind == "choice":
            wrong_text = ", ".join(dict.fromkeys(map(str, wrong)))
            choices = ", ".join(map(str, axis.choices))
            problem = f"{axis.name} that there is no more ({wrong_text} instead of {choices})"
            misfits.append(f"{count} with a {problem}")
        elif wrong:
            misfits.append(f"{count} with {axis.name} outside of {axis.low:g} to {axis.high:g}")
    return misfits


def _identity(
    study: Study, model: Model, names: Sequence[str], metric: Metric, statistics: Statistics
) -> str:
    """An id that stays the same when the study has more trials by a later import."""
    # The first trial that finished stays the first, however many the study has later.
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    first = min(complete, key=lambda trial: (str(trial.datetime_complete), trial.number))
    moments, setting = (first.datetime_start, first.datetime_complete), sorted(first.params.items())
    source = (study.study_name, *moments, setting, first.values)
    content = (*source, model.name, list(names), metric.name, statistics)
    return hashlib.sha256(repr(content).encode()).hexdigest()[:32]
