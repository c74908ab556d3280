"""Mean and deviation of a dataset's scores: closed forms, brute force, and what a prior is for."""

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from core.gp.transfer.dataset_scale import DeviationPrior, deviation_prior, fitted_scale
from core.gp.warping import scale_of


def test_without_a_prior_it_is_the_scores_own():
    # With a flat prior of log σ, Σ(f − f̄)²/σ² is χ² with T − 1 degrees.
    scores = np.random.default_rng(0).normal(70.0, 3.0, size=9)
    T, own = len(scores), scale_of(scores, True)
    prior = DeviationPrior(np.log(3.0), 2.0)
    scale, freedom = fitted_scale(own, scores, np.zeros(T), np.eye(T), prior)
    Q = T * own.scale**2
    expected = 0.5 * (np.log(Q) - np.log(2.0) - digamma((T - 1) / 2))
    assert np.log(scale.scale) == pytest.approx(expected, abs=0.02)
    assert scale.mean == pytest.approx(scores.mean())
    assert freedom == pytest.approx(2.0 / polygamma(1, (T - 1) / 2), rel=0.05)


@pytest.mark.parametrize("maximize", [True, False])
def test_mean_and_deviation_by_brute_force(maximize):
    random, T = np.random.default_rng(3), 4
    m, A = random.standard_normal(T), random.standard_normal((T, T))
    C = A @ A.T + 0.1 * np.eye(T)
    gains = 5.0 + 2.0 * random.multivariate_normal(m, C)
    scores = gains if maximize else -gains
    prior = DeviationPrior(np.log(1.5), 0.6)
    scale, freedom = fitted_scale(scale_of(scores, maximize), scores, m, C, prior)
    # The density of both on a fine grid.
    logs, mus = np.linspace(-3, 4, 701), np.linspace(-60, 70, 2601)
    sigma = np.exp(logs)[:, None, None]
    r = (gains - mus[None, :, None]) / sigma - m
    log_density = -T * logs[:, None] - 0.5 * np.einsum("sui,ij,suj->su", r, np.linalg.inv(C), r)
    log_density -= 0.5 * ((logs[:, None] - prior.location) / prior.spread) ** 2
    density = np.exp(log_density - log_density.max()).sum(axis=1)
    density /= density.sum()
    middle = density @ logs
    assert np.log(scale.scale) == pytest.approx(middle, abs=0.01)
    assert freedom == pytest.approx(0.5 / (density @ (logs - middle) ** 2), rel=0.02)
    ones = np.linalg.solve(C, np.ones(T))
    mean = ones @ (gains - scale.scale * m) / ones.sum()
    assert scale.sign * scale.mean == pytest.approx(mean, rel=1e-6)
    assert scale.maximize is maximize


def test_three_nearly_equal_scores_of_good_settings_keep_the_usual_deviation():
    scores = np.array([0.953, 0.9515, 0.9522])
    m, C = np.array([1.2, 1.1, 1.15]), 0.2 * np.eye(3) + 0.1
    scale, freedom = fitted_scale(scale_of(scores, True), scores, m, C, DeviationPrior(-2.5, 0.5))
    assert scale.scale > 0.02 > 20 * scores.std()
    assert scale.mean < 0.94
    assert freedom < 4


def test_many_scores_outvote_the_prior():
    scores = np.random.default_rng(1).normal(0.5, 0.2, size=300)
    wrong = DeviationPrior(np.log(0.002), 0.5)
    scale, _ = fitted_scale(scale_of(scores, True), scores, np.zeros(300), np.eye(300), wrong)
    assert scale.scale == pytest.approx(scores.std(), rel=0.1)


def test_the_prior_is_that_of_the_deviations_shrunk_to_a_usual_spread():
    prior = deviation_prior([1.0, np.e, np.e**2])
    assert prior.location == pytest.approx(1.0)
    assert prior.spread == pytest.approx(np.sqrt((2.0 + 2 * 0.49) / 4))
    assert deviation_prior([0.1]).spread == pytest.approx(np.sqrt(2 * 0.49 / 2))


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_the_unit_of_the_scores_does_not_matter(unit):
    scores, m, C = np.array([0.2, 0.5, 0.1]), np.array([0.0, 1.0, -0.5]), np.eye(3)
    scale, freedom = fitted_scale(scale_of(scores, True), scores, m, C, DeviationPrior(-1.0, 0.5))
    prior = DeviationPrior(-1.0 + np.log(unit), 0.5)
    large, same = fitted_scale(scale_of(unit * scores, True), unit * scores, m, C, prior)
    assert (large.mean, large.scale) == pytest.approx((unit * scale.mean, unit * scale.scale))
    assert same == pytest.approx(freedom)
