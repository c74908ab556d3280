"""Generate the starter history: the program's own models tuned on generated tables.

No table is a sample or anybody's file, so that what a run learns here never saw its test rows.
Run ``python packaging/make_starter_history.py`` after a model was added or its space has changed.
What the file holds already is kept where it still fits its model's space, so that the work can be
interrupted and only what is missing is done. Twelve trials of every model on every table (eight of
those that take long): the default setting, five settings spread evenly, then the best guesses of a
Gaussian process.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from sklearn import datasets as made
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from core.estimators.model import Model
from core.estimators.multi_model import MODEL
from core.estimators.registry import MODELS
from core.estimators.tables.linear_models import STANDARD
from core.samplers.search_space import distributions
from core.space import Axis, Setting, default_setting
from core.tuning.history.dataset_records import (
    DatasetRecord,
    StoredTrial,
    settings_in,
    statistics_of,
)
from core.tuning.history.store import as_json, records_in
from core.tuning.scores.metrics import METRICS, default_metric
from core.tuning.scores.scoring import FoldData, ScoringJob, TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.executors import ProcessExecutor
from core.writing import write_whole

FILE = Path(__file__).resolve().parent.parent / "resources" / "starter_history.json"
START, FOLDS, SEED = 5, 3, 0
MIXED, MIXED_SEED = 24, 20  # tables of numbers, counts and categories
MIXED_CLASSES = (2, 0, 3, 2, 0, 2, 5)  # in turn; 0 for numbers
LIMIT = 60.0  # seconds a trial; what takes longer is no good first guess either
COSTLY = ("forest", "extra-trees", "boosting", "mlp", "vote7")  # on tables of few values alone
MOST_VALUES = 6_000


@dataclass(frozen=True)
class Table:
    """One table to tune on; `y` holds class codes, or numbers where `classes` is 0."""

    name: str
    X: np.ndarray
    y: np.ndarray
    classes: int
    columns: int = 0  # before categories became a column a level; 0 for those of X

    @property
    def task(self) -> str:
        """What is predicted."""
        return {0: "regression", 2: "binary"}.get(self.classes, "multiclass")


# Rows, columns, informative columns, classes, distance of the classes, share of wrong labels.
CLASSES = (
    (60, 3, 2, 2, 1.0, 0.05),
    (80, 20, 5, 2, 1.5, 0.0),
    (100, 100, 8, 2, 1.0, 0.02),
    (150, 8, 4, 4, 1.2, 0.05),
    (200, 50, 10, 5, 1.5, 0.0),
    (300, 6, 6, 2, 0.7, 0.1),
    (400, 15, 8, 8, 1.5, 0.02),
    (500, 30, 6, 3, 0.8, 0.1),
    (700, 12, 10, 10, 1.5, 0.0),
    (800, 100, 20, 2, 0.8, 0.05),
    (1000, 10, 5, 2, 0.6, 0.1),
    (1500, 25, 12, 6, 1.0, 0.05),
    (2000, 8, 6, 2, 1.0, 0.02),
    (3000, 40, 10, 2, 0.7, 0.05),
    (5000, 5, 4, 3, 1.0, 0.05),
)
# Rows, columns, informative columns, noise as a share of the target's deviation.
NUMBERS = (
    (60, 5, 3, 0.3),
    (100, 60, 6, 0.2),
    (250, 20, 20, 0.5),
    (600, 100, 15, 0.3),
    (1500, 12, 8, 0.7),
)


def tables() -> Iterator[Table]:
    """Every table, the same ones every time."""
    yield from _curved()
    for seed in range(MIXED):
        yield mixed_table(seed)
    for seed, (rows, columns, informative, noise) in enumerate(NUMBERS):
        X, y = made.make_regression(rows, columns, n_informative=informative, random_state=seed)
        y = y + noise * y.std() * np.random.default_rng(seed).standard_normal(rows)
        yield Table(f"linear {seed}", X, y, 0)
    for seed, (rows, columns, informative, classes, apart, wrong) in enumerate(CLASSES):
        X, y = made.make_classification(
            rows,
            columns,
            n_informative=informative,
            n_redundant=min(2, columns - informative),
            n_classes=classes,
            n_clusters_per_class=1 if 2**informative < 2 * classes else 2,
            class_sep=apart,
            flip_y=wrong,
            random_state=seed,
        )
        yield Table(f"classes {seed}", X, y, classes)


def mixed_table(seed: int) -> Table:
    """Numbers, counts that are mostly 0, and categories; many without meaning, classes uneven."""
    random = np.random.default_rng([MIXED_SEED, seed])
    rows, columns = (int(10 ** random.uniform(*ends)) for ends in ((1.9, 3.1), (0.5, 1.6)))
    kind_shares = random.dirichlet(np.full(3, 0.7))
    drawn = [_draw_column(random, rows, kind) for kind in random.choice(3, columns, p=kind_shares)]
    effects = np.column_stack([effect for _, effect in drawn])
    is_useful = random.random(columns) < random.uniform(0.2, 1.0)
    is_useful[0] = True
    classes = MIXED_CLASSES[seed % len(MIXED_CLASSES)]
    latent_count = max(1, classes)
    latent = effects @ (random.standard_normal((columns, latent_count)) * is_useful[:, None])
    # What two columns do together, which no sum of effects has.
    pairs_of_columns = random.integers(columns, size=(max(1, columns // 4), 2))
    products = np.prod(effects[:, pairs_of_columns], axis=2)
    latent += products @ random.standard_normal((len(pairs_of_columns), latent_count))
    latent /= latent.std(axis=0) + 1e-9
    latent += random.uniform(0.1, 1.2) * random.standard_normal(latent.shape)
    X, name = np.hstack([block for block, _ in drawn]), f"mixed {seed}"
    if classes == 0:
        return Table(name, X, latent[:, 0], 0, columns)
    # Offsets make some classes rare; each keeps rows for every fold.
    offsets = random.uniform(0.0, 1.5, classes)
    while np.bincount((latent + offsets).argmax(axis=1), minlength=classes).min() < 2 * FOLDS:
        offsets /= 2
    return Table(name, X, (latent + offsets).argmax(axis=1), classes, columns)


def _draw_column(random: np.random.Generator, rows: int, kind: int) -> tuple[np.ndarray, Any]:
    """A column as models see it, shape (rows, entries), and its standardized effect (rows,)."""
    z = random.standard_normal(rows)
    if kind == 0:
        block, effect = _draw_number(random, z)
    elif kind == 1:
        is_there = random.random(rows) < random.uniform(0.05, 0.5)
        counts = random.poisson(np.exp(0.5 + z)) * is_there
        block, effect = counts[:, None].astype(float), np.log1p(counts)
    else:
        levels = int(random.integers(2, 9))
        codes = random.choice(levels, rows, p=random.dirichlet(np.ones(levels)))
        block, effect = np.eye(levels)[codes], random.standard_normal(levels)[codes]
    return block, (effect - effect.mean()) / (effect.std() + 1e-9)


def _draw_number(random: np.random.Generator, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number, skewed or not, and an effect that is straight, a step, a wave or bent."""
    shape = int(random.integers(6))
    bent = (np.sin(2.0 * z), np.abs(z), (z > random.normal()).astype(float))
    effect = bent[shape] if shape < len(bent) else z
    return (np.exp(z) if random.random() < 0.3 else z)[:, None], effect


