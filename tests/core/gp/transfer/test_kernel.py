"""The neighbours' kernel: positive definite whatever the points, and its factors and slopes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.gp.regression import factorize
from core.gp.transfer.kernel import (
    Neighbourhood,
    anchored,
    anchored_further,
    apart,
    covariance,
    cross_covariance,
    crossed,
    extended_factor,
    slopes,
)

SMALLEST_NOISE = 1e-8


def points_of(seed, n, p, corners, copies):
    """n points of the cube, some in its corners, some of them twice."""
    random = np.random.default_rng(seed)
    X = random.random((n, p))
    cornered = random.random(n) < corners
    X[cornered] = np.round(X[cornered])
    doubled = random.random(n) < copies
    X[doubled] = X[random.integers(0, n, doubled.sum())]
    return X, np.sort(random.integers(0, max(1, n // 5) + 1, n))


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 120),
    p=st.integers(1, 30),
    corners=st.sampled_from([0.0, 0.5, 1.0]),
    copies=st.sampled_from([0.0, 0.5]),
    length=st.sampled_from([0.01, 0.5, 30.0]),
)
@settings(max_examples=60, deadline=None)
def test_it_is_positive_definite_at_the_smallest_noise(seed, n, p, corners, copies, length):
    X, d = points_of(seed, n, p, corners, copies)
    constant = anchored(X, p).constant
    hyper = Neighbourhood(np.full(p, length), SMALLEST_NOISE, p, constant)
    K = covariance(hyper, X, d)
    assert pytest.approx(K.T, abs=1e-13) == K
    assert np.linalg.eigvalsh(K)[0] > 0.0
    factorize(K)


def test_with_the_papers_constant_it_would_not_be():
    # The whole cube's corners of one half of the points against the middle of the other half.
    X, _ = points_of(0, 1000, 30, 0.5, 0.0)
    D = apart(X, X, 30)
    assert np.linalg.eigvalsh(1.0 - D)[0] < -1e-3
    constant = anchored(X, 30).constant
    assert 1.0 < constant < 1.4
    assert np.linalg.eigvalsh(constant - D)[0] > -1e-8


@pytest.mark.parametrize("p", [1, 4, 9])
def test_the_constant_is_the_least_that_is_needed(p):
    X, _ = points_of(1, 40, p, 0.5, 0.0)
    anchor = anchored(X, p)
    needed = float(anchor.w @ anchor.w)
    D = apart(X, X, p)
    assert np.linalg.eigvalsh(needed + 1e-6 - D)[0] > -1e-8
    assert np.linalg.eigvalsh(needed - 1e-3 - D)[0] < -1e-6
    assert anchor.constant == 1.0


def test_further_points_extend_both_factors():
    X, d = points_of(3, 40, 6, 0.5, 0.1)
    d[30:] = 0
    known = anchored_further(anchored(X[:30], 6), X[30:], 6)
    afresh = anchored(X, 6)
    assert pytest.approx(afresh.L, abs=1e-6) == known.L
    assert known.w @ known.w == pytest.approx(afresh.w @ afresh.w, rel=1e-6)
    hyper = Neighbourhood(np.full(6, 0.4), 1e-3, 6)
    K = covariance(hyper, X, d)
    side = cross_covariance(hyper, X[:30], d[:30], X[30:])
    assert side == pytest.approx(K[:30, 30:], abs=1e-7)
    L = extended_factor(factorize(K[:30, :30].copy("F")), side, K[30:, 30:])
    assert pytest.approx(K, abs=1e-7) == L @ L.T


def test_entries_by_hand():
    X = np.array([[0.0, 0.0], [0.6, 0.8], [0.0, 0.0]])
    hyper = Neighbourhood(np.array([0.5, 2.0]), 0.01, 2)
    K = covariance(hyper, X, np.array([1, 1, 0]))
    near = 0.3 * np.exp(-0.5 * (0.6**2 / 0.25 + 0.8**2 / 4.0))
    far = 0.7 * (1.0 - 1.0 / np.sqrt(2.0))
    assert (
        pytest.approx(
            np.array([[1.01, near + far, 0.7], [near + far, 1.01, far], [0.7, far, 1.01]])
        )
        == K
    )


def test_slopes_are_central_differences():
    X, d = points_of(5, 25, 4, 0.3, 0.0)
    d[20:] = 0
    random = np.random.default_rng(6)
    Y, w = random.random((3, 4)), random.standard_normal((25, 3))
    strength = random.random(25)
    hyper = Neighbourhood(np.array([0.2, 0.5, 1.0, 3.0]), 1e-3, 4, 1.1)

    def whole(Y, strength):
        k, _, near = crossed(hyper, X, d, Y)
        across = k.copy()
        across[d == 0] -= near
        across *= strength[:, None]
        across[d == 0] += near
        return (w * across).sum(axis=0)

    _, D, near = crossed(hyper, X, d, Y)
    for power, given_power in ((np.ones(25), None), (strength, strength)):
        found = slopes(hyper, X, d, Y, D, near, [w], given_power)[0]
        for axis in range(4):
            step = 1e-6 * np.eye(4)[axis]
            slope = (whole(Y + step, power) - whole(Y - step, power)) / 2e-6
            assert found[:, axis] == pytest.approx(slope, abs=1e-6)
