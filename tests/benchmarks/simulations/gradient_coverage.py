"""What `gradient` tells of groups whose truth is known: noise trusted more than a true group.

The rules (folds, ranges, what is switched off) were chosen on normal columns: true groups of 1 to 8
with normal weights of deviation .4 or .8, noise of 1 to 30, seeds [991, 0] to [991, 99]. Measured
here are other sizes, weights and columns, with other seeds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.datasets.reading import read_dataset
from core.penalties.penalty_order import placed_groups, trust_levels
from core.tuning.learning.learning_run import steps_of, training_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem
from core.tuning.problem_setup import build_problem
from tests.benchmarks.simulations.figure import Figure

SEED, NEW_ROWS = 20_281, 1000
SCORES = {"two classes": 1, "three classes": 3, "numbers": 1}
FAMILIES = ("groups of 2 to 6", "wide noise", "columns that hang together")


@dataclass(frozen=True)
class Telling:
    """What came of one table: mistakes, the share of true orders told, and the loss of new rows."""

    is_misordered: bool  # by the penalties themselves
    is_told_wrongly: bool  # noise said to be more important than a true group
    true_off: bool  # a true group said to add nothing
    told_share: float  # of pairs of a true group and noise, those that are told rightly
    loss: float  # −log p of a new row


def figures(sets: int) -> Iterator[Figure]:
    """Of a twentieth of the sets: a table takes half a second."""
    yield from gradient_figures(max(10, sets // 20))


def gradient_figures(sets: int) -> Iterator[Figure]:
    """The default, folds, beside one part held out."""
    tables = [(told_of(seed, "automatic"), told_of(seed, "holdout")) for seed in range(sets)]
    default, single = zip(*tables, strict=True)

    def share(name: str, tellings: tuple[Telling, ...]) -> float:
        return float(np.mean([getattr(telling, name) for telling in tellings]))

    wrong = "gradient: noise trusted more than a true group"
    note = f"one part: {share('is_misordered', single):.2f}"
    told = f"of the right orders {share('told_share', default):.2f} are told"
    yield Figure(f"{wrong}, by λ", share("is_misordered", default), 0.0, 0.1, sets, note)
    yield Figure(f"{wrong}, as told", share("is_told_wrongly", default), 0.0, 0.04, sets, told)
    off = share("true_off", default)
    yield Figure("gradient: a true group told as switched off", off, 0.0, 0.02, sets)
    gains = [one.loss - folds.loss for folds, one in tables]
    note = f"± {np.std(gains) / np.sqrt(sets):.4f}"
    name = "gradient: log loss of new rows, one part above folds, nats"
    yield Figure(name, float(np.mean(gains)), 0.0, np.inf, sets, note)


def told_of(seed: int, validation: str) -> Telling:
    """The last step on the table of a seed, against the truth."""
    problem = _problem(seed, validation)
    training = training_of(problem)
    *_, last = steps_of(problem, training)
    names = training.group_names
    off = {name for name, is_off in zip(names, last.switched_off, strict=True) if is_off}
    ranges = {} if last.ranges is None else dict(zip(names, last.ranges.tolist(), strict=True))
    alive = {name: ends for name, ends in ranges.items() if name not in off}
    levels = trust_levels(placed_groups(alive))
    level_of = {name: number for number, level in enumerate(levels) for name in level}
    level_of |= dict.fromkeys(off, len(levels))
    C = dict(zip(names, last.C, strict=True))
    pairs = [(t, n) for t in names for n in names if t.startswith("true") and n.startswith("noise")]
    orders = [level_of[n] - level_of[t] for t, n in pairs if t in level_of and n in level_of]
    _, new = training.loss_pair(problem, (problem.train_rows, problem.test_rows))
    return Telling(
        any(C[n] < C[t] for t, n in pairs),
        any(order < 0 for order in orders),
        any(name.startswith("true") for name in off),
        sum(order > 0 for order in orders) / len(pairs),
        new.point_at(last.w).value / NEW_ROWS,
    )


def _problem(seed: int, validation: str) -> Problem:
    table, rows = _table(seed)
    model = "linear" if seed % 3 == 2 else "logistic"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.to_csv(file, index=False)
        plan = Plan(DataPlan(str(file)), model, "gradient", groups="prefix", seed=seed,
                    options={"validation": validation})  # fmt: skip
        problem = build_problem(plan, read_dataset(str(file)))
    return problem.with_rows(np.arange(rows), np.arange(rows, rows + NEW_ROWS))


def _table(seed: int) -> tuple[pd.DataFrame, int]:
    """100 to 500 rows to learn from, then new ones; kinds and families take turns."""
    random = np.random.default_rng([SEED, seed])
    kind, family = list(SCORES)[seed % 3], FAMILIES[seed // 3 % 3]
    rows, true_count, noise_count = (
        int(random.integers(*span)) for span in ((100, 501), (2, 4), (2, 5))
    )
    sizes = random.integers(2, 7, true_count + noise_count)
    if family == "wide noise":
        sizes[true_count:] = random.integers(10, 31, noise_count)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = random.standard_normal((rows + NEW_ROWS, len(groups)))
    if family == "columns that hang together":
        X += 0.7 * random.standard_normal((len(X), len(sizes)))[:, groups]
        X = np.where(np.arange(len(groups)) % 2 == 0, X > 0.5, np.exp(0.5 * X))
    # The true groups have unlike shares of what can be known: of two a quarter at least, mostly.
    z = np.zeros((len(X), SCORES[kind]))
    for group, share in enumerate(random.dirichlet(np.full(true_count, 5.0))):
        effect = X[:, groups == group] @ random.choice([-1.0, 1.0], (sizes[group], z.shape[1]))
        z += 2.0 * np.sqrt(share) * (effect - effect.mean(axis=0)) / effect.std(axis=0)
    if kind == "numbers":
        y = z[:, 0] + 2.0 * random.standard_normal(len(X))
    elif kind == "two classes":
        y = np.where(z[:, 0] + random.logistic(size=len(X)) > 0, "yes", "no")
    else:
        y = np.array(["a", "b", "c"])[np.argmax(z + random.gumbel(size=z.shape), axis=1)]
    names = [f"{'true' if g < true_count else 'noise'}{g}" for g in range(len(sizes))]
    numbers = [int(np.sum(groups[:column] == group)) for column, group in enumerate(groups)]
    columns = [f"{names[g]}_{number}" for g, number in zip(groups, numbers, strict=True)]
    return pd.DataFrame(X, columns=columns).assign(y=y), rows
