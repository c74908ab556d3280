"""MM on the integrated-out objective: descent, fixed points, caps, refusals (Foo 2009)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from penalty_problems import loss_of, steps_of, table
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from core.errors import UnusableError
from core.losses import build_loss, parameter_groups
from core.penalties import mm
from core.penalties.group_penalty import grouping, log_penalty

KINDS = ("linear", "logistic", "multinomial")
GROUPINGS: dict[str, Any] = {"single": None, "pairs": [0, 0, 1, 1, 2, 2], "each": range(6)}


def groups_of(loss: Any, how: str) -> np.ndarray:
    columns = GROUPINGS[how]
    return parameter_groups(loss, None if columns is None else np.array(columns))


def objective(loss: Any, groups: np.ndarray, w: np.ndarray, alpha: float, beta: float) -> float:
    """f of Foo 2009, eq. 6 and algorithm 2, written out."""
    total = loss.value_and_gradient(w)[0]
    for j in range(groups.max() + 1):
        own = groups == j
        total += (own.sum() / 2 + alpha) * np.log(0.5 * np.sum(w[own] ** 2) + beta)
    return total


@pytest.mark.parametrize("how", GROUPINGS)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("options", [{}, {"preset": "authors"}, {"alpha": 2.0, "beta": 0.01}])
def test_f_falls_at_every_step(name: str, how: str, options: dict[str, Any]) -> None:
    loss = loss_of(name)
    groups = groups_of(loss, how)
    alpha, beta = mm.MmOptions(**options).parameters
    steps = list(steps_of("mm", loss, groups, options))
    values = [step.objective for step in steps]
    assert len(steps) > 2
    assert all(after <= before for before, after in itertools.pairwise(values))
    assert values[0] - values[-1] > 0.0
    for step in steps:
        assert step.objective == pytest.approx(objective(loss, groups, step.w, alpha, beta))


@pytest.mark.parametrize("how", GROUPINGS)
@pytest.mark.parametrize("name", KINDS)
def test_the_end_is_a_fixed_point(name: str, how: str) -> None:
    loss = loss_of(name)
    groups = groups_of(loss, how)
    steps = list(steps_of("mm", loss, groups, {"tolerance": 1e-6}))
    last = steps[-1]
    c = np.zeros(loss.size)
    for j in range(groups.max() + 1):
        own = groups == j
        half = own.sum() / 2
        assert last.C[j] == pytest.approx(half / (0.5 * np.sum(last.w[own] ** 2) + 1), rel=1e-5)
        assert last.norms[j] == pytest.approx(np.linalg.norm(last.w[own]))
        c[own] = last.C[j]
    slope = loss.value_and_gradient(last.w)[1] + c * last.w
    assert np.abs(slope).max() < 2e-3
    np.testing.assert_array_equal(steps[0].C, np.ones(len(last.C)))


def test_the_stopping_rule_is_the_stated_one() -> None:
    steps = list(steps_of("mm", loss := loss_of("logistic"), groups_of(loss, "pairs"), {}))
    change = np.abs(np.log(steps[-1].C / steps[-2].C)).max()
    gain = (steps[-2].objective - steps[-1].objective) / steps[-1].objective
    assert change < 1e-3
    assert gain < 1e-8
    assert len(list(steps_of("mm", loss, groups_of(loss, "pairs"), {"max_steps": 2}))) == 3


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_conjugate_gradients_learn_what_cholesky_learns(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = loss_of(name)
    groups = groups_of(loss, "pairs")
    *_, exact = steps_of("mm", loss, groups, {})
    monkeypatch.setattr("core.optimize.newton.is_dense", lambda loss, traces=False: False)
    steps = list(steps_of("mm", loss, groups, {}))
    values = [step.objective for step in steps]
    assert all(after <= before for before, after in itertools.pairwise(values))
    np.testing.assert_allclose(steps[-1].C, exact.C, rtol=2e-3)


def test_many_examples_are_thinned_only_to_start() -> None:
    X, y = table("logistic", rows=9000)
    loss = build_loss("logistic", X, y)
    *_, last = steps_of("mm", loss, parameter_groups(loss), {"tolerance": 1e-6})
    peer = LogisticRegression(C=1.0 / last.C[0], tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(last.w[:-1], peer.coef_[0], atol=1e-4)


def test_a_few_wide_sparse_rows_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 6000), density=0.005, format="csr", rng=rng)
    y = (np.asarray(X[:, :50].sum(axis=1)).ravel() > 0.12).astype(int)
    loss = build_loss("logistic", X, y)
    steps = list(steps_of("mm", loss, parameter_groups(loss), {"beta": 1e-2}))
    values = [step.objective for step in steps]
    assert loss.point_at(loss.initial_weights()).dense_hessian() is None
    assert all(after <= before for before, after in itertools.pairwise(values))


class TestCaps:
    def test_a_penalty_near_its_cap_is_switched_off(self) -> None:
        penalty = log_penalty(grouping(np.array([0, 0, 1, 1, -1])), 0.0, 0.5)
        np.testing.assert_allclose(penalty.penalty_caps, [2.0, 2.0])
        off = penalty.switched_off(np.array([1.81, 1.79]))
        assert list(off) == [True, False]

    def test_weights_on_nothing_collapse_and_say_so(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((40, 30)), rng.integers(0, 2, 40)
        loss = build_loss("logistic", X, y)
        *_, last = steps_of("mm", loss, parameter_groups(loss), {"alpha": 200.0})
        assert last.switched_off.all()
        assert "evidence" in " ".join(last.remarks)
        assert "nothing to learn" in " ".join(last.remarks)

    def test_small_units_of_a_sound_fit_are_no_collapse(self) -> None:
        X, y = table("linear")
        loss = build_loss("linear", X, y / 1000)
        *_, last = steps_of("mm", loss, parameter_groups(loss), {})
        assert last.switched_off.all()
        assert "The fit is sound" in " ".join(last.remarks)

    def test_one_coefficient_a_group_is_pruned_only_with_a_small_beta(self) -> None:
        loss = loss_of("logistic", rows=400, columns=12, useless=6)
        groups = parameter_groups(loss, np.arange(12))
        *_, usual = steps_of("mm", loss, groups, {})
        *_, small = steps_of("mm", loss, groups, {"preset": "sparse"})
        assert usual.C.max() <= 0.5
        assert "sparse" in " ".join(usual.remarks)
        assert small.switched_off[6:].sum() >= 2
        assert not small.switched_off[:6].all()

    def test_what_is_said_of_switched_off_weights_agrees_with_the_step(self) -> None:
        X, y = table("logistic", columns=5, useless=3)
        loss = build_loss("logistic", 1e-3 * X, y)
        *_, last = steps_of("mm", loss, parameter_groups(loss, np.arange(5)), {})
        said = " ".join(last.remarks)
        assert "nothing is switched off" in said
        assert "weights are switched off" not in said
        assert not last.switched_off.any()

    def test_a_group_of_constant_columns_does_no_harm(self) -> None:
        X, y = table("logistic")
        X[:, 4:] = 1.0
        loss = build_loss("logistic", X, y)
        groups = parameter_groups(loss, np.array([0, 0, 1, 1, 2, 2]))
        *_, last = steps_of("mm", loss, groups, {}, group_count=3)
        assert list(last.switched_off) == [False, False, True]
        assert last.C.shape == (3,)

    def test_a_model_that_explains_everything_is_held_at_the_floor(self) -> None:
        X, y = table("linear", rows=20, columns=40)
        loss = build_loss("linear", X, y)
        steps = list(steps_of("mm", loss, parameter_groups(loss), {}))
        values = [step.objective for step in steps]
        assert all(after <= before for before, after in itertools.pairwise(values))
        assert "0.001 of the target's variance" in " ".join(steps[-1].remarks)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"beta": 0.0}, "lower bound"),
        ({"beta": -1.0}, "lower bound"),
        ({"alpha": -3.0}, "negative or zero"),
    ],
)
def test_a_prior_without_a_minimum_is_refused_with_a_cure(options, says) -> None:
    loss = loss_of("logistic")
    with pytest.raises(UnusableError, match=says) as refusal:
        list(steps_of("mm", loss, parameter_groups(loss), options))
    assert refusal.value.cure


def test_nothing_to_penalize() -> None:
    loss = build_loss("logistic", np.ones((6, 2)), np.arange(6) % 2)
    with pytest.raises(UnusableError, match="no column varies"):
        list(steps_of("mm", loss, parameter_groups(loss), {}))


@pytest.mark.parametrize("name", KINDS)
def test_direct_falls_to_the_same_kind_of_point(name: str) -> None:
    loss = loss_of(name)
    groups = groups_of(loss, "pairs")
    steps = list(steps_of("direct", loss, groups, {}))
    values = [step.objective for step in steps]
    assert all(after <= before for before, after in itertools.pairwise(values))
    assert values[-1] < values[0]
    last = steps[-1]
    assert last.objective == pytest.approx(objective(loss, groups, last.w, 0.0, 1.0))
    slope = loss.value_and_gradient(last.w)[1] + np.append(0.0, last.C)[groups + 1] * last.w
    assert np.abs(slope).max() < 0.05
