"""The correlation functions against scikit-learn's, their slopes against differences."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from core.gp.kernels import KERNELS, correlation, correlation_and_slope, squared_distances

PEERS = {
    "se": RBF,
    "matern32": lambda lengths: Matern(lengths, nu=1.5),
    "matern52": lambda lengths: Matern(lengths, nu=2.5),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_scikit_learn(kernel):
    random = np.random.default_rng(0)
    A, B, lengths = random.random((20, 3)), random.random((7, 3)), np.array([0.2, 1.0, 5.0])
    ours = correlation(kernel, squared_distances(A, B, lengths))
    np.testing.assert_allclose(ours, PEERS[kernel](lengths)(A, B), atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_slope_equals_central_differences(kernel):
    s = np.array([0.01, 0.3, 1.0, 4.0])
    slope = correlation_and_slope(kernel, s)[1]
    differences = (correlation(kernel, s + 1e-6) - correlation(kernel, s - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, differences, rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "slope"), [("se", -0.5), ("matern32", -1.5), ("matern52", -5 / 6)]
)
def test_slope_at_zero_is_finite(kernel, slope):
    value, at_zero = correlation_and_slope(kernel, np.zeros(1))
    assert value[0] == 1.0
    assert at_zero[0] == pytest.approx(slope)


def test_brofos_kernel_is_the_usual_one_with_a_longer_length():
    # Brofos eq. 4: exp(−½ Δ²/(2γ²)).
    delta, gamma = 0.7, 0.4
    s = squared_distances(np.array([[0.1]]), np.array([[0.8]]), np.array([np.sqrt(2) * gamma]))
    assert correlation("se", s)[0, 0] == pytest.approx(np.exp(-0.5 * delta**2 / (2 * gamma**2)))


def test_unknown_kernel():
    with pytest.raises(ValueError, match="cubic"):
        correlation("cubic", np.zeros(1))
