"""Kernels and posterior against scikit-learn, gradients against differences, extended factors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from core.gp.kernels import KERNELS, Hyperparameters, Stationary, correlation, correlation_and_slope
from core.gp.regression import ExactPosterior

LENGTHS = np.array([0.3, 0.8, 2.0])
SHAPES = {
    "se": RBF(LENGTHS),
    "matern32": Matern(LENGTHS, nu=1.5),
    "matern52": Matern(LENGTHS, nu=2.5),
}


def example(kernel, n=25, noise=0.01):
    random = np.random.default_rng(1)
    X = random.random((n, 3))
    z = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 - X[:, 2]
    return ExactPosterior(Stationary(kernel, Hyperparameters(LENGTHS, 1.7, noise)), X, z)


@pytest.mark.parametrize("kernel", KERNELS)
def test_posterior_equals_scikit_learn(kernel):
    ours = example(kernel)
    theirs = GaussianProcessRegressor(
        ConstantKernel(1.7) * SHAPES[kernel], alpha=0.01, optimizer=None
    ).fit(ours.X, ours.z)
    points = np.random.default_rng(2).random((40, 3))
    mean, sd = ours.posterior(points)
    their_mean, their_sd = theirs.predict(points, return_std=True)
    np.testing.assert_allclose(mean, their_mean, atol=1e-9)
    np.testing.assert_allclose(sd, their_sd, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_equal_central_differences(kernel):
    ours = example(kernel)
    points = np.random.default_rng(3).random((6, 3))
    mean, sd, mean_slope, sd_slope = ours.posterior_gradients(points)
    np.testing.assert_allclose(np.array([mean, sd]), ours.posterior(points), rtol=1e-12)
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        up, down = ours.posterior(points + step), ours.posterior(points - step)
        np.testing.assert_allclose(mean_slope[:, k], (up[0] - down[0]) / 2e-6, atol=1e-6)
        np.testing.assert_allclose(sd_slope[:, k], (up[1] - down[1]) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_extended_factor_equals_the_full_one(kernel):
    full = example(kernel)
    part = ExactPosterior(full.kernel, full.X[:18], full.z[:18])
    grown = part.extended(full.X[18:22], full.z[:22]).extended(full.X[22:], full.z)
    np.testing.assert_allclose(grown.L, full.L, atol=1e-10)
    np.testing.assert_allclose(grown.alpha, full.alpha, atol=1e-8)


def test_passes_through_the_points_without_noise():
    ours = example("matern52", noise=1e-8)
    mean, sd = ours.posterior(ours.X)
    np.testing.assert_allclose(mean, ours.z, atol=1e-5)
    assert sd.max() < 1e-3


def test_far_from_everything_it_knows_nothing():
    kernel = Stationary("se", Hyperparameters(np.full(1, 0.02), 2.0, 0.0))
    ours = ExactPosterior(kernel, np.zeros((1, 1)), np.ones(1))
    mean, sd = ours.posterior(np.ones((1, 1)))
    assert mean[0] == pytest.approx(0.0, abs=1e-12)
    assert sd[0] == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(
    ("kernel", "slope"), [("se", -0.5), ("matern32", -1.5), ("matern52", -5 / 6)]
)
def test_slope_at_zero_is_finite(kernel, slope):
    value, at_zero = correlation_and_slope(kernel, np.zeros(1))
    assert value[0] == 1.0
    assert at_zero[0] == pytest.approx(slope)


def test_unknown_kernel():
    with pytest.raises(ValueError, match="cubic"):
        correlation("cubic", np.zeros(1))
