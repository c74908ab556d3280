"""Leverages of rows left out, and solutions, between three penalties against dense inverses."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import table
from scipy import sparse

from core.losses import build_loss
from core.penalties import leverages
from core.penalties.leverages import ColumnInverse

WEIGHTS = np.random.default_rng(1).uniform(0.1, 2.0, size=300) / 300.0
MOVES = np.array([-2.3, -1.0, 0.0, 0.6, 2.0])


def penalties(columns: int) -> np.ndarray:
    return np.append(np.linspace(0.5, 2.0, columns), 0.0)


def inverse(matrix=np.asarray, columns: int = 12) -> tuple[ColumnInverse, np.ndarray]:
    X, y = table("logistic", rows=300, columns=columns, seed=0)
    X[:, 3] *= 20.0
    loss = build_loss("logistic", matrix(X), y)
    return ColumnInverse(loss, WEIGHTS, penalties(columns), 0.5), np.column_stack((X, np.ones(300)))


def exact_leverages(A: np.ndarray, move: float) -> np.ndarray:
    """x_iᵀ (A − w_i x_i x_iᵀ)⁻¹ x_i, each by an inverse of its own."""
    G = (A * WEIGHTS[:, None]).T @ A + np.diag(np.exp(0.5 + move) * penalties(A.shape[1] - 1))
    rows = zip(A, WEIGHTS, strict=True)
    return np.array([x @ np.linalg.solve(G - w * np.outer(x, x), x) for x, w in rows])


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_leverages_are_those_of_inverses_without_the_row(matrix):
    columns, A = inverse(matrix)
    exact = np.array([exact_leverages(A, move) for move in MOVES]).T
    error = np.abs(columns.leverages(0.5 + MOVES) / exact - 1.0).max(axis=0)
    assert error[2] < 1e-9
    assert error.max() < 0.02


def test_projections_tell_them_on_average(monkeypatch):
    monkeypatch.setattr(leverages, "_EXACT", 0)
    columns, A = inverse(columns=60)
    for move in (-2.0, 0.0, 2.0):
        ratio = columns.leverages(np.array([0.5 + move]))[:, 0] / exact_leverages(A, move)
        assert abs(ratio.mean() - 1.0) < 0.1
        assert ratio.std() < 0.4


def test_solutions_are_those_of_the_dense_matrix():
    columns, A = inverse()
    B = np.random.default_rng(2).standard_normal((len(MOVES), 13))
    solved = columns.solve(columns.solutions(B), 0.5 + MOVES)
    for b, solution, move in zip(B, solved, MOVES, strict=True):
        G = (A * WEIGHTS[:, None]).T @ A + np.diag(np.exp(0.5 + move) * penalties(A.shape[1] - 1))
        exact = np.linalg.solve(G, b)
        assert np.linalg.norm(solution - exact) < 0.03 * np.linalg.norm(exact)
