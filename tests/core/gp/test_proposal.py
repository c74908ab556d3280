"""The search for the next point against brute force, in domains of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from core.gp.acquisition import ACQUISITIONS, standard_deviation
from core.gp.domain import SearchDomain
from core.gp.kernels import Hyperparameters, Stationary
from core.gp.proposal import AcquisitionSearch
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


@pytest.mark.parametrize("acquisition", [*ACQUISITIONS.values(), standard_deviation])
@pytest.mark.parametrize("space", [REAL, MIXED, WHOLE])
def test_nearly_as_good_as_brute_force(space, acquisition):
    search, domain = search_in(space)
    found = search.maximize(acquisition)
    many = domain.points_from_uniforms(np.random.default_rng(9).random((40_000, len(space))))
    many = many[[np.abs(search.tried_points - point).max(axis=1).min() > 1e-6 for point in many]]
    brute = acquisition(*search.regression.posterior(many), search.best)[0]
    assert found.value > brute.max() - 0.02


@pytest.mark.parametrize("space", [REAL, MIXED, WHOLE, FINITE])
def test_the_point_is_allowed_new_and_described(space):
    search, domain = search_in(space)
    found = search.maximize(ACQUISITIONS["ei"])
    assert_allclose(domain.snap_points(found.point[None]), found.point[None], atol=1e-9)
    assert np.abs(search.tried_points - found.point).max(axis=1).min() > 1e-6
    mean, sd = search.regression.posterior(found.point[None])
    assert (found.mean, found.sd) == (pytest.approx(mean[0]), pytest.approx(sd[0]))


@pytest.mark.parametrize("space", [REAL, MIXED, WHOLE, FINITE])
@pytest.mark.parametrize("acquisition", [ACQUISITIONS["ei"], standard_deviation])
def test_near_the_best_nearly_as_good_as_brute_force(space, acquisition):
    search, domain = search_in(space)
    found = search.local_search().maximize(acquisition)
    number = np.array([space[axis].kind != "choice" for axis in domain.axis_of])

    def near(points):
        return (np.abs(points - search.incumbent)[:, number] <= 0.2 + 1e-6).all(axis=1)

    assert near(found.point[None])[0]
    assert_allclose(domain.snap_points(found.point[None]), found.point[None], atol=1e-9)
    many = domain.points_from_uniforms(np.random.default_rng(9).random((60_000, len(space))))
    many = many[near(many)]
    many = many[[np.abs(search.tried_points - point).max(axis=1).min() > 1e-6 for point in many]]
    brute = acquisition(*search.regression.posterior(many), search.best)[0]
    assert found.value > brute.max() - 0.02


def test_the_prior_against_the_edges_by_hand_and_its_slope():
    search, domain = search_in(MIXED)
    point = np.array([[0.0, 0.5, 1.0, 0.0, 0.0], [0.25, 0.9, 0.0, 1.0, 0.0]])
    value, slope = search.interior_search()._log_prior(point)
    # 4x(1 − x) is 0 and 1; .75 and .36; the weight of an edge is .1/1.1. The choice has none.
    assert value == pytest.approx([np.log(0.1 / 1.1), np.log(0.85 / 1.1) + np.log(0.46 / 1.1)])
    for k in range(domain.width):
        step = np.zeros(domain.width)
        step[k] = 1e-6
        inner = search.interior_search()
        ahead, behind = (inner._log_prior(point[1:] + s)[0] for s in (step, -step))
        assert slope[1, k] == pytest.approx((ahead - behind)[0] / 2e-6, abs=1e-6)


@pytest.mark.parametrize("acquisition", [ACQUISITIONS["ei"], standard_deviation])
@pytest.mark.parametrize("space", [REAL, MIXED, WHOLE])
def test_inwards_nearly_as_good_as_brute_force(space, acquisition):
    search, domain = search_in(space)
    inward = search.interior_search()
    found = inward.maximize(acquisition)
    many = domain.points_from_uniforms(np.random.default_rng(9).random((40_000, len(space))))
    many = many[[np.abs(search.tried_points - point).max(axis=1).min() > 1e-6 for point in many]]

    def weighted(points):
        return inward._acquisition_values(acquisition, points)

    assert weighted(found.point[None])[0] > weighted(many).max() - 0.02
    plain = acquisition(*search.regression.posterior(found.point[None]), search.best)[0]
    assert found.value == pytest.approx(plain[0])


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
