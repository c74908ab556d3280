"""EI against numerical integration and Monte Carlo, its logarithm's branches where they overlap."""

import numpy as np
import pytest
from scipy.integrate import quad

from core.gp.acquisition import (
    ACQUISITIONS,
    LOG_SQRT_2PI,
    expected_improvement,
    log_h,
    probability_of_improvement,
    standard_deviation,
)


def log_h_by_integration(u):
    """log ∫₀^∞ t φ(t − u) dt = −u²/2 − log √2π + log ∫₀^∞ t exp(ut − t²/2) dt."""
    scale = 1.0 / max(1.0, -u)
    value = quad(
        lambda t: t * np.exp(u * t * scale - 0.5 * (t * scale) ** 2),
        0,
        np.inf,
        epsabs=0,
        epsrel=1e-12,
    )[0]
    return -0.5 * u * u - LOG_SQRT_2PI + np.log(value) + 2 * np.log(scale)


@pytest.mark.parametrize(
    "u", [3.0, 0.5, -0.5, -0.999999, -1.000001, -2.0, -8.0, -30.0, -500.0, -9e4, -2e5]
)
def test_log_h_equals_integration(u):
    assert log_h(np.array([u]))[0] == pytest.approx(log_h_by_integration(u), rel=1e-10, abs=1e-9)


def test_log_h_rises_across_all_ranges():
    u = -np.geomspace(1e7, 1e-3, 5000)
    assert (np.diff(log_h(u)) > 0).all()


@pytest.mark.parametrize(
    ("mean", "sd", "best"), [(0.3, 1.0, 0.5), (2.0, 0.5, 1.0), (-1.0, 0.8, 0.0)]
)
def test_expected_improvement_equals_monte_carlo(mean, sd, best):
    draws = mean + sd * np.random.default_rng(0).standard_normal(2_000_000)
    gains = np.maximum(draws - best, 0.0)
    ours = expected_improvement(np.array([mean]), np.array([sd]), best)[0]
    assert ours == pytest.approx(gains.mean(), abs=5 * gains.std() / np.sqrt(len(draws)))
    chance = probability_of_improvement(np.array([mean]), np.array([sd]), best)[0]
    assert chance == pytest.approx((draws > best).mean(), abs=2e-3)


@pytest.mark.parametrize("acquisition", [*ACQUISITIONS.values(), standard_deviation])
def test_derivatives_equal_central_differences(acquisition):
    mean = np.array([1.0, 0.2, -0.5, -3.0, -20.0, -300.0])
    sd = np.array([0.5, 1.0, 0.3, 0.7, 1.0, 2.0])
    value, by_mean, by_sd = acquisition(mean, sd, 0.4)
    assert np.isfinite(value).all()
    step = 1e-6
    means = (acquisition(mean + step, sd, 0.4)[0] - acquisition(mean - step, sd, 0.4)[0]) / 2e-6
    sds = (acquisition(mean, sd + step, 0.4)[0] - acquisition(mean, sd - step, 0.4)[0]) / 2e-6
    np.testing.assert_allclose(by_mean, means, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(by_sd, sds, rtol=1e-5, atol=1e-7)


def test_no_underflow_a_million_deviations_away():
    value, by_mean, by_sd = ACQUISITIONS["ei"](np.array([-1.0]), np.array([1e-6]), 0.0)
    assert value[0] == pytest.approx(-0.5e12, rel=1e-6)
    assert np.isfinite([by_mean[0], by_sd[0]]).all()
    assert by_mean[0] == pytest.approx(1e12, rel=1e-6)  # d(−u²/2)/dμ = −u/sd
