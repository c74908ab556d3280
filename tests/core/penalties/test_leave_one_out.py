"""Leave-one-out: against refits without each row, and the search against a scan of these."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import minimized, table
from scipy import sparse

from core.errors import UnusableError
from core.losses import build, parameter_groups
from core.options import complete
from core.penalties import evidence, leave_one_out
from core.penalties.descent import solve
from core.penalties.left_out import _by_rows, left_out_loss
from core.penalties.registry import LEARNERS


def exactly(name: str, X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> float:
    """The log loss of every row under the model fitted without it, by SciPy's L-BFGS."""
    total = 0.0
    whole = build(name, X, y)
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        w = minimized(whole.on(X[rest], y[rest]), penalties)
        total += whole.on(X[[row]], y[[row]]).value_and_gradient(w)[0]
    return total


def penalties_of(loss, C: float) -> np.ndarray:
    return np.where(parameter_groups(loss) >= 0, C, 0.0)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("C", [0.5, 5.0, 50.0])
def test_one_factor_tells_what_refits_without_each_row_tell(name, C):
    X, y = table(name, rows=60, columns=4, seed=1)
    loss = build(name, X, y)
    penalties = penalties_of(loss, C)
    w = solve(loss, penalties, loss.start()).point.w
    fitted = loss.value_and_gradient(w)[0]
    exact = exactly(name, X, y, penalties)
    approximate = left_out_loss(loss, w, penalties)
    assert exact > fitted
    # What is wrong with it is small beside what leaving rows out changes.
    assert abs(approximate - exact) < 0.1 * (exact - fitted)


def test_wide_tables_are_worked_out_from_their_rows():
    X, y = table("logistic", rows=40, columns=90, seed=2)
    loss = build("logistic", X, y)
    penalties = penalties_of(loss, 3.0)
    w = solve(loss, penalties, loss.start()).point.w
    z = loss.design.scores(w)
    S = 1.0 / (2.0 + np.exp(z) + np.exp(-z))
    A = np.column_stack((X, np.ones(40)))
    H = (A * S[:, None]).T @ A + np.diag(penalties)
    expected = np.einsum("ij,ij->i", A @ np.linalg.inv(H), A)
    assert np.allclose(_by_rows(loss.design, S, penalties), expected, rtol=1e-4)


def test_sparse_tables_are_left_out_as_dense_ones():
    rng = np.random.default_rng(3)
    X = (rng.random((80, 12)) < 0.3).astype(float)
    y = (X[:, 0] + rng.logistic(size=80) > 0.5).astype(int)
    values = []
    for given in (X, sparse.csr_matrix(X)):
        loss = build("logistic", given, y)
        penalties = penalties_of(loss, 2.0)
        values.append(left_out_loss(loss, minimized(loss, penalties), penalties))
    assert np.isclose(*values)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_the_search_ends_at_the_least_exact_loss(name):
    X, y = table(name, rows=50, columns=5, useless=3, seed=4)
    loss = build(name, X, y)
    steps = list(leave_one_out.run(loss, parameter_groups(loss), {}))
    grid = np.exp(np.arange(-3.0, 5.0, 0.5))
    scanned = [exactly(name, X, y, penalties_of(loss, C)) for C in grid]
    found = exactly(name, X, y, penalties_of(loss, float(steps[-1].C[0])))
    assert found < min(scanned) + 0.01 * len(y) * 0.1
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)


def test_groups_keep_the_ratios_of_the_evidence():
    X, y = table("logistic", rows=150, columns=6, useless=3, seed=5)
    loss = build("logistic", X, y)
    groups = np.array([0, 0, 0, 1, 1, 1, -1])
    of_evidence = list(evidence.run(loss, groups, {}))[-1].C
    *steps, last = leave_one_out.run(loss, groups, {})
    assert np.isclose(last.C[1] / last.C[0], of_evidence[1] / of_evidence[0])
    at_evidence = next(step for step in steps if np.allclose(step.C, of_evidence))
    assert last.objective <= at_evidence.objective


def test_noise_is_told_apart_from_nothing_by_a_penalty_without_end():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((100, 40)), rng.permutation(100) % 2
    loss = build("logistic", X, y)
    last = list(leave_one_out.run(loss, parameter_groups(loss), {}))[-1]
    assert last.loss > 0.95 * 100 * np.log(2)


def test_separable_classes_are_not_held_back():
    rng = np.random.default_rng(7)
    X = (rng.random((600, 20)) < 0.5).astype(float)
    y = X[:, :3].sum(axis=1) > 1.5
    fit, test = build("logistic", X[:200], y[:200]), build("logistic", X[200:], y[200:])
    losses = {}
    for learner in (leave_one_out, evidence):
        *_, last = learner.run(fit, parameter_groups(fit), {})
        losses[learner] = test.value_and_gradient(last.w)[0]
    assert losses[leave_one_out] < 0.5 * losses[evidence]


def test_numbers_are_refused_in_a_sentence():
    X, y = table("linear")
    loss = build("linear", X, y)
    with pytest.raises(UnusableError, match="worked out for classes"):
        next(leave_one_out.run(loss, parameter_groups(loss), {}))


def test_a_search_after_the_evidence_does_not_end_at_its_limit_of_steps():
    X, y = table("logistic", rows=150, columns=6, useless=3, seed=5)
    loss = build("logistic", X, y)
    options = complete(LEARNERS["loo"].options, {})
    *_, last = leave_one_out.run(loss, np.array([0, 0, 1, 1, 2, 2, -1]), options)
    assert last.number < options["max_steps"]
    *_, cut = leave_one_out.run(loss, np.array([0, 0, 1, 1, 2, 2, -1]), {"max_steps": 4})
    assert cut.number <= 4
