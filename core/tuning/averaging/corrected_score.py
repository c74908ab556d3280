"""The expected score of what a run chose among its trials, corrected for the choice.

The held-out rows are drawn with replacement; what the same rule chooses by the drawn rows is scored
on the others (BBC-CV; Tsamardinos, Greasidou and Borboudakis 2018, Algorithm 5). These are 37 % of
the rows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from core.samplers.averaging import greedy_weights
from core.tuning.averaging.averaged_predictions import average_predictions, log_densities
from core.tuning.scores.metric import Metric, Predictions

RESAMPLES = 100
MIN_RESAMPLES = 20  # with a score; it is undefined where a class is missing
MAX_UNITS = 1000  # rows drawn from: more cost seconds, and narrow the interval as computed
MAX_MEMBERS, GREEDY_ROUNDS = 20, 25
_SURE = 1.96  # standard deviations

PredictionsByTrial = Mapping[int, Predictions]  # each of the same n held-out rows
Choice = Callable[[np.ndarray], Mapping[int, float]]  # rows, some repeatedly -> {trial: weight}


@dataclass(frozen=True)
class CorrectedScore:
    """The expected score on new rows, with the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float


def corrected_score(
    y: np.ndarray,
    predictions_by_trial: PredictionsByTrial,
    choose: Choice,
    metric: Metric,
    seed: int,
    units: np.ndarray | None = None,
) -> CorrectedScore | None:
    """The corrected score of `choose` applied to all rows; None where too few resamples have one.

    Args:
        y: codes or numbers, shape (n,).
        predictions_by_trial: of all trials, not the best alone, else the correction is too small.
        choose: the run's rule.
        units: what is drawn as a whole, (n,), as the copies of a row in repeated folds; None: rows.
    """
    generator = np.random.default_rng(seed)
    unit_of_row = np.unique(np.arange(len(y)) if units is None else units, return_inverse=True)[1]
    unit_count = int(unit_of_row.max()) + 1
    used_units = generator.permutation(unit_count)[:MAX_UNITS]
    scores = []
    for _ in range(RESAMPLES):
        drawn_units = generator.choice(used_units, len(used_units))
        is_used = np.zeros(unit_count, dtype=bool)
        is_used[used_units] = True
        is_used[drawn_units] = False
        other_rows = np.flatnonzero(is_used[unit_of_row])
        counts = np.bincount(drawn_units, minlength=unit_count)
        weights = choose(np.repeat(np.arange(len(y)), counts[unit_of_row]))
        members = [predictions_by_trial[number].subset(other_rows) for number in weights]
        mean = average_predictions(members, np.array(list(weights.values())))
        scores.append(metric.score(y[other_rows], mean))
    values = np.array([score for score in scores if math.isfinite(score)])
    if len(values) < MIN_RESAMPLES:
        return None
    estimate, deviation = float(values.mean()), _SURE * float(values.std())
    # The wider of the middle 95 % and the normal interval: each alone held too few fresh scores of
    # small tables.
    low, high = np.percentile(values, (2.5, 97.5))
    # No end lies beyond every score that was seen, such as an accuracy above 1.
    low = max(min(low, estimate - deviation), values.min())
    high = min(max(high, estimate + deviation), values.max())
    # Fewer units were drawn from than there are: the score of all is known as much better.
    shrinkage = math.sqrt(len(used_units) / unit_count)
    ends = [estimate + shrinkage * (float(end) - estimate) for end in (low, high)]
    return CorrectedScore(estimate, *ends)


def best_trial(y: np.ndarray, predictions_by_trial: PredictionsByTrial, metric: Metric) -> Choice:
    """The rule that takes the trial of the best score."""
    sign = 1.0 if metric.maximize else -1.0

    def choose(rows: np.ndarray) -> dict[int, float]:
        weights = np.bincount(rows, minlength=len(y)).astype(float)[None]
        scores = {
            number: sign * float(metric.weighted_scores(y, predictions, weights)[0])
            for number, predictions in predictions_by_trial.items()
        }
        return {max(scores, key=lambda number: np.nan_to_num(scores[number], nan=-np.inf)): 1.0}

    return choose


def greedy_average(y: np.ndarray, predictions_by_trial: PredictionsByTrial) -> Choice:
    """The rule that averages by greedy selection: by density, of numbers by squared error."""
    numbers, members = np.array(list(predictions_by_trial)), list(predictions_by_trial.values())
    has_densities = members[0].probabilities is not None
    labels = np.stack([member.labels for member in members], axis=1)
    logs = log_densities(y, members) if has_densities else -((labels - y[:, None]) ** 2)

    def choose(rows: np.ndarray) -> dict[int, float]:
        # Of many trials only the best are tried: the others hardly ever have a weight.
        best = np.argsort(-logs[rows].mean(axis=0), kind="stable")[:MAX_MEMBERS]
        values, truth = (logs, None) if has_densities else (labels, y[rows])
        weights = greedy_weights(values[rows][:, best], truth, rounds=GREEDY_ROUNDS)
        pairs = zip(numbers[best].tolist(), weights.tolist(), strict=True)
        return {number: weight for number, weight in pairs if weight > 0}

    return choose
