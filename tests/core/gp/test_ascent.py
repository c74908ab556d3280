"""Climbing several starts at once finds what scipy's L-BFGS-B finds from each."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from core.gp.ascent import maximize_from_starts

CENTRE, STIFF = np.array([0.3, 1.4, -0.2]), np.diag([1.0, 30.0, 4.0]) + 0.8


def hill(points):
    """A skewed quadratic whose top lies outside of the cube, and its gradient."""
    off = points - CENTRE
    return -0.5 * np.einsum("mi,ij,mj->m", off, STIFF, off), -off @ STIFF


def test_equals_scipy_on_a_bounded_quadratic():
    starts = np.random.default_rng(0).random((5, 3))
    free, box = np.ones(3, dtype=bool), [(0, 1)] * 3
    points, values = maximize_from_starts(hill, starts, free, rounds=200, tolerance=1e-10)
    peer = minimize(lambda x: -hill(x[None])[0][0], starts[0], bounds=box, method="L-BFGS-B")
    assert_allclose(values, -peer.fun, atol=1e-6)
    assert_allclose(points, np.tile(peer.x, (5, 1)), atol=1e-3)


def test_every_start_climbs_its_own_hill():
    def waves(points):
        return np.sin(12 * points).sum(axis=1), 12 * np.cos(12 * points)

    starts = np.array([[0.1], [0.7], [0.64]])
    points, values = maximize_from_starts(waves, starts, np.ones(1, dtype=bool))
    assert_allclose(points[:, 0], [np.pi / 24, 5 * np.pi / 24, 5 * np.pi / 24], atol=1e-3)
    assert_allclose(values, 1.0, atol=1e-5)


def test_held_entries_stay():
    starts = np.random.default_rng(1).random((4, 3))
    points, values = maximize_from_starts(hill, starts, np.array([True, False, True]))
    assert_array_equal(points[:, 1], starts[:, 1])
    assert (values >= hill(starts)[0]).all()


def test_never_leaves_the_cube_and_never_falls():
    starts = np.random.default_rng(2).random((8, 3))
    points, values = maximize_from_starts(hill, starts, np.ones(3, dtype=bool), rounds=3)
    assert points.min() >= 0.0
    assert points.max() <= 1.0
    assert (values >= hill(starts)[0]).all()
