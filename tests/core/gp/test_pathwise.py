"""Draws from a posterior against its exact mean and covariance, and against joint draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.gp.kernels import KERNELS, Hyperparameters, Stationary, correlation, squared_distances
from core.gp.pathwise import PosteriorDraws, frequencies
from core.gp.regression import ExactPosterior

LENGTHS = np.array([0.3, 0.9])


def posterior_of(kernel="matern32", noise=0.05, n=9):
    random = np.random.default_rng(4)
    X = random.random((n, 2))
    z = np.sin(5 * X[:, 0]) - X[:, 1]
    return ExactPosterior(Stationary(kernel, Hyperparameters(LENGTHS, 1.4, noise)), X, z)


def exact(regression, points):
    """The posterior's mean and covariance, by the formula and a dense inverse."""

    def kernel(A, B):
        s = squared_distances(A, B, LENGTHS)
        return 1.4 * correlation(regression.kernel.name, s)

    K = kernel(regression.X, regression.X) + regression.kernel.hyper.noise * np.eye(
        len(regression.X)
    )
    across = kernel(points, regression.X) @ np.linalg.inv(K)
    return across @ regression.z, kernel(points, points) - across @ kernel(regression.X, points)


@pytest.mark.parametrize("kernel", KERNELS)
def test_mean_and_covariance_are_the_posteriors(kernel):
    regression, N = posterior_of(kernel), 1000
    points = np.random.default_rng(5).random((7, 2))
    random = np.random.default_rng(6)
    drawn = PosteriorDraws(regression, random, draws=N, count=32)(points)
    assert drawn.shape == (N, 7)
    mean, covariance = exact(regression, points)
    spread = np.diag(covariance)
    assert np.abs((drawn.mean(axis=0) - mean) / np.sqrt(spread / N)).max() < 4.0
    error = np.sqrt((np.outer(spread, spread) + covariance**2) / N)
    assert np.abs((np.cov(drawn.T) - covariance) / error).max() < 4.5
    wrong = covariance + 0.2 * spread.max()
    assert np.abs((np.cov(drawn.T) - wrong) / error).max() > 4.5


def test_the_formula_in_double_precision():
    regression = posterior_of(noise=0.01)
    draw = PosteriorDraws(regression, np.random.default_rng(3))
    random = np.random.default_rng(3)
    omega = frequencies("matern32", LENGTHS, 512, random)
    phase, height = random.uniform(0, 2 * np.pi, 512), random.rayleigh(size=512)
    noise = 0.1 * random.standard_normal(9)

    def prior(points):
        return np.sqrt(1.4 / 512) * np.cos((points - 0.5) @ omega.T + phase) @ height

    points = np.random.default_rng(5).random((30, 2))
    K = regression.kernel.covariance(regression.X)
    update = np.linalg.solve(K, regression.z - prior(regression.X) - noise)
    expected = prior(points) + regression.kernel.cross_covariance(regression.X, points).T @ update
    assert_allclose(draw(points)[0], expected, atol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_noise_every_draw_passes_through_the_data(kernel):
    regression = posterior_of(kernel, noise=1e-8)
    draw = PosteriorDraws(regression, np.random.default_rng(0), draws=5)
    assert_allclose(draw(regression.X), np.tile(regression.z, (5, 1)), atol=2e-3)
    elsewhere = draw(np.random.default_rng(3).random((20, 2)))
    assert elsewhere.std(axis=0).max() > 0.1


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_features_kernel_converges_to_the_kernel(kernel):
    apart = np.random.default_rng(8).uniform(-1, 1, (200, 2))
    true = correlation(kernel, ((apart / LENGTHS) ** 2).sum(axis=1))

    def largest_error(count):
        omega = frequencies(kernel, LENGTHS, count, np.random.default_rng(9))
        return np.abs(np.cos(apart @ omega.T).mean(axis=1) - true).max()

    errors = [largest_error(count) for count in (64, 1024, 16384)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert errors[2] < 4e-3


def test_one_function_wherever_and_however_often_it_is_evaluated():
    draw = PosteriorDraws(posterior_of(), np.random.default_rng(0), draws=2)
    points = np.random.default_rng(3).random((700, 2))
    whole = draw(points)
    assert_allclose(whole, np.hstack([draw(points[:301]), draw(points[301:])]), atol=1e-4)
    again = PosteriorDraws(posterior_of(), np.random.default_rng(0), draws=2)
    assert_array_equal(whole, again(points))
    assert np.abs(whole[0] - whole[1]).max() > 0.1
