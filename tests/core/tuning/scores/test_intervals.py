"""What contestants say: scores of folds, and the interval that each metric gets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from core.datasets.units import Units
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.scores.intervals import percentile_interval, resampled_scores, score_intervals
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
    return score_intervals(METRICS[name], answers, answers.all_scores(task), 0, **more)


def drawn(name, answers, seed, row_groups=None):
    """Bootstrap intervals of the tuned model, the default one and their difference."""
    models = [answers.tuned, answers.default]
    tuned, default = resampled_scores(METRICS[name], answers.y, models, seed, row_groups)
    return [percentile_interval(scores) for scores in (tuned, default, tuned - default)]


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
    ("name", "answers", "task", "method"),
    [
        ("auc", of_classes(800), "binary", "DeLong"),
        ("auc", of_classes(800, 4), "multiclass", "DeLong"),
        ("log_loss", of_classes(1500, 3), "multiclass", "normal"),
        *((name, of_numbers(1200), "regression", "normal") for name in ("r2", "mse", "mae")),
    ],
)
def test_many_rows_have_the_interval_that_the_bootstrap_finds(name, answers, task, method):
    intervals = spans(name, answers, task)
    assert intervals.differences["default"].method == method
    tuned, *others = resampled_scores(METRICS[name], answers.y, [*answers.by_model.values()], 1)
    pairs = [(intervals.scores["tuned"], percentile_interval(tuned))]
    for other, scores in zip(("default", "baseline"), others, strict=True):
        span = intervals.differences[other]
        pairs.append(((span.low, span.high), percentile_interval(tuned - scores)))
    for ends, expected in pairs:
        assert ends == pytest.approx(expected, abs=0.12 * np.ptp(expected))


def test_few_rows_are_resampled():
    assert spans("log_loss", of_classes(60)).differences["default"].method == "bootstrap"


def test_rows_of_groups_count_as_groups():
    """Ten copies of each row tell no more than one: no interval shrinks."""
    answers, copies = of_classes(150), np.repeat(np.arange(150), 10)
    grouped = repeated(answers, copies, row_units=Units(copies))
    for name in ("log_loss", "auc"):
        single, many = (spans(name, rows).differences["default"] for rows in (answers, grouped))
        assert (many.low, many.high) == pytest.approx((single.low, single.high), abs=0.02)
    assert spans("accuracy", grouped).differences["default"].method == "normal"
    few = repeated(answers, np.arange(150), row_units=Units(np.arange(150) // 3))
    assert spans("accuracy", few).differences["default"].method == "bootstrap"
    single, together = (
        drawn("accuracy", *rows)[2] for rows in ((answers, 0), (grouped, 0, copies))
    )
    assert together == pytest.approx(single, abs=0.02)
    assert np.ptp(drawn("accuracy", grouped, 0)[2]) < 0.5 * np.ptp(together)  # as single rows


def test_a_model_without_probabilities_has_no_interval_of_their_loss():
    answers = of_classes(200)
    mute = Predictions(answers.default.labels, answers.default.scores)
    intervals = spans(
        "log_loss", ComparedPredictions(answers.y, answers.tuned, mute, answers.baseline)
    )
    assert math.isnan(intervals.differences["default"].low)
    assert math.isfinite(intervals.differences["baseline"].low)


# The paired bootstrap ---------------------------------------------------------------------------


def scipys(statistic, *samples):
    ends = stats.bootstrap(
        samples, statistic, paired=True, vectorized=False, n_resamples=2000, method="percentile",
        rng=1,
    ).confidence_interval  # fmt: skip
    return ends.low, ends.high


def mean_recall(y, labels):
    return (np.mean(labels[y == 0] == 0) + np.mean(labels[y == 1] == 1)) / 2


def area(y, score):
    """Over all pairs of a positive and a negative; there are no ties here but repeated rows."""
    above = score[y == 1][:, None] - score[y == 0][None]
    return np.mean(above > 0) + np.mean(above == 0) / 2


@pytest.mark.parametrize(
    ("name", "column", "score"),
    [
        ("accuracy", "labels", lambda y, labels: np.mean(y == labels)),
        ("balanced_accuracy", "labels", mean_recall),
        ("auc", "scores", area),
        ("r2", "labels", lambda y, x: 1 - np.sum((y - x) ** 2) / np.sum((y - y.mean()) ** 2)),
    ],
)
def test_resampled_intervals_agree_with_scipy(name, column, score):
    answers = of_numbers(100) if name == "r2" else of_classes(150)
    models = (answers.tuned, answers.default)
    columns = [getattr(model, column) for model in models]
    columns = [each[:, 1] if name == "auc" else each for each in columns]
    ours, near = drawn(name, answers, 0), 0.04 if name == "r2" else 0.015
    theirs = scipys(lambda y, a, b: score(y, a) - score(y, b), answers.y, *columns)
    assert ours[2] == pytest.approx(theirs, abs=near)
    if name == "accuracy":
        for ends, labels in zip(ours, columns, strict=False):
            assert ends == pytest.approx(scipys(score, answers.y, labels), abs=near)


def test_drawing_cells_is_drawing_rows():
    """The spread of an accuracy is the binomial one: √(p(1 − p)/n)."""
    y, scores = np.zeros(4000, dtype=int), np.zeros((4000, 2))
    wrong = Predictions((np.arange(4000) < 800).astype(int), scores)
    answers = ComparedPredictions(y, wrong, Predictions(y, scores), wrong)
    tuned, default, _ = drawn("accuracy", answers, 0)
    width = 2 * 1.96 * np.sqrt(0.2 * 0.8 / 4000)
    assert np.ptp(tuned) == pytest.approx(width, rel=0.08)
    assert default == (1.0, 1.0)


def test_the_same_seed_gives_the_same_interval_and_equal_models_none():
    answers = of_classes(150)
    first = drawn("log_loss", answers, 7)
    assert first == drawn("log_loss", answers, 7)
    assert first != drawn("log_loss", answers, 8)
    equal = ComparedPredictions(answers.y, answers.tuned, answers.tuned, answers.baseline)
    assert drawn("f1", equal, 0)[2] == (0.0, 0.0)


def test_many_rows_cost_few_resamples():
    """Half a million rows of numbers stay within the memory and draws that are allowed."""
    y, noise = np.random.default_rng(0).normal(size=(2, 500_000))
    models = Predictions(y + noise), Predictions(y + 2 * noise)
    tuned, _, difference = drawn("mse", ComparedPredictions(y, *models, models[0]), 0)
    assert tuned[0] < 1.0 < tuned[1]
    assert difference[0] < -3.0 < difference[1]


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


def test_scores_of_cross_validation_are_means_over_folds():
    answers = three_models(folds=FOLDS, train_share=0.8)
    y, labels = answers.y, answers.tuned.labels
    expected = np.mean([r2_score(y[rows], labels[rows]) for rows in np.eye(5, dtype=bool)[FOLDS].T])
    assert answers.all_scores("regression")["tuned"]["r2"] == pytest.approx(expected)
    whole = three_models().all_scores("regression")["tuned"]["r2"]
    assert whole == pytest.approx(r2_score(y, labels)) != pytest.approx(expected)


def test_a_fold_that_cannot_be_scored_is_left_out():
    y, folds = np.array([0, 1, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    said = Predictions(y, np.stack([1 - y, y], axis=1))
    answers = ComparedPredictions(y, said, said, said, folds=folds, train_share=2 / 3)
    assert answers.all_scores("binary")["tuned"]["auc"] == 1.0


def test_the_interval_over_folds_is_the_corrected_resampled_t():
    answers = three_models(folds=FOLDS, train_share=0.8)
    results, gain = compared(answers), compared(answers)["gain"]
    tuned, default = ((answers.y - s.labels) ** 2 for s in (answers.tuned, answers.default))
    gains = [np.mean((default - tuned)[fold == FOLDS]) for fold in range(5)]
    half = stats.t.ppf(0.975, 4) * np.sqrt((0.2 + 0.25) * np.var(gains, ddof=1))
    middle = np.mean(gains)
    expected = pytest.approx((middle, middle - half, middle + half))
    assert (gain["difference"], gain["low"], gain["high"]) == expected
    assert (results["folds"], results["rows"]) == (5, ROWS)


@pytest.mark.parametrize("folds", [None, FOLDS])
def test_a_gain_is_real_only_if_the_baseline_is_beaten_too(folds):
    """Better than a bad default, but no better than the mean."""
    y, noise = np.random.default_rng(0).normal(size=(2, ROWS))
    models = [Predictions(scale * noise) for scale in (0.01, 2.0, 0.0)]
    results = compared(ComparedPredictions(y, *models, None, folds, 0.8))
    assert results["gain"]["low"] > 0
    assert not results["gain_over_baseline"]["real"]
    assert not results["gain"]["real"]
    assert any("baseline" in remark for remark in results["remarks"])
    answers = three_models(folds=folds, train_share=0.8)
    results = compared(answers)
    assert results["gain"]["real"]
    assert results["baseline_test"]["mse"] == pytest.approx(np.mean(answers.y**2), rel=0.01)
