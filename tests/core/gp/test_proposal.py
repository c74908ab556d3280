"""The next point against brute force, in domains of every kind; the climb against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from core.gp.acquisition import ACQUISITIONS, standard_deviation
from core.gp.domain import SearchDomain
from core.gp.kernels import Hyperparameters, Stationary
from core.gp.proposal import AcquisitionSearch, maximize_from_starts
from core.gp.regression import ExactPosterior
from core.space import Axis

REAL = (Axis("x", "", "float"), Axis("y", "", "float"))
MIXED = (
    Axis("x", "", "float"),
    Axis("k", "", "int", 1, 400),
    Axis("c", "", "choice", choices=(1, 2, 3)),
)
WHOLE = (Axis("k", "", "int", 1, 90), Axis("j", "", "int", 1, 90))
FINITE = (Axis("k", "", "int", 1, 6), Axis("c", "", "choice", choices=("a", "b", "c")))


def search_in(space, count=12, seed=0):
    domain = SearchDomain(space)
    random = np.random.default_rng(seed)
    X = domain.points_from_uniforms(random.random((count, len(space))))
    z = np.sin(5 * X[:, 0]) - X[:, 1] ** 2
    hyper = Hyperparameters(np.full(domain.width, 0.4), 1.0, 1e-6)
    regression = ExactPosterior(Stationary("matern52", hyper), X, z)
    return AcquisitionSearch(regression, domain, z.max(), X[z.argmax()], X, random), domain


EXPLORING = (ACQUISITIONS["ei"], standard_deviation)


@pytest.mark.parametrize(
    ("way", "space", "acquisition"),
    [
        *(("whole", space, a) for space in (REAL, MIXED, WHOLE) for a in ACQUISITIONS.values()),
        *(("inward", space, a) for space in (REAL, MIXED, WHOLE) for a in EXPLORING),
        *(("near", space, a) for space in (REAL, MIXED, WHOLE, FINITE) for a in EXPLORING),
    ],
)
def test_nearly_as_good_as_brute_force(way, space, acquisition):
    search, domain = search_in(space)
    ways = {"whole": search, "inward": search.interior_search(), "near": search.local_search()}
    found = ways[way].maximize(acquisition)
    many = domain.points_from_uniforms(np.random.default_rng(9).random((40_000, len(space))))
    if way == "near":
        number = np.array([space[axis].kind != "choice" for axis in domain.axis_of])
        off = np.abs(np.vstack([found.point, many]) - search.incumbent)[:, number]
        is_near = (off <= 0.2 + 1e-6).all(axis=1)
        assert is_near[0]
        many = many[is_near[1:]]
    many = many[[np.abs(search.tried_points - point).max(axis=1).min() > 1e-6 for point in many]]
    reached = ways[way]._acquisition_values(acquisition, found.point[None])[0]
    assert reached > ways[way]._acquisition_values(acquisition, many).max() - 0.02
    plain = acquisition(*search.regression.posterior(found.point[None]), search.best)[0]
    assert found.value == pytest.approx(plain[0])


@pytest.mark.parametrize("space", [REAL, MIXED, WHOLE, FINITE])
def test_the_point_is_allowed_new_and_described(space):
    search, domain = search_in(space)
    found = search.maximize(ACQUISITIONS["ei"])
    assert_allclose(domain.snap_points(found.point[None]), found.point[None], atol=1e-9)
    assert np.abs(search.tried_points - found.point).max(axis=1).min() > 1e-6
    mean, sd = search.regression.posterior(found.point[None])
    assert (found.mean, found.sd) == (pytest.approx(mean[0]), pytest.approx(sd[0]))


def test_the_prior_against_the_edges_by_hand_and_its_slope():
    search, domain = search_in(MIXED)
    point = np.array([[0.0, 0.5, 1.0, 0.0, 0.0], [0.25, 0.9, 0.0, 1.0, 0.0]])
    value, slope = search.interior_search()._edge_prior(point)
    # 4x(1 − x) is 0 and 1; .75 and .36; the weight of an edge is .1/1.1. The choice has none.
    assert value == pytest.approx([np.log(0.1 / 1.1), np.log(0.85 / 1.1) + np.log(0.46 / 1.1)])
    for k in range(domain.width):
        step = np.zeros(domain.width)
        step[k] = 1e-6
        inner = search.interior_search()
        ahead, behind = (inner._edge_prior(point[1:] + s)[0] for s in (step, -step))
        assert slope[1, k] == pytest.approx((ahead - behind)[0] / 2e-6, abs=1e-6)


def test_finite_domain_is_searched_exactly():
    search, domain = search_in(FINITE)
    everything = domain.all_points()
    fresh = [p for p in everything if np.abs(search.tried_points - p).max(axis=1).min() > 1e-6]
    values = ACQUISITIONS["ei"](*search.regression.posterior(np.array(fresh)), search.best)[0]
    assert_array_equal(search.maximize(ACQUISITIONS["ei"]).point, fresh[int(values.argmax())])


def test_nothing_is_left_of_a_finite_domain():
    search, domain = search_in(FINITE)
    points = domain.all_points()
    regression = ExactPosterior(search.regression.kernel, points, np.arange(18.0))
    done = AcquisitionSearch(regression, domain, 17.0, points[-1], points, np.random.default_rng(0))
    assert done.maximize(ACQUISITIONS["ei"]) is None


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
