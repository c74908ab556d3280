"""The threshold by costs, and the alarm of unlike rows, where the truth is known.

The constants of both rules were chosen on other families: thresholds on normal log odds, the alarm
on the seeds that begin with a number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from scipy.special import expit, logit

from core.evaluation.rank_distance import RankDistance, rank_distance
from core.tuning.results.threshold import calibrated_threshold
from tests.benchmarks.simulations.figure import Figure

SEED = 20_261
RATIOS = ((1.0, 1.0), (1.0, 5.0), (1.0, 20.0), (50.0, 1.0))  # costs of the two mistakes
SHAPES = ((1.0, 9.0), (0.5, 2.0), (2.0, 2.0), (6.0, 3.0))  # of Beta distributions of true p
# What a model makes of a true probability's log odds, and how many of its rows are told.
MODELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "calibrated": lambda z: z,
    "too sure": lambda z: 2.0 * z,
    "too unsure": lambda z: 0.6 * z,
    "too sure of one class": lambda z: np.where(z < 0, 2.2 * z, 0.7 * z),
    "balanced by weights": lambda z: z + 1.5,
    "votes of 200": lambda z: logit((np.rint(200 * expit(1.5 * z)) / 200).clip(1e-9, 1 - 1e-9)),
}


def figures(sets: int) -> Iterator[Figure]:
    """The figures of thresholds and of the alarm."""
    yield from threshold_figures(sets)
    yield from alarm_figures(sets)


def threshold_figures(sets: int) -> Iterator[Figure]:
    """Costs of new rows above those at a / (a + b), and above those at the least of all cuts."""
    for rows in (30, 100, 300, 2000):
        told, ideal, least = _costs(rows, "calibrated", sets)
        note = f"least of all cuts {least / ideal - 1:.3f}"
        name = f"threshold's cost above theory, calibrated, {rows} rows"
        yield Figure(name, told / ideal - 1, -np.inf, 0.05, sets, note)
    for model in list(MODELS)[1:]:
        told, ideal, least = _costs(2000, model, sets)
        note = f"above a / (a + b) {told / ideal - 1:.3f}"
        name = f"threshold's cost above the least of all cuts, {model}, 2,000 rows"
        yield Figure(name, told / least - 1, -np.inf, 0.01, sets, note)


def _costs(rows: int, model: str, sets: int) -> tuple[float, float, float]:
    """A new row's mean cost: as the program decides, at a / (a + b), at the least of all cuts."""
    total = np.zeros(3)
    for index in range(sets):
        random = np.random.default_rng([SEED, rows, index])
        shape, costs = SHAPES[index % 4], RATIOS[index // 4 % 4]
        true, new_true = random.beta(*shape, rows), random.beta(*shape, 4000)
        second, new = (expit(MODELS[model](logit(p))) for p in (true, new_true))
        is_second = random.random(rows) < true
        values = (
            calibrated_threshold(second, is_second, costs),
            costs[0] / sum(costs),
            least_cut(second, is_second, costs),
        )
        total += [
            np.where(new >= value, costs[0] * (1 - new_true), costs[1] * new_true).mean()
            for value in values
        ]
    told, ideal, least = total / sets
    return told, ideal, least


def least_cut(second: np.ndarray, is_second: np.ndarray, costs: tuple[float, float]) -> float:
    """The threshold of least cost on these rows, in the middle between two probabilities."""
    order = np.argsort(second)
    p, y = second[order], is_second[order]
    missed = np.concatenate(([0], np.cumsum(y)))
    false = (~y).sum() - np.concatenate(([0], np.cumsum(~y)))
    edges = np.concatenate(([-1.0], p, [2.0]))
    can_cut = edges[1:] > edges[:-1]
    total = np.where(can_cut, costs[0] * false + costs[1] * missed, np.inf)
    best = int(total.argmin())
    return float(edges[best : best + 2].mean())


NEW_ROWS = 400
OUTLIER = 1e5


def _numbers(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    return random.logistic(size=(n, p))


def _heavy(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    return random.standard_t(4, size=(n, p))


def _skew(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    return random.gamma(1.5, size=(n, p))


def _correlated(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    steps = random.normal(size=(n, p))
    for column in range(1, p):
        steps[:, column] = 0.7 * steps[:, column - 1] + 0.51**0.5 * steps[:, column]
    return steps


def _integers(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    return random.negative_binomial(3, 0.3, size=(n, p)).astype(float)


def _gaps(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    rows = random.normal(size=(n, p))
    return np.where(random.random((n, p)) < 0.15, np.nan, rows)


def _mixed(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Every second column has categories, of which some are rare."""
    share = 0.6 ** np.arange(12)
    codes = random.choice(12, (n, p), p=share / share.sum()).astype(float)
    return np.where(np.arange(p) % 2, codes, _gaps(random, n, p))


TABLES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "logistic": _numbers,
    "heavy tails": _heavy,
    "skew": _skew,
    "correlated": _correlated,
    "integers": _integers,
    "missing": _gaps,
    "mixed": _mixed,
}
ROWS = (40, 100, 300, 1000, 5000)
# Columns, and of how many sets one is measured: wide tables take longer and have more columns each.
COLUMNS = {2: 1, 10: 1, 100: 5, 500: 20}
MAX_CELLS = 150_000  # of a simulated table: 5,000 rows have up to 10 columns, 300 have 500


def alarm_figures(
    sets: int, columns: Mapping[int, int] = COLUMNS, rows: Sequence[int] = ROWS
) -> Iterator[Figure]:
    """Marks of ordinary rows, and of rows of which √p of the p columns are moved by 3 sd."""
    for p, every in columns.items():
        cases = [(kind, n) for n in rows if n * p <= MAX_CELLS for kind in TABLES]
        count = max(sets // every, len(cases))
        shares = [_marked_shares(*cases[i % len(cases)], p, i) for i in range(count)]
        mean = {name: float(np.mean([share[name] for share in shares])) for name in shares[0]}
        tables = f"outside a range {mean['range']:.3f}"
        name = f"unlike among ordinary rows, {p} columns"
        yield Figure(name, mean["new"], 0.005, 0.015, count, tables)
        kinds = {
            kind: np.mean(
                [s["moved"] for i, s in enumerate(shares) if cases[i % len(cases)][0] == kind]
            )
            for kind in TABLES
        }
        least = min(kinds, key=lambda kind: kinds[kind])
        note = f"least {kinds[least]:.2f} ({least}); one column moved {mean['one']:.2f}"
        name = f"unlike where √p of {p} columns are moved by 3 sd"
        yield Figure(name, mean["moved"], 0.6, 1.0, count, note)
        name = f"the same with one odd training row, {p} columns"
        yield Figure(name, mean["odd"], 0.6, 1.0, count)


def _marked_shares(kind: str, n: int, p: int, index: int) -> dict[str, float]:
    random, draw = np.random.default_rng([SEED, n, p, index]), TABLES[kind]
    categories = [12 if kind == "mixed" and column % 2 else 0 for column in range(p)]
    numbers = np.flatnonzero(np.array(categories) == 0)
    train, new = draw(random, n, p), draw(random, NEW_ROWS, p)
    spread = np.nanstd(draw(random, 2000, p), axis=0)

    def moved_rows(count: int) -> np.ndarray:
        order = random.random((NEW_ROWS, len(numbers))).argsort(axis=1)[:, :count]
        rows, columns = np.arange(NEW_ROWS)[:, None], numbers[order]
        moved = new.copy()
        moved[rows, columns] += random.choice((-3.0, 3.0), columns.shape) * spread[columns]
        return moved

    def marked_share(distance: RankDistance, rows: np.ndarray) -> float:
        return float(distance.is_unlike(distance.distance_terms(rows)).mean())

    distance = rank_distance(train, categories, np.arange(n))
    odd_train = train.copy()
    odd_train[0, numbers] = OUTLIER
    odd_distance = rank_distance(odd_train, categories, np.arange(n))
    assert distance is not None
    assert odd_distance is not None
    few_moved = moved_rows(int(np.ceil(np.sqrt(p))))
    low, high = np.nanmin(train, axis=0), np.nanmax(train, axis=0)
    return {
        "new": marked_share(distance, new),
        "range": float(((new < low) | (new > high)).any(axis=1).mean()),
        "moved": marked_share(distance, few_moved),
        "one": marked_share(distance, moved_rows(1)),
        "odd": marked_share(odd_distance, few_moved),
    }
