"""The peers of bench_best_model.py, each in a process of its own, by whichever interpreter has it.

    python best_model_peers.py JOB

JOB is a JSON object with the fields of `Job`. The predictions are written as `tunescope predict`
writes them; the last line that is printed is a JSON object with detail and version. FLAML and
AutoGluon see the columns as they are in the file. The others see them as scikit-learn's users
prepare them: the parts of a date, medians and an indicator for missing numbers, a column for each
of few levels, the target's mean for many; a number or text that differs in every row is left out.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from sklearn import ensemble, neighbors, neural_network, svm
from sklearn import model_selection as selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_svmlight_files
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from threadpoolctl import threadpool_limits

PROBABILITY = "probability of "  # before a class, as the program's own columns are called
DATE = r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b"
MAX_ONE_HOT_LEVELS = 20
FOLD_COUNT, MAX_REPEATED_ROWS = 5, 4000  # of fewer rows the plain minute has its folds twice
VALIDATION_SHARE = 0.75  # of the time; the rest fits the best on all rows
GREEDY_STEPS = 40

FAMILIES: dict[str, tuple[Any, Any]] = {
    "forest": (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
    "extra trees": (ensemble.ExtraTreesClassifier, ensemble.ExtraTreesRegressor),
    "boosting": (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor),
    "linear": (partial(LogisticRegression, max_iter=300), lambda C: Ridge(alpha=1.0 / C)),
    "neighbours": (neighbors.KNeighborsClassifier, neighbors.KNeighborsRegressor),
    "perceptron": (neural_network.MLPClassifier, neural_network.MLPRegressor),
    "svm": (svm.SVC, svm.SVR),
}
UNSCALED = ("forest", "extra trees", "boosting")
Setting = tuple[str, dict[str, Any]]  # a family and its arguments
PLAIN: tuple[Setting, ...] = (  # quick ones first: a minute may end before all had their turn
    ("forest", {"n_estimators": 200}),
    *(("linear", {"C": C}) for C in (1.0, 0.1, 0.01)),
    ("boosting", {}),
    ("extra trees", {"n_estimators": 200}),
    ("neighbours", {"n_neighbors": 8, "weights": "distance"}),
    ("boosting", {"learning_rate": 0.05, "max_leaf_nodes": 15}),
    ("forest", {"n_estimators": 200, "max_features": 0.5, "min_samples_leaf": 2}),
    ("svm", {"C": 1.0}),
    ("svm", {"C": 10.0}),
    ("svm", {"C": 10.0, "gamma": 0.01}),
    ("perceptron", {"hidden_layer_sizes": (64,)}),
)
COSTS, GAMMAS = (1.0, 10.0, 100.0, 0.1), ("scale", 0.01, 0.1, 0.001, 1.0)  # usual ones first
GRIDS: dict[str, list[Setting]] = {
    "svm": [("svm", {"C": C, "gamma": g}) for C, g in itertools.product(COSTS, GAMMAS)],
    "linear": [("linear", {"C": 10.0**power}) for power in (0, -1, 1, -2, 2, -3, 3, -4, 4)],
}


@dataclass(frozen=True)
class Job:
    """What a peer is to do.

    Attributes:
        train: the file to learn from.
        fresh: the file to predict; its target is not in it, in LIBSVM files it is zero.
        target: the target's column; "" in LIBSVM files.
        presets: of AutoGluon.
    """

    peer: str
    train: str
    fresh: str
    predictions: str
    task: str
    target: str
    seed: int
    seconds: float
    threads: int
    presets: str

    @property
    def is_regression(self) -> bool:
        """Whether numbers are predicted, not classes."""
        return self.task == "regression"


@dataclass(frozen=True)
class Rows:
    """Columns as they are in the file, of both files, and the target: numbers or texts."""

    X: pd.DataFrame
    y: np.ndarray
    X_fresh: pd.DataFrame


Answer = tuple[pd.DataFrame, str]  # predictions, and a word on how they came about


# The columns -------------------------------------------------------------------------------------


def read_rows(job: Job) -> Rows:
    """Both files."""
    if job.train.endswith(".libsvm"):
        X, y, X_fresh, _ = load_svmlight_files([job.train, job.fresh])
        names = [f"x{column + 1}" for column in range(X.shape[1])]
        frames = [pd.DataFrame(matrix.toarray(), columns=names) for matrix in (X, X_fresh)]
    else:
        texts = {} if job.is_regression else {job.target: str}  # NA may be a class
        frames = [pd.read_csv(path, converters=texts) for path in (job.train, job.fresh)]
        y = frames[0].pop(job.target).to_numpy()
    return Rows(frames[0], y.astype(float if job.is_regression else str), frames[1])


def with_date_parts(rows: Rows) -> Rows:
    """Month, weekday, hour and day in place of each column of dates."""
    X, X_fresh = rows.X.copy(), rows.X_fresh.copy()
    for name in X.select_dtypes(exclude="number"):
        texts = X[name].dropna().astype(str)
        is_date = len(texts) > 0 and texts.str.match(DATE).mean() > 0.9
        for frame in (X, X_fresh):
            if not is_date:
                frame[name] = frame[name].astype(object)
                continue
            order = {"dayfirst": not texts.iloc[0].strip()[:4].isdigit()}
            times = pd.to_datetime(frame.pop(name), errors="coerce", utc=True, **order)
            frame[f"{name} month"], frame[f"{name} weekday"] = times.dt.month, times.dt.dayofweek
            frame[f"{name} hour"] = times.dt.hour
            frame[f"{name} day"] = (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return Rows(X, rows.y, X_fresh)


def column_preparation(X: pd.DataFrame, job: Job, is_scaled: bool) -> ColumnTransformer:
    """What models of numbers are given of a table."""
    level_counts = X.nunique()
    words = list(X.select_dtypes(exclude="number"))
    numbers = [
        name
        for name in X.columns.drop(words)
        if not (pd.api.types.is_integer_dtype(X[name]) and level_counts[name] == len(X))
    ]
    few = [name for name in words if level_counts[name] <= MAX_ONE_HOT_LEVELS]
    many = [name for name in words if MAX_ONE_HOT_LEVELS < level_counts[name] < 0.95 * len(X)]
    fill = SimpleImputer(strategy="median", add_indicator=True)
    one_hot = OneHotEncoder(handle_unknown="ignore", min_frequency=3, sparse_output=False)
    target_type = "continuous" if job.is_regression else "auto"
    means = TargetEncoder(target_type=target_type, random_state=job.seed)
    scaled_numbers = make_pipeline(fill, *[StandardScaler()] * is_scaled)
    steps = [("number", scaled_numbers, numbers), ("few", one_hot, few), ("many", means, many)]
    return ColumnTransformer(steps)


def build_model(setting: Setting, rows: Rows, job: Job, has_probabilities: bool = True) -> Any:
    """A model behind its preparation of the columns; a machine's probabilities are calibrated."""
    family, options = setting
    model = FAMILIES[family][job.is_regression](**options)
    if "random_state" in model.get_params():
        model.set_params(random_state=job.seed)
    pipeline = make_pipeline(column_preparation(rows.X, job, family not in UNSCALED), model)
    if family in UNSCALED:
        return pipeline
    if job.is_regression:
        return TransformedTargetRegressor(pipeline, transformer=StandardScaler())
    if family == "svm" and has_probabilities:
        min_class_size = np.unique(rows.y, return_counts=True)[1].min()
        fold_count = int(np.clip(0.8 * min_class_size, 2, FOLD_COUNT))  # in folds of these as well
        return CalibratedClassifierCV(pipeline, ensemble=False, cv=fold_count)
    return pipeline


