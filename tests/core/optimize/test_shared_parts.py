"""The parts that all solvers share: Cholesky factors, the two-loop recursion, backtracking."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from core.optimize.armijo import backtrack
from core.optimize.cholesky import (
    extend_factor,
    factorize,
    inverse_diagonal,
    jittered_cholesky,
    log_determinant,
    solve_factored,
)
from core.optimize.curvature_memory import CurvatureMemory
from core.optimize.two_loop import last_scale, pair_of, two_loop


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
    with pytest.raises(np.linalg.LinAlgError):
        factorize(-np.eye(2))


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
