"""The fitter: when it learns; the marginal likelihood by scipy, its gradient by differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from core.gp.gp_fitting import GpFitter, Likelihood, maximize_likelihood
from core.gp.kernels import KERNELS, correlation, squared_distances
from core.gp.regression import ExactPosterior


def sine_data(n, seed=0):
    X = np.random.default_rng(seed).random((n, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1]


def test_between_learning_the_posterior_is_the_full_one():
    X, z = sine_data(103)
    fitter = GpFitter("matern52", np.array([0, 1]))
    random = np.random.default_rng(0)
    first = fitter.fit(X[:100], z[:100], random)
    later = fitter.fit(X, z, random)
    assert later.kernel.hyper is first.kernel.hyper  # three more of a hundred: not due
    full = ExactPosterior(first.kernel, X, z)
    np.testing.assert_allclose(later.L, full.L, atol=1e-8)


def test_points_in_another_order_are_factored_anew():
    X, z = sine_data(102)
    fitter = GpFitter("matern52", np.array([0, 1]))
    fitter.fit(X[:100], z[:100], np.random.default_rng(0))
    shuffled = np.random.default_rng(1).permutation(102)
    later = fitter.fit(X[shuffled], z[shuffled], np.random.default_rng(0))
    mean, _ = later.posterior(X)
    np.testing.assert_allclose(mean, z, atol=0.05)


def test_learned_anew_when_due_and_always_when_asked():
    X, z = sine_data(110)
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


def likelihood_example(kernel, n=90):
    random = np.random.default_rng(0)
    X = random.random((n, 4))
    return Likelihood(kernel, X, random.standard_normal(n), np.array([0, 1, 1, 2]))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n", [1, 5, 90])  # 90: more than one block
def test_gradient_equals_central_differences(kernel, n):
    likelihood = likelihood_example(kernel, n)
    theta = np.array([-1.0, -0.3, 0.2, 0.1, -3.0])
    gradient = likelihood.value_and_gradient(theta)[1]
    for k in range(5):
        step = 1e-5 * np.eye(5)[k]
        up = likelihood.value_and_gradient(theta + step)[0]
        down = likelihood.value_and_gradient(theta - step)[0]
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_value_is_log_density_plus_log_prior(kernel):
    likelihood = likelihood_example(kernel)

    def by_definition(theta):
        hyper = likelihood.hyperparameters(theta)
        K = hyper.amplitude * correlation(
            kernel, squared_distances(likelihood.X, likelihood.X, hyper.lengths)
        ) + hyper.noise * np.eye(90)
        density = multivariate_normal(np.zeros(90), K).logpdf(likelihood.z)
        return density + norm(likelihood.prior_mean, likelihood.prior_sd).logpdf(theta).sum()

    one, other = np.array([-1.0, -0.3, 0.2, 0.1, -3.0]), np.array([0.1, 0.2, -0.5, 0.4, -1.0])
    ours = likelihood.value_and_gradient(one)[0] - likelihood.value_and_gradient(other)[0]
    assert ours == pytest.approx(by_definition(one) - by_definition(other), rel=1e-9)


def test_entries_of_a_choice_share_their_length():
    lengths = (
        likelihood_example("se").hyperparameters(np.array([-1.0, -0.3, 0.2, 0.1, -3.0])).lengths
    )
    np.testing.assert_allclose(lengths, np.exp([-1.0, -0.3, -0.3, 0.2]))


def test_learning_finds_what_the_data_came_from():
    random = np.random.default_rng(5)
    X = random.random((150, 2))
    K = 1.5 * correlation("matern52", squared_distances(X, X, np.array([0.2, 1.5])))
    z = np.linalg.cholesky(K + 0.01 * np.eye(150)) @ random.standard_normal(150)
    likelihood = Likelihood("matern52", X, z, np.array([0, 1]))
    hyper = likelihood.hyperparameters(maximize_likelihood(likelihood, [likelihood.prior_mean]))
    assert hyper.lengths[0] == pytest.approx(0.2, rel=0.4)
    assert hyper.lengths[1] == pytest.approx(1.5, rel=0.6)
    assert hyper.noise == pytest.approx(0.01, rel=0.4)


def test_three_points_do_not_give_infinite_lengths():
    X = np.array([[0.5], [0.52], [0.55]])
    likelihood = Likelihood("se", X, np.array([-1.0, 0.0, 1.0]), np.array([0]))
    hyper = likelihood.hyperparameters(maximize_likelihood(likelihood, [likelihood.prior_mean]))
    assert 0.02 < hyper.lengths[0] < 5.0


def test_learned_from_several_starts_is_no_worse_than_from_each():
    likelihood = likelihood_example("matern32")
    starts = [likelihood.prior_mean, likelihood.prior_mean - 1.0, likelihood.prior_mean + 1.0]

    def highest(starts):
        return likelihood.value_and_gradient(maximize_likelihood(likelihood, starts))[0]

    assert highest(starts) == pytest.approx(max(highest([start]) for start in starts))


@pytest.mark.parametrize(("n", "seed"), [(20, 5), (30, 0)])
def test_of_little_and_much_noise_the_likelier_is_learned(n, seed):
    random = np.random.default_rng(seed)
    X = random.random((n, 2))
    z = np.sin(3 * X[:, 0]) + 0.35 * random.standard_normal(n)
    z = (z - z.mean()) / z.std()
    likelihood = Likelihood("matern52", X, z, np.array([0, 1]))
    values = []
    for noise in (1e-6, 1e-4, 1e-2, 0.1, 0.5):
        start = likelihood.prior_mean.copy()
        start[-1] = np.log(noise)
        values.append(likelihood.value_and_gradient(maximize_likelihood(likelihood, [start]))[0])
    assert max(values) > min(values) + 1.0  # several maxima
    fitter = GpFitter("matern52", np.array([0, 1]))
    fitter.fit(X, z, np.random.default_rng(0))
    assert likelihood.value_and_gradient(fitter.theta)[0] > max(values) - 0.01
