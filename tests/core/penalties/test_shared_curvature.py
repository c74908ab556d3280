"""Rows left out by the curvature that they share, against dense matrices and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import table
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from core.losses import build_loss, parameter_groups
from core.optimize.descent import solve_penalized
from core.optimize.newton import penalized_matrix
from core.penalties.row_space import spanned_problem
from core.penalties.shared_curvature import shared_curvature


def fitted(loss, C: float) -> tuple[np.ndarray, np.ndarray]:
    penalties = np.where(parameter_groups(loss) >= 0, C, 0.0)
    w = solve_penalized(loss, penalties, loss.initial_weights(), tolerance=1e-14).point.w
    return w, penalties


def log_losses(Z: np.ndarray, codes: np.ndarray) -> np.ndarray:
    Z = np.hstack((np.zeros_like(Z), Z)) if Z.shape[1] == 1 else Z
    return np.logaddexp.reduce(Z, axis=1) - Z[np.arange(len(codes)), codes]


def newton_step_without_each_row(loss, w: np.ndarray, penalties: np.ndarray) -> float:
    """The sum of the log losses after one Newton step without the row, by its own dense Hessian."""
    K = len(w) // loss.design.width
    A = np.linalg.inv(penalized_matrix(loss, loss.point_at(w).dense_hessian(), penalties))
    A = A.reshape(K, loss.design.width, K, loss.design.width)
    X = np.column_stack((loss.design.X, np.ones(len(loss.codes))))
    Z = X @ w.reshape(K, -1).T
    P = 1.0 / (1.0 + np.exp(-Z))
    if K > 1:
        P = np.exp(Z - np.logaddexp.reduce(Z, axis=1)[:, None])
    for x, z, p, code in zip(X, Z, P, loss.codes, strict=True):
        S = np.diag(p) - np.outer(p, p)
        G = np.einsum("i,kilj,j->kl", x, A, x)
        truth = np.array([code]) if K == 1 else np.eye(K)[code]
        z += G @ np.linalg.solve(np.eye(K) - S @ G, p - truth)
    return float(log_losses(Z, loss.codes).sum())


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
@pytest.mark.parametrize(("name", "tolerance"), [("logistic", 1e-6), ("multinomial", 0.05)])
def test_it_tells_what_a_newton_step_with_each_row_left_out_tells(name, tolerance, C):
    X, y = table(name, rows=250, columns=20, seed=1)
    loss = build_loss(name, X, y)
    w, penalties = fitted(loss, C)
    value, _ = shared_curvature(loss, w, penalties).predicted(0.0)
    exact = newton_step_without_each_row(loss, w, penalties)
    assert abs(value - exact) < tolerance * (exact - loss.point_at(w).value)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_at_other_penalties_it_predicts_the_fit_and_its_loss(name, matrix):
    X, y = table(name, rows=400, columns=20, seed=2)
    loss = build_loss(name, matrix(X * (np.abs(X) > 1.5)), y)
    w, penalties = fitted(loss, 10.0)
    model = shared_curvature(loss, w, penalties)
    for t in (-1.0, 0.7):
        there, stronger = fitted(loss, 10.0 * np.exp(t))
        at_fit = shared_curvature(loss, there, stronger)
        assert np.linalg.norm(model.weights(t) - there) < 0.35 * np.linalg.norm(there - w)
        assert abs(model.predicted(t)[0] - at_fit.predicted(0.0)[0]) < 1.0
        again = shared_curvature(loss, there, stronger, model.columns)
        assert abs(again.predicted(0.0)[0] - at_fit.predicted(0.0)[0]) < 1.0


def test_fewer_rows_than_columns_are_left_out_as_refits_leave_them_out():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 80))
    y = (X @ rng.standard_normal((80, 3)) / 4.0 + rng.gumbel(size=(40, 3))).argmax(axis=1)
    loss = build_loss("multinomial", X, y)
    space = spanned_problem(loss, fitted(loss, 30.0)[1])
    w, _ = fitted(space.loss, 1.0)
    value, _ = shared_curvature(space.loss, w, space.penalties).predicted(0.0)
    refitted = 0.0
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        model = LogisticRegression(C=1.0 / 30.0, tol=1e-6).fit(X[rest], y[rest])
        refitted -= model.predict_log_proba(X[[row]])[0, y[row]]
    assert abs(value - refitted) < 0.05 * (refitted - space.loss.point_at(w).value)


def test_rows_that_count_twice_are_left_out_once_at_a_time():
    X, y = table("multinomial", rows=200, columns=10, seed=4)
    twice = np.arange(200) % 2 + 1
    weighted = build_loss("multinomial", X, y, weights=twice.astype(float))
    rows = np.repeat(np.arange(200), twice)
    repeated = build_loss("multinomial", X[rows], y[rows])
    w, penalties = fitted(repeated, 5.0)
    values = [
        shared_curvature(loss, w, penalties).predicted(0.0)[0] for loss in (weighted, repeated)
    ]
    assert abs(values[0] - values[1]) < 0.1


@pytest.mark.parametrize("C", [30.0, 100.0])
def test_rows_that_alone_determine_a_column_are_left_out_by_earlier_columns(C):
    X, y = table("logistic", rows=300, columns=10, seed=5)
    marked = np.eye(300)[:, :40] * np.sqrt(300)
    loss = build_loss("logistic", np.hstack((X, marked)), y)
    columns = shared_curvature(loss, *fitted(loss, 10.0)).columns
    w, penalties = fitted(loss, C)
    value, _ = shared_curvature(loss, w, penalties, columns).predicted(0.0)
    exact = newton_step_without_each_row(loss, w, penalties)
    assert abs(value - exact) < 0.1 * (exact - loss.point_at(w).value)
