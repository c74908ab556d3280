"""Averages of settings against the single best on tables: a comparison of ours."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from core.datasets.preparation import preparation
from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.registry import MODELS
from core.samplers.averaging import (
    average_log_densities,
    best_tenth,
    greedy_weights,
    rank_trials,
    tempered_weights,
)
from core.samplers.search_space import distributions
from core.space import Setting
from core.tuning.problem import take_rows
from core.tuning.strategies.registry import STRATEGIES
from tests.reproduction.kept_work import Checkpoint, finished_parts, time_left
from tests.reproduction.tables import SENTENCE, Cells, paired_difference
from tests.reproduction.yogatama_datasets import (
    Examples,
    PaperDataset,
    available_datasets,
    read_source,
)

optuna.logging.set_verbosity(optuna.logging.WARNING)

FOLDS = 3
TEST = 0.3
SEED = 0  # of the models: a setting gives the same score whoever tries it
MIN_PROBABILITY = float(np.finfo(np.float64).eps)  # of a probability, as in scikit-learn's log_loss

SINGLE, UNIFORM, TEMPERED = "single", "uniform", "tempered"
GREEDY, GREEDY_OF_ALL = "greedy", "greedy of all"


# The variants of the predictions of every search.
METHODS: dict[str, tuple[str, ...]] = {
    "eb-hyp": (UNIFORM, SINGLE, TEMPERED, GREEDY, GREEDY_OF_ALL),
    "gp": (SINGLE, UNIFORM),
    "random": (SINGLE, UNIFORM),
    "tpe": (SINGLE,),
}


@dataclass(frozen=True)
class TabularStep:
    source: PaperDataset
    model: str
    seed: int
    methods: tuple[str, ...]
    trials: int


@dataclass(frozen=True)
class TableSplit:
    """Training and held-out rows by fold; all training and test rows."""

    task: str
    folds: tuple[tuple[Examples, Examples], ...]
    train: Examples
    test: Examples


def run_step(step: TabularStep) -> dict[str, dict[str, float]]:
    """{method: {variant: test log loss in nats a row, and ``took`` seconds}}."""
    fits = SplitFitCache(step.model, split_of(step.source, step.model, step.seed))
    losses_by_method = {}
    for name in step.methods:
        start = time.perf_counter()
        losses = test_losses(METHODS[name], fits, run_search(name, fits, step))
        losses_by_method[name] = {**losses, "took": time.perf_counter() - start}
    return losses_by_method


@cache
def split_of(source: PaperDataset, model: str, seed: int) -> TableSplit:
    """The stratified split of a seed, columns prepared on training rows."""
    dataset = read_source(source)
    y = np.unique(dataset.target, return_inverse=True)[1]
    everything = np.arange(len(y))
    train, test = train_test_split(everything, test_size=TEST, stratify=y, random_state=seed)

    kind = MODELS[model]

    def prepared(fit_rows: np.ndarray, score_rows: np.ndarray) -> tuple[Examples, Examples]:
        prepare = preparation(
            dataset, scale=kind.scaled, sparse_ok=False, categories=kind.categories
        )
        fit_features = take_rows(dataset.features, fit_rows)
        fit_X = prepare.fit_transform(fit_features, dataset.target[fit_rows])
        score_X = prepare.transform(take_rows(dataset.features, score_rows))
        fit = Examples(np.asarray(fit_X), y[fit_rows])
        return fit, Examples(np.asarray(score_X), y[score_rows])

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(train, y[train])
    return TableSplit(
        dataset.task,
        tuple(prepared(train[fit_rows], train[score_rows]) for fit_rows, score_rows in folds),
        *prepared(train, test),
    )


class SplitFitCache:
    """Fitted settings of one split; none is fitted twice."""

    def __init__(self, model: str, split: TableSplit) -> None:
        kind = MODELS[model]
        self.model: Model = kind.probabilistic or kind
        self.split = split
        self._held_out: dict[str, np.ndarray | None] = {}
        self._test: dict[str, np.ndarray] = {}

    def held_out_log_probabilities(self, setting: Setting) -> np.ndarray | None:
        """By fold; None where a fit failed."""
        return _compute_once(self._held_out, setting, self._cross_validated)

    def test_log_probabilities(self, setting: Setting) -> np.ndarray:
        return _compute_once(
            self._test,
            setting,
            lambda params: self._log_probabilities(params, self.split.train, self.split.test),
        )

    def _cross_validated(self, setting: Setting) -> np.ndarray | None:
        try:
            folds = [self._log_probabilities(setting, *fold) for fold in self.split.folds]
            return np.concatenate(folds)
        except (ValueError, ArithmeticError):
            return None

    def _log_probabilities(
        self, setting: Setting, train: Examples, scored_rows: Examples
    ) -> np.ndarray:
        estimator = self.model.build(self.split.task, setting, SEED)
        with warnings.catch_warnings():
            # Too few iterations are a setting like any other here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            probabilities = estimator.fit(train.X, train.y).predict_proba(scored_rows.X)
        rows = np.arange(len(scored_rows.y))
        likelihoods = probabilities[rows, scored_rows.y]  # every class is in every part
        return np.log(np.clip(likelihoods, MIN_PROBABILITY, 1.0))


def _compute_once(
    results: dict[str, Any], setting: Setting, compute: Callable[[Setting], Any]
) -> Any:
    key = json.dumps(setting, sort_keys=True)
    if key not in results:
        results[key] = compute(setting)
    return results[key]


def run_search(method: str, fits: SplitFitCache, step: TabularStep) -> list[tuple[Setting, float]]:
    """Settings tried, each with its f, nan where it failed."""
    space = fits.model.space(fits.split.task)
    sampler = STRATEGIES[method].sampler(space, {}, step.seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    trials = []
    for _ in range(step.trials):
        trial = study.ask(distributions(space))
        logs = fits.held_out_log_probabilities(dict(trial.params))
        f = math.nan if logs is None else float(logs.mean())
        state = None if math.isfinite(f) else TrialState.FAIL
        study.tell(trial, None if state else f, state=state)
        trials.append((dict(trial.params), f))
    return trials


def test_losses(
    variants: Sequence[str], fits: SplitFitCache, trials: list[tuple[Setting, float]]
) -> dict[str, float]:
    """{variant: test log loss in nats a row} of a search."""
    f = {k: value for k, (_, value) in enumerate(trials)}
    losses = {}

    def held_out(trial: int) -> Any:
        return fits.held_out_log_probabilities(trials[trial][0])

    for variant in variants:
        chosen, weights = weighted_trials(variant, f, held_out)
        densities = np.array([fits.test_log_probabilities(trials[k][0]) for k in chosen]).T
        losses[variant] = -average_log_densities(densities, weights).mean()
    return losses


def weighted_trials(
    variant: str, f: Mapping[int, float], held_out: Callable[[int], Any]
) -> tuple[list[int], np.ndarray]:
    """The trials that predict in a variant, and their weights."""
    top = best_tenth(f, maximize=True)
    if variant == SINGLE:
        return top[:1], np.ones(1)
    if variant == UNIFORM:
        return top, np.full(len(top), 1.0 / len(top))
    if variant == TEMPERED:
        return top, tempered_weights(f, top, maximize=True)
    chosen = top if variant == GREEDY else rank_trials(f, maximize=True)
    weights = greedy_weights(np.array([held_out(k) for k in chosen]).T)
    used = [k for k, weight in zip(chosen, weights, strict=True) if weight > 0.0]
    return used, weights[weights > 0.0]


PROCESSES = 2
MODELS_COMPARED = ("svm", "boosting", "mlp")
MAX_ROWS, SMALLEST_CLASS, MAX_TABLES = 800, 20, 8

Way = tuple[str, str]  # a search, and a variant of its predictions
OURS: Way = ("eb-hyp", UNIFORM)
OTHERS: tuple[Way, ...] = (
    ("gp", SINGLE),
    ("random", SINGLE),
    ("tpe", SINGLE),
    ("eb-hyp", SINGLE),
    ("eb-hyp", TEMPERED),
    ("eb-hyp", GREEDY),
    ("eb-hyp", GREEDY_OF_ALL),
    ("gp", UNIFORM),
    ("random", UNIFORM),
)


@dataclass(frozen=True)
class TabularSize:
    trials: int = 40  # of every search
    seeds: int = 10
    tables: int = MAX_TABLES
    models: tuple[str, ...] = MODELS_COMPARED


FULL = TabularSize()
QUICK = TabularSize(trials=20, seeds=2, tables=2, models=("svm", "boosting"))

Losses = dict[tuple[str, str, int], dict[Way, float]]  # nats a row, by table, model and seed


def tabular_rows(
    folder: Path | None, quick: bool, processes: int = PROCESSES, size: TabularSize | None = None
) -> Iterator[Cells | str]:
    """Differences of test log losses, by model and overall."""
    size = size or (QUICK if quick else FULL)
    sources = smallest_tables(folder, size.tables)
    losses = yield from measure_losses(sources, size, processes)
    for model in (*size.models, ""):
        yield from difference_rows(losses, model)
    names = ", ".join(source.name for source in sources)
    yield {
        SENTENCE: f"{names}; {size.trials} trials, {size.seeds} seeds, {FOLDS} folds, "
        f"{100 * TEST:.0f} % of the rows to test."
    }


def smallest_tables(folder: Path | None, max_tables: int) -> list[PaperDataset]:
    """The smallest classification tables of a folder, or of the samples."""
    available = available_datasets(folder)
    sources: list[PaperDataset] = []
    sized_sources = zip(available.sources, available.sizes, strict=True)
    for source, rows in sorted(sized_sources, key=lambda pair: pair[1]):
        if rows > MAX_ROWS or len(sources) == max_tables:
            break
        if np.unique(read_source(source).target, return_counts=True)[1].min() >= SMALLEST_CLASS:
            sources.append(source)
    if not sources:
        raise UnusableError(
            f"no table has at most {MAX_ROWS} rows and {SMALLEST_CLASS} of every class",
            where=f"--data {folder}",
            cure="give a folder with smaller tables",
        )
    return sources


def measure_losses(
    sources: Sequence[PaperDataset], size: TabularSize, processes: int = PROCESSES
) -> Generator[str, None, Losses]:
    """Run the missing searches, yielding progress; returns all losses."""
    checkpoint = _checkpoint(size.trials)
    seeds = range(size.seeds)
    cells = [(source, model, seed) for seed in seeds for model in size.models for source in sources]
    steps = {}
    for source, model, seed in cells:
        keys = {name: _search_key(source, model, seed, name) for name in METHODS}
        if missing := tuple(name for name, key in keys.items() if key not in checkpoint):
            step = TabularStep(source, model, seed, missing, size.trials)
            steps[f"{seed}|{model}|{source.name}"] = step
    start, parts = time.perf_counter(), iter([(k, run_step, (step,)) for k, step in steps.items()])
    results = finished_parts(lambda: parts, processes)
    for done, (name, losses_by_method) in enumerate(results, start=1):
        step = steps[name]
        for method, losses in losses_by_method.items():
            checkpoint.record_result(
                _search_key(step.source, step.model, step.seed, method), losses
            )
        left = time_left(start, done, len(steps) - done)
        yield f"{name}: {done} of {len(steps)} tables, models and seeds, {left}"
    return {
        (source.name, model, seed): {
            (name, variant): loss
            for name in METHODS
            for variant, loss in checkpoint[_search_key(source, model, seed, name)].items()
            if variant != "took"
        }
        for source, model, seed in cells
    }


def difference_rows(losses: Losses, model: str) -> Iterator[Cells]:
    """Differences of `OURS` to the others, paired; of all models for ""."""
    cells = {key: by_way for key, by_way in losses.items() if not model or key[1] == model}
    rivals = [way for way in OTHERS if all(way in by_way for by_way in cells.values())]
    for rival in rivals:
        our_losses = [by_way[OURS] for by_way in cells.values()]
        rival_losses = [by_way[rival] for by_way in cells.values()]
        mean, error = paired_difference(our_losses, rival_losses)
        differences = np.array(our_losses) - np.array(rival_losses)
        table_error = error_over([key[0] for key in cells], differences)
        yield {
            "model": model or "all",
            "of": " ".join(OURS),
            "less that of": " ".join(rival),
            "log loss": f"{np.mean(our_losses):.4f}",
            "its": f"{np.mean(rival_losses):.4f}",
            "difference": f"{mean:+.4f}",
            "± pairs": f"{error:.4f}",
            "± tables": f"{table_error:.4f}",
            "lower in": f"{100 * np.mean(differences < 0):.0f} %",
        }


def error_over(names: Sequence[str], differences: np.ndarray) -> float:
    """s/√n of the tables' means; nan below two tables."""
    means = [
        float(np.mean([d for d, name in zip(differences, names, strict=True) if name == table]))
        for table in dict.fromkeys(names)
    ]
    return float(np.std(means, ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan


def _checkpoint(trials: int) -> Checkpoint:
    mark = hashlib.sha256(json.dumps([trials, FOLDS, TEST]).encode()).hexdigest()[:12]
    return Checkpoint(f"mcinerney-tabular-{mark}")


def _search_key(source: PaperDataset, model: str, seed: int, method: str) -> str:
    return f"{seed}|{model}|{source.name} {read_source(source).source.fingerprint[:12]}|{method}"