def prediction_frame(model: Any, rows: Rows, job: Job) -> pd.DataFrame:
    """What a fitted model predicts of the fresh rows."""
    if job.is_regression:
        return pd.DataFrame({"prediction": model.predict(rows.X_fresh)})
    return class_frame(model.predict_proba(rows.X_fresh), model.classes_)


def class_frame(probabilities: np.ndarray, labels: Iterable[Any]) -> pd.DataFrame:
    """The likeliest class and the probability of each, shape (rows, 1 + classes)."""
    names = np.array([str(label) for label in labels])
    frame = pd.DataFrame(probabilities, columns=[f"{PROBABILITY}{name}" for name in names])
    frame.insert(0, "prediction", names[np.argmax(probabilities, axis=1)])
    return frame


# What runs until the time is up -------------------------------------------------------------------


_run_item: Callable[[Any], Any]  # of a process of `results_in_time`


def results_in_time(
    function: Callable[[Any], Any], items: Iterable[Any], seconds: float, threads: int
) -> Iterator[Any]:
    """The results that are there before the time is up, in processes that are ended then."""
    end = time.monotonic() + seconds
    context = multiprocessing.get_context("fork")  # a closure has to reach them
    until_end = contextlib.suppress(StopIteration, multiprocessing.TimeoutError)
    with context.Pool(threads, _start_process, (function,)) as pool, until_end:
        results = pool.imap_unordered(_result_or_none, items)
        while True:
            result = results.next(max(0.0, end - time.monotonic()))
            if result is not None:
                yield result


