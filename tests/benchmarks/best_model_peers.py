"""The peers of bench_best_model.py, each in a process of its own, by whichever interpreter has it.

    python best_model_peers.py JOB

JOB is a JSON object with the fields of `Job`. The last line that is printed is a JSON object too:
score, seconds, cpu (of all its processes) and detail. All peers see the same prepared columns:
missing numbers become the median, numbers are standardized, categories one-hot (at most 50).
"""

from __future__ import annotations

import itertools
import json
import math
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_svmlight_files
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

FOLDS, MOST_CROSS_VALIDATED = 5, 8000  # of more rows a fifth is held out once, as ours does
COSTS, DETAILS = 10.0 ** np.arange(-1, 4), 10.0 ** np.arange(-2, 2)  # of the SVM's grid
ALPHAS = 2.0 ** np.arange(-10, 11)


@dataclass(frozen=True)
class Job:
    """What a peer is to do.

    Attributes:
        task: regression, binary or multiclass.
        target: the target's column; "" in LIBSVM files.
        seconds: that a search may take.
        clock: wall, or cpu: then the seconds are those of the processor, which a busy machine
            does not shorten.
    """

    peer: str
    train: str
    test: str
    task: str
    target: str
    seed: int
    seconds: float
    clock: str

    @property
    def numbers(self) -> bool:
        """Whether numbers are predicted, not classes."""
        return self.task == "regression"


@dataclass(frozen=True)
class Data:
    """Prepared columns; classes are whole numbers from 0, −1 for one that no row trains."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


# The columns -------------------------------------------------------------------------------------


def prepared(job: Job) -> Data:
    """Both files as numbers, prepared by what the training rows say."""
    if job.train.endswith(".libsvm"):
        X, y, X_test, y_test = load_svmlight_files([job.train, job.test])
        scaler = StandardScaler().fit(X.toarray())
        X, X_test = scaler.transform(X.toarray()), scaler.transform(X_test.toarray())
    else:
        kinds = {} if job.numbers else {job.target: str}
        train, test = (pd.read_csv(path, dtype=kinds) for path in (job.train, job.test))
        y, y_test = train.pop(job.target).to_numpy(), test.pop(job.target).to_numpy()
        X, X_test = _of_tables(train, test)
    if job.numbers:
        return Data(X, y.astype(float), X_test, y_test.astype(float))
    labels, codes = np.unique(y, return_inverse=True)
    place = {label: code for code, label in enumerate(labels)}
    return Data(X, codes, X_test, np.array([place.get(label, -1) for label in y_test]))


def _of_tables(train: pd.DataFrame, test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    numbers = [name for name in train if pd.api.types.is_numeric_dtype(train[name].dtype)]
    words = [name for name in train if name not in numbers]
    for part in (train, test):
        part[numbers] = part[numbers].apply(pd.to_numeric, errors="coerce").astype(float)
        part[words] = part[words].astype(object).where(part[words].notna(), "missing").astype(str)
    scaled = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=50, sparse_output=False
    )
    steps = [("numbers", scaled, numbers), ("words", one_hot, words)]
    both = ColumnTransformer([step for step in steps if step[2]], sparse_threshold=0.0)
    return both.fit_transform(train), both.transform(test)


# The search that is cut when its time is up ------------------------------------------------------


def searched(scored: Callable[[], Iterator[tuple[float, Any]]], job: Job) -> tuple[Any, int]:
    """The best setting of those that are scored until the time is up; None where none is.

    A process of its own scores them, so that the last one can be cut off in the middle of a fit.

    Args:
        scored: () -> (score, setting), one after the other.
        job: says how long.

    Returns:
        The setting, and how many were scored.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_score, args=(scored, theirs, job), daemon=True)
    process.start()
    theirs.close()
    end = math.inf if job.clock == "cpu" else time.monotonic() + job.seconds
    best, setting, count = -math.inf, None, 0
    while ours.poll(None if end == math.inf else max(0.0, end - time.monotonic())):
        try:
            score, found = ours.recv()
        except (EOFError, OSError):
            break
        count += 1
        if score > best:
            best, setting = score, found
    process.kill()
    process.join()
    return setting, count


