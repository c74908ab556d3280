"""The neighbours' kernel: positive definite whatever the points, and its factors and slopes."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.gp.transfer.kernel import (
    NeighbourKernel,
    extend_anchor,
    point_distances,
    slopes_of,
    within_dataset_kernel,
)
from core.optimize.cholesky import extend_factor, factorize

SMALLEST_NOISE = 1e-8


def points_of(seed, n, p, corners, copies):
    """n points of the cube and their datasets, some in its corners, some of them twice."""
    random = np.random.default_rng(seed)
    X = random.random((n, p))
    cornered = random.random(n) < corners
    X[cornered] = np.round(X[cornered])
    doubled = random.random(n) < copies
    X[doubled] = X[random.integers(0, n, doubled.sum())]
    return np.column_stack([X, np.sort(random.integers(0, max(1, n // 5) + 1, n))])


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 120),
    p=st.integers(1, 30),
    corners=st.sampled_from([0.0, 0.5, 1.0]),
    copies=st.sampled_from([0.0, 0.5]),
    length=st.sampled_from([0.01, 0.5, 30.0]),
)
@example(seed=22, n=49, p=22, corners=0.0, copies=0.5, length=0.01)
@settings(max_examples=60, deadline=None)
def test_it_is_positive_definite_at_the_smallest_noise(seed, n, p, corners, copies, length):
    X = points_of(seed, n, p, corners, copies)
    K = NeighbourKernel(np.full(p, length), SMALLEST_NOISE, p).reaching(X).covariance(X)
    assert pytest.approx(K.T, abs=1e-13) == K
    assert np.linalg.eigvalsh(K)[0] > 0.0
    factorize(K)


def test_with_the_papers_constant_it_would_not_be():
    # The whole cube's corners of one half of the points against the middle of the other half.
    X = points_of(0, 1000, 30, 0.5, 0.0)
    D = point_distances(X, X, 30)
    assert np.linalg.eigvalsh(1.0 - D)[0] < -1e-3
    constant = extend_anchor(None, X, 30).constant
    assert 1.0 < constant < 1.4
    assert np.linalg.eigvalsh(constant - D)[0] > -1e-8


@pytest.mark.parametrize("p", [1, 4, 9])
def test_the_constant_is_the_least_that_is_needed(p):
    X = points_of(1, 40, p, 0.5, 0.0)
    anchor = extend_anchor(None, X, p)
    needed = float(anchor.w @ anchor.w)
    D = point_distances(X, X, p)
    assert np.linalg.eigvalsh(needed + 1e-6 - D)[0] > -1e-8
    assert np.linalg.eigvalsh(needed - 1e-3 - D)[0] < -1e-6
    assert anchor.constant == 1.0


def test_further_points_extend_both_factors():
    X = points_of(3, 40, 6, 0.5, 0.1)
    X[30:, -1] = 0
    known = extend_anchor(extend_anchor(None, X[:30], 6), X, 6)
    afresh = extend_anchor(None, X, 6)
    assert pytest.approx(afresh.L, abs=1e-6) == known.L
    assert known.w @ known.w == pytest.approx(afresh.w @ afresh.w, rel=1e-6)
    kernel = NeighbourKernel(np.full(6, 0.4), 1e-3, 6)
    K, side = kernel.covariance(X), kernel.cross_covariance(X[:30], X[30:])
    assert side == pytest.approx(K[:30, 30:], abs=1e-7)
    L = extend_factor(factorize(K[:30, :30].copy("F")), side, K[30:, 30:])
    assert pytest.approx(K, abs=1e-7) == L @ L.T


def test_entries_by_hand():
    X = np.array([[0.0, 0.0, 1], [0.6, 0.8, 1], [0.0, 0.0, 0]])
    K = NeighbourKernel(np.array([0.5, 2.0]), 0.01, 2).covariance(X)
    near = 0.3 * np.exp(-0.5 * (0.6**2 / 0.25 + 0.8**2 / 4.0))
    far = 0.7 * (1.0 - 1.0 / np.sqrt(2.0))
    assert (
        pytest.approx(
            np.array([[1.01, near + far, 0.7], [near + far, 1.01, far], [0.7, far, 1.01]])
        )
        == K
    )


@pytest.mark.parametrize("weaker", [False, True])
def test_slopes_are_central_differences(weaker):
    X = points_of(5, 25, 4, 0.3, 0.0)
    X[20:, -1] = 0
    random = np.random.default_rng(6)
    Y, w = np.column_stack([random.random((3, 4)), np.zeros(3)]), random.standard_normal((25, 3))
    strength = random.random(25) if weaker else np.ones(25)
    kernel = NeighbourKernel(np.array([0.2, 0.5, 1.0, 3.0]), 1e-3, 4, 1.1)
    here = X[:, -1] == 0

    def whole(Y):
        across = 0.7 * (1.1 - point_distances(X, Y, 4)) * strength[:, None]
        across[here] += within_dataset_kernel(kernel, X[here], Y)
        return (w * across).sum(axis=0)

    D, near = point_distances(X, Y, 4) * 2.0, within_dataset_kernel(kernel, X[here], Y)
    found = slopes_of(kernel, X, Y, D, near, strength if weaker else None)(w)
    if not weaker:
        k, slopes = kernel.cross_and_slopes(X, Y)
        assert (w * k).sum(axis=0) == pytest.approx(whole(Y))
        assert slopes(w) == pytest.approx(found)
    for axis in range(4):
        step = 1e-6 * np.eye(5)[axis]
        assert found[:, axis] == pytest.approx((whole(Y + step) - whole(Y - step)) / 2e-6, abs=1e-6)