def _start_process(function: Callable[[Any], Any]) -> None:
    global _run_item
    _run_item = function
    threadpool_limits(1)


def _result_or_none(item: Any) -> Any:
    try:
        return _run_item(item)
    except Exception:  # a setting may fail in any way; the others go on
        return None


# The peers ----------------------------------------------------------------------------------------


def shuffled_folds(job: Job, seed: int) -> Any:
    """Folds of scikit-learn, every class in each."""
    kind = selection.KFold if job.is_regression else selection.StratifiedKFold
    return kind(FOLD_COUNT, shuffle=True, random_state=seed)


def default_model(rows: Rows, job: Job) -> Answer:
    """scikit-learn's gradient boosting or random forest at its defaults."""
    rows, options = with_date_parts(rows), {"n_jobs": job.threads} if job.peer == "forest" else {}
    model = build_model((job.peer, options), rows, job).fit(rows.X, rows.y)
    return prediction_frame(model, rows, job), ""


def grid_search(rows: Rows, job: Job) -> Answer:
    """The setting of a grid with the best accuracy or R² over folds, its usual one first."""
    grid, rows, folds = GRIDS[job.peer], with_date_parts(rows), shuffled_folds(job, job.seed)

    def validate(index: int) -> tuple[float, int]:
        model = build_model(grid[index], rows, job, has_probabilities=False)
        return selection.cross_val_score(model, rows.X, rows.y, cv=folds).mean(), -index

    seconds = VALIDATION_SHARE * job.seconds
    scores = [*results_in_time(validate, range(len(grid)), seconds, job.threads)]
    setting = grid[-max(scores)[1]] if scores else grid[0]
    model = build_model(setting, rows, job).fit(rows.X, rows.y)
    return prediction_frame(model, rows, job), f"{setting[1]}; {len(scores)} of {len(grid)}"


def plain_minute(rows: Rows, job: Job) -> Answer:
    """A dozen usual settings, none of them tuned, averaged by what held-out rows say."""
    rows, end = with_date_parts(rows), time.monotonic() + job.seconds
    labels = np.array([]) if job.is_regression else np.unique(rows.y)
    method = "predict" if job.is_regression else "predict_proba"
    repeat_count = 1 if len(rows.y) > MAX_REPEATED_ROWS else 2
    repeats = [shuffled_folds(job, repeat) for repeat in range(repeat_count)]

    def held_out_predictions(index: int) -> tuple[int, np.ndarray]:
        predict = partial(selection.cross_val_predict, X=rows.X, y=rows.y, method=method)
        model = build_model(PLAIN[index], rows, job)
        return index, np.mean([predict(model, cv=folds) for folds in repeats], axis=0)

    def fresh_predictions(index: int) -> tuple[int, np.ndarray]:
        model = build_model(PLAIN[index], rows, job).fit(rows.X, rows.y)
        return index, getattr(model, method)(rows.X_fresh)

    seconds = VALIDATION_SHARE * job.seconds
    settings = range(len(PLAIN))
    held_out = dict(results_in_time(held_out_predictions, settings, seconds, job.threads))
    weights = greedy_weights(held_out, rows.y, labels) if held_out else {0: 1.0}
    seconds = end - time.monotonic() + job.seconds  # too late is better than no answer
    fresh = dict(results_in_time(fresh_predictions, weights, seconds, job.threads))
    average = np.average(list(fresh.values()), axis=0, weights=[weights[index] for index in fresh])
    detail = ", ".join(f"{PLAIN[index][0]} {weights[index]:.2f}" for index in fresh)
    frame = class_frame(average, labels) if len(labels) else pd.DataFrame({"prediction": average})
    return frame, f"{detail}; of {len(held_out)}"


