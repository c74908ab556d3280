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

from core.errors import UnusableError
from core.estimators.facts import uncapitalized
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.samplers.transfer.history import Statistics
from core.space import Axis
from core.tuning.checks import chosen
from core.tuning.history.records import Record, Trial, settings_in
from core.tuning.scores.metric import Metric
from core.tuning.scores.metrics import METRICS, default_metric

SQLITE = "sqlite:///"
HEADER = b"SQLite format 3\x00"


def studies_as_records(
    storage: str, model: str, statistics: Statistics, study: str | None, metric: str
) -> tuple[list[Record], list[str]]:
    """The studies that can be taken, and a sentence for everything that cannot.

    Only what lies in the model's space is taken, so that neither the studies' names nor their
    attributes are.

    Raises:
        UnusableError: the storage cannot be read, or nothing of it can be taken.
    """
    kind = chosen(MODELS, "model", model)
    task = _task(kind, statistics)
    scoring = chosen(METRICS, "metric", metric or default_metric(task))
    if task not in scoring.tasks:
        raise UnusableError(f"{scoring.name} does not measure this task ({task})")
    where = re.sub(r"//[^@/]*@", "//", storage)  # without a password
    found, left_out = [], []
    for one in _studies(storage, study, where):
        record, sentences = _as_record(one, kind, task, scoring, statistics)
        left_out += sentences
        if record is not None:
            found.append(record)
    if not found:
        why = left_out[0].rstrip(".") if left_out else "there is no study"
        raise UnusableError(
            f"nothing can be taken: {why}",
            where=where,
            cure="choose the model, the kind of data and the metric that the study was made with",
        )
    return found, left_out


def _task(model: Model, statistics: Statistics) -> str:
    if len(model.tasks) == 1:
        return model.tasks[0]
    task = {0: "regression", 2: "binary"}.get(int(statistics[2]), "multiclass")
    if task not in model.tasks:
        raise UnusableError(
            f"{model.name} cannot do {task}", cure="give the number of classes, 0 for numbers"
        )
    return task


# -------------------------------------------------------------------------------------- reading


def _studies(storage: str, study: str | None, where: str) -> list[Study]:
    try:
        opened = _opened(storage, where)
        names = [study] if study else optuna.get_all_study_names(opened)
        return [optuna.load_study(study_name=name, storage=opened) for name in names]
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


def _opened(storage: str, where: str) -> BaseStorage:
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
    """See that a SQLite file is Optuna's, which would put its tables into any database.

    Raises:
        UnusableError: it is not.
    """
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "trial_params"} <= tables:
        raise UnusableError("this database holds no studies of Optuna", where=where)


# ------------------------------------------------------------------------------------- checking


def _as_record(
    study: Study, model: Model, task: str, metric: Metric, statistics: Statistics
) -> tuple[Record | None, list[str]]:
    space, called = model.space(task), f"The study “{study.study_name}”"
    names = tuple(axis.name for axis in space)
    every = study.get_trials(deepcopy=False)
    done = [one for one in every if one.state == TrialState.COMPLETE and _has_score(one)]
    if not done:
        return None, [f"{called} has no finished trial."]
    refusal = _refusal(study, metric)
    if refusal:
        return None, [f"{called} {refusal}."]
    same = [one for one in done if set(one.params) == set(names)]
    sentences = []
    if len(same) < len(done):
        others = sorted({name for one in done for name in one.params} ^ set(names)) or names
        sentences.append(
            f"{called} has {_count(len(done) - len(same))} with other parameters than "
            f"{uncapitalized(model.title)} ({', '.join(names)}); see {', '.join(others)}."
        )
    rows = [tuple(one.params[name] for name in names) for one in same]
    fit = settings_in(space, names, rows)
    sentences += [f"{called} has {words}." for words in _misfits(space, rows)]
    trials = tuple(
        Trial(one.number, tuple(setting.values()), float(one.values[0]))
        for one, setting in zip(same, fit, strict=True)
        if setting is not None
    )
    if not trials:
        return None, sentences
    record = Record(
        id=_identity(study, model, space, metric, statistics),
        began=_began(every[0]),
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
        way = "larger" if metric.maximize else "smaller"
        return f"looks for the opposite: a {way} {metric.name} is better"
    return ""


def _has_score(trial: FrozenTrial) -> bool:
    return len(trial.values or ()) != 1 or math.isfinite(trial.values[0])


def _misfits(space: Sequence[Axis], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """What is wrong with values, axis by axis."""
    found = []
    for place, axis in enumerate(space):
        values = [(row[place],) for row in rows]
        wrong = [
            value
            for (value,), setting in zip(
                values, settings_in((axis,), (axis.name,), values), strict=True
            )
            if setting is None
        ]
        if not wrong:
            continue
        if axis.kind == "choice":
            named = ", ".join(dict.fromkeys(map(str, wrong)))
            known = ", ".join(map(str, axis.choices))
            found.append(
                f"{_count(len(wrong))} with a {axis.name} that there is no more "
                f"({named} instead of {known})"
            )
        else:
            found.append(
                f"{_count(len(wrong))} with {axis.name} outside of {axis.low:g} to {axis.high:g}"
            )
    return found


def _count(trials: int) -> str:
    return "1 trial" if trials == 1 else f"{trials} trials"


def _began(first: FrozenTrial) -> str:
    begun = first.datetime_start
    return "" if begun is None else begun.astimezone(UTC).isoformat(timespec="seconds")


def _identity(
    study: Study, model: Model, space: Sequence[Axis], metric: Metric, statistics: Statistics
) -> str:
    """The same whenever this study is imported, however far it has gone on by then.

    Its name and its first finished trial, with moments, parameters and value, tell it from others.
    """
    done = [one for one in study.get_trials(deepcopy=False) if one.state == TrialState.COMPLETE]
    first = min(done, key=lambda one: (str(one.datetime_complete), one.number))
    trial = (first.datetime_start, first.datetime_complete, sorted(first.params.items()))
    axes = [axis.name for axis in space]
    told = (study.study_name, *trial, first.values, model.name, axes, metric.name, statistics)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]
