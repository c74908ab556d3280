"""What each ingredient of the average of many models brings, by leaving it out or adding another.

On every split of every table each model's default and starting settings are fitted once in the
folds of the run (for their held-out predictions) and once on all rows to train on; from these
predictions alone each variant below chooses its weights, and its average is scored on fresh rows.
Nothing is tuned. The difference from what ships is printed for accuracy, log loss, AUC and R²
(above 0: the variant is better), with its standard error over the splits, how many splits are
better and worse, and the worst.

    python tests/benchmarks/bench_ingredients.py [--splits 3] [--only NAME …] [--keep FOLDER]

LightGBM joins where it is installed. What was measured stands in docs/best-model.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pickle
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pandas as pd
from best_model_files import Pool, Split, sources, write_split
from best_model_table import PROBABILITY, scores_of
from sklearn.linear_model import LogisticRegression, Ridge

from core.estimators.multi_model import combined_setting
from core.samplers.averaging import (
    BAG_ROUNDS,
    average_log_densities,
    bagged_weights,
    greedy_weights,
)
from core.tuning.candidate_models import candidate_models
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem, take_rows
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.race.model_arm import starts_of
from core.tuning.scores.metrics import predict_all

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TABLES = ("titanic", "oj", "credit", "chile", "heart", "glass", "australian", "diabetes")
TABLES += ("ionosphere", "housing", "mpg", "pyrim", "bodyfat", "iris")
FAMILIES = {
    "trees": ("boosting", "forest", "extra-trees"),
    "neural networks": ("mlp",),
    "machines and neighbours": ("svm", "knn"),
    "linear models": ("logistic", "linear", "elastic-net", "naive-bayes", "logistic-l1l2"),
}
LIGHTGBM: list[dict[str, Any]] = [
    {"n_estimators": 100, "learning_rate": 0.1},
    {"n_estimators": 300, "learning_rate": 0.03, "num_leaves": 15, "colsample_bytree": 0.7},
    {"n_estimators": 200, "learning_rate": 0.05, "extra_trees": True, "min_child_samples": 5},
]
MIN_PROBABILITY = 1e-6
TEST_SHARE = 0.3  # of the rows, as a run holds out


@dataclass(frozen=True)
class Member:
    """A setting's predictions, shape (rows,) of numbers or (rows, classes) of probabilities."""

    model: str
    is_default: bool
    held_out: np.ndarray  # of the rows to train on, the mean of repetitions
    first_held_out: np.ndarray  # the same of the first repetition alone
    refit: np.ndarray  # of the fresh rows, of the fit on all rows to train on
    bagged: np.ndarray  # of the fresh rows, the mean of the folds' models


def probabilities(values: np.ndarray) -> np.ndarray:
    """Rows that sum to 1, without zeros."""
    clipped = np.clip(values, MIN_PROBABILITY, None)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


class Choice:
    """Members with what they predict for held-out rows, and the ways to weigh them."""

    def __init__(self, members: list[Member], y: np.ndarray, held_out: list[np.ndarray]) -> None:
        self.members, self.y, self.held_out = members, y, held_out
        self.has_classes = held_out[0].ndim == 2
        rows = np.arange(len(y))
        columns = [probabilities(v)[rows, y] if self.has_classes else v for v in held_out]
        values = np.column_stack(columns)
        self.values = np.log(values) if self.has_classes else values

    def greedy(self, trials: Any = slice(None)) -> np.ndarray:
        """Weights of one greedy selection."""
        y = None if self.has_classes else self.y
        return greedy_weights(self.values[:, trials], y, rounds=BAG_ROUNDS)

    def losses(self, weights: np.ndarray) -> np.ndarray:
        """Of each row, of the weighted average."""
        if self.has_classes:
            return -average_log_densities(self.values, weights)
        return np.square(self.values @ weights - self.y)

    def bagged(self) -> np.ndarray:
        """Weights as they ship: of many selections among random halves."""
        return bagged_weights(self.greedy, self.losses, len(self.members))

    def equal(self, count: int) -> np.ndarray:
        """Equal weights of the best ones."""
        losses = [self.losses(w).mean() for w in np.eye(len(self.members))]
        weights = np.zeros(len(self.members))
        weights[np.argsort(losses)[:count]] = 1.0 / count
        return weights

    def stacked(self, fresh: list[np.ndarray]) -> np.ndarray:
        """Fresh rows as a penalized linear model over all members' predictions has them."""
        if not self.has_classes:
            X = np.column_stack(self.held_out)
            ridge = Ridge(alpha=X.var(axis=0).sum()).fit(X, self.y)
            return np.asarray(ridge.predict(np.column_stack(fresh)))
        inputs = [np.hstack([_log_ratios(v) for v in values]) for values in (self.held_out, fresh)]
        model = LogisticRegression(C=0.003, max_iter=2000).fit(inputs[0], self.y)
        predictions = np.zeros((len(fresh[0]), fresh[0].shape[1]))
        predictions[:, model.classes_] = model.predict_proba(inputs[1])
        return predictions