def greedy_weights(
    held_out: dict[int, np.ndarray], y: np.ndarray, labels: np.ndarray
) -> dict[int, float]:
    """Weights by greedy selection with replacement (Caruana and others 2004).

    Args:
        held_out: predictions by setting, shape (rows,) or (rows, classes).
        labels: the classes, empty for numbers.
    """
    codes = np.searchsorted(labels, y) if len(labels) else np.array([])

    def loss(predictions: np.ndarray) -> float:
        if not len(labels):
            return float(np.mean((predictions - y) ** 2))
        probabilities = predictions[np.arange(len(y)), codes].clip(1e-6)
        error = np.mean(predictions.argmax(axis=1) != codes)
        return float(error - 0.01 * np.mean(np.log(probabilities)))

    counts, total = dict.fromkeys(held_out, 0), 0.0
    for step in range(GREEDY_STEPS):
        losses = {index: loss((total + held_out[index]) / (step + 1)) for index in held_out}
        best = min(losses, key=lambda index: losses[index])
        counts[best] += 1
        total = total + held_out[best]
    return {index: count / GREEDY_STEPS for index, count in counts.items() if count}


def flaml(rows: Rows, job: Job) -> Answer:
    """FLAML's AutoML."""
    from flaml import AutoML

    search, task = AutoML(), "regression" if job.is_regression else "classification"
    names = {name: f"c{number}" for number, name in enumerate(rows.X)}  # LightGBM takes no others
    rows = replace(rows, X=rows.X.rename(columns=names), X_fresh=rows.X_fresh.rename(columns=names))
    limits = {"time_budget": job.seconds, "n_jobs": job.threads}
    search.fit(rows.X, rows.y, task=task, seed=job.seed, verbose=0, **limits)
    return prediction_frame(search, rows, job), str(search.best_estimator)


def autogluon(rows: Rows, job: Job) -> Answer:
    """AutoGluon's TabularPredictor."""
    from autogluon.tabular import TabularPredictor

    limits = {"time_limit": job.seconds, "num_cpus": job.threads, "num_gpus": 0}
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor("the target", job.task, path=folder, verbosity=0)
        frame = rows.X.assign(**{"the target": rows.y})
        predictor.fit(frame, presets=job.presets, **limits)
        chosen_model = str(predictor.model_best)
        if job.is_regression:
            predictions = predictor.predict(rows.X_fresh).to_numpy()
            return pd.DataFrame({"prediction": predictions}), chosen_model
        probabilities = predictor.predict_proba(rows.X_fresh)
        return class_frame(probabilities.to_numpy(), probabilities.columns), chosen_model


PEERS: dict[str, tuple[Callable[[Rows, Job], Answer], str]] = {  # by which package
    "plain": (plain_minute, "sklearn"),
    "flaml": (flaml, "flaml"),
    "autogluon": (autogluon, "autogluon.tabular"),
    "boosting": (default_model, "sklearn"),
    "forest": (default_model, "sklearn"),
    "svm": (grid_search, "sklearn"),
    "linear": (grid_search, "sklearn"),
}
DEFAULTS = ("boosting", "forest")  # whatever minutes they are given


def main() -> None:
    """Does the job and prints what came of it."""
    warnings.simplefilter("ignore")  # the peers' notes on convergence
    job = Job(**json.loads(sys.argv[1]))
    answer, package = PEERS[job.peer]
    predictions, detail = answer(read_rows(job), job)
    predictions.to_csv(job.predictions, index=False)
    name = {"sklearn": "scikit-learn"}.get(package, package)
    print(json.dumps({"detail": detail, "version": f"{name} {version(name)}"}))


if __name__ == "__main__":
    main()
