"""Marginal likelihoods of the common kernels against dense algebra and central differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from core.gp.transfer.joint_likelihood import JointLikelihood, NeighbourLikelihood
from core.gp.transfer.kernel import NeighbourKernel

RANDOM = np.random.default_rng(2)
X = RANDOM.random((26, 5))
X[5] = X[4]
D = np.sort(RANDOM.integers(0, 4, 26))
Z = np.sin(4 * X[:, 0]) - X[:, 3] + 0.1 * RANDOM.standard_normal(26)
ROWS = np.column_stack([X, D])
AXIS_OF = np.array([0, 1, 2, 2, 3])  # one choice of two


def differences(likelihood, theta):
    steps = 1e-5 * np.eye(len(theta))
    return [
        (
            likelihood.value_and_gradient(theta + step)[0]
            - likelihood.value_and_gradient(theta - step)[0]
        )
        / 2e-5
        for step in steps
    ]


@pytest.mark.parametrize("noise", [1e-4, 0.3])
def test_neighbours_gradient_is_central_differences(noise):
    likelihood = NeighbourLikelihood(ROWS, Z, AXIS_OF)
    theta = np.append(np.log([0.2, 0.7, 1.5, 4.0]), np.log(noise))
    gradient = likelihood.value_and_gradient(theta)[1]
    assert gradient == pytest.approx(differences(likelihood, theta), rel=1e-4, abs=1e-4)


def test_neighbours_value_is_the_normal_density_and_the_priors():
    likelihood = NeighbourLikelihood(ROWS, Z, AXIS_OF)
    thetas = [np.append(np.log([0.2, 0.7, 1.5, 4.0]), np.log(n)) for n in (0.01, 0.3)]

    def expected(theta):
        hyper = likelihood.hyperparameters(theta)
        K = NeighbourKernel(hyper.lengths, hyper.noise, 4, likelihood.constant).covariance(ROWS)
        off = (theta - likelihood.prior_mean) / likelihood.prior_sd
        return multivariate_normal.logpdf(Z, cov=K) - 0.5 * off @ off

    values = [likelihood.value_and_gradient(theta)[0] for theta in thetas]
    # Without the constants, which cancel.
    assert values[1] - values[0] == pytest.approx(expected(thetas[1]) - expected(thetas[0]))


def test_the_whole_kernels_amplitude_stays_one():
    likelihood = JointLikelihood(X, Z, AXIS_OF)
    assert likelihood.theta_bounds[-2] == (0.0, 0.0)
    theta = np.append(np.log([0.2, 0.7, 1.5, 4.0]), [0.0, np.log(0.05)])
    gradient = likelihood.value_and_gradient(theta)[1]
    assert gradient == pytest.approx(differences(likelihood, theta), rel=1e-4, abs=1e-4)
