"""Newton, conjugate gradients and bounded L-BFGS against independent solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_problems import Gaussian, OnlyProducts, Stubborn, loss_of, minimized, table
from scipy import sparse
from scipy.optimize import minimize, rosen, rosen_der
from sklearn.linear_model import LogisticRegression, Ridge

from core.losses import build_loss, parameter_groups
from core.losses.linear.eigenbasis_loss import in_eigenbasis
from core.optimize.cholesky import cholesky
from core.optimize.descent import solve_penalized
from core.optimize.lbfgs import Bounds, minimize_steps
from core.optimize.newton import Newton, conjugate_gradients
from core.optimize.preconditioner import block_preconditioner, diagonal_preconditioner

KINDS = ("linear", "logistic", "multinomial")


def newtons(loss: Any) -> list[Newton]:
    """The same loss solved by Cholesky and by conjugate gradients."""
    dense, matrix_free = Newton(loss), Newton(loss)
    dense.dense, matrix_free.dense = True, False
    return [dense, matrix_free]


@pytest.mark.parametrize("name", KINDS)
def test_every_solver_finds_the_minimum_with_a_penalty_for_every_parameter(name: str) -> None:
    loss = loss_of(name)
    penalties = np.random.default_rng(4).uniform(0.1, 10.0, loss.size)
    penalties[parameter_groups(loss) < 0] = 0.0
    expected = loss.value_and_gradient(minimized(loss, penalties))[0]
    for newton in newtons(loss):
        start = loss.initial_weights()
        solution = solve_penalized(loss, penalties, start, tolerance=1e-12, newton=newton)
        w = solution.point.w
        slope = loss.value_and_gradient(w)[1] + penalties * w
        assert np.abs(slope).max() < 1e-4
        assert solution.point.value == pytest.approx(expected, rel=1e-6)


def test_penalties_a_group_are_scaled_columns_of_scikit_learn() -> None:
    X, y = table("logistic")
    C = np.array([0.3, 0.3, 20.0, 20.0, 2.0, 2.0])
    loss = build_loss("logistic", X, y)
    w = solve_penalized(loss, np.append(C, 0.0), loss.initial_weights(), tolerance=1e-12).point.w
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(X / np.sqrt(C), y)
    assert_allclose(w[:-1], peer.coef_[0] / np.sqrt(C), atol=1e-5)
    assert w[-1] == pytest.approx(peer.intercept_[0], abs=1e-5)


def test_one_penalty_is_scikit_learn_with_several_classes() -> None:
    X, y = table("multinomial")
    loss = build_loss("multinomial", X, y)
    penalties = np.where(parameter_groups(loss) < 0, 0.0, 3.0)
    w = solve_penalized(loss, penalties, loss.initial_weights(), tolerance=1e-12).point.w
    peer = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=10_000).fit(X, y)
    assert_allclose(w.reshape(3, -1)[:, :-1], peer.coef_, atol=1e-5)


def test_a_linear_solution_is_the_ridge_of_its_own_noise() -> None:
    X, y = table("linear")
    loss = build_loss("linear", X, y)
    w = solve_penalized(
        loss, np.append(np.full(6, 5.0), 0.0), loss.initial_weights(), tolerance=1e-13
    ).point.w
    peer = Ridge(alpha=5.0 * loss.noise_variance(w)).fit(X, y)
    assert_allclose(w[:-1], peer.coef_, atol=1e-6)
    assert w[-1] == pytest.approx(peer.intercept_, abs=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_sparse_solutions_are_the_dense_ones(name: str) -> None:
    X, y = table(name)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, thin = build_loss(name, X, y), build_loss(name, sparse.csr_matrix(X), y)
    penalties = np.where(parameter_groups(dense) < 0, 0.0, 2.0)
    there = solve_penalized(dense, penalties, dense.initial_weights(), tolerance=1e-13).point.w
    here = solve_penalized(thin, penalties, thin.initial_weights(), tolerance=1e-13).point.w
    assert_allclose(here, there, atol=1e-6)


@pytest.mark.parametrize("kind", [Gaussian, OnlyProducts])
def test_a_loss_with_the_bare_protocol_is_solved(kind: type[Gaussian]) -> None:
    X, y = table("linear")
    loss = kind(X, y)
    penalties = np.linspace(0.5, 4.0, 6)
    solution = solve_penalized(loss, penalties, loss.initial_weights(), tolerance=1e-14)
    closed = np.linalg.solve(X.T @ X + np.diag(penalties), X.T @ y)
    assert_allclose(solution.point.w, closed, atol=1e-6)


def test_lbfgs_takes_over_where_newton_stalls() -> None:
    X, y = table("linear")
    loss = Stubborn(X, y)
    solution = solve_penalized(loss, np.zeros(6), loss.initial_weights(), tolerance=1e-10)
    assert_allclose(solution.point.w, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-4)


def test_conjugate_gradients_solve_and_see_negative_curvature() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((8, 8))
    A, b = root @ root.T + np.eye(8), rng.standard_normal(8)
    found = conjugate_gradients(lambda v: A @ v, b, lambda r: r, 1e-10)
    assert found.converged
    assert found.x is not None
    assert_allclose(A @ found.x, b, atol=1e-8)
    assert found.iterations <= 12
    again = conjugate_gradients(lambda v: A @ v, b, lambda r: r, 1e-8, start=found.x)
    assert (again.iterations, again.converged) == (0, True)
    assert_allclose(again.x, found.x)
    bent = conjugate_gradients(lambda v: -v, b, lambda r: r, 1e-6)
    assert bent.x is None
    assert not bent.converged


def test_conjugate_gradients_say_that_they_have_not_arrived() -> None:
    A, b = np.diag(np.geomspace(1.0, 1e4, 50)), np.ones(50)
    short = conjugate_gradients(lambda v: A @ v, b, lambda r: r, 1e-8, max_iterations=5)
    assert (short.iterations, short.converged) == (5, False)
    exactly = conjugate_gradients(
        lambda v: A @ v, b, lambda r: r / np.diagonal(A), 1e-8, max_iterations=1
    )
    assert (exactly.iterations, exactly.converged) == (1, True)


def test_preconditioners_are_what_they_say() -> None:
    loss = loss_of("multinomial")
    w, penalties = loss.initial_weights(), np.linspace(1.0, 2.0, loss.size)
    blocks = loss.point_at(w).sampled_blocks(1)
    M = np.diag(penalties).astype(float)
    for k in range(3):
        M[7 * k : 7 * k + 7, 7 * k : 7 * k + 7] += blocks[k]
    for near, dense in (
        (block_preconditioner(blocks, penalties), M),
        (diagonal_preconditioner(loss.point_at(w), penalties), np.diag(np.diagonal(M))),
    ):
        b = np.random.default_rng(0).standard_normal((2, loss.size))
        assert_allclose(near.solve(b), np.linalg.solve(dense, b.T).T, atol=1e-9)
        assert near.log_determinant() == pytest.approx(np.linalg.slogdet(dense)[1])
        assert_allclose(near.inverse_diagonal(), np.diagonal(np.linalg.inv(dense)), atol=1e-9)
        whole = near.upper_inverse(near.lower_inverse(np.eye(loss.size))).T
        assert_allclose(whole, np.linalg.inv(dense), atol=1e-9)


def test_one_block_stands_for_all_classes() -> None:
    block = np.diag([1.0, 2.0, 3.0])[None]
    same = block_preconditioner(block, np.tile([1.0, 1.0, 0.0], 2))
    assert_allclose(same.solve(np.ones(6)), np.tile([1 / 2, 1 / 3, 1 / 3], 2))
    assert same.log_determinant() == pytest.approx(2 * np.log(18.0))
    other = block_preconditioner(block, np.array([1.0, 1.0, 0.0, 3.0, 2.0, 0.0]))
    assert_allclose(other.solve(np.ones(6)), [1 / 2, 1 / 3, 1 / 3, 1 / 4, 1 / 4, 1 / 3])


def test_cholesky_lifts_what_rounding_made_singular() -> None:
    A = np.ones((3, 3))
    L = np.tril(cholesky(A))
    assert_allclose(L @ L.T, A, atol=1e-6)
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(np.full((2, 2), np.nan))


def test_a_corrected_step_lands_on_the_minimum_of_the_exact_quadratic() -> None:
    loss = build_loss("linear", *table("linear"))
    inner = in_eigenbasis(loss)
    v = inner.initial_weights() + 0.1
    point = inner.point_at(v)
    correction = point.correction()
    step, _ = Newton(inner).direction(point, point.gradient, np.full(inner.size, 1e4), correction)
    exact = inner.hessian(v) + 1e4 * np.eye(inner.size)
    assert_allclose(step, -np.linalg.solve(exact, point.gradient), rtol=1e-8)


class TestBoundedSteps:
    def test_rosenbrock_without_bounds(self) -> None:
        start = np.array([-1.2, 1.0, 0.5])
        iterates = list(minimize_steps(lambda x: (rosen(x), rosen_der(x)), start))
        values = [iterate.value for iterate in iterates]
        assert values == sorted(values, reverse=True)
        assert_allclose(iterates[-1].x, 1.0, atol=1e-4)

    def test_bounds_hold_and_agree_with_scipy(self) -> None:
        start = np.array([-1.2, 0.4, 0.5])
        *_, last = minimize_steps(lambda x: (rosen(x), rosen_der(x)), start, Bounds(-2.0, 0.7))
        peer = minimize(rosen, start, jac=rosen_der, method="L-BFGS-B", bounds=[(-2.0, 0.7)] * 3)
        assert last.value == pytest.approx(peer.fun, rel=1e-4)
        assert (last.x <= 0.7).all()

    def test_a_start_outside_is_moved_in(self) -> None:
        first = next(
            minimize_steps(lambda x: (float(x @ x), 2 * x), np.array([9.0]), Bounds(-1.0, 3.0))
        )
        assert first.x == pytest.approx([3.0])
