"""The evidence update against closed forms and brute force (MacKay 1992), also in many groups."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import Gaussian, Stubborn, loss_of, minimized, steps_of, table
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar

from core.losses import build_loss, parameter_groups
from core.optimize import newton
from core.optimize.loss import Loss
from core.optimize.newton import DiagonalPreconditioner, Newton
from core.penalties import evidence
from core.penalties.evidence import _lanczos, _log_corner, effective_parameters
from core.penalties.group_penalty import grouping
from core.penalties.penalty_problem import PenaltyProblem
from core.tuning.strategies.registry import STRATEGIES

TIGHT = {"tolerance": 1e-6}


def minus_log_evidence(loss: Loss, groups: np.ndarray, log_C: np.ndarray) -> float:
    """Laplace's approximation, up to a constant, written out."""
    C = np.exp(log_C)
    c = np.append(0.0, C)[groups + 1]
    w = minimized(loss, c)
    H = loss.point_at(w).dense_hessian() + np.diag(c)
    sizes = np.bincount(groups + 1, minlength=len(C) + 1)[1:]
    return (
        loss.value_and_gradient(w)[0]
        + 0.5 * float(c @ (w * w))
        - 0.5 * float(sizes @ log_C)
        + 0.5 * float(np.linalg.slogdet(H)[1])
    )


def test_ridge_has_its_closed_form() -> None:
    X, y = table("linear", rows=40)
    loss, groups = Gaussian(X, y, 0.5), np.zeros(6, dtype=int)
    *_, last = steps_of("evidence", loss, groups, TIGHT)
    values = np.linalg.eigvalsh(X.T @ X / 0.5)
    assert last.parameters[0] == pytest.approx(np.sum(values / (values + last.C[0])), rel=1e-6)
    assert last.C[0] == pytest.approx(last.parameters[0] / (last.w @ last.w), rel=1e-4)
    best = minimize_scalar(
        lambda t: minus_log_evidence(loss, groups, np.array([t])), bounds=(-5, 5), method="bounded"
    )
    assert np.log(last.C[0]) == pytest.approx(best.x, abs=1e-3)
    assert last.objective == pytest.approx(best.fun, abs=1e-5)


def test_ridge_with_two_groups_maximizes_the_evidence() -> None:
    X, y = table("linear", rows=40, columns=8, useless=4)
    loss, groups = Gaussian(X, y, 1.0), np.repeat([0, 1], 4)
    *_, last = steps_of("evidence", loss, groups, {"tolerance": 1e-7, "max_steps": 300})
    start = np.zeros(2)
    best = minimize(lambda t: minus_log_evidence(loss, groups, t), start, method="Nelder-Mead")
    assert last.objective == pytest.approx(best.fun, abs=1e-3)
    assert last.C[1] > last.C[0]