def _log_ratios(values: np.ndarray) -> np.ndarray:
    logs = np.log(probabilities(values))
    return np.asarray(logs[:, :-1] - logs[:, -1:])


# Fitting ------------------------------------------------------------------------------------------


def fitted_members(problem: Problem, has_lightgbm: bool) -> Iterator[Member]:
    """Every model's default and starting settings."""
    for model in candidate_models(problem.dataset):
        alone = problem.single_model(model)
        for number, setting in enumerate((alone.default, *starts_of(alone))):
            build = _maker(problem, model, setting)
            yield _fit_member(problem, model, number == 0, build)
    for parameters in LIGHTGBM if has_lightgbm else ():
        yield _fit_member(problem, "lightgbm", False, _lightgbm_maker(problem, parameters))


def _maker(problem: Problem, model: str, setting: Any) -> Callable[[], Any]:
    return lambda: problem.pipeline(combined_setting(model, setting))


def _lightgbm_maker(problem: Problem, parameters: dict[str, Any]) -> Callable[[], Any]:
    import lightgbm

    kind = "Classifier" if problem.dataset.classes else "Regressor"
    arguments = {"n_jobs": 1, "verbose": -1, "random_state": 0, **parameters}

    def build() -> Any:
        pipeline = problem.pipeline(combined_setting("boosting", default))
        pipeline.steps[-1] = ("model", getattr(lightgbm, f"LGBM{kind}")(**arguments))
        return pipeline

    default = problem.single_model("boosting").default
    return build


def _fit_member(problem: Problem, model: str, is_default: bool, build: Callable[[], Any]) -> Member:
    X, y = problem.training_data
    fresh, _ = problem.test_data
    shape = (len(y), len(problem.dataset.classes)) if problem.dataset.classes else (len(y),)
    count = len(problem.splits) // problem.fold_repeats
    total, first, times = np.zeros(shape), np.zeros(shape), np.zeros(len(y))
    bagged = []
    for number, (rows, others) in enumerate(problem.splits):
        pipeline = build().fit(take_rows(X, rows), y[rows])
        predictions = _predict(problem, pipeline, take_rows(X, others), y[others])
        total[others] += predictions
        times[others] += 1
        if number < count:
            first[others] = predictions
        bagged.append(_predict(problem, pipeline, fresh, None))
    mean = total / np.maximum(times, 1).reshape(-1, *[1] * (total.ndim - 1))
    refit = _predict(problem, build().fit(X, y), fresh, None)
    return Member(model, is_default, mean, first, refit, np.mean(bagged, axis=0))


def _predict(problem: Problem, pipeline: Any, X: Any, y: Any) -> np.ndarray:
    dataset = problem.dataset
    predictions = predict_all(pipeline, X, dataset.classes, task=dataset.task, y=y)
    return np.asarray(predictions.probabilities if dataset.classes else predictions.labels)


# Variants -----------------------------------------------------------------------------------------


