"""Brofos 2013: the sinc toy, and a forest on Australian credit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

from core.datasets.reading import read_dataset
from core.samplers.bayes import GpSampler, HybridSampler, VariableSampler
from core.space import Axis
from tests.reproduction.tables import Cells

SINC_AXIS = Axis("x", "x", "float", -20.0, 20.0, default=7.0)
SIDE_LOBE = (6.8, 7.7, 8.6)  # three shared points around the local maximum at 7.725
FOUND = 0.95 / math.pi  # of the global maximum 1/π at 0
BUDGET = 20

optuna.logging.set_verbosity(optuna.logging.WARNING)

TREES = Axis("trees", "Trees", "int", 1, 150, default=10)
FIRST_TREES = (1, 75, 150)

Make = Callable[[tuple[Axis, ...], int, str], GpSampler]


def _sampler_maker(kind: type[GpSampler], **more_options: Any) -> Make:
    # The paper's kernel; its runs begin from trials that exist already.
    def make_sampler(space: tuple[Axis, ...], seed: int, acquisition: str) -> GpSampler:
        paper: dict[str, Any] = {"start_trials": 0, "kernel": "se", "as_published": True}
        options = kind.Options(acquisition=acquisition, **paper, **more_options)
        return kind(space, options, seed=seed)

    return make_sampler


METHODS: dict[str, Make] = {
    "original": _sampler_maker(GpSampler),
    "hybrid": _sampler_maker(HybridSampler),
    "variable (corrected)": _sampler_maker(VariableSampler),
    "variable (printed)": _sampler_maker(VariableSampler, rule="printed"),
}
CLAIMS = {"original": "stays at the local maximum", "hybrid": "finds the global one"}
# The paper names three "anticipation equations" and not which one the figure used.
ACQUISITIONS = {"mean": "posterior mean", "ei": "expected improvement"}


def sinc(x: float) -> float:
    """y(x) = sin(x)/(πx), 1/π at 0."""
    return float(np.sinc(x / math.pi) / math.pi)


def sinc_rows(folder: Path | None, quick: bool) -> Iterator[Cells]:
    """How often each method finds the global maximum in 20 evaluations."""
    seeds = 10 if quick else 100
    for acquisition, title in ACQUISITIONS.items():
        for name, make in METHODS.items():
            counts = [_evaluations(make, seed, acquisition) for seed in range(seeds)]
            successes = [count for count in counts if count is not None]
            median = float(np.median(successes)) if successes else None
            yield {
                "anticipation": title,
                "method": name,
                "runs": seeds,
                "found % (paper)": CLAIMS.get(name),
                "found %": 100 * len(successes) / seeds,
                "evaluations (median)": median,
            }


def _evaluations(make: Make, seed: int, acquisition: str) -> int | None:
    sampler = make((SINC_AXIS,), seed, acquisition)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for x in SIDE_LOBE:
        study.enqueue_trial({"x": x})
    for count in range(1, len(SIDE_LOBE) + BUDGET + 1):
        trial = study.ask()
        value = sinc(trial.suggest_float("x", SINC_AXIS.low, SINC_AXIS.high))
        study.tell(trial, value)
        if value >= FOUND:
            return count - len(SIDE_LOBE)
    return None


def credit_rows(folder: Path | None, quick: bool) -> Iterator[Cells]:
    """Accuracy, evaluations to convergence, and the number of trees."""
    assert folder is not None  # the registry says that this table needs data
    dataset = read_dataset(str(folder / "australian.csv"))
    X, y = np.asarray(dataset.features, dtype=float), dataset.target
    seeds = range(3 if quick else 10)
    variable = "variable (corrected)"
    runs = {
        name: [_credit_run(METHODS[name], X, y, seed) for seed in seeds]
        for name in (variable, "original")
    }
    accuracy, evaluations, _ = (np.array(column) for column in zip(*runs[variable], strict=True))
    yield _statistics_row("accuracy %", 100 * accuracy, (85.0, 81.0, 90.0, 3.24))
    yield _statistics_row("evaluations to convergence", evaluations, (10.0, 7.0, 12.0, 2.2))
    for name, paper in ((variable, 40.0), ("original", 97.0)):
        trees = np.array([run[2] for run in runs[name]])
        yield _statistics_row(f"trees, {name.split()[0]}", trees, (paper, None, None, None))


def _statistics_row(statistic: str, ours: np.ndarray, paper: tuple[float | None, ...]) -> Cells:
    figures = (ours.mean(), ours.min(), ours.max(), ours.std(ddof=1))
    cells: dict[str, object] = {"statistic": statistic}
    names = ("average", "minimum", "maximum", "sd")
    for name, theirs, figure in zip(names, paper, figures, strict=True):
        cells |= {f"{name} (paper)": theirs, name: float(figure)}
    return cells


def _credit_run(make: Make, X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, int, int]:
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    fit_X, test_X, fit_y, test_y = split
    study = optuna.create_study(sampler=make((TREES,), seed, "ei"), direction="maximize")
    for trees in FIRST_TREES:
        study.enqueue_trial({"trees": trees})
    scores: dict[int, np.ndarray] = {}
    choices = []
    for _ in range(BUDGET):
        trial = study.ask()
        trees = trial.suggest_int("trees", int(TREES.low), int(TREES.high))
        scores[trees] = _fold_scores(trees, fit_X, fit_y, seed)
        study.tell(trial, float(scores[trees].mean()))
        choices.append(fewest_within_one_error(scores))
    chosen = choices[-1]
    changes = [count for count, choice in enumerate(choices, start=1) if choice != chosen]
    forest = RandomForestClassifier(chosen, random_state=seed).fit(fit_X, fit_y)
    # Test accuracy, evaluations until the choice stays, trees.
    return float(forest.score(test_X, test_y)), max(changes, default=0) + 1, chosen


def _fold_scores(trees: int, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return cross_val_score(RandomForestClassifier(trees, random_state=seed), X, y, cv=folds)


def fewest_within_one_error(scores: dict[int, np.ndarray]) -> int:
    """The fewest trees with a mean within one standard error of the best."""
    means = {trees: float(fold_scores.mean()) for trees, fold_scores in scores.items()}
    best = max(means, key=lambda trees: (means[trees], -trees))
    error = scores[best].std(ddof=1) / math.sqrt(len(scores[best]))
    return min(trees for trees, mean in means.items() if mean >= means[best] - error)
