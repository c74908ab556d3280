"""Joint surfaces: what is kept saves only time; posteriors and likelihoods by dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from core.gp.gp_fitting import Likelihood
from core.gp.kernels import Hyperparameters, Stationary
from core.gp.regression import ExactPosterior
from core.gp.transfer.earlier_trials import Coordinates, DatasetTrials, earlier_trials
from core.gp.transfer.joint_fitting import (
    INDUCING,
    MAX_EXACT,
    JointFitter,
    JointPosterior,
    NeighbourLikelihood,
    SparseRegression,
    sparse_earlier,
)
from core.gp.transfer.kernel import (
    NeighbourKernel,
    PrintedKernel,
    PrintedRegression,
    extend_anchor,
    printed_mask,
)
from core.space import Axis

CUBE = tuple(Axis(f"x{k}", "", "float", 0.0, 1.0) for k in range(3))
NOW = np.random.default_rng(9).random((8, 3))
PROBES = np.random.default_rng(8).random((6, 3))


def earlier_of(datasets, trials=6):
    random = np.random.default_rng(datasets)
    told = []
    for _ in range(datasets):
        settings = [{f"x{k}": u for k, u in enumerate(row)} for row in random.random((trials, 3))]
        told.append(DatasetTrials(random.standard_normal(3), settings, [0.0] * trials))
    return earlier_trials(told, (0.0, 0.0, 0.0), CUBE)


def responses(earlier, now):
    points = np.vstack([earlier.points, now])
    return np.sin(4 * points[:, 0]) - points[:, 1]


@pytest.mark.parametrize("kernel", ["mkl", "sqe", "printed"])
def test_trial_after_trial_equals_all_at_once(kernel):
    earlier = earlier_of(4)
    fitter = JointFitter(kernel, Coordinates(CUBE), earlier)
    for count in range(len(NOW) + 1):
        z = responses(earlier, NOW[:count])
        z[len(earlier.points) :] *= 1.0 + count / 10  # the present's responses change every time
        grown = fitter.fit(NOW[:count], z, np.random.default_rng(0))
    afresh = JointFitter(kernel, Coordinates(CUBE), earlier)
    afresh.theta, afresh._learned_at = fitter.theta, len(NOW)
    hyper = Hyperparameters(fitter.lengths, 1.0, fitter.noise)
    known = afresh.restored(hyper, fitter.constant, NOW, z)
    for one, other in zip(grown.posterior(PROBES), known.posterior(PROBES), strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def test_hyperparameters_are_learned_now_and_then():
    earlier = earlier_of(20)
    fitter = JointFitter("mkl", Coordinates(CUBE), earlier)
    learned = []
    for count in range(len(NOW) + 1):
        fitter.fit(NOW[:count], responses(earlier, NOW[:count]), np.random.default_rng(0))
        learned.append(fitter._learned_at)
    assert sorted(set(learned)) == [0, 4]  # then not before 9: four percent of 129 are 5


@pytest.mark.parametrize(
    ("kernel", "datasets", "trials"), [("sqe", 60, 6), ("sqe", 1000, 6), ("mkl", 20, 60)]
)
def test_many_earlier_trials_are_seen_through_some(kernel, datasets, trials):
    earlier = earlier_of(datasets, trials)
    assert len(earlier.points) > MAX_EXACT[kernel]
    fitter = JointFitter(kernel, Coordinates(CUBE), earlier)
    z = responses(earlier, NOW)
    common = fitter.fit(NOW, z, np.random.default_rng(0))
    assert isinstance(common.inner, SparseRegression)
    assert len(common.X) == INDUCING + len(NOW)
    mean, sd = common.posterior(PROBES)
    truth = np.sin(4 * PROBES[:, 0]) - PROBES[:, 1]
    assert np.abs(mean - truth).max() < 0.15
    assert (sd > 0).all()


def test_with_neither_statistics_nor_a_history_it_is_one_process():
    earlier = earlier_of(0)
    for kernel in ("mkl", "sqe", "printed"):
        fitter = JointFitter(kernel, Coordinates(CUBE), earlier)
        z = responses(earlier, NOW)
        found = fitter.fit(NOW, z, np.random.default_rng(0)).posterior(NOW)[0]
        assert found == pytest.approx(z, abs=0.05)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="no common kernel"):
        JointFitter("linear", Coordinates(CUBE), earlier_of(0))


RANDOM = np.random.default_rng(0)
X = RANDOM.random((34, 5))
D = np.array([1] * 12 + [2] * 12 + [0] * 10)
Z = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * RANDOM.standard_normal(34)
POINTS = RANDOM.random((7, 5))
LENGTHS = np.array([0.3, 0.5, 0.9, 2.0, 5.0])
KERNEL = NeighbourKernel(LENGTHS, 0.02, 5)
ROWS = np.column_stack([X, D])
PRESENT = np.column_stack([POINTS, np.zeros(7)])


def dense_neighbours(A, B, a, b, constant=1.0):
    """The kernel entry by entry."""
    k = np.empty((len(A), len(B)))
    for i, x in enumerate(A):
        for j, y in enumerate(B):
            near = np.exp(-0.5 * np.sum(((x - y) / LENGTHS) ** 2)) if a[i] == b[j] else 0.0
            far = constant - np.linalg.norm(x - y) / np.sqrt(5)
            k[i, j] = 0.3 * near + 0.7 * far
    return k


def dense_posterior(K, k, own, z, noise):
    solved = np.linalg.solve(K + noise * np.eye(len(K)), np.column_stack([z, k]))
    return k.T @ solved[:, 0], np.sqrt(own - np.einsum("ij,ij->j", k, solved[:, 1:]))


def test_neighbours_posterior_is_the_dense_one():
    K = dense_neighbours(X, X, D, D)
    k = dense_neighbours(X, POINTS, D, np.zeros(7, dtype=int))
    expected = dense_posterior(K, k, 1.0, Z, KERNEL.noise)
    found = ExactPosterior(KERNEL, ROWS, Z).posterior(PRESENT)
    assert found[0] == pytest.approx(expected[0], abs=1e-7)
    assert found[1] == pytest.approx(expected[1], abs=1e-7)


def test_extension_and_new_responses_agree_with_a_fresh_factor():
    fresh = ExactPosterior(KERNEL, ROWS, Z)
    grown = ExactPosterior(KERNEL, ROWS[:24], np.zeros(24))
    grown = grown.extended(ROWS[24:31], np.zeros(31)).extended(ROWS[31:], np.zeros(34))
    grown = grown.extended(ROWS[:0], Z)
    assert pytest.approx(fresh.L, abs=1e-7) == grown.L
    assert grown.posterior(PRESENT)[0] == pytest.approx(fresh.posterior(PRESENT)[0], abs=1e-7)


def test_the_constant_grows_with_points_that_need_it():
    random = np.random.default_rng(1)
    wide = random.random((600, 30))
    wide[::2] = np.round(wide[::2])
    rows = np.column_stack([wide, np.where(np.arange(600) < 20, 1, 0)])
    small = ExactPosterior(NeighbourKernel(np.full(30, 2.0), 1e-6, 30), rows[:20], np.zeros(20))
    assert small.kernel.constant == 1.0
    grown = small.extended(rows[20:], np.zeros(600))
    assert grown.kernel.constant == extend_anchor(None, rows, 30).constant > 1.0
    points = np.column_stack([random.random((50, 30)), np.zeros(50)])
    mean, sd = grown.posterior(points)
    assert np.isfinite(mean).all()
    assert (sd > 0).all()


def test_sparse_through_all_points_is_exact():
    kernel = Stationary("se", Hyperparameters(LENGTHS, 1.0, 0.02))
    exact = ExactPosterior(kernel, X, Z)
    sparse = SparseRegression(sparse_earlier(kernel, X[:24], X[:24]), X[24:], Z)
    for found, expected in zip(
        sparse.posterior_gradients(POINTS), exact.posterior_gradients(POINTS), strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-5)


SQUARED = Stationary("se", Hyperparameters(LENGTHS, 1.0, 0.02))
JOINED = NeighbourKernel(LENGTHS, 0.02, 5, constant=1.1)


def dense_squared(A, B):
    return np.exp(-0.5 * (((A[:, None] - B[None]) / LENGTHS) ** 2).sum(axis=2))


@pytest.mark.parametrize("block", [1, 5, 24])
@pytest.mark.parametrize("kernel", [SQUARED, JOINED], ids=["sqe", "mkl"])
def test_sparse_is_the_partially_independent_conditional(kernel, block):
    """Through few points: the dense joint prior that the approximation stands for."""
    own = kernel.prior_variance
    if kernel is SQUARED:
        rows, probes = X, POINTS
        k = q_of = dense_squared
    else:
        rows, probes = ROWS, PRESENT

        def k(A, B):
            return dense_neighbours(A[:, :5], B[:, :5], A[:, 5], B[:, 5], 1.1)

        def q_of(A, B):  # the second term alone, as if of different datasets
            apart = [1] * len(A), [2] * len(B)
            return dense_neighbours(A[:, :5], B[:, :5], *apart, 1.1)

    U, earlier, present = rows[:8], rows[:24], rows[24:]

    def q(A, B):
        return q_of(A, U) @ np.linalg.solve(q_of(U, U) + 1e-10 * np.eye(8), q_of(U, B))

    K = q(rows, rows)
    for start in range(0, 24, block):
        same = slice(start, min(start + block, 24))
        K[same, same] = k(earlier[same], earlier[same])
    K[24:, 24:] = k(present, present)
    cross = np.vstack([q(earlier, probes), k(present, probes)])
    expected = dense_posterior(K, cross, own, Z, 0.02)
    condensed = sparse_earlier(kernel, U, earlier, block)
    sparse = SparseRegression(condensed, rows[:0], Z[:24])
    sparse = sparse.extended(present[:4], Z[:28]).extended(present[4:], Z)
    assert sparse.posterior(probes)[0] == pytest.approx(expected[0], abs=1e-6)
    assert sparse.posterior(probes)[1] == pytest.approx(expected[1], abs=1e-6)


def test_sparse_neighbours_are_condensed_anew_where_the_constant_grows():
    random = np.random.default_rng(1)
    wide = random.random((300, 30))
    wide[::2] = np.round(wide[::2])
    rows = np.column_stack([wide, np.where(np.arange(300) < 10, 1, 0)])
    kernel, z = NeighbourKernel(np.full(30, 2.0), 1e-2, 30), random.standard_normal(300)
    sparse = SparseRegression(sparse_earlier(kernel, rows[:5], rows[:10]), rows[:0], z[:10])
    grown = sparse.extended(rows[10:], z)
    afresh = SparseRegression(sparse_earlier(grown.kernel, rows[:5], rows[:10]), rows[10:], z)
    assert grown.kernel.constant > sparse.kernel.constant
    probes = np.column_stack([random.random((20, 30)), np.zeros(20)])
    for values, fresh_values in zip(grown.posterior(probes), afresh.posterior(probes), strict=True):
        assert values == pytest.approx(fresh_values, abs=1e-9)


def test_the_printed_kernel_leaves_out_its_negative_part():
    statistics = np.array([[0.0, 0, 0], [1.0, 0, 0], [5.0, 0, 0]])
    mask = printed_mask(statistics, np.arange(3), 1)
    # 0 and 1 are each other's nearest; 2's nearest is 1, whose nearest it is not.
    assert mask.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    far = np.linalg.norm(X[:, None] - X[None], axis=2) / np.sqrt(5)
    near = np.exp(-0.5 * (((X[:, None] - X[None]) / LENGTHS) ** 2).sum(axis=2))
    K = 0.3 * (D[:, None] == D) * near + 0.7 * mask[D][:, D] * (1.0 - far)
    values, E = np.linalg.eigh(K)
    assert values[0] < -0.1
    clipped = (E * np.maximum(values, 0.0)) @ E.T
    expected = clipped @ np.linalg.solve(clipped + KERNEL.noise * np.eye(34), Z)
    here = D == 0
    printed = PrintedRegression(PrintedKernel(LENGTHS, KERNEL.noise, 5, mask), ROWS, Z)
    found = printed.posterior(ROWS[here])[0]
    assert found == pytest.approx(expected[here], abs=1e-6)


SPACE = (
    Axis("rate", "", "float", 0.1, 10.0, log=True),
    Axis("a", "", "float", 0.0, 1.0),
    Axis("b", "", "int", 1, 9),
    Axis("shape", "", "choice", choices=("x", "y")),
)


@pytest.mark.parametrize("simplex", [(), ("a", "b"), ("rate", "a", "b")])
@pytest.mark.parametrize("kind", ["neighbours", "whole", "sparse", "printed"])
def test_gradients_by_the_unit_vector_are_central_differences(kind, simplex):
    coordinates = Coordinates(SPACE, simplex)
    rows = np.column_stack([coordinates.transform(X), D])
    if kind == "neighbours":
        inner = ExactPosterior(NeighbourKernel(LENGTHS, 0.02, 4), rows, Z)
    elif kind == "printed":
        mask = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]])
        inner = PrintedRegression(PrintedKernel(LENGTHS, 0.5, 4, mask), rows, Z)
    else:
        rows[:, -1] /= 2.0
        kernel = Stationary("se", Hyperparameters(np.append(LENGTHS, 1.0), 1.0, 0.02))
        whole = ExactPosterior(kernel, rows, Z)
        sparse = SparseRegression(sparse_earlier(kernel, rows[:15], rows[:24]), rows[24:], Z)
        inner = whole if kind == "whole" else sparse
    common = JointPosterior(inner, coordinates, 1)
    points = 0.1 + 0.8 * POINTS
    mean, sd, rising, widening = common.posterior_gradients(points)
    assert (mean, sd) == tuple(pytest.approx(one) for one in common.posterior(points))
    for entry in range(5):
        step = 1e-6 * np.eye(5)[entry]
        upper, lower = common.posterior(points + step), common.posterior(points - step)
        assert rising[:, entry] == pytest.approx((upper[0] - lower[0]) / 2e-6, abs=1e-5)
        if kind != "printed" or sd.min() > 1e-3:
            assert widening[:, entry] == pytest.approx((upper[1] - lower[1]) / 2e-6, abs=1e-4)


DRAWS = np.random.default_rng(2)
LX = DRAWS.random((26, 5))
LX[5] = LX[4]
LD = np.sort(DRAWS.integers(0, 4, 26))
LZ = np.sin(4 * LX[:, 0]) - LX[:, 3] + 0.1 * DRAWS.standard_normal(26)
LROWS = np.column_stack([LX, LD])
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
    likelihood = NeighbourLikelihood(LROWS, LZ, AXIS_OF)
    theta = np.append(np.log([0.2, 0.7, 1.5, 4.0]), [0.3, np.log(noise)])
    gradient = likelihood.value_and_gradient(theta)[1]
    assert gradient == pytest.approx(differences(likelihood, theta), rel=1e-4, abs=1e-4)


def test_neighbours_value_is_the_normal_density_and_the_priors():
    likelihood = NeighbourLikelihood(LROWS, LZ, AXIS_OF)
    thetas = [np.append(np.log([0.2, 0.7, 1.5, 4.0]), [0.0, np.log(n)]) for n in (0.01, 0.3)]

    def expected(theta):
        hyper = likelihood.hyperparameters(theta)
        K = NeighbourKernel(hyper.lengths, hyper.noise, 4, likelihood.constant).covariance(LROWS)
        off = (theta - likelihood.prior_mean) / likelihood.prior_sd
        return multivariate_normal.logpdf(LZ, cov=K) - 0.5 * off @ off

    values = [likelihood.value_and_gradient(theta)[0] for theta in thetas]
    # Without the constants, which cancel.
    assert values[1] - values[0] == pytest.approx(expected(thetas[1]) - expected(thetas[0]))


def test_the_whole_kernels_amplitude_stays_one():
    likelihood = Likelihood("se", LX, LZ, AXIS_OF, amplitudes=(1.0, 1.0))
    assert likelihood.theta_bounds[-2] == (0.0, 0.0)
    theta = np.append(np.log([0.2, 0.7, 1.5, 4.0]), [0.0, np.log(0.05)])
    gradient = likelihood.value_and_gradient(theta)[1]
    assert gradient == pytest.approx(differences(likelihood, theta), rel=1e-4, abs=1e-4)