def _score(scored: Callable[[], Iterator[tuple[float, Any]]], pipe: Connection, job: Job) -> None:
    if job.clock == "cpu":
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit = math.ceil(job.seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    for pair in scored():
        pipe.send(pair)


def validated(build: Callable[[], Any], data: Data, job: Job) -> float:
    """The mean score over folds of the training rows; not a number where a fit fails."""
    kind = KFold if job.numbers else StratifiedKFold
    folds = list(kind(FOLDS, shuffle=True, random_state=job.seed).split(data.X, data.y))
    if len(data.y) > MOST_CROSS_VALIDATED:
        folds = folds[:1]
    try:
        scores = [
            _scored(build().fit(data.X[fit], data.y[fit]).predict(data.X[held]), data.y[held], job)
            for fit, held in folds
        ]
    except Exception:  # a setting may fail in any way; the search goes on
        return math.nan
    return float(np.mean(scores))


def _scored(said: np.ndarray, y: np.ndarray, job: Job) -> float:
    return float(r2_score(y, said)) if job.numbers else float(np.mean(np.asarray(said) == y))


# The peers: each gives what it says about the test rows, and a word on how it came to that --------

Answer = tuple[np.ndarray, str]


def boosting(data: Data, job: Job) -> Answer:
    """scikit-learn's gradient boosting at its defaults."""
    kind = HistGradientBoostingRegressor if job.numbers else HistGradientBoostingClassifier
    return kind(random_state=job.seed).fit(data.X, data.y).predict(data.X_test), ""


def forest(data: Data, job: Job) -> Answer:
    """scikit-learn's random forest at its defaults."""
    kind = RandomForestRegressor if job.numbers else RandomForestClassifier
    return kind(random_state=job.seed).fit(data.X, data.y).predict(data.X_test), ""


def linear(data: Data, job: Job) -> Answer:
    """RidgeCV, or LogisticRegressionCV with the penalty of its default."""
    if job.numbers:
        ridge = RidgeCV(ALPHAS).fit(data.X, data.y)
        return ridge.predict(data.X_test), f"alpha {ridge.alpha_:g}"
    logistic = LogisticRegressionCV(
        l1_ratios=(0.0,), cv=FOLDS, scoring="accuracy", max_iter=500, use_legacy_attributes=False
    ).fit(data.X, data.y)
    return logistic.predict(data.X_test), f"C {float(np.mean(logistic.C_)):g}"


def svm(data: Data, job: Job) -> Answer:
    """A grid over C and gamma, its middle first; gamma in units of scikit-learn's "scale"."""
    scale = 1.0 / (data.X.shape[1] * max(float(data.X.var()), 1e-12))

    def build(C: float = 1.0, detail: float = 1.0) -> Any:
        if not job.numbers:
            return SVC(C=C, gamma=detail * scale)
        machine = SVR(C=C, gamma=detail * scale)
        return TransformedTargetRegressor(machine, transformer=StandardScaler())

    grid = sorted(
        itertools.product(COSTS, DETAILS), key=lambda p: np.hypot(*np.log10(p)) + 1e-9 * p[0]
    )

    def scored() -> Iterator[tuple[float, Any]]:
        for C, detail in grid:
            yield validated(lambda: build(C, detail), data, job), (C, detail)  # noqa: B023

    setting, count = searched(scored, job)
    C, detail = setting or (1.0, 1.0)
    said = build(C, detail).fit(data.X, data.y).predict(data.X_test)
    return said, f"C {C:g}, gamma {detail * scale:.3g}; {count} of {len(grid)} settings"


def tpe(data: Data, job: Job) -> Answer:
    """Optuna's TPE over the models that ours tunes, with the same axes."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import optuna

    from core.estimators.multi_model import selectable_models
    from core.estimators.registry import MODELS

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names = selectable_models(MODELS, job.task)
    spaces = {name: MODELS[name].space_of(job.task) for name in names}

    def build(name: str, setting: dict[str, Any]) -> Any:
        return MODELS[name].build(job.task, setting, job.seed)

    def scored() -> Iterator[tuple[float, Any]]:
        sampler = optuna.samplers.TPESampler(seed=job.seed)
        study = optuna.create_study(sampler=sampler, direction="maximize")
        while True:
            trial = study.ask()
            name = trial.suggest_categorical("model", names)
            setting = {axis.name: _suggested(trial, name, axis) for axis in spaces[name]}
            score = validated(lambda: build(name, setting), data, job)  # noqa: B023
            if math.isnan(score):
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            study.tell(trial, score)
            yield score, (name, setting)

    found, count = searched(scored, job)
    if found is None:
        raise RuntimeError("no trial ended within the time")
    name, setting = found
    said = build(name, setting).fit(data.X, data.y).predict(data.X_test)
    return said, f"{name}; {count} trials"


def _suggested(trial: Any, model: str, axis: Any) -> Any:
    name = f"{model} {axis.name}"
    if axis.kind == "choice":
        return trial.suggest_categorical(name, axis.choices)
    if axis.kind == "int":
        return trial.suggest_int(name, round(axis.low), round(axis.high), log=axis.log)
    return trial.suggest_float(name, axis.low, axis.high, log=axis.log)


def flaml(data: Data, job: Job) -> Answer:
    """FLAML's AutoML."""
    if job.clock == "cpu":
        begun = time.time()
        time.time = lambda: begun + time.process_time()  # its budget is counted by this one
    from flaml import AutoML

    search = AutoML()
    search.fit(
        data.X,
        data.y,
        task="regression" if job.numbers else "classification",
        metric="r2" if job.numbers else "accuracy",
        time_budget=job.seconds,
        n_jobs=1,
        seed=job.seed,
        verbose=0,
    )
    return search.predict(data.X_test), str(search.best_estimator)


PEERS: dict[str, Callable[[Data, Job], Answer]] = {
    "flaml": flaml,
    "tpe": tpe,
    "boosting": boosting,
    "forest": forest,
    "svm": svm,
    "linear": linear,
}
SEARCHES = ("flaml", "tpe", "svm")  # those that the minutes bound


def main() -> None:
    """Does the job and prints what came of it."""
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    job = Job(**json.loads(sys.argv[1]))
    data = prepared(job)
    begun, cpu = time.perf_counter(), cpu_seconds()
    said, detail = PEERS[job.peer](data, job)
    took, used = time.perf_counter() - begun, cpu_seconds() - cpu
    score = _scored(said, data.y_test, job)
    found = {"score": score, "seconds": round(took, 2), "cpu": round(used, 2), "detail": detail}
    print(json.dumps(found))


def cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


if __name__ == "__main__":
    main()