def test_of_a_wide_table_it_is_that_of_all_the_columns() -> None:
    X, y = table("logistic", rows=60, columns=90, seed=3)
    loss = build_loss("logistic", X, y)
    groups = parameter_groups(loss)
    *_, last = steps_of("evidence", loss, groups, TIGHT)
    A = loss.point_at(last.w).dense_hessian() + np.diag(np.where(groups >= 0, last.C[0], 0.0))
    determined = 90 - last.C[0] * np.diagonal(np.linalg.inv(A))[groups >= 0].sum()
    assert last.parameters[0] == pytest.approx(determined, rel=1e-6)
    assert last.C[0] == pytest.approx(determined / (last.w[:90] @ last.w[:90]), rel=1e-3)
    expected = minus_log_evidence(loss, groups, np.log(last.C))
    assert last.objective == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_classes_come_near_the_best_laplace_evidence(name: str) -> None:
    loss = loss_of(name, columns=4)
    groups = parameter_groups(loss)
    *_, last = steps_of("evidence", loss, groups, TIGHT)
    c = np.where(groups < 0, 0.0, last.C[0])
    slope = loss.value_and_gradient(last.w)[1] + c * last.w
    assert np.abs(slope).max() < 1e-3
    assert last.C[0] == pytest.approx(last.parameters[0] / last.norms[0] ** 2, rel=1e-4)
    H = loss.point_at(last.w).dense_hessian() + np.diag(c)
    inverse = np.linalg.pinv(H, rcond=1e-12)
    gamma = (groups >= 0).sum() - last.C[0] * np.diagonal(inverse)[groups >= 0].sum()
    assert last.parameters[0] == pytest.approx(gamma, rel=1e-4)
    if name == "logistic":  # with K intercepts |H| vanishes and this form has no value
        best = minimize_scalar(
            lambda t: minus_log_evidence(loss, groups, np.array([t])),
            bounds=(-5, 5),
            method="bounded",
        )
        # The update takes the Hessian as it is, the brute force lets it move with C.
        assert last.objective == pytest.approx(best.fun, abs=0.05)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_probes_estimate_what_cholesky_knows(name: str) -> None:
    loss = loss_of(name, rows=200, columns=10)
    groups = parameter_groups(loss, np.repeat([0, 1], 5))
    grouped, C = grouping(groups), np.array([0.5, 4.0])
    point = loss.point_at(minimized(loss, grouped.per_parameter(C)))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, loss.size))
    exact, probing = Newton(loss), Newton(loss)
    exact.dense, probing.dense = True, False
    known = effective_parameters(exact, point, C, grouped, signs)
    guess = effective_parameters(probing, point, C, grouped, signs)
    np.testing.assert_allclose(guess.parameters, known.parameters, rtol=0.02)
    assert guess.log_determinant == pytest.approx(known.log_determinant, abs=1.0)


def test_probing_learns_nearly_the_same_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = loss_of("multinomial", rows=300, columns=20)
    groups = parameter_groups(loss)
    *_, exact = steps_of("evidence", loss, groups, {})
    monkeypatch.setattr(evidence, "_PROBES", 64)  # few parameters need more probes than many
    monkeypatch.setattr("core.optimize.newton.is_dense", lambda loss, traces=False: False)
    *_, probed = steps_of("evidence", loss, groups, {}, seed=5)
    *_, again = steps_of("evidence", loss, groups, {}, seed=5)
    assert probed.C[0] == pytest.approx(exact.C[0], rel=0.1)
    assert probed.C[0] == again.C[0]


def test_a_group_that_settles_nothing_is_switched_off() -> None:
    rng = np.random.default_rng(0)
    X, y = table("logistic", rows=300, columns=4)
    noise = 1e-3 * rng.standard_normal((300, 4))
    loss = build_loss("logistic", np.column_stack((X, noise)), y)
    groups = parameter_groups(loss, np.repeat([0, 1], 4))
    *_, last = steps_of("evidence", loss, groups, {})
    assert not last.switched_off[0]
    assert last.parameters[0] > 3.0
    assert np.isfinite(last.C).all()


def test_it_stops_when_nothing_moves() -> None:
    steps = list(steps_of("evidence", loss := loss_of("logistic"), parameter_groups(loss), {}))
    assert len(steps) < 30
    assert abs(np.log(steps[-1].C[0] / steps[-2].C[0])) < 2e-3
    assert len(list(steps_of("evidence", loss, parameter_groups(loss), {"max_steps": 2}))) == 3


def test_columns_that_say_nothing_are_reported() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 30)), rng.standard_normal(200)
    y -= X @ np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    loss = build_loss("linear", X, y)
    *_, last = steps_of("evidence", loss, parameter_groups(loss), {})
    assert last.switched_off.all()
    assert "next to none" in last.remarks[0]


def test_lbfgs_takes_over_where_the_newton_step_fails() -> None:
    X, y = table("linear", rows=40)
    groups = np.zeros(6, dtype=int)
    *_, last = steps_of("evidence", Stubborn(X, y), groups, {"max_steps": 1})
    closed = np.linalg.solve(X.T @ X + last.C[0] * np.eye(6), X.T @ y)
    np.testing.assert_allclose(last.w, closed, atol=1e-4)