def _curved() -> Iterator[Table]:
    rings = made.make_circles(200, noise=0.15, factor=0.5, random_state=1)
    yield Table("circles", *rings, 2)
    yield Table("friedman1 100", *made.make_friedman1(100, noise=1.0, random_state=2), 0)
    yield Table("moons", *made.make_moons(400, noise=0.25, random_state=3), 2)
    yield Table("friedman1 1000", *made.make_friedman1(1000, 30, noise=1.0, random_state=4), 0)
    shells = made.make_gaussian_quantiles(n_samples=500, n_features=5, n_classes=3, random_state=5)
    yield Table("quantiles", *shells, 3)
    yield Table("friedman2", *made.make_friedman2(300, noise=50.0, random_state=6), 0)
    yield Table("friedman3", *made.make_friedman3(500, noise=0.1, random_state=7), 0)
    X = np.random.default_rng(8).uniform(-2, 2, (3000, 4))
    wave = np.sin(2 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2])
    yield Table("wave", X, wave + 0.2 * np.random.default_rng(9).standard_normal(3000), 0)
    sparse = made.make_sparse_uncorrelated(400, 50, random_state=10)
    yield Table("uncorrelated", *sparse, 0)


def folds(table: Table, scaled: bool) -> list[FoldData]:
    """The folds as the program prepares them."""
    kind = StratifiedKFold if table.classes else KFold
    prepared = []
    for fit, score in kind(FOLDS, shuffle=True, random_state=SEED).split(table.X, table.y):
        fit_X, score_X = table.X[fit], table.X[score]
        if scaled:
            scaler = StandardScaler().fit(fit_X)
            fit_X, score_X = scaler.transform(fit_X), scaler.transform(score_X)
        prepared.append(FoldData(fit_X, table.y[fit], score_X, table.y[score]))
    return prepared


