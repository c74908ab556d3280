"""Influences against the jackknife, brute-force U statistics, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score, roc_auc_score

from core.evaluation.influence import area_influence, mean_influence, r2_influence


def test_a_mean_has_its_standard_error():
    values = np.random.default_rng(0).normal(size=50)
    assert np.linalg.norm(mean_influence(values)) == pytest.approx(stats.sem(values))


def test_r2_has_the_influence_that_the_jackknife_finds():
    generator = np.random.default_rng(1)
    y = generator.gamma(2.0, size=400)
    predicted = 0.6 * y + generator.normal(size=400)
    whole = r2_score(y, predicted)
    left_out = [r2_score(np.delete(y, i), np.delete(predicted, i)) for i in range(400)]
    change = whole - np.array(left_out)
    assert r2_influence(y, predicted) == pytest.approx(change, rel=0.15, abs=2e-4)
    assert np.isnan(r2_influence(np.ones(4), np.arange(4.0))).all()


def brute_force_delong(positive, scores):
    """Areas and their covariance from all pairs (DeLong et al. 1988, eq. 2–6)."""
    m, k = positive.sum(), (~positive).sum()
    areas, v10, v01 = [], [], []
    for score in scores:
        above = score[positive][:, None] - score[~positive][None]
        wins = (above > 0) + (above == 0) / 2
        areas.append(wins.mean())
        v10.append(wins.mean(axis=1))
        v01.append(wins.mean(axis=0))
    return areas, np.cov(v10) / m + np.cov(v01) / k


@pytest.mark.parametrize("rounded", [9, 1])  # with many ties
def test_areas_and_their_variances_are_those_of_all_pairs(rounded):
    generator = np.random.default_rng(2)
    positive = generator.random(80) < 0.3
    scores = [np.round(generator.normal(size=80) + s * positive, rounded) for s in (1.0, 0.5)]
    areas, covariance = brute_force_delong(positive, scores)
    (a, phi_a), (b, phi_b) = (area_influence(positive, score) for score in scores)
    assert [a, b] == pytest.approx(areas)
    assert a == pytest.approx(roc_auc_score(positive, scores[0]))
    assert np.linalg.norm(phi_a) ** 2 == pytest.approx(covariance[0, 0])
    of_difference = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert np.linalg.norm(phi_a - phi_b) ** 2 == pytest.approx(of_difference)


def test_a_class_of_one_row_has_an_area_and_a_single_class_none():
    area, phi = area_influence(np.array([True, False, False]), np.arange(3.0))
    assert (area, np.isfinite(phi).all()) == (0.0, True)
    area, phi = area_influence(np.ones(3, dtype=bool), np.arange(3.0))
    assert math.isnan(area)
    assert np.isnan(phi).all()


def test_an_area_over_folds_compares_rows_of_one_fold():
    positive, folds = np.array([0, 1, 0, 1], dtype=bool), np.array([0, 0, 1, 1])
    area, phi = area_influence(positive, np.array([0.1, 0.2, 0.9, 0.8]), folds)
    assert area == 0.5
    assert phi @ phi == pytest.approx(0.5)  # placements 1 and 0, of either kind


def test_delong_covers_the_true_difference_of_areas():
    """Normal scores with shifts 1.0 and 0.6: areas Φ(shift/√2)."""
    generator = np.random.default_rng(3)
    truth = stats.norm.cdf(1.0 / math.sqrt(2)) - stats.norm.cdf(0.6 / math.sqrt(2))
    covered, times = 0, 1000
    for _ in range(times):
        positive = np.arange(120) < 40
        common = generator.normal(size=120)
        noise = generator.normal(size=(2, 120))
        one, other = (
            shift * positive + math.sqrt(0.5) * (common + own)
            for shift, own in zip((1.0, 0.6), noise, strict=True)
        )
        (a, phi_a), (b, phi_b) = area_influence(positive, one), area_influence(positive, other)
        covered += abs(a - b - truth) <= 1.96 * np.linalg.norm(phi_a - phi_b)
    assert 0.93 <= covered / times <= 0.97


def test_the_interval_of_r2_differences_covers():
    """y = s + e; one model knows s, the other 0.8 s: R² ½ and 0.48."""
    generator = np.random.default_rng(4)
    covered, times = 0, 1000
    for _ in range(times):
        signal, error = generator.normal(size=(2, 150))
        y = signal + error
        phi = r2_influence(y, signal) - r2_influence(y, 0.8 * signal)
        gain = r2_score(y, signal) - r2_score(y, 0.8 * signal)
        covered += abs(gain - 0.02) <= 1.96 * np.linalg.norm(phi)
    assert 0.93 <= covered / times <= 0.97


def test_of_300_000_rows_no_pairs_are_made():
    """All pairs of rows of either class would be some 21 GB of truth values."""
    generator = np.random.default_rng(5)
    positive, score = generator.random(300_000) < 0.4, generator.normal(size=300_000)
    area, _ = area_influence(positive, score)
    assert area == pytest.approx(roc_auc_score(positive, score), abs=1e-12)
