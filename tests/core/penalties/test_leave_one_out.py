"""Leave-one-out and five folds against refits without the rows, the search by a scan."""

from __future__ import annotations

import numpy as np
import pytest
from penalty_problems import minimized, steps_of, table
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from core.errors import UnusableError
from core.losses import build_loss, parameter_groups
from core.optimize.descent import solve_penalized
from core.options import with_defaults
from core.penalties import class_scores
from core.penalties import leave_one_out_loss as loo_module
from core.penalties.group_penalty import grouping
from core.penalties.leave_one_out import NEAR, ScaleSearch
from core.penalties.leave_one_out_loss import (
    FOLDS,
    CrossValidatedLoss,
    _fold_of,
    leave_one_out_loss,
)
from core.penalties.row_space import spanned_problem
from core.tuning.strategies.registry import STRATEGIES


def exactly(name: str, X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> float:
    """The log loss of every row under the model fitted without it, by SciPy's L-BFGS."""
    total = 0.0
    whole = build_loss(name, X, y)
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        w = minimized(whole.for_data(X[rest], y[rest]), penalties)
        total += whole.for_data(X[[row]], y[[row]]).value_and_gradient(w)[0]
    return total


def without_each_unit(
    name: str, X: np.ndarray, y: np.ndarray, penalties: np.ndarray, units: np.ndarray
) -> float:
    """The log loss of every unit's rows under the model fitted without it, by SciPy's L-BFGS."""
    whole, total = build_loss(name, X, y), 0.0
    for unit in np.unique(units):
        rest = units != unit
        w = minimized(whole.for_data(X[rest], y[rest]), penalties)
        total += whole.for_data(X[~rest], y[~rest]).value_and_gradient(w)[0]
    return total


def patients(seed: int, count: int, name: str = "logistic") -> tuple[np.ndarray, ...]:
    """Rows of people with two to four each, an effect of their own, and half the columns theirs."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(count), rng.integers(2, 5, count))
    own, X = rng.standard_normal((count, 4)), rng.standard_normal((len(units), 4))
    X[:, :2] = own[units, :2] + 0.3 * X[:, :2]
    scores = X @ rng.standard_normal((4, 3)) + rng.standard_normal((count, 3))[units]
    scores += rng.gumbel(size=scores.shape)
    classes = scores.argmax(axis=1) if name == "multinomial" else (scores[:, 0] > 0).astype(int)
    return X, classes, units


def penalties_of(loss, C: float) -> np.ndarray:
    return np.where(parameter_groups(loss) >= 0, C, 0.0)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("C", [0.5, 5.0, 50.0])
def test_one_factor_tells_what_refits_without_each_row_tell(name, C):
    X, y = table(name, rows=60, columns=4, seed=1)
    loss = build_loss(name, X, y)
    penalties = penalties_of(loss, C)
    w = solve_penalized(loss, penalties, loss.initial_weights()).point.w
    fitted = loss.value_and_gradient(w)[0]
    exact = exactly(name, X, y, penalties)
    approximate = leave_one_out_loss(loss, w, penalties).value
    assert exact > fitted
    # What is wrong with it is small beside what leaving rows out changes.
    assert abs(approximate - exact) < 0.1 * (exact - fitted)


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("C", [2.0, 20.0])
def test_one_factor_tells_what_refits_without_each_unit_tell(name, C):
    X, y, units = patients(3, 30, name)
    loss = build_loss(name, X, y)
    penalties = penalties_of(loss, C)
    w = solve_penalized(loss, penalties, loss.initial_weights()).point.w
    fitted = loss.value_and_gradient(w)[0]
    exact = without_each_unit(name, X, y, penalties, units)
    left_out = leave_one_out_loss(loss, w, penalties, units)
    assert abs(left_out.value - exact) < 0.12 * (exact - fitted)
    alone = leave_one_out_loss(loss, w, penalties)
    single_rows = leave_one_out_loss(loss, w, penalties, np.arange(len(y)))
    assert np.isclose(single_rows.value, alone.value)


def test_copies_of_a_row_are_a_row_that_counts_as_often():
    X, y = table("logistic", rows=50, columns=4, seed=1)
    again = np.repeat(np.arange(50), 3)
    loss = build_loss("logistic", X[again], y[again])
    penalties = penalties_of(loss, 4.0)
    value = leave_one_out_loss(loss, loss.initial_weights(), penalties, again).value
    w = solve_penalized(loss, penalties, loss.initial_weights()).point.w
    exact = without_each_unit("logistic", X[again], y[again], penalties, again)
    assert abs(value - exact) < 0.1 * (exact - loss.point_at(w).value)


@pytest.mark.parametrize("learner", ["mm", "direct", "evidence", "loo"])
@pytest.mark.parametrize("name", ["logistic", "linear"])
def test_a_table_written_three_times_teaches_what_it_teaches_once(learner, name):
    if (learner, name) == ("loo", "linear"):
        pytest.skip("of classes alone")
    X, y = table(name, rows=60, columns=12, useless=10, seed=2)
    again = np.tile(np.arange(60), 3)
    (single, repeated) = (build_loss(name, X[rows], y[rows]) for rows in (np.arange(60), again))
    *_, last_once = steps_of(learner, single, parameter_groups(single), {})
    *_, last = steps_of(learner, repeated, parameter_groups(repeated), {}, units=again)
    # Three copies weigh as much against three times the penalty.
    np.testing.assert_allclose(last.C, 3.0 * last_once.C, rtol=0.4 if learner == "loo" else 0.15)
    np.testing.assert_allclose(last.w, last_once.w, atol=0.04)
    says = "in 60 groups" if learner == "loo" else "count as 60"
    assert "180 training rows" in " ".join(last.remarks)
    assert says in " ".join(last.remarks)


@pytest.mark.parametrize("owners", [[0, 1], [0, 0, 0, 1, 2]])
def test_few_units_are_left_out_in_folds_that_divide_none(owners):
    X, y = table("logistic", rows=60, columns=4, seed=5)
    units = np.sort(np.array(owners)[np.arange(60) % len(owners)])
    loss = build_loss("logistic", X, y)
    *_, last = steps_of("loo", loss, parameter_groups(loss), {}, units=units)
    assert np.isfinite(last.objective)
    assert "kept whole by the folds" in " ".join(last.remarks)


def formula_by_hand(loss, C: float) -> float:
    """The leave-one-out loss by dense matrices of the parameters, at weights fitted exactly."""
    penalties = penalties_of(loss, C)
    w = solve_penalized(loss, penalties, loss.initial_weights(), tolerance=1e-15).point.w
    A = np.column_stack((loss.design.X, np.ones(len(loss.codes))))
    z, y = A @ w, loss.codes
    p = 1.0 / (1.0 + np.exp(-z))
    S = p * (1.0 - p)
    inverse = np.linalg.inv((A * S[:, None]).T @ A + np.diag(penalties))
    G = np.einsum("ij,ij->i", A @ inverse, A)
    return float(np.logaddexp(0.0, (1 - 2 * y) * (z + G * (p - y) / (1.0 - G * S))).sum())


@pytest.mark.parametrize("seed", range(6))
def test_what_is_told_of_a_wide_table_is_the_formula_at_exact_weights(seed):
    # Fits that ended by their loss told -- of such tables -- a thousand or a millionth of this.
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(20, 120)), 1200
    X = rng.standard_normal((rows, columns)) if seed % 2 else rng.random((rows, columns)) < 0.02
    scores = X @ rng.standard_normal(columns)
    y = (scores > np.median(scores)).astype(int)
    loss = build_loss("logistic", X.astype(float), y)
    *_, last = steps_of("loo", loss, parameter_groups(loss), {})
    told = last.objective - 1.5 * spread_of(loss, last.w)
    assert abs(told - formula_by_hand(loss, float(last.C[0]))) < 0.2
    for C in (1.0, 10.0, 1000.0):
        space = spanned_problem(loss, penalties_of(loss, C))
        start = space.loss.initial_weights()
        value = leave_one_out_loss(space.loss, start, space.penalties).value
        assert abs(value - formula_by_hand(loss, C)) < 0.2


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_a_wide_table_has_its_minimum_in_the_space_of_its_rows(name, matrix):
    X, y = table(name, rows=30, columns=80, seed=2)
    loss = build_loss(name, matrix(X), y)
    groups = parameter_groups(loss, np.arange(80) % 2)
    penalties = np.append(0.0, [2.0, 9.0])[groups + 1]
    space = spanned_problem(loss, penalties)
    assert space.loss.size <= 31 * (3 if name == "multinomial" else 1)
    inner = solve_penalized(space.loss, 3.0 * space.penalties, space.loss.initial_weights()).point.w
    w = space.parameters_of(inner)
    np.testing.assert_allclose(w, minimized(loss, 3.0 * penalties), atol=1e-5)
    np.testing.assert_allclose(space.weights_of(w), inner, atol=1e-8)


def test_wide_tables_are_worked_out_from_their_rows():
    X, y = table("logistic", rows=40, columns=90, seed=2)
    loss = build_loss("logistic", X, y)
    penalties = penalties_of(loss, 3.0)
    w = minimized(loss, penalties)
    z = loss.design.scores(w)
    p = 1.0 / (1.0 + np.exp(-z))
    A = np.column_stack((X, np.ones(40)))
    H = (A * (p * (1.0 - p))[:, None]).T @ A + np.diag(penalties)
    G = np.einsum("ij,ij->i", A @ np.linalg.inv(H), A)
    moved = z + G * (p - y) / (1.0 - G * p * (1.0 - p))
    expected = np.logaddexp(0.0, (1 - 2 * y) * moved).sum()
    assert np.isclose(leave_one_out_loss(loss, w, penalties).value, expected, rtol=1e-4)


def test_some_rows_tell_what_all_of_them_tell(monkeypatch):
    X, y = table("multinomial", rows=900, columns=12, seed=11)
    loss = build_loss("multinomial", X, y)
    penalties = penalties_of(loss, 2.0)
    w = minimized(loss, penalties)
    whole = leave_one_out_loss(loss, w, penalties).value
    monkeypatch.setattr(class_scores, "_ENOUGH_ROWS", 90)
    some = leave_one_out_loss(loss, w, penalties).value
    # The fitted loss of these rows alone is 24 % too low, three times what is added.
    assert abs(some - whole) < 0.4 * (whole - loss.point_at(w).value)


def test_a_rough_fit_gives_the_value_of_an_exact_one():
    X, y = table("logistic", rows=120, columns=8, seed=10)
    loss = build_loss("logistic", X, y)
    penalties = penalties_of(loss, 2.0)
    exact = minimized(loss, penalties)
    rough = exact + 0.03 * np.random.default_rng(0).standard_normal(len(exact))
    a, b = leave_one_out_loss(loss, exact, penalties), leave_one_out_loss(loss, rough, penalties)
    assert np.isclose(a.value, b.value, atol=1e-3)
    assert np.abs(b.w - exact).max() < 0.01 * np.abs(rough - exact).max()


def test_sparse_tables_are_left_out_as_dense_ones():
    rng = np.random.default_rng(3)
    X = (rng.random((80, 12)) < 0.3).astype(float)
    y = (X[:, 0] + rng.logistic(size=80) > 0.5).astype(int)
    values = []
    for given in (X, sparse.csr_matrix(X)):
        loss = build_loss("logistic", given, y)
        penalties = penalties_of(loss, 2.0)
        values.append(leave_one_out_loss(loss, minimized(loss, penalties), penalties).value)
    assert np.isclose(*values)


def spread_of(loss, w: np.ndarray) -> float:
    """The standard deviation of the fitted scores over rows, of all classes together."""
    scores = loss.design.scores(w.reshape(-1, loss.design.width))
    return float(np.sqrt(scores.var(axis=1).mean()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_the_search_ends_at_the_least_exact_loss(name):
    X, y = table(name, rows=50, columns=5, useless=3, seed=4)
    loss = build_loss(name, X, y)
    steps = list(steps_of("loo", loss, parameter_groups(loss), {}))
    grid = np.exp(np.arange(-3.0, 5.0, 0.5))

    def total(C: float) -> float:
        penalties = penalties_of(loss, C)
        return exactly(name, X, y, penalties) + 1.5 * spread_of(loss, minimized(loss, penalties))

    scanned = [total(C) for C in grid]
    found = total(float(steps[-1].C[0]))
    # In nats of all rows; less than that is never more than chance.
    assert found < min(scanned) + 0.2
    objectives = [step.objective for step in steps]
    assert objectives == sorted(objectives, reverse=True)


def test_groups_keep_the_ratios_of_the_evidence():
    X, y = table("logistic", rows=150, columns=6, useless=3, seed=5)
    loss = build_loss("logistic", X, y)
    groups = np.array([0, 0, 0, 1, 1, 1, -1])
    of_evidence = list(steps_of("evidence", loss, groups, {}))[-1].C
    *steps, last = steps_of("loo", loss, groups, {})
    assert np.isclose(last.C[1] / last.C[0], of_evidence[1] / of_evidence[0])
    at_evidence = next(step for step in steps if np.allclose(step.C, of_evidence))
    assert last.objective <= at_evidence.objective + 1e-6


def test_noise_is_hardly_fitted():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((100, 40)), rng.permutation(100) % 2
    loss = build_loss("logistic", X, y)
    last = list(steps_of("loo", loss, parameter_groups(loss), {}))[-1]
    assert last.loss > 0.9 * 100 * np.log(2)


def test_few_rows_of_many_columns_are_not_left_behind_knowing_nothing():
    behind = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1060, 300))
        y = (X[:, :6] @ rng.standard_normal(6) * 0.8 + rng.logistic(size=1060) > 0).astype(int)
        loss = build_loss("logistic", X[:60], y[:60])
        *_, last = steps_of("loo", loss, parameter_groups(loss), {})
        test = loss.for_data(X[60:], y[60:])
        nothing = test.point_at(loss.initial_weights()).value
        behind.append((test.point_at(last.w).value - nothing) / 1000)
    assert np.mean(behind) < 0.001


def test_separable_classes_are_not_held_back():
    rng = np.random.default_rng(7)
    X = (rng.random((600, 20)) < 0.5).astype(float)
    y = X[:, :3].sum(axis=1) > 1.5
    fit, test = build_loss("logistic", X[:200], y[:200]), build_loss("logistic", X[200:], y[200:])
    losses = {}
    for learner in ("loo", "evidence"):
        *_, last = steps_of(learner, fit, parameter_groups(fit), {})
        losses[learner] = test.value_and_gradient(last.w)[0]
    assert losses["loo"] < 0.5 * losses["evidence"]


def test_numbers_are_refused_in_a_sentence():
    X, y = table("linear")
    loss = build_loss("linear", X, y)
    with pytest.raises(UnusableError, match="worked out for classes"):
        next(steps_of("loo", loss, parameter_groups(loss), {}))


def test_a_search_after_the_evidence_does_not_end_at_its_limit_of_steps():
    X, y = table("logistic", rows=150, columns=6, useless=3, seed=5)
    loss = build_loss("logistic", X, y)
    options = with_defaults(STRATEGIES["loo"].options, {})
    *_, last = steps_of("loo", loss, np.array([0, 0, 1, 1, 2, 2, -1]), options)
    assert last.number < options["max_steps"]
    *_, cut = steps_of("loo", loss, np.array([0, 0, 1, 1, 2, 2, -1]), {"max_steps": 4})
    assert cut.number <= 4


def test_a_group_that_is_nearly_switched_off_sets_the_others_no_limit():
    X, y = table("logistic", rows=150, columns=6, useless=3, seed=5)
    loss = build_loss("logistic", X, y)
    grouped = grouping(np.array([0, 0, 0, 1, 1, 1, -1]))
    search = ScaleSearch(loss, grouped, np.array([1.0, np.exp(13.5)]), loss.initial_weights())
    while (t := search.next_t()) is not None:
        search.evaluate(t)
    low, high = search.bounds
    assert low < search.best_point.t - 1.0
    assert search.best_point.t + 1.0 < high
    assert high > 10.0


def noisy_classes() -> tuple[np.ndarray, np.ndarray]:
    """Five classes that overlap alike everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 10))
    Z = X @ rng.normal(size=(10, 5)) + rng.gumbel(size=(1200, 5))
    return X, Z.argmax(axis=1)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Five classes that are nearly separable."""
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[:500] / 16.0, y[:500]


@pytest.mark.parametrize(("classes", "is_confirmed"), [(digits, False), (noisy_classes, True)])
def test_classes_share_their_curvature_where_that_is_confirmed(monkeypatch, classes, is_confirmed):
    loss = build_loss("multinomial", *classes())
    groups = parameter_groups(loss)
    search = ScaleSearch(loss, grouping(groups), np.ones(1), loss.initial_weights())
    assert search.is_shared
    while (t := search.next_t()) is not None:
        search.evaluate(t)
    assert search.confirm() == is_confirmed
    *_, last = steps_of("loo", loss, groups, {})
    monkeypatch.setattr(loo_module, "_EXACT_ENTRIES", 10**9)
    *_, exact = steps_of("loo", loss, groups, {})
    assert abs(np.log(last.C[0] / exact.C[0])) < 2.0 * NEAR


def test_classes_that_share_no_curvature_are_left_out_in_folds_where_they_are_large(monkeypatch):
    monkeypatch.setattr(loo_module, "LARGEST", 100)  # beyond it no Hessian of all classes
    X, y = digits()
    loss = build_loss("multinomial", X[:300], y[:300])
    test = loss.for_data(X[300:], y[300:])
    losses = {}
    for learner in ("loo", "mm"):
        *_, last = steps_of(learner, loss, parameter_groups(loss), {})
        losses[learner] = test.point_at(last.w).value
    assert losses["loo"] < 0.5 * losses["mm"]


def without_each_fold(X: np.ndarray, y: np.ndarray, codes: np.ndarray, C: float) -> float:
    """The sum of the log losses of the folds, fitted by scikit-learn without them."""
    fold_of, total = _fold_of(codes), 0.0
    for fold in range(FOLDS):
        rest, own = fold_of != fold, fold_of == fold
        model = LogisticRegression(C=1.0 / C, tol=1e-9, max_iter=5000).fit(X[rest], y[rest])
        total += log_loss(y[own], model.predict_proba(X[own]), normalize=False)
    return total


def test_every_fold_has_each_class_in_proportion():
    codes = np.random.default_rng(0).choice(3, size=203, p=[0.7, 0.2, 0.1])
    fold_of = _fold_of(codes)
    for code in range(3):
        counts = np.bincount(fold_of[codes == code], minlength=FOLDS)
        assert counts.max() - counts.min() <= 1
    assert np.bincount(fold_of).max() - np.bincount(fold_of).min() <= 1


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
def test_the_value_is_that_of_fits_without_each_fold(name, matrix):
    X, y = table(name, rows=120, columns=6, seed=3)
    loss = build_loss(name, matrix(X), y)
    folds = CrossValidatedLoss(loss)
    for C in (20.0, 2.0):  # the second begins where the first one ended
        penalties = np.where(parameter_groups(loss) >= 0, C, 0.0)
        found = folds.leave_folds_out(loss.initial_weights(), penalties)
        # Rounds to a tenth of a nat a fold: less is no difference between models.
        assert abs(found.value - without_each_fold(X, y, loss.codes, C)) < 0.5


@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_the_search_by_folds_ends_near_their_least_loss(name, monkeypatch):
    X, y = table(name, rows=150, columns=8, useless=4, seed=4)
    monkeypatch.setattr("core.penalties.leave_one_out_loss.LARGEST", 3)
    loss = build_loss(name, X, y)
    last = list(steps_of("loo", loss, parameter_groups(loss), {}))[-1]

    def total(C: float) -> float:
        spread = spread_of(loss, minimized(loss, penalties_of(loss, C)))
        return without_each_fold(X, y, loss.codes, C) + 1.5 * spread

    scanned = [total(C) for C in np.exp(np.arange(-2.0, 6.0, 0.5))]
    assert total(float(last.C[0])) < min(scanned) + 0.5
    fitted = LogisticRegression(C=1.0 / float(last.C[0]), tol=1e-9, max_iter=5000).fit(X, y)
    coef, _ = loss.coefficients(last.w)
    assert np.allclose(coef, fitted.coef_, atol=2e-3)


def test_classes_of_unequal_slopes_are_not_held_back_where_the_search_begins():
    rng = np.random.default_rng(200)
    X = rng.normal(size=(2000, 30)) @ (np.eye(30) + 0.4 * rng.normal(size=(30, 30)) / np.sqrt(30))
    W = rng.normal(size=(30, 4)) * rng.gamma(0.5, 6.0, size=(1, 4)) / np.sqrt(30)
    y = (X @ W + rng.gumbel(size=(2000, 4))).argmax(axis=1)
    loss = build_loss("multinomial", X[:1000], y[:1000])
    test = loss.for_data(X[1000:], y[1000:])
    *_, last = steps_of("loo", loss, parameter_groups(loss), {})
    grid = [test.point_at(minimized(loss, penalties_of(loss, C))).value for C in (0.1, 0.5, 2.0)]
    assert test.point_at(last.w).value < 1.01 * min(grid)


def test_several_classes_of_many_columns_and_rows_are_left_out_in_folds(monkeypatch):
    monkeypatch.setattr(loo_module, "LARGEST", 30)
    X, y = table("multinomial", rows=600, columns=40)
    loss = build_loss("multinomial", X, y)
    search = ScaleSearch(loss, grouping(parameter_groups(loss)), np.ones(1), loss.initial_weights())
    assert search.folds is not None
    assert search.confirm()
    *_, last = steps_of("loo", loss, parameter_groups(loss), {})
    assert np.isfinite(last.objective)


def test_several_groups_are_refused_where_folds_would_be_needed(monkeypatch):
    X, y = table("logistic", rows=60, columns=6, seed=4)
    monkeypatch.setattr("core.penalties.leave_one_out_loss.LARGEST", 3)
    loss = build_loss("logistic", X, y)
    with pytest.raises(UnusableError, match="with several groups"):
        next(steps_of("loo", loss, np.array([0, 0, 0, 1, 1, 1, -1]), {}))
