"""Evidence of linear models against the exact marginal likelihood, maximized by another program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from penalty_problems import steps_of
from scipy.optimize import minimize

from core.losses import build_loss, parameter_groups
from core.losses.linear.eigenbasis_loss import EigenbasisLoss, FixedNoise
from core.losses.linear.linear_loss import WIDE_FLOOR, LinearLoss
from core.optimize.newton import Newton
from core.penalties import evidence
from core.penalties.evidence import effective_parameters
from core.penalties.group_penalty import Grouping, grouping
from core.penalties.marginal import GroupedMarginal, best_single, single_marginal

TIGHT = {"tolerance": 1e-6, "max_steps": 300}
Table = tuple[np.ndarray, np.ndarray]


def wide(rng: np.random.Generator) -> Table:
    X = rng.standard_normal((40, 60))
    w = np.where(np.arange(60) < 30, rng.standard_normal(60), 0.2)
    return X, X @ w + 2.0 * rng.standard_normal(40) + 3.0


def doubled(rng: np.random.Generator) -> Table:
    X = rng.standard_normal((50, 8))
    y = X @ rng.standard_normal(8) + rng.standard_normal(50)
    return np.column_stack((X, X, X)), y


def categories(rng: np.random.Generator) -> Table:
    """Three columns of categories, every level kept: one rank is lost a column."""
    codes = rng.integers(0, 7, size=(60, 3))
    effects = rng.standard_normal((3, 7))
    y = sum(effects[c][codes[:, c]] for c in range(3)) + 0.7 * rng.standard_normal(60)
    return np.column_stack([codes[:, [c]] == np.arange(7) for c in range(3)]).astype(float), y


def tall(rng: np.random.Generator) -> Table:
    X = rng.standard_normal((70, 12))
    return X, X @ np.where(np.arange(12) < 6, 1.0, 0.0) + rng.standard_normal(70)


TABLES = (wide, doubled, categories, tall)


def minus_log_marginal(
    X: np.ndarray, y: np.ndarray, of_column: np.ndarray, at: np.ndarray
) -> float:
    """−log p(y | C, σ²), y ~ N(b 1, X diag(1/C) Xᵀ + σ² I) with b integrated out; at = logs."""
    cov = (X / np.exp(at[:-1])[of_column]) @ X.T + np.exp(at[-1]) * np.eye(len(y))
    inverse, one = np.linalg.inv(cov), np.ones(len(y))
    precision = one @ inverse @ one
    r = y - (one @ inverse @ y) / precision
    return 0.5 * (r @ inverse @ r + np.linalg.slogdet(cov)[1] + np.log(precision))


def best_marginal(X: np.ndarray, y: np.ndarray, of_column: np.ndarray) -> float:
    """The least −log p that SciPy finds from several starts, σ² above the loss's floor."""
    k, floor = int(of_column.max()) + 1, np.log(WIDE_FLOOR * y.var())
    lowest = floor if len(y) <= X.shape[1] + 1 else -15.0
    found = []
    for start in (-2.0, 2.0):
        for noise in (0.1, 0.8):
            first = np.append(np.full(k, start), np.log(noise * y.var()))
            bounds = [(-15.0, 15.0)] * k + [(lowest, 8.0)]
            result = minimize(
                lambda at: minus_log_marginal(X, y, of_column, at),
                first,
                method="L-BFGS-B",
                bounds=bounds,
                options={"eps": 1e-6},
            )
            found.append(float(result.fun))
    return min(found)


def learned(
    loss: LinearLoss, groups: np.ndarray, options: dict[str, float] = TIGHT
) -> tuple[np.ndarray, float]:
    """log C_j of the prior and log σ², as `minus_log_marginal` wants them, and γ in all."""
    *_, last = steps_of("evidence", loss, groups, options)
    rss = loss.rss_and_slope(last.w)[0]
    left = loss.examples - 1 - float(last.parameters.sum())
    variance = max(rss / left, loss.noise.floor / loss.examples)
    C = last.C * loss.noise_variance(last.w) / variance
    return np.log(np.append(C, variance)), float(last.parameters.sum())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("groups", [1, 2])
def test_the_exact_marginal_likelihood_is_maximized(
    make: Callable[[np.random.Generator], Table], groups: int, seed: int
) -> None:
    X, y = make(np.random.default_rng(seed))
    of_column = np.arange(X.shape[1]) * groups // X.shape[1]
    loss = build_loss("linear", X, y)
    at, gamma = learned(loss, parameter_groups(loss, of_column))
    here = minus_log_marginal(X, y, of_column, np.clip(at, -25.0, 25.0))
    assert here <= best_marginal(X, y, of_column) + 1e-3
    assert gamma <= np.linalg.matrix_rank(X - X.mean(axis=0)) + 1e-9


@pytest.mark.parametrize("shape", [(60, 70), (60, 90), (60, 200), (300, 600)])
def test_designs_with_more_columns_than_rows_do_not_collapse(shape: tuple[int, int]) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        m, n = shape
        X, w = rng.standard_normal((m, n)), rng.standard_normal(n)
        w[rng.permutation(n)[: n - 5]] = 0.0
        signal = X @ w
        y = signal + 0.3 * signal.std() * rng.standard_normal(m)
        loss = build_loss("linear", X, y)
        *_, last = steps_of("evidence", loss, parameter_groups(loss), {})
        assert last.parameters[0] > 0.1 * m
        assert np.corrcoef(X @ loss.coefficients(last.w)[0], signal)[0, 1] > 0.7


