"""The score expected of a choice among trials: unbiased, and within its interval on fresh rows."""

from __future__ import annotations

import numpy as np
import pytest

from core.tuning.averaging import corrected_score as module
from core.tuning.averaging.averaged_predictions import average_predictions
from core.tuning.averaging.corrected_score import best_trial, corrected_score, greedy_average
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS, fold_metric

SPLITS, TRIALS, ROWS, FRESH = 40, 15, 120, 4000
ACCURACY = METRICS["accuracy"]


def simulated_trials(signal: float, numbers: bool, seed: int):
    """Targets, and predictions of trials that know a part of what there is to know; fresh ones."""
    random = np.random.default_rng(seed)
    known = random.uniform(0, 1, (TRIALS, 1))
    rows = ROWS + FRESH
    truth = random.normal(size=rows)
    guesses = signal * known * truth + (1 - 0.5 * known) * random.normal(size=(TRIALS, rows))
    if numbers:
        y = signal * truth + random.normal(size=rows)
        all_predictions = [Predictions(0.6 * guess) for guess in guesses]
    else:
        y = (random.uniform(size=rows) < 1 / (1 + np.exp(-signal * truth))).astype(int)
        shares = [1 / (1 + np.exp(-guess)) for guess in guesses]
        probabilities = [np.stack([1 - share, share], axis=1) for share in shares]
        all_predictions = [Predictions(p.argmax(axis=1), p, p) for p in probabilities]
    held_out, fresh = np.arange(ROWS), np.arange(ROWS, rows)
    parts = [
        {number: predictions.subset(part) for number, predictions in enumerate(all_predictions)}
        for part in (held_out, fresh)
    ]
    return y[held_out], parts[0], y[fresh], parts[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "signal", "rule"),
    [
        ("accuracy", 0.0, "single"),
        ("accuracy", 0.0, "average"),
        ("log_loss", 2.0, "average"),
        ("r2", 1.0, "single"),
    ],
)
def test_fresh_rows_score_as_expected(metric, signal, rule, monkeypatch):
    monkeypatch.setattr(module, "RESAMPLES", 40)
    scored, raw_gaps, gaps, held = METRICS[metric], [], [], []
    for seed in range(SPLITS):
        y, trials, fresh_y, fresh_trials = simulated_trials(signal, metric == "r2", seed)
        held_metric = fold_metric(scored, float(np.var(y)))
        single = best_trial(y, trials, held_metric)
        choose = single if rule == "single" else greedy_average(y, trials)
        weights = choose(np.arange(ROWS))
        shares = np.array(list(weights.values()))
        fresh_mean = average_predictions([fresh_trials[n] for n in weights], shares)
        fresh = scored.score(fresh_y, fresh_mean)
        expected = corrected_score(y, trials, choose, held_metric, seed)
        mean = average_predictions([trials[n] for n in weights], shares)
        raw_gaps.append(scored.signed_gain(scored.score(y, mean) - fresh))
        gaps.append(scored.signed_gain(expected.estimate - fresh))
        held.append(expected.low <= fresh <= expected.high)
    error = np.std(gaps) / np.sqrt(SPLITS)
    assert abs(np.mean(gaps)) < 2.5 * error
    assert np.mean(held) >= 0.93
    if signal == 0.0:
        assert np.mean(raw_gaps) > 5 * error


def test_a_rule_without_a_choice_needs_no_correction():
    y, trials, _, _ = simulated_trials(2.0, False, 1)
    expected = corrected_score(y, trials, lambda rows: {3: 1.0}, ACCURACY, 0)
    score = ACCURACY.score(y, trials[3])
    assert expected.estimate == pytest.approx(score, abs=0.02)
    # Of 37 of 100 rows each: 1/sqrt(.37) times the standard error of all.
    half = 1.96 * np.sqrt(score * (1 - score) / (0.37 * ROWS))
    assert expected.high - expected.low == pytest.approx(2 * half, rel=0.25)


def test_copies_of_a_row_are_drawn_together():
    y, trials, _, _ = simulated_trials(2.0, False, 1)
    twice = np.tile(np.arange(ROWS), 2)
    copies = {n: predictions.subset(twice) for n, predictions in trials.items()}

    def choose(rows):
        first, second = rows[rows < ROWS], rows[rows >= ROWS]
        np.testing.assert_array_equal(first, second - ROWS)
        return {0: 1.0}

    expected = corrected_score(y[twice], copies, choose, ACCURACY, 0, twice)
    assert expected == corrected_score(y, trials, lambda rows: {0: 1.0}, ACCURACY, 0)


def test_more_rows_than_are_drawn_from_narrow_the_interval(monkeypatch):
    y, trials, _, _ = simulated_trials(2.0, False, 1)
    widths = []
    for max_units in (ROWS, ROWS // 4):
        monkeypatch.setattr(module, "MAX_UNITS", max_units)
        expected = corrected_score(y, trials, lambda rows: {0: 1.0}, ACCURACY, 0)
        widths.append(expected.high - expected.low)
    assert widths[0] == pytest.approx(widths[1], rel=0.3)
    # No score where one class was held out.
    assert corrected_score(0 * y, trials, lambda rows: {0: 1.0}, METRICS["auc"], 0) is None
