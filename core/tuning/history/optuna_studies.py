"""Optuna studies for the history: read from any storage, checked against a model's space."""

from __future__ import annotations

import hashlib
import math
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import quote

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalRedisBackend
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.facts import uncapitalized
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.samplers.transfer.history import Statistics
from core.space import Axis
from core.tuning.history.dataset_records import DatasetRecord, StoredTrial, settings_in
from core.tuning.problem_setup import registry_entry
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import METRICS, default_metric
from core.wording import count_text

SQLITE = "sqlite:///"
HEADER = b"SQLite format 3\x00"


def studies_as_records(
    storage: str, model: str, statistics: Statistics, study: str | None, metric: str
) -> tuple[list[DatasetRecord], list[str]]:
    """The studies that can be imported, and a sentence for everything that cannot."""
    kind = registry_entry(MODELS, "model", model)
    task = _dataset_task(kind, statistics)
    scoring = registry_entry(METRICS, "metric", metric or default_metric(task))
    if task not in scoring.tasks:
        raise UnusableError(f"{scoring.name} does not measure this task ({task})")
    where = re.sub(r"//[^@/]*@", "//", storage)  # without a password
    records, left_out = [], []
    for optuna_study in _studies(storage, study, where):
        # Values in the space alone: names and attributes of studies may tell of the data.
        record, sentences = _as_record(optuna_study, kind, task, scoring, statistics)
        left_out += sentences
        if record is not None:
            records.append(record)
    if not records:
        why = left_out[0].rstrip(".") if left_out else "there is no study"
        raise UnusableError(
            f"nothing can be taken: {why}",
            where=where,
            cure="choose the model, the kind of data and the metric that the study was made with",
        )
    return records, left_out


def _dataset_task(model: Model, statistics: Statistics) -> str:
    if len(model.tasks) == 1:
        return model.tasks[0]
    task = {0: Task.REGRESSION, 2: Task.BINARY}.get(int(statistics[2]), Task.MULTICLASS)
    if task not in model.tasks:
        cure = "give the number of classes, 0 for numbers"
        raise UnusableError(f"{model.name} cannot do {task}", cure=cure)
    return task


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
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UnusableError(
            f"this storage of Optuna cannot be read ({lines[0].rstrip('.')})",
            where=where,
            cure="give a storage URL, or the path of a journal or SQLite file",
        ) from error


def _open_storage(storage: str, where: str) -> BaseStorage:
    if storage.startswith(("redis://", "rediss://")):
        return JournalStorage(JournalRedisBackend(storage))
    path = Path(storage.removeprefix(SQLITE))
    if "://" in storage and not storage.startswith(SQLITE):
        return RDBStorage(storage)
    if not path.is_file():  # Optuna would make one
        raise UnusableError("there is no such file", where=where)
    with path.open("rb") as file:
        is_sqlite = file.read(len(HEADER)) == HEADER
    if not is_sqlite and not storage.startswith(SQLITE):
        return JournalStorage(JournalFileBackend(str(path)))
    refuse_other_databases(path, where)
    return RDBStorage(SQLITE + str(path))


def refuse_other_databases(path: Path, where: str) -> None:
    """Raise UnusableError unless an SQLite file is Optuna's, which writes tables into any."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "trial_params"} <= tables:
        raise UnusableError("this database holds no studies of Optuna", where=where)


# ------------------------------------------------------------------------------------- checking


def _as_record(
    study: Study, model: Model, task: str, metric: Metric, statistics: Statistics
) -> tuple[DatasetRecord | None, list[str]]:
    space, subject = model.space(task), f"The study “{study.study_name}”"
    names = tuple(axis.name for axis in space)
    all_trials = study.get_trials(deepcopy=False)
    complete = (trial for trial in all_trials if trial.state == TrialState.COMPLETE)
    done = [trial for trial in complete if _has_score(trial)]
    if not done:
        return None, [f"{subject} has no finished trial."]
    if refusal := _refusal(study, metric):
        return None, [f"{subject} {refusal}."]
    same = [trial for trial in done if set(trial.params) == set(names)]
    sentences = []
    if len(same) < len(done):
        differing = sorted({name for trial in done for name in trial.params} ^ set(names)) or names
        sentences.append(
            f"{subject} has {count_text(len(done) - len(same), 'trial')} with other parameters "
            f"than {uncapitalized(model.title)} ({', '.join(names)}); see {', '.join(differing)}."
        )
    rows = [tuple(trial.params[name] for name in names) for trial in same]
    fit = settings_in(space, names, rows)
    sentences += [f"{subject} has {words}." for words in _misfits(space, rows)]
    trials = tuple(
        StoredTrial(trial.number, tuple(setting.values()), float(trial.values[0]))
        for trial, setting in zip(same, fit, strict=True)
        if setting is not None
    )
    if not trials:
        return None, sentences
    record = DatasetRecord(
        id=_identity(study, model, names, metric, statistics),
        began=_start_time(all_trials[0]),
        model=model.name,
        task=task,
        metric=metric.name,
        maximize=metric.maximize,
        strategy="optuna",
        statistics=statistics,
        axes=names,
        trials=trials,
    )
    return record, sentences


def _refusal(study: Study, metric: Metric) -> str:
    if len(study.directions) != 1:
        return "has several objectives"
    wanted = StudyDirection.MAXIMIZE if metric.maximize else StudyDirection.MINIMIZE
    if study.directions[0] != wanted:
        direction = "larger" if metric.maximize else "smaller"
        return f"looks for the opposite: a {direction} {metric.name} is better"
    return ""


def _has_score(trial: FrozenTrial) -> bool:
    # Of several objectives nothing is judged here: the study is refused by that name later.
    return len(trial.values or ()) != 1 or math.isfinite(trial.values[0])


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


def _start_time(first: FrozenTrial) -> str:
    begun = first.datetime_start
    return "" if begun is None else begun.astimezone(UTC).isoformat(timespec="seconds")


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
