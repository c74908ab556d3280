"""Newton and L-BFGS against other programs, their shared parts, and when blocks are formed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from penalty_problems import Gaussian, OnlyProducts, Stubborn, loss_of, minimized, table
from scipy import sparse
from scipy.optimize import minimize, rosen, rosen_der
from sklearn.linear_model import LogisticRegression, Ridge

from core.losses import build_loss, parameter_groups
from core.losses.linear.eigenbasis_loss import EigenbasisLoss
from core.optimize.armijo import backtrack
from core.optimize.cholesky import (
    cholesky,
    extend_factor,
    factorize,
    inverse_diagonal,
    jittered_cholesky,
    log_determinant,
    solve_factored,
)
from core.optimize.descent import solve_penalized
from core.optimize.kronecker import KroneckerCurvature, KroneckerPreconditioner
from core.optimize.lbfgs import Bounds, minimize_steps
from core.optimize.newton import (
    CurvatureMemory,
    Newton,
    conjugate_gradients,
    diagonal_preconditioner,
    factor_preconditioner,
)
from core.optimize.two_loop import last_scale, pair_of, two_loop

KINDS = ("linear", "logistic", "multinomial")


def random_weights(loss: Any) -> np.ndarray:
    return 0.2 * np.random.default_rng(5).standard_normal(loss.size)


def newtons(loss: Any) -> list[Newton]:
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


def kronecker_matrix(curvature: KroneckerCurvature, c: np.ndarray) -> np.ndarray:
    """S ⊗ G with penalties c on each block, and the curvature of a common shift of intercepts."""
    K = len(curvature.S)
    M = np.kron(curvature.S, curvature.gram) + np.kron(np.eye(K), np.diag(c))
    shift = curvature.gram[-1] / curvature.gram[-1, -1]
    return M + curvature.gauge / K * np.kron(np.ones((K, K)), np.outer(shift, shift))


def test_preconditioners_are_what_they_say() -> None:
    two, three = loss_of("logistic"), loss_of("multinomial")
    at_two, at_three = (loss.point_at(random_weights(loss)) for loss in (two, three))
    some, c = np.linspace(1.0, 2.0, two.size), np.append(np.linspace(1.0, 2.0, 6), 0.0)
    H, curvature = at_two.sampled_hessian(1), at_three.sampled_curvature(1)
    first = KroneckerPreconditioner(curvature, np.tile(c, 3))
    for near, dense in (
        (factor_preconditioner(H, some), H + np.diag(some)),
        (diagonal_preconditioner(at_two, some), np.diag(np.diagonal(H) + some)),
        (first, kronecker_matrix(curvature, c)),
        (
            KroneckerPreconditioner(curvature, np.tile(9.0 * c, 3), first.basis),
            kronecker_matrix(curvature, 9.0 * c),
        ),
        (
            KroneckerPreconditioner(curvature, np.tile(c[::-1] + 1.0, 3), first.basis),
            kronecker_matrix(replace(curvature, gauge=0.0), c[::-1] + 1.0),
        ),
    ):
        b = np.random.default_rng(0).standard_normal((2, len(dense)))
        assert_allclose(near.solve(b), np.linalg.solve(dense, b.T).T, atol=1e-8)
        assert_allclose(near.solve(b[0]), np.linalg.solve(dense, b[0]), atol=1e-8)
        assert near.log_determinant() == pytest.approx(np.linalg.slogdet(dense)[1])
        assert_allclose(near.inverse_diagonal(), np.diagonal(np.linalg.inv(dense)), atol=1e-8)
        whole = near.upper_inverse(near.lower_inverse(np.eye(len(dense)))).T
        assert_allclose(whole, np.linalg.inv(dense), atol=1e-8)


def test_classes_are_preconditioned_where_all_is_certain_and_a_column_has_no_penalty() -> None:
    loss = loss_of("multinomial")
    certain = loss.point_at(1e6 * random_weights(loss)).sampled_curvature(1)
    penalties = np.tile(np.append(np.linspace(0.0, 1.0, loss.design.width - 1), 0.0), 3)
    for curvature in (certain, replace(certain, gram=np.zeros_like(certain.gram))):
        b = np.random.default_rng(0).standard_normal(loss.size)
        solution = KroneckerPreconditioner(curvature, penalties).solve(b - b.mean())
        assert np.isfinite(solution).all()
        assert solution @ (b - b.mean()) > 0.0


def test_a_corrected_step_lands_on_the_minimum_of_the_exact_quadratic() -> None:
    loss = build_loss("linear", *table("linear"))
    inner = EigenbasisLoss(loss)
    v = inner.initial_weights() + 0.1
    point = inner.point_at(v)
    correction = point.correction()
    step, _ = Newton(inner).direction(point, point.gradient, np.full(inner.size, 1e4), correction)
    exact = inner.point_at(v).dense_hessian() + 1e4 * np.eye(inner.size)
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


def scattered(rows, columns, each=20):
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.choice(columns, each, replace=False) for _ in range(rows)])
    starts = np.arange(0, rows * each + 1, each)
    X = sparse.csr_matrix((rng.standard_normal(len(places)), places, starts), shape=(rows, columns))
    scores = X @ rng.standard_normal(columns)
    return X, (scores + rng.logistic(size=rows) > 0).astype(int)


@pytest.fixture
def formed(monkeypatch):
    from core.losses.linear import logistic_loss

    times, own = [], logistic_loss.LogisticAt.sampled_hessian
    monkeypatch.setattr(
        logistic_loss.LogisticAt,
        "sampled_hessian",
        lambda at, step: (times.append(step), own(at, step))[1],
    )
    return times


def test_blocks_are_not_formed_where_products_do(formed):
    X, y = scattered(1500, 900)
    loss = build_loss("logistic", X, y)
    found = solve_penalized(loss, np.full(loss.size, 5.0), loss.initial_weights(), tolerance=1e-9)
    assert not formed  # a block costs as much as hundreds of products
    assert np.abs(found.point.gradient + 5.0 * found.point.w)[:-1].max() < 1e-3


def test_blocks_are_formed_at_once_where_they_are_cheap(formed, monkeypatch):
    monkeypatch.setattr("core.optimize.newton.is_dense", lambda loss, traces: False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 60))
    loss = build_loss("logistic", X, (X @ rng.standard_normal(60) > 0).astype(int))
    Newton(loss).preconditioner(loss.point_at(loss.initial_weights()), np.ones(loss.size))
    assert formed


def test_blocks_are_formed_once_products_have_cost_as_much(formed):
    X, y = scattered(1500, 900)
    loss = build_loss("logistic", X, y)
    newton, point = Newton(loss), loss.point_at(loss.initial_weights())
    newton.preconditioner(point, np.ones(loss.size))
    assert not formed
    newton.products = 10**6
    newton._hessian_at = np.inf
    newton.preconditioner(point, np.ones(loss.size))
    assert len(formed) == 1


def definite(n: int, seed: int = 0) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((n, n))
    return root @ root.T + np.eye(n)


def test_a_factor_gives_solutions_diagonal_and_determinant() -> None:
    A, b = definite(5), np.arange(5.0)
    L = factorize(np.asfortranarray(A))
    assert_allclose(solve_factored(L, b), np.linalg.solve(A, b))
    assert_allclose(inverse_diagonal(L), np.diagonal(np.linalg.inv(A)))
    assert log_determinant(L) == pytest.approx(np.linalg.slogdet(A)[1])


def test_no_jitter_without_need_and_the_least_that_is_asked_for() -> None:
    assert jittered_cholesky(definite(4))[1] == 0.0
    singular = 2.0 * np.ones((4, 4))
    L, jitter = jittered_cholesky(singular, min_jitter=1e-8)
    assert jitter == pytest.approx(2e-8)
    assert_allclose(L @ L.T, singular + jitter * np.eye(4))
    for refuse, A in ((factorize, -np.eye(2)), (cholesky, np.full((2, 2), np.nan))):
        with pytest.raises(np.linalg.LinAlgError):
            refuse(A)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_memory_order_does_not_matter(order: str) -> None:
    A = np.array(definite(4), order=order)  # type: ignore[call-overload]
    assert_allclose(jittered_cholesky(A)[0], np.linalg.cholesky(A))


def test_an_extended_factor_is_that_of_the_whole_matrix() -> None:
    A = definite(7)
    L = extend_factor(np.linalg.cholesky(A[:4, :4]), A[:4, 4:], A[4:, 4:])
    assert_allclose(L, np.linalg.cholesky(A), atol=1e-12)


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_the_two_loops_are_the_bfgs_updates_of_the_inverse_hessian(shape: tuple[int, ...]) -> None:
    A, rng = definite(6), np.random.default_rng(1)
    pairs, H = [], 0.3 * np.eye(6)
    for _ in range(4):
        s = rng.standard_normal(6)
        y = A @ s
        V = np.eye(6) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)  # Nocedal and Wright 2006, eq. 6.17
        pairs.append(pair_of(s.reshape(shape), y.reshape(shape)))
    b = rng.standard_normal(6)
    assert_allclose(two_loop(b.reshape(shape), pairs, 0.3).ravel(), H @ b)
    s, y, _ = pairs[-1]
    assert last_scale(pairs) == pytest.approx(np.vdot(s, y) / np.vdot(y, y))
    assert last_scale([]) == 1.0


def test_backtracking_takes_the_first_size_that_falls_enough() -> None:
    sizes = []

    def along(size: float) -> tuple[np.ndarray, float] | None:
        sizes.append(size)
        # x² from 1 along −10: only steps shorter than 0.2 come out lower.
        return (np.array([1.0 - 10.0 * size]), -20.0 * size) if size > 1e-3 else None

    def square(x: np.ndarray) -> tuple[float, float]:
        return float(x @ x), float(x[0])

    assert backtrack(along, square, 1.0) == (pytest.approx(0.0625), -0.25)
    assert sizes == [1.0, 0.5, 0.25, 0.125]
    assert backtrack(along, lambda x: (2.0, 0.0), 1.0) is None


def test_remembered_curvature_follows_the_penalties() -> None:
    rng = np.random.default_rng(0)
    H = definite(6)
    steps = rng.standard_normal((4, 6))
    b = rng.standard_normal(6)
    memory = CurvatureMemory(6)
    for k, penalties in enumerate((np.ones(6), np.ones(6), np.full(6, 3.0), np.arange(1.0, 7.0))):
        memory.add_pair(steps[k], H @ steps[k])
        fresh = CurvatureMemory(6)
        for s in steps[: k + 1]:
            fresh.add_pair(s, H @ s)
        ours = memory.approximate_inverse(penalties)(b)
        assert_allclose(ours, fresh.approximate_inverse(penalties)(b), rtol=1e-12)
        # The last pair's curvature is met exactly (the secant equation).
        changed = H @ steps[k] + penalties * steps[k]
        assert_allclose(memory.approximate_inverse(penalties)(changed), steps[k], atol=1e-9)