def test_pure_noise_has_its_maximum_without_weights() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 300)), rng.standard_normal(200)
    y -= X @ (X.T @ y) / 2000.0  # a little less along the columns than chance has
    loss = build_loss("linear", X, y)
    at, gamma = learned(loss, parameter_groups(loss))
    assert gamma < 1e-3
    assert at[-1] == pytest.approx(np.log(y.var() * 200 / 199), abs=1e-3)


@pytest.mark.parametrize("make", TABLES)
def test_the_loss_in_its_eigenbasis_counts_like_the_whole_one(
    make: Callable[[np.random.Generator], Table],
) -> None:
    loss = build_loss("linear", *make(np.random.default_rng(0)))
    groups = grouping(parameter_groups(loss))
    inner, C = EigenbasisLoss(loss), np.array([3.0])
    within = Grouping(np.zeros(inner.size, dtype=np.intp), groups.sizes)
    whole, part = FixedNoise(loss, 0.5), FixedNoise(inner, 0.5)
    newton = Newton(whole)
    newton.dense = True
    none = np.empty((0, 0))
    start, inner_start = (loss.point_at(loss.initial_weights()) for loss in (whole, part))
    expected = effective_parameters(newton, start, C, groups, none)
    found = effective_parameters(Newton(part), inner_start, C, within, none)
    np.testing.assert_allclose(found.parameters, expected.parameters, rtol=1e-8)
    assert found.log_determinant == pytest.approx(expected.log_determinant)


@pytest.mark.parametrize("make", TABLES)
def test_value_and_slope_of_the_marginal_likelihood(
    make: Callable[[np.random.Generator], Table],
) -> None:
    X, y = make(np.random.default_rng(0))
    of_column = np.arange(X.shape[1]) % 2
    loss = build_loss("linear", X, y)
    marginal = GroupedMarginal(loss, grouping(parameter_groups(loss, of_column)))
    ridge = np.array([2.0, 30.0])
    at = marginal(ridge)
    for j, e in enumerate(np.eye(2)):
        ahead, behind = (marginal(ridge * np.exp(s * e)).value for s in (1e-5, -1e-5))
        assert at.slope[j] == pytest.approx((ahead - behind) / 2e-5, abs=1e-5)
    logs = [
        np.append(np.log(r / marginal(r).variance), np.log(marginal(r).variance))
        for r in (ridge, 3.0 * ridge)
    ]
    first, second = (minus_log_marginal(X, y, of_column, log) for log in logs)
    differ = second - first
    assert marginal(3.0 * ridge).value - at.value == pytest.approx(differ, abs=1e-8)
    one = single_marginal(EigenbasisLoss(loss), 2.0)
    same = marginal(np.array([2.0, 2.0]))
    assert one.value == pytest.approx(same.value)
    ridge_of_best, best = best_single(EigenbasisLoss(loss))
    ratios = np.exp(np.linspace(-3.0, 3.0, 41))
    assert all(
        best.value <= single_marginal(EigenbasisLoss(loss), ridge_of_best * r).value + 1e-9
        for r in ratios
    )
    assert one.parameters[0] == pytest.approx(same.parameters.sum())


@pytest.mark.parametrize("make", TABLES)
def test_updates_in_turns_come_near_it_where_the_table_is_too_large(
    make: Callable[[np.random.Generator], Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make(np.random.default_rng(2))
    loss = build_loss("linear", X, y)
    groups = parameter_groups(loss)
    exact, _ = learned(loss, groups)
    monkeypatch.setattr(evidence, "diagonalized", lambda *arguments: (*arguments, lambda w: w))
    monkeypatch.setattr(GroupedMarginal, "can_serve", staticmethod(lambda loss, grouped: False))
    updated, _ = learned(loss, groups, {"max_steps": 40})
    of_column = np.zeros(X.shape[1], dtype=int)
    best = minus_log_marginal(X, y, of_column, exact)
    assert minus_log_marginal(X, y, of_column, updated) <= best + 0.2
    monkeypatch.setattr("core.optimize.newton.is_dense", lambda loss, traces=False: False)
    monkeypatch.setattr(evidence, "_PROBES", 64)
    probed, _ = learned(loss, groups, {"max_steps": 20})
    assert minus_log_marginal(X, y, of_column, probed) <= best + 1.0


def test_the_targets_unit_changes_nothing() -> None:
    X, y = wide(np.random.default_rng(0))
    ridges = []
    for unit in (1e-6, 1.0, 1e6):
        loss = build_loss("linear", X, unit * y)
        *_, last = steps_of("evidence", loss, parameter_groups(loss, np.arange(60) // 30), TIGHT)
        ridges.append(last.C * loss.noise_variance(last.w))
    np.testing.assert_allclose(ridges[0], ridges[1], rtol=1e-3)
    np.testing.assert_allclose(ridges[2], ridges[1], rtol=1e-3)
