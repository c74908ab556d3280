"""The implicit gradient against differences of the whole bilevel map and ridge's closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from penalty_problems import Gaussian, OnlyProducts, loss_of, steps_of, table
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from core.losses import build_loss, parameter_groups
from core.optimize.newton import CgResult, conjugate_gradients
from core.penalties import implicit_gradient
from core.penalties.group_penalty import grouping
from core.penalties.implicit_gradient import HoldoutLoss, with_prior


def split(name: str, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """The loss of all rows, and those of two thirds and one third."""
    X, y = table(name, **kwargs)
    whole = build_loss(name, X, y)
    held = np.arange(len(y)) % 3 == 0
    return whole, [(whole.for_data(X[~held], y[~held]), whole.for_data(X[held], y[held]))]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("name", ["linear", "logistic", "multinomial"])
def test_gradient_is_the_difference_of_the_whole_map(name: str, dense: bool) -> None:
    whole, pairs = split(name)
    grouped = grouping(parameter_groups(whole, np.array([0, 0, 1, 1, 2, 2])))

    def holdout(d: np.ndarray) -> tuple[float, np.ndarray]:
        outer = HoldoutLoss(pairs, grouped)
        outer.tolerance = 1e-15
        for newton in outer.newtons:
            newton.dense = dense
        return outer(d)

    d, step = np.array([0.5, -1.0, 1.5]), 1e-4
    value, gradient = holdout(d)
    steps = step * np.eye(3)
    differences = [(holdout(d + s)[0] - holdout(d - s)[0]) / (2 * step) for s in steps]
    assert np.isfinite(value)
    np.testing.assert_allclose(gradient, differences, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("thin", [False, True])
def test_many_columns_change_nothing_of_that(thin: bool) -> None:
    rng = np.random.default_rng(0)
    rows, columns = 1300, 1200
    X = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.1)
    y = 10.0 * (X[:, :20].sum(axis=1) + rng.standard_normal(rows))
    held = np.arange(rows) % 4 == 0
    whole = build_loss("linear", sparse.csr_matrix(X) if thin else X, y)
    X = sparse.csr_matrix(X) if thin else X
    pairs = [tuple(whole.for_data(X[rows], y[rows]) for rows in (~held, held))]
    grouped = grouping(parameter_groups(whole, (np.arange(columns) >= 20).astype(int)))
    outer = HoldoutLoss(pairs, grouped)
    outer.newtons[0].dense = False  # as it is from some 1,100 columns on, and for sparse columns
    outer.tolerance, outer.accuracy = 1e-16, 1e-7
    d, step = np.array([0.5, 2.0]), 1e-2
    _, gradient = outer(d)
    steps = step * np.eye(2)
    differences = [(outer(d + s)[0] - outer(d - s)[0]) / (2 * step) for s in steps]
    np.testing.assert_allclose(gradient, differences, rtol=2e-3)
    assert outer.unsolved == 0


def test_a_system_that_is_not_solved_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table("linear", rows=60, columns=40)
    scaled = X * np.geomspace(1e-3, 1e3, 40)
    whole = OnlyProducts(scaled, y)
    pairs = [(OnlyProducts(scaled[:40], y[:40]), OnlyProducts(scaled[40:], y[40:]))]
    groups = np.zeros(40, dtype=int)
    *_, last = steps_of("gradient", whole, groups, {"steps": 2}, holdout=pairs)
    assert last.remarks == ()
    monkeypatch.setattr(implicit_gradient, "_MAX_PRODUCTS", 1)
    monkeypatch.setattr(implicit_gradient, "conjugate_gradients", lambda *a, **k: _short(*a))
    *_, last = steps_of("gradient", whole, groups, {"steps": 2}, holdout=pairs)
    assert "not solved accurately" in last.remarks[-1]


def _short(apply: Any, b: np.ndarray, precondition: Any, accuracy: float) -> CgResult:
    return conjugate_gradients(apply, b, precondition, accuracy, max_iterations=1)


def test_an_indefinite_hessian_is_solved_too() -> None:
    fit = loss_of("linear", rows=30)
    outer = HoldoutLoss([(fit, fit)], grouping(parameter_groups(fit)))
    point, b = fit.point_at(fit.initial_weights() + 0.1), np.arange(1.0, 8.0)
    penalties = np.full(7, 0.01)
    A = fit.point_at(point.w).dense_hessian() + np.diag(penalties)
    assert np.linalg.eigvalsh(A)[0] < 0.0
    for dense in (True, False):
        outer.newtons[0].dense, outer.accuracy = dense, 1e-8
        x = outer._implicit(0, point, penalties, b)
        np.testing.assert_allclose(A @ x, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [Gaussian, OnlyProducts])
def test_ridge_has_its_closed_form(kind: type[Gaussian]) -> None:
    X, y = table("linear", rows=30)
    fit, held = kind(X[:20], y[:20]), kind(X[20:], y[20:])
    groups = np.array([0, 0, 0, 1, 1, 1])
    outer = HoldoutLoss([(fit, held)], grouping(groups))
    outer.tolerance = 1e-15
    d = np.array([0.3, 1.2])
    value, gradient = outer(d)
    c = np.exp(d)[groups]
    A = X[:20].T @ X[:20] + np.diag(c)
    w = np.linalg.solve(A, X[:20].T @ y[:20])
    r = y[20:] - X[20:] @ w
    x = np.linalg.solve(A, -X[20:].T @ r)
    assert value == pytest.approx(0.5 * r @ r)
    expected = [-(w * c * x)[groups == j].sum() for j in (0, 1)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_the_end_is_better_than_any_grid_point() -> None:
    whole, pairs = split("logistic")
    steps = list(steps_of("gradient", whole, parameter_groups(whole), {}, holdout=pairs))
    values = [step.objective for step in steps]
    assert values == sorted(values, reverse=True)
    fit, held = pairs[0]
    y_fit, y_held = (part.sign > 0 for part in (fit, held))
    for C in 2.0 ** np.arange(-10, 11):
        peer = LogisticRegression(C=1 / C, tol=1e-8, max_iter=5000).fit(fit.design.X, y_fit)
        own = peer.predict_proba(held.design.X)[np.arange(len(y_held)), y_held.astype(int)]
        assert values[-1] <= -np.log(own).sum() + 2e-3


def test_the_last_step_is_the_refit_on_all_rows() -> None:
    X, y = table("logistic")
    whole, pairs = split("logistic")
    *_, last = steps_of("gradient", whole, parameter_groups(whole), {}, holdout=pairs)
    peer = LogisticRegression(C=1.0 / last.C[0], tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(last.w[:-1], peer.coef_[0], atol=1e-4)
    assert last.loss == pytest.approx(whole.value_and_gradient(last.w)[0])


def test_folds_are_summed() -> None:
    whole, pairs = split("logistic")
    grouped, d = grouping(parameter_groups(whole)), np.array([0.7])
    once = HoldoutLoss(pairs, grouped)(d)
    twice = HoldoutLoss(pairs * 2, grouped)(d)
    assert twice[0] == pytest.approx(2 * once[0])
    np.testing.assert_allclose(twice[1], 2 * once[1], rtol=1e-6)


def test_a_penalty_without_limit_ends_on_its_bound() -> None:
    X, y = table("logistic")
    whole = build_loss("logistic", X, y)
    # What the first rows teach is wrong on the others: the fewer weights the better.
    pairs = [(whole.for_data(X[:80], y[:80]), whole.for_data(X[80:], 1 - y[80:]))]
    options = {"high": 8.0}
    *_, last = steps_of("gradient", whole, parameter_groups(whole), options, holdout=pairs)
    assert list(last.at_bound) == [True]
    assert np.log(last.C[0]) == pytest.approx(8.0)
    assert (list(last.switched_off), last.remarks) == ([True], ())
    # Where they cannot be too large, there is no limit below.
    pairs = [(whole.for_data(X[:80], y[:80]), whole.for_data(X[:80], y[:80]))]
    *_, last = steps_of("gradient", whole, parameter_groups(whole), {"low": -1.0}, holdout=pairs)
    assert (list(last.at_bound), list(last.switched_off)) == ([True], [False])
    assert "end of the allowed range" in last.remarks[0]


def test_the_range_is_that_of_the_penalties_of_single_parts() -> None:
    X, y = table("logistic", rows=120)
    whole = build_loss("logistic", X, y)
    groups = parameter_groups(whole)
    parts = [np.arange(120) % 3 == part for part in range(3)]
    pairs = [(whole.for_data(X[~p], y[~p]), whole.for_data(X[p], y[p])) for p in parts]
    *_, last = steps_of("gradient", whole, groups, {}, holdout=pairs)
    grid = np.arange(-10.0, 12.01, 0.1)
    curves = [
        [HoldoutLoss([pair], grouping(groups))(np.array([d]))[0] for d in grid] for pair in pairs
    ]
    best = np.argmin(curves, axis=1)
    for end, part in zip(np.log(last.ranges[0]), (np.argmin(best), np.argmax(best)), strict=True):
        # Where the loss is flat any penalty is as good.
        assert np.interp(end, grid, curves[part]) <= min(curves[part]) + 2e-3
    *_, single = steps_of("gradient", whole, groups, {}, holdout=pairs[:1])
    assert single.ranges is None


def test_start_and_steps_are_obeyed() -> None:
    whole, pairs = split("logistic")
    groups = parameter_groups(whole)
    steps = list(steps_of("gradient", whole, groups, {"start": 5.0, "steps": 2}, holdout=pairs))
    assert steps[0].C[0] == pytest.approx(np.exp(5.0))
    assert len(steps) <= 4
    assert [step.number for step in steps] == list(range(len(steps)))


def test_without_rows_held_out_there_is_no_gradient() -> None:
    whole, _ = split("logistic")
    with pytest.raises(ValueError, match="at least one pair"):
        list(steps_of("gradient", whole, parameter_groups(whole), {}))


def test_the_prior_is_part_of_value_and_gradient() -> None:
    whole, pairs = split("logistic")
    grouped = grouping(parameter_groups(whole, np.array([0, 0, 1, 1, 2, 2])))

    def objective(d: np.ndarray, deviation: float) -> tuple[float, np.ndarray]:
        outer = HoldoutLoss(pairs, grouped)
        outer.tolerance = 1e-15
        return with_prior(outer, deviation)(d)

    d, step = np.array([0.5, -3.0, 2.5]), 1e-4
    value, gradient = objective(d, 0.8)
    differences = [
        (objective(d + step * e, 0.8)[0] - objective(d - step * e, 0.8)[0]) / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(gradient, differences, rtol=2e-3, atol=2e-5)
    assert value == pytest.approx(objective(d, np.inf)[0] + (0.25 + 9.0 + 6.25) / 2 / 0.64)


def test_a_weak_prior_keeps_penalties_from_extremes_and_reports_the_held_out_loss_alone() -> None:
    whole, pairs = split("logistic")
    groups, fit_and_held = parameter_groups(whole, np.arange(6)), pairs[:1]
    given = {"prior": "weak", "prior_sd": 0.5}
    *_, free = steps_of("gradient", whole, groups, {"prior": "none"}, holdout=fit_and_held)
    *_, held = steps_of("gradient", whole, groups, given, holdout=fit_and_held)
    assert np.abs(np.log(held.C)).max() < 0.6 * np.abs(np.log(free.C)).max()
    alone = HoldoutLoss(fit_and_held, grouping(groups))(np.log(held.C))[0]
    assert held.objective == pytest.approx(alone, rel=1e-5)
    *_, asked_for_nothing = steps_of("gradient", whole, groups, {}, holdout=fit_and_held)
    np.testing.assert_array_equal(asked_for_nothing.C, free.C)
