"""What contestants say: scores of folds, and the interval that each metric gets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from core.datasets.units import Units
from core.evaluation.paired_tests import difference_interval, mcnemar
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.scores.intervals import score_intervals
from core.tuning.scores.metric import Predictions
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import ComparedPredictions


def of_classes(rows, classes=2):
    """Two models that know the class more and less well, and the shares."""
    generator = np.random.default_rng(0)
    y = generator.integers(classes, size=rows)
    both = []
    for strength in (1.2, 0.8):
        odds = generator.normal(size=(rows, classes)) + strength * np.eye(classes)[y]
        chance = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        both.append(Predictions(np.argmax(chance, axis=1), chance, chance))
    flat = np.full((rows, classes), 1 / classes)
    return ComparedPredictions(y, *both, Predictions(np.zeros(rows, dtype=int), flat, flat))


def of_numbers(rows):
    generator = np.random.default_rng(0)
    y, noise, more = generator.normal(size=(3, rows))
    models = (Predictions(y + 0.6 * noise), Predictions(y + 0.7 * more), Predictions(0 * y))
    return ComparedPredictions(y, *models)


def spans(name, answers, task="binary", **more):
    return score_intervals(METRICS[name], answers, answers.all_scores(task), **more)


def drawn(name, answers, draws=400):
    """The middle 95 % of the tuned score, and of its differences, over rows that are drawn."""
    rows, generator = len(answers.y), np.random.default_rng(1)
    weights = generator.multinomial(rows, np.full(rows, 1 / rows), size=draws).astype(float)
    tuned, *others = (
        METRICS[name].weighted_scores(answers.y, model, weights)
        for model in answers.by_model.values()
    )
    return [np.percentile(each, (2.5, 97.5)) for each in (tuned, *(tuned - o for o in others))]


def repeated(answers, copies, **more):
    parts = [model.subset(copies) for model in answers.by_model.values()]
    return ComparedPredictions(answers.y[copies], *parts, **more)


def test_accuracy_is_judged_by_the_exact_mcnemar_test():
    answers = of_classes(80)
    right, other = (answers.tuned.labels == answers.y, answers.default.labels == answers.y)
    span = spans("accuracy", answers).differences["default"]
    won, lost = int((right & ~other).sum()), int((other & ~right).sum())
    assert span.method == "exact McNemar"
    assert span.p == pytest.approx(stats.binomtest(won, won + lost).pvalue)
    assert (span.low > 0) == (span.p < 0.05)


def test_models_that_agree_on_every_row_may_still_differ_unless_they_are_the_same():
    answers = of_classes(80)
    answers = ComparedPredictions(answers.y, answers.tuned, answers.tuned, answers.baseline)
    span = spans("accuracy", answers).differences["default"]
    assert span.low == -span.high < 0
    span = spans("accuracy", answers, is_default=True).differences["default"]
    assert (span.low, span.high) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "answers", "task"),
    [
        ("auc", of_classes(800), "binary"),
        ("auc", of_classes(800, 4), "multiclass"),
        ("log_loss", of_classes(1500, 3), "multiclass"),
        *((name, of_numbers(1200), "regression") for name in ("r2", "mse", "mae")),
        ("r2", of_numbers(2500), "regression"),  # to first order
    ],
)
def test_many_rows_have_the_interval_that_the_bootstrap_finds(name, answers, task):
    intervals = spans(name, answers, task)
    spans_found = [intervals.differences[other] for other in ("default", "baseline")]
    found = [intervals.scores["tuned"], *((span.low, span.high) for span in spans_found)]
    for ends, expected in zip(found, drawn(name, answers), strict=True):
        assert ends == pytest.approx(expected, abs=0.15 * np.ptp(expected))


def test_rows_of_groups_count_as_groups():
    """Ten copies of each row tell no more than one: no interval shrinks."""
    answers, copies = of_classes(150), np.repeat(np.arange(150), 10)
    grouped = repeated(answers, copies, row_units=Units(copies))
    for name in ("log_loss", "auc", "accuracy"):
        single, many = (spans(name, rows).differences["default"] for rows in (answers, grouped))
        assert (many.low, many.high) == pytest.approx((single.low, single.high), abs=0.02)
    assert spans("accuracy", grouped).differences["default"].units == 150


def test_a_gain_of_four_groups_has_no_verdict():
    """Two models of which one is always right: five patients may say so, four may not."""
    rows = 60
    y = np.arange(rows) % 2
    wrong = np.where(np.random.default_rng(0).random(rows) < 0.6, 1 - y, y)
    sure = np.zeros((rows, 2))
    models = [Predictions(labels, sure) for labels in (y, wrong, 0 * y)]
    for patients in (1, 4, 5):
        units = Units(np.arange(rows) % patients, "patient")
        answers = ComparedPredictions(y, *models, row_units=units)
        context = ComparisonContext("binary", (0, 1), METRICS["accuracy"], {"C": 1}, {"C": 2})
        results = results_of(answers, context)
        assert results.gain.real == (patients == 5)
        text = f"only {results.tested_units} test{'s' if patients == 1 else ''}"
        assert results.few_units_text == ("" if patients == 5 else text)
        assert any(text in remark for remark in results.remarks) == (patients < 5)


def test_errors_that_stay_alike_for_long_are_few_stretches_of_time():
    rows, generator = 400, np.random.default_rng(2)
    y, noise = generator.normal(size=(2, rows))
    for drift, has_few in ((np.linspace(0, 3, rows), True), (0.5 * noise, False)):
        models = [Predictions(labels) for labels in (y + 1.0 + drift, y + 1.0 + noise, 0 * y)]
        answers = ComparedPredictions(y, *models, row_units=Units(np.arange(rows), "day", True))
        context = ComparisonContext("regression", (), METRICS["mse"], {"C": 1}, {"C": 2})
        results = results_of(answers, context)
        assert (results.gain.few_units is not None) == has_few
        assert ("stretch" in (results.tested_units or "")) == has_few


def test_a_model_without_probabilities_has_no_interval_of_their_loss():
    answers = of_classes(200)
    mute = Predictions(answers.default.labels, answers.default.scores)
    intervals = spans(
        "log_loss", ComparedPredictions(answers.y, answers.tuned, mute, answers.baseline)
    )
    assert math.isnan(intervals.differences["default"].low)
    assert math.isfinite(intervals.differences["baseline"].low)


ROWS = 100
FOLDS = np.arange(ROWS) % 5


def three_models(**more):
    """Three models that predict less and less of the same target."""
    y, noise = np.random.default_rng(4).normal(size=(2, ROWS))
    said = [Predictions(y + scale * noise) for scale in (0.3, 0.5)]
    return ComparedPredictions(y, *said, Predictions(np.zeros(ROWS)), **more)


def compared(answers):
    settings = {"alpha": 1.0}, {"alpha": 9.0}
    return results_of(answers, ComparisonContext("regression", (), METRICS["mse"], *settings))


def test_scores_of_cross_validation_are_those_of_all_rows_and_areas_means_over_folds():
    answers = three_models(folds=FOLDS)
    whole = answers.all_scores("regression")["tuned"]["r2"]
    assert whole == pytest.approx(r2_score(answers.y, answers.tuned.labels))
    y, folds = np.array([0, 1, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    # The second fold's scores are all above the first one's; the third has no area.
    scores = np.array([0.1, 0.2, 0.8, 0.9, 0.0, 0.0])
    said = Predictions(y, np.stack([1 - scores, scores], axis=1))
    answers = ComparedPredictions(y, said, said, said, folds=folds)
    assert answers.all_scores("binary")["tuned"]["auc"] == 1.0


def test_rows_of_folds_are_judged_together_and_each_counts_a_little_less():
    """√1.2 the half-widths of a test set, so 1.2 of the numbers of rows, but for gamma limits."""
    test, nested = three_models(), three_models(folds=FOLDS)
    results = compared(nested)
    gains = [compared(answers)["gain"] for answers in (test, nested)]
    widths = [gain["high"] - gain["low"] for gain in gains]
    assert gains[1]["difference"] == pytest.approx(gains[0]["difference"])
    assert widths[1] == pytest.approx(math.sqrt(1.2) * widths[0], rel=0.01)
    assert (results["folds"], results["rows"]) == (5, ROWS)
    classes = of_classes(120)
    span = spans("accuracy", replace(classes, folds=np.arange(120) % 5)).differences["default"]
    right, other = (model.labels == classes.y for model in (classes.tuned, classes.default))
    counts = [(right & ~other).sum() / 1.2, (other & ~right).sum() / 1.2]
    assert (span.low, span.high) == pytest.approx(difference_interval(*counts, 100))
    assert (span.method, span.p) == ("McNemar", pytest.approx(mcnemar(*counts)))


@pytest.mark.parametrize("name", ["auc", "balanced_accuracy", "f1"])
def test_perfect_models_of_a_rare_class_have_intervals(name):
    y = np.repeat([0, 1], [60, 6])
    sure = Predictions(y, np.eye(2)[y], np.eye(2)[y])
    flat = Predictions(0 * y, np.full((66, 2), 0.5), np.full((66, 2), 0.5))
    intervals = spans(name, ComparedPredictions(y, sure, sure, flat))
    low, high = intervals.scores["tuned"]
    assert 0.7 < low < 0.95
    assert high == 1.0
    span = intervals.differences["default"]
    assert -0.5 < span.low == -span.high < -0.03
    assert intervals.differences["baseline"].low > 0
    same = spans(name, ComparedPredictions(y, sure, sure, flat), is_default=True)
    assert same.differences["default"].low == same.differences["default"].high == 0.0


@pytest.mark.parametrize("folds", [None, FOLDS])
def test_a_gain_is_real_only_if_the_baseline_is_beaten_too(folds):
    """Better than a bad default, but no better than the mean."""
    y, noise = np.random.default_rng(0).normal(size=(2, ROWS))
    models = [Predictions(scale * noise) for scale in (0.01, 2.0, 0.0)]
    results = compared(ComparedPredictions(y, *models, None, folds))
    assert results["gain"]["low"] > 0
    assert not results["gain_over_baseline"]["real"]
    assert not results["gain"]["real"]
    assert any("baseline" in remark for remark in results["remarks"])
    answers = three_models(folds=folds)
    results = compared(answers)
    assert results["gain"]["real"]
    assert results["baseline_test"]["mse"] == pytest.approx(np.mean(answers.y**2), rel=0.01)


def test_large_errors_that_both_models_have_hide_no_gain():
    """Of log-normal noise a few rows are most of the squares; the model's part is R² ½ or 0."""
    generator, verdicts = np.random.default_rng(5), {1.0: 0, 2.0: 0}
    for factor in verdicts:
        for _ in range(100):
            signal, noise = generator.normal(size=70), np.exp(generator.normal(size=70))
            y = signal + (noise - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1.0))
            model, mean = Predictions(factor * signal), Predictions(np.zeros(70))
            answers = ComparedPredictions(y, model, model, mean)
            scores = answers.all_scores("regression")
            gain = score_intervals(METRICS["r2"], answers, scores).differences["baseline"]
            verdicts[factor] += gain.low > 0
    assert verdicts[1.0] >= 65
    assert verdicts[2.0] <= 7