def space_of(model: Model, table: Table, prepared: list[FoldData]) -> tuple[Axis, ...]:
    """The model's space with its defaults as the table has them."""
    space = model.space(table.task)
    settled = model.defaults(table.task, prepared[0].fit_X) if model.defaults else {}
    return tuple(replace(axis, default=settled.get(axis.name, axis.default)) for axis in space)


def tune(table: Table, model: Model) -> DatasetRecord:
    """The trials of a model on a table."""
    prepared = folds(table, model.scaled)
    space, metric = space_of(model, table, prepared), METRICS[default_metric(table.task)]
    classes = tuple(range(table.classes))
    work = ScoringJob(model.name, table.task, metric.name, SEED, classes, prepared)
    # One more to start with: the default, which is enqueued before the settings spread evenly.
    sampler = STRATEGIES["gp"].sampler(space, {"start_trials": START + 1}, SEED)
    direction = "maximize" if metric.maximize else "minimize"
    study = optuna.create_study(sampler=sampler, direction=direction)
    study.enqueue_trial(default_setting(space))
    trials = []
    with contextlib.closing(ProcessExecutor(work, 1, LIMIT)) as executor:
        for _ in range(8 if model.name in COSTLY else 12):
            trial = study.ask(distributions(space))
            outcome = scored(executor, trial.number, dict(trial.params))
            if outcome.failure:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            study.tell(trial, outcome.score)
            values = tuple(short(axis, outcome.setting[axis.name]) for axis in space)
            trials.append(StoredTrial(trial.number, values, round(outcome.score, 5)))
    return DatasetRecord(
        id=identity(table, model),
        began="",
        model=model.name,
        task=table.task,
        metric=metric.name,
        maximize=metric.maximize,
        strategy="gp",
        statistics=statistics_of(len(table.y), table.columns or table.X.shape[1], table.classes),
        axes=tuple(axis.name for axis in space),
        trials=tuple(trials),
    )


def scored(executor: ProcessExecutor, number: int, setting: Setting) -> TrialResult:
    """One trial, waited for."""
    executor.submit(number, setting)
    while True:
        for outcome in executor.wait_for_results(1.0):
            return outcome


def short(axis: Axis, value: Any) -> Any:
    """A value to four digits, within its range."""
    if axis.kind != "float":
        return value
    return min(axis.high, max(axis.low, float(f"{value:.4g}")))


def identity(table: Table, model: Model) -> str:
    """The same for the same table and model, so that a later version completes an earlier one."""
    # Trials in another unit are another dataset: a history may still hold the earlier ones.
    standard = any(axis.name == STANDARD for axis in model.space(table.task))
    named = f"{table.name}, {model.name}" + (f", {STANDARD}" if standard else "")
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def fits(record: DatasetRecord) -> bool:
    """Whether a record's trials lie in its model's present space."""
    model = MODELS.get(record.model)
    if model is None or record.task not in model.tasks:
        return False
    rows = [trial.values for trial in record.trials]
    return None not in settings_in(model.space(record.task), record.axes, rows)


def pairs() -> list[tuple[Table, Model]]:
    """What there is to tune, small tables first."""
    found = [
        (table, model)
        for table in tables()
        for model in MODELS.values()
        if table.task in model.tasks
        and model.space(table.task)[0].name != MODEL  # several models, each with its own trials
        and not model.extra  # minutes a table, and their packages may be missing
        and (model.name not in COSTLY or table.X.size <= MOST_VALUES)
    ]
    return sorted(found, key=lambda pair: pair[0].X.size)


def main() -> None:
    """Fill the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long at most")
    end = time.monotonic() + 60 * parser.parse_args().minutes
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    known = records_in(FILE.read_text(encoding="utf-8"))[0] if FILE.exists() else []
    wanted = pairs()
    ids = {identity(table, model) for table, model in wanted}
    done = {record.id: record for record in known if record.id in ids and fits(record)}
    for table, model in wanted:
        id = identity(table, model)
        if id not in done and time.monotonic() < end:
            begun = time.monotonic()
            with threadpool_limits(1):  # threads on small matrices only wait for each other
                done[id] = tune(table, model)
            # After each one: whatever is done survives an interruption.
            write_whole(FILE, as_json(done.values()))
            took, count = time.monotonic() - begun, len(done[id].trials)
            print(f"{table.name}, {model.name}: {count} trials, {took:.1f} s", flush=True)
    # A record without trials said only that all had failed, so that they were not run again.
    kept = [record for record in done.values() if record.trials]
    write_whole(FILE, as_json(kept))
    print(f"{len(kept)} of {len(wanted)} datasets, {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
