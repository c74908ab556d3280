"""The fitter: learned when due, extended otherwise, and never stopped by awkward data."""

import numpy as np
import pytest

from core.gp.gp_fitting import GpFitter
from core.gp.regression import ExactPosterior


def data(n, seed=0):
    X = np.random.default_rng(seed).random((n, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1]


def test_between_learning_the_posterior_is_the_full_one():
    X, z = data(103)
    fitter = GpFitter("matern52", np.array([0, 1]))
    random = np.random.default_rng(0)
    first = fitter.fit(X[:100], z[:100], random)
    later = fitter.fit(X, z, random)
    assert later.kernel.hyper is first.kernel.hyper  # three more of a hundred: not due
    full = ExactPosterior(first.kernel, X, z)
    np.testing.assert_allclose(later.L, full.L, atol=1e-8)


def test_points_in_another_order_are_factored_anew():
    X, z = data(102)
    fitter = GpFitter("matern52", np.array([0, 1]))
    fitter.fit(X[:100], z[:100], np.random.default_rng(0))
    shuffled = np.random.default_rng(1).permutation(102)
    later = fitter.fit(X[shuffled], z[shuffled], np.random.default_rng(0))
    mean, _ = later.posterior(X)
    np.testing.assert_allclose(mean, z, atol=0.05)


def test_learned_anew_when_due_and_always_when_asked():
    X, z = data(110)
    z = np.where(np.arange(110) < 100, z, -z)
    for always, count in ((False, 110), (True, 101)):
        fitter = GpFitter("matern52", np.array([0, 1]), always_learn=always)
        first = fitter.fit(X[:100], z[:100], np.random.default_rng(0))
        later = fitter.fit(X[:count], z[:count], np.random.default_rng(0))
        assert later.kernel.hyper.noise != first.kernel.hyper.noise


@pytest.mark.parametrize("n", [1, 2, 30])
def test_duplicates_and_constant_responses(n):
    X = np.full((n, 2), 0.3)
    regression = GpFitter("se", np.array([0, 1])).fit(X, np.zeros(n), np.random.default_rng(0))
    mean, sd = regression.posterior(np.array([[0.3, 0.3], [0.9, 0.1]]))
    np.testing.assert_allclose(mean, 0.0, atol=1e-6)
    assert np.isfinite(sd).all()


def test_contradicting_duplicates_are_noise():
    X = np.repeat(np.random.default_rng(0).random((10, 1)), 3, axis=0)
    z = X[:, 0] + np.tile([-0.5, 0.0, 0.5], 10)
    regression = GpFitter("matern52", np.array([0])).fit(X, z, np.random.default_rng(0))
    assert regression.kernel.hyper.noise == pytest.approx(1 / 6, rel=0.5)
