"""Posteriors over several datasets against dense algebra, and their gradients."""

import numpy as np
import pytest

from core.gp.kernels import Hyperparameters, Stationary
from core.gp.regression import ExactPosterior
from core.gp.transfer.coordinates import Coordinates
from core.gp.transfer.joint_posterior import JointPosterior
from core.gp.transfer.kernel import NeighbourKernel, extend_anchor
from core.gp.transfer.printed_kernel import PrintedKernel, PrintedRegression, printed_mask
from core.gp.transfer.sparse import SparseRegression, sparse_earlier
from core.space import Axis

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


def test_sparse_is_the_partially_independent_conditional():
    """Through few points: the dense joint prior that the approximation stands for."""
    kernel = Stationary("se", Hyperparameters(LENGTHS, 1.0, 0.02))
    U, earlier, present = X[:8], X[:24], X[24:]

    def k(A, B):
        return np.exp(-0.5 * (((A[:, None] - B[None]) / LENGTHS) ** 2).sum(axis=2))

    def q(A, B):
        return k(A, U) @ np.linalg.solve(k(U, U) + 1e-10 * np.eye(8), k(U, B))

    K = q(X, X)
    K[np.arange(24), np.arange(24)] = 1.0
    K[24:, 24:] = k(present, present)
    cross = np.vstack([q(earlier, POINTS), k(present, POINTS)])
    expected = dense_posterior(K, cross, 1.0, Z, 0.02)
    found = SparseRegression(sparse_earlier(kernel, U, earlier), X[:0], Z[:24])
    found = found.extended(present[:4], Z[:28]).extended(present[4:], Z)
    assert found.posterior(POINTS)[0] == pytest.approx(expected[0], abs=1e-6)
    assert found.posterior(POINTS)[1] == pytest.approx(expected[1], abs=1e-6)


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