def test_probes_side_by_side_are_the_probes_one_by_one() -> None:
    rng = np.random.default_rng(2)
    A = np.diag(np.geomspace(1.0, 300.0, 12)) + 0.1
    near = DiagonalPreconditioner(np.linspace(1.0, 5.0, 12))
    Z = rng.choice([-1.0, 1.0], size=(5, 12))
    X, logs = _lanczos(lambda V: V @ A, near, Z)
    L = np.sqrt(near.d)
    inner = A / np.outer(L, L)
    np.testing.assert_allclose(X @ inner, Z, atol=0.05)
    values, vectors = np.linalg.eigh(inner)
    exact = np.einsum("ij,jk,k,lk,il->i", Z, vectors, np.log(values), vectors, Z)
    np.testing.assert_allclose(logs, exact, rtol=1e-3)
    for z, x, log in zip(Z, X, logs, strict=True):
        alone = _lanczos(lambda V: V @ A, near, z[None])
        np.testing.assert_allclose(alone[0][0], x, atol=1e-9)
        assert alone[1][0] == pytest.approx(log, rel=1e-9)


def test_many_products_buy_the_whole_hessian_and_then_few_are_needed(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    # Some classes are nearly separable and others not: they share no curvature.
    y, centres = rng.integers(0, 6, 1500), rng.normal(size=(6, 10))
    centres[3:] *= 0.3
    X = 3.0 * centres[y] + rng.normal(size=(1500, 10)) * rng.choice([0.3, 1.0, 3.0], (1500, 1))
    loss = build_loss("multinomial", X, y)
    groups = parameter_groups(loss)
    *_, exact = steps_of("evidence", loss, groups, {})
    monkeypatch.setattr(newton, "is_dense", lambda *_: False)
    monkeypatch.setattr(newton, "_OVERHEAD", 0.0)
    *_, bought = steps_of("evidence", loss, groups, {})
    asked = Newton(loss, traces=True)
    assert bought.C[0] == pytest.approx(exact.C[0], rel=0.02)
    signs = np.ones((2, loss.size))
    taken = []
    for spent in (0, asked._hessian_at + 1):
        asked.products = spent
        effective_parameters(asked, loss.point_at(bought.w), bought.C, grouping(groups), signs)
        taken.append(asked.products - spent)
    assert asked._has_hessian
    assert taken[1] <= taken[0] / 3


def test_a_quadrature_without_a_single_step_is_that_of_the_preconditioner() -> None:
    assert _log_corner([], []) == 0.0
    d = np.array([2.0, 5.0])
    x, corner = _lanczos(lambda v: -v, DiagonalPreconditioner(d), np.ones((1, 2)))
    np.testing.assert_array_equal(x, np.zeros((1, 2)))
    np.testing.assert_array_equal(corner, 0.0)


ROWS, COLUMNS, ENTRIES = 200, 5000, 30


@pytest.mark.slow
@pytest.mark.parametrize("groups", [50, 250])
def test_the_evidence_ends_near_the_best_that_it_saw(groups):
    # With 250 groups of 20 columns γ is uncertain by as much as it is: an update that frees a group
    # separates the classes, after which −log evidence grows from 150 to thousands.
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.choice(COLUMNS, ENTRIES, replace=False) for _ in range(ROWS)])
    starts = np.arange(0, ROWS * ENTRIES + 1, ENTRIES)
    X = sparse.csr_matrix((rng.standard_normal(len(places)), places, starts), shape=(ROWS, COLUMNS))
    scores = X @ rng.standard_normal(COLUMNS)
    y = (scores + rng.logistic(size=ROWS) > 0).astype(int)
    loss = build_loss("logistic", X, y)
    of = parameter_groups(loss)
    of = np.where(of >= 0, np.arange(len(of)) * groups // len(of), of)
    steps = list(STRATEGIES["evidence"].make(PenaltyProblem(loss, of)))
    objectives = [step.objective for step in steps]
    assert objectives[-1] < objectives[0]
    assert objectives[-1] <= 1.03 * min(objectives)
    assert np.isfinite(steps[-1].C).all()