def variants(members: list[Member], y: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """(variant, its predictions of the fresh rows), what ships first."""
    shipped = [member for member in members if member.model != "lightgbm"]
    choice = Choice(shipped, y, [member.held_out for member in shipped])
    fresh = [member.refit for member in shipped]
    weights = choice.bagged()
    yield "as it ships", _mix(weights, fresh)
    yield "one greedy selection", _mix(choice.greedy(), fresh)
    yield "the single best", _mix(choice.equal(1), fresh)
    yield "equal weights of the best eight", _mix(choice.equal(8), fresh)
    yield "equal weights of all", _mix(choice.equal(len(shipped)), fresh)
    yield "means of the folds' models", _mix(weights, [member.bagged for member in shipped])
    for name, partial_weights in weights_of_parts(shipped, y):
        yield name, _mix(partial_weights, fresh)
    once = Choice(shipped, y, [member.first_held_out for member in shipped])
    yield "one repetition of the folds", _mix(once.bagged(), fresh)
    yield "a second, linear layer", choice.stacked(fresh)
    yield "half of it a second layer", (choice.stacked(fresh) + _mix(weights, fresh)) / 2
    yield "defaults alone", _among([m for m in shipped if m.is_default], y)
    for family, models in FAMILIES.items():
        yield f"without {family}", _among([m for m in shipped if m.model not in models], y)
    if len(shipped) < len(members):
        yield "with LightGBM", _among(members, y)
        others = [member for member in members if member.model != "boosting"]
        yield "LightGBM for boosting", _among(others, y)


def weights_of_parts(members: list[Member], y: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Weights without the rows that a run holds out to test on, and with their own choice."""
    is_test = np.random.default_rng(0).random(len(y)) < TEST_SHARE
    rows = ~is_test
    weights = Choice(members, y[rows], [member.held_out[rows] for member in members]).bagged()
    yield "chosen by 70 % of the rows", weights
    used = np.flatnonzero(weights)
    chosen = [members[number] for number in used]
    test = Choice(chosen, y[is_test], [member.held_out[is_test] for member in chosen])
    own_weights = np.zeros(len(members))
    own_weights[used] = test.bagged()
    share = is_test.mean()
    yield "the other 30 % choose too", (1 - share) * weights + share * own_weights


def _among(members: list[Member], y: np.ndarray) -> np.ndarray:
    choice = Choice(members, y, [member.held_out for member in members])
    return _mix(choice.bagged(), [member.refit for member in members])


def _mix(weights: np.ndarray, values: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.tensordot(weights, np.array(values), axes=1))


def split_scores(split: Split, keep: Path | None) -> dict[str, dict[str, float]]:
    """{variant: {measure: score on the fresh rows}}."""
    data = DataPlan(str(split.train), target=split.target, test_file=str(split.fresh))
    problem = build_problem(Plan(data, model="auto", strategy="race", minutes=1), read_data(data))
    classes = [str(name) for name in problem.dataset.classes]
    y = np.asarray(problem.training_data[1])
    y = np.array([classes.index(str(label)) for label in y]) if classes else y.astype(float)
    has_lightgbm = importlib.util.find_spec("lightgbm") is not None
    file = keep / f"{split.file}-{split.number}.pickle" if keep else None
    if file and file.exists():
        members = pickle.loads(file.read_bytes())  # this program's own, of an earlier call
    else:
        members = list(fitted_members(problem, has_lightgbm))
        if file:
            file.write_bytes(pickle.dumps(members))
    scores = {}
    for name, values in variants(members, y):
        columns: dict[str, Any] = {"prediction": values}
        if classes:
            columns = {PROBABILITY + c: v for c, v in zip(classes, values.T, strict=True)}
            columns["prediction"] = np.array(classes)[values.argmax(axis=1)]
        scores[name] = scores_of(split, pd.DataFrame(columns))
    return scores


def _training_part(pool: Pool) -> Pool:
    """Without the second file of a table that has one: no choice may rest on it."""
    if not pool.is_fixed or pool.frame is None:
        return pool
    frame = pool.frame.iloc[: pool.train_count].reset_index(drop=True)
    y = pool.y[: pool.train_count]
    return replace(pool, frame=frame, y=y, train_count=None, is_fixed=False)


def difference_lines(all_scores: list[dict[str, dict[str, float]]]) -> Iterator[str]:
    """The table: each variant minus what ships, a measure a column."""
    measures = ("accuracy", "log loss", "AUC", "R²")
    yield f"| {len(all_scores)} splits | " + " | ".join(measures) + " |"
    yield "| --- " * (1 + len(measures)) + "|"
    gains: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for scores in all_scores:
        base = scores["as it ships"]
        for variant, own in scores.items():
            for measure in own:
                sign = -1.0 if measure == "log loss" else 1.0
                gains[variant][measure].append(sign * (own[measure] - base[measure]))
    for variant, by_measure in list(gains.items())[1:]:
        cells = [_cell(np.array(by_measure[measure])) for measure in measures]
        yield f"| {variant} | " + " | ".join(cells) + " |"


def _cell(gains: np.ndarray) -> str:
    if len(gains) < 2:
        return "–"
    error = gains.std(ddof=1) / len(gains) ** 0.5
    better, worse = (gains > 1e-9).sum(), (gains < -1e-9).sum()
    return f"{gains.mean():+.4f} ± {error:.4f} ({better}:{worse}, {gains.min():+.3f})"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=TABLES, metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of the members' predictions")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    all_scores = []
    with tempfile.TemporaryDirectory(prefix="ingredients-") as folder:
        for name, load in sources(arguments.data):
            for number in range(arguments.splits) if name in arguments.only else ():
                pool = _training_part(load())
                split = write_split(name, pool, number, Path(folder))
                pool.write(pool.split(number)[1], split.fresh, has_target=True)
                all_scores.append(split_scores(split, arguments.keep))
                print(name, number, all_scores[-1]["as it ships"], flush=True)
    print("\n".join(difference_lines(all_scores)))


if __name__ == "__main__":
    main()
