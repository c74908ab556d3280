"""Curves, areas and calibration against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve

from core.datasets.units import single_rows
from core.evaluation.curves import (
    area_with_interval,
    average_precision_with_interval,
    calibration,
    thin_curve,
    threshold_counts,
)
from core.evaluation.paired_tests import share_interval


@pytest.fixture(params=[0, 1, 2])
def rows(request):
    rng = np.random.default_rng(request.param)
    positive = rng.random(400) < 0.3
    score = 1 / (1 + np.exp(-(positive + rng.standard_normal(400))))
    return positive, np.round(score, 2) if request.param else score  # ties too


def test_counts_are_those_of_the_roc_curve(rows):
    positive, score = rows
    found = threshold_counts(positive, score)
    fpr, tpr, thresholds = metrics.roc_curve(positive, score, drop_intermediate=False)
    np.testing.assert_allclose(found.thresholds, thresholds[1:])
    np.testing.assert_allclose(found.true / found.positives, tpr[1:])
    np.testing.assert_allclose(found.false / found.negatives, fpr[1:])


def test_areas_are_scikit_learns_and_inside_their_intervals(rows):
    positive, score = rows
    area, low, high = area_with_interval(positive, score, single_rows(400))
    assert area == pytest.approx(metrics.roc_auc_score(positive, score))
    assert low < area < high
    found, low, high = average_precision_with_interval(positive, score, single_rows(400))
    assert found == pytest.approx(metrics.average_precision_score(positive, score))
    assert low < found < high


def test_the_interval_of_average_precision_is_that_of_drawn_rows(rows):
    positive, score = rows
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(400):
        some = rng.integers(400, size=400)
        drawn.append(metrics.average_precision_score(positive[some], score[some]))
    _, *ends = average_precision_with_interval(positive, score, single_rows(400))
    np.testing.assert_allclose(ends, np.percentile(drawn, (2.5, 97.5)), atol=0.03)


def test_fewer_thresholds_keep_both_ends(rows):
    whole = threshold_counts(*rows)
    few = thin_curve(whole, 30)
    assert len(few.thresholds) <= 30
    assert few.positives == whole.positives
    assert few.negatives == whole.negatives
    assert set(few.thresholds) <= set(whole.thresholds)


def test_bins_are_scikit_learns_with_wilsons_band(rows):
    positive, score = rows
    found = calibration(positive, score, single_rows(400))
    observed, predicted = calibration_curve(positive, score, n_bins=10)
    if len(np.unique(score)) > 200:  # scikit-learn puts a score on an edge into the bin below
        np.testing.assert_allclose([b["observed"] for b in found], observed)
        np.testing.assert_allclose([b["predicted"] for b in found], predicted)
    assert sum(one["rows"] for one in found) == 400
    for one in found:
        right = round(one["observed"] * one["rows"])
        assert (one["low"], one["high"]) == share_interval(right, one["rows"])


def test_one_class_alone_has_no_area():
    area, _, _ = area_with_interval(np.ones(5, bool), np.arange(5.0), single_rows(5))
    assert np.isnan(area)
