"""Intervals and verdicts where test rows come in groups, in time, or with heavy tails.

The rules (t over units, 20 blocks of time, the scale of logs) were chosen on normal effects and
errors, in time also on sums of two series, moving averages and signs (seeds 0 to 11). Measured
here, with other seeds, are groups with Laplace effects whose sizes are geometric, series of Laplace
shocks, and Student's t and log-normal errors again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import signal, special

from core.datasets.units import Units
from core.evaluation.unit_intervals import MIN_UNITS
from core.tuning.scores.intervals import score_intervals
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import ComparedPredictions
from tests.benchmarks.simulations.figure import Figure

COVERED, REAL = (0.93, 0.98), (0.0, 0.05)
TRUTH_ROWS = 100_000
CLASSES, NUMBERS = ("accuracy", "log_loss", "auc", "f1"), ("r2", "mse")
Draw = Callable[[np.random.Generator, int], np.ndarray]  # (generator, count) -> series (count, n)


@dataclass(frozen=True)
class Rows:
    """Test rows of one kind: their units, and how a quantity is spread over them."""

    name: str
    units: Units
    draw: Draw


def group_rows(generator: np.random.Generator, groups: int, alike: float, is_unequal: bool) -> Rows:
    """Groups of 8 rows on average, with `alike` the correlation of rows of one group."""
    sizes = generator.geometric(1 / 8, size=groups) if is_unequal else np.full(groups, 8)
    index = np.repeat(np.arange(groups), sizes)

    def draw(generator: np.random.Generator, count: int) -> np.ndarray:
        effects = generator.laplace(scale=np.sqrt(alike / 2), size=(count, groups))[:, index]
        deviation = np.sqrt(3.0 * (1.0 - alike))
        return effects + generator.uniform(-deviation, deviation, size=(count, len(index)))

    sizes_text = "unequal" if is_unequal else "equal"
    return Rows(f"correlation {alike:g}, {sizes_text} sizes", Units(index, "patient"), draw)


def time_rows(rows: int, autocorrelation: float) -> Rows:
    """Moments in a row, with Laplace shocks that fade."""

    def draw(generator: np.random.Generator, count: int) -> np.ndarray:
        scale = np.sqrt((1.0 - autocorrelation**2) / 2)
        shocks = generator.laplace(scale=scale, size=(count, rows + 200))
        return signal.lfilter([1.0], [1.0, -autocorrelation], shocks, axis=1)[:, 200:]

    return Rows(f"{rows} moments", Units(np.arange(rows), "moment", is_time=True), draw)


def equal_models(
    rows: Rows, generator: np.random.Generator, has_classes: bool
) -> ComparedPredictions:
    """Two models that know the same share of the truth, each with errors of its own."""
    truth, tuned, default, noise = rows.draw(generator, 4)
    if not has_classes:
        models = [Predictions(0.8 * truth + 0.5 * error) for error in (tuned, default)]
        models.append(Predictions(np.zeros(len(truth))))
        return ComparedPredictions(truth + 0.7 * noise, *models, row_units=rows.units)
    y = (truth + 0.7 * noise > 0).astype(int)
    models = []
    for odds in (2.0 * truth + 1.5 * tuned, 2.0 * truth + 1.5 * default, np.full(len(y), -0.1)):
        chance = np.stack([special.expit(-odds), special.expit(odds)], axis=1)
        models.append(Predictions((odds > 0).astype(int), chance, chance))
    return ComparedPredictions(y, *models, row_units=rows.units)


@dataclass
class Tally:
    """What the intervals of one metric held, over sets of one kind."""

    sets: int = 0
    covered: int = 0
    real: int = 0
    no_verdict: int = 0


def tally(
    drawn_rows: Callable[[], Rows], single: Rows, sets: int, generator: np.random.Generator
) -> dict[str, Tally]:
    """Tallies of every metric; `single`: many independent rows, on which the truth is measured."""
    tallies = {name: Tally() for name in (*CLASSES, *NUMBERS)}
    for metrics, task in ((CLASSES, "binary"), (NUMBERS, "regression")):
        has_classes = task == "binary"
        model = equal_models(single, generator, has_classes)
        truth = {name: METRICS[name].score(model.y, model.tuned) for name in metrics}
        for _ in range(sets):
            predictions = equal_models(drawn_rows(), generator, has_classes)
            if has_classes and len(np.unique(predictions.y)) < 2:
                continue  # nothing can be told of one class alone
            scores = predictions.all_scores(task)
            for name in metrics:
                count_set(tallies[name], predictions, name, scores, truth[name])
    return tallies


def count_set(
    counts: Tally,
    predictions: ComparedPredictions,
    name: str,
    scores: dict[str, dict[str, float]],
    truth: float,
) -> None:
    """Count one set, unless nothing is known of its score, as where one group has a class."""
    intervals = score_intervals(METRICS[name], predictions, scores)
    (low, high), gain = intervals.scores["tuned"], intervals.differences["default"]
    if not np.isfinite(low):
        return
    has_verdict = gain.units is None or gain.units >= MIN_UNITS
    counts.sets += 1
    counts.covered += low <= truth <= high
    counts.real += has_verdict and (gain.low > 0 or gain.high < 0)
    counts.no_verdict += not has_verdict


def figures(sets: int) -> Iterator[Figure]:
    """All lines: groups, time, heavy tails."""
    yield from group_figures(sets)
    yield from time_figures(sets)
    yield from tail_figures(sets)


def pooled_figures(
    subject: str,
    cases: Sequence[tuple[str, dict[str, Tally]]],
    covered: tuple[float, float] = COVERED,
    real: tuple[float, float] = REAL,
) -> Iterator[Figure]:
    """Two lines a metric over all cases; the note has the case that is farthest off."""
    for metric in (*CLASSES, *NUMBERS):
        counts = [(case, tallies[metric]) for case, tallies in cases if tallies[metric].sets]
        total = sum(c.sets for _, c in counts)
        if not total:
            continue
        worst = min(counts, key=lambda entry: entry[1].covered / entry[1].sets)
        note = f"least {worst[1].covered / worst[1].sets:.3f}: {worst[0]}"
        share = sum(c.covered for _, c in counts) / total
        yield Figure(f"{subject}: {metric} covered", share, *covered, total, note)
        worst = max(counts, key=lambda entry: entry[1].real / entry[1].sets)
        without = sum(c.no_verdict for _, c in counts) / total
        note = f"most {worst[1].real / worst[1].sets:.3f}: {worst[0]}; no verdict {without:.2f}"
        share = sum(c.real for _, c in counts) / total
        yield Figure(f"{subject}: {metric} “real” among equals", share, *real, total, note)


def group_figures(sets: int, all_groups: Sequence[int] = (2, 5, 8, 12, 20, 40)) -> Iterator[Figure]:
    """Lines of so many groups, over correlations 0 to .9 and equal and unequal sizes."""
    kinds = ((0.0, True), (0.3, False), (0.6, True), (0.9, False))
    for groups in all_groups:
        cases = []
        for seed, (alike, is_unequal) in enumerate(kinds):
            generator = np.random.default_rng([groups, seed, 77])
            single = group_rows(generator, TRUTH_ROWS // 8, alike, is_unequal=False)
            drawn_rows = partial(group_rows, generator, groups, alike, is_unequal)
            part = max(1, sets // len(kinds))
            cases.append((drawn_rows().name, tally(drawn_rows, single, part, generator)))
        # Of two groups that a score is of, hardly anything is known.
        covered = COVERED if groups >= MIN_UNITS else (0.8, 1.0)
        yield from pooled_figures(f"{groups} groups", cases, covered)


def time_figures(
    sets: int, autocorrelations: Sequence[float] = (0.0, 0.5, 0.8, 0.95)
) -> Iterator[Figure]:
    """Lines of each autocorrelation, over 100 to 1,000 moments."""
    lengths = (100, 300, 1000)
    for autocorrelation in autocorrelations:
        cases = []
        for rows in lengths:
            generator = np.random.default_rng([rows, int(100 * autocorrelation), 78])
            single = time_rows(2 * TRUTH_ROWS, autocorrelation)
            part = max(1, sets // len(lengths))
            drawn_rows = partial(time_rows, rows, autocorrelation)
            cases.append((drawn_rows().name, tally(drawn_rows, single, part, generator)))
        # Where a hundred moments are three independent ones, hardly anything is known.
        has_few = autocorrelation > 0.8
        bounds = ((0.88, 0.98), REAL) if has_few else (COVERED, REAL)
        yield from pooled_figures(f"autocorrelation {autocorrelation:g}", cases, *bounds)


TAILS: dict[str, Draw] = {
    "normal": lambda generator, n: generator.normal(size=n),
    "Student t3": lambda generator, n: generator.standard_t(3, size=n) / np.sqrt(3.0),
    "log-normal": lambda generator, n: (
        (np.exp(generator.normal(size=n)) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1.0))
    ),
}
# Ten log-normal rows hold no sign of the largest thousandth, of which the mean square is made.
LEAST_COVERED = {("log-normal", 30): 0.84, ("log-normal", 100): 0.9, ("Student t3", 1000): 0.9}


def tail_figures(sets: int, all_rows: Sequence[int] = (30, 100, 300, 1000)) -> Iterator[Figure]:
    """Lines by the kind of errors and the number of rows: R² ½, equal models, a gain on the mean.

    Such errors are in the target, and no model knows them.
    """
    metric = METRICS["r2"]
    for tail, draw in TAILS.items():
        for rows in all_rows:
            generator = np.random.default_rng([rows, len(tail), 79])
            covered = real = above = 0
            for _ in range(sets):
                parts, error = (
                    generator.normal(size=(2, rows)) / np.sqrt(2.0),
                    draw(generator, rows),
                )
                models = [Predictions(signal_part) for signal_part in (*parts, parts.sum(axis=0))]
                y, mean = models[2].labels + error, Predictions(np.zeros(rows))
                predictions = ComparedPredictions(y, *models[:2], mean)
                scores = predictions.all_scores("regression")
                gain = score_intervals(metric, predictions, scores).differences["default"]
                real += gain.low > 0 or gain.high < 0
                predictions = ComparedPredictions(y, models[2], models[2], mean)
                scores = predictions.all_scores("regression")
                intervals = score_intervals(metric, predictions, scores)
                low, high = intervals.scores["tuned"]
                covered += low <= 0.5 <= high
                above += intervals.differences["baseline"].low > 0
            least, name = LEAST_COVERED.get((tail, rows), COVERED[0]), f"{tail} errors, {rows} rows"
            yield Figure(f"R² with {name}: covered", covered / sets, least, COVERED[1], sets)
            yield Figure(f"{name}: “real” among equals", real / sets, *REAL, sets)
            least_power = 0.6 if rows < 100 else 0.75
            yield Figure(f"{name}: above the mean with R² ½", above / sets, least_power, 1.0, sets)
