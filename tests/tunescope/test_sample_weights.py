"""Weights of rows: a whole number is that many equal rows, in every penalty learner and loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

import tunescope
from core.losses.registry import build_loss
from core.penalties.leave_one_out_loss import leave_one_out_loss
from tests.tunescope.test_penalty_learners import CLASSIFIERS, LEARNERS
from tunescope.validation_splits import WeightedRows, merge_equal_rows


def drawn(kind, rows, columns, seed=0):
    """Rows, a target, whole weights with zeros, and the rows as often as they count, shuffled."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    pull = X[:, :3] @ [2.0, -1.0, 0.5] + 0.7 * random.normal(size=rows)
    y = pull if kind in (*REGRESSION, "linear") else np.digitize(pull, [-0.5, 1.0])
    if kind == "logistic":
        y = (pull > 0).astype(int)
    counts = random.integers(0, 4, rows)
    again = random.permutation(np.repeat(np.arange(rows), counts))
    return X, y, counts, again


REGRESSION = tuple(kind for kind in LEARNERS if kind not in CLASSIFIERS)


def of(model):
    return {
        name: getattr(model, name)
        for name in ("penalties_", "coef_", "intercept_", "objective_", "switched_off_")
    }


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("shape", [(60, 8), (25, 40)])
@pytest.mark.parametrize("groups", [None, "two"])
@pytest.mark.parametrize("kind", LEARNERS)
def test_whole_weights_are_repeated_rows(kind, groups, shape, sparsely):
    """Of several classes, of numbers, with groups, more columns than rows, and sparse rows."""
    X, y, counts, again = drawn(kind, *shape)
    if groups is not None:
        groups = (np.arange(shape[1]) > 3).astype(int)
    if sparsely:
        X = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
    weighted = kind(groups).fit(X, y, sample_weight=counts)
    repeated = kind(groups).fit(X[again], y[again])
    one, other = of(weighted), of(repeated)
    # With more columns than rows the minimum is flat: rows in another order move it as much.
    tall = shape[0] > shape[1]
    same, near = (1e-8, 1e-8) if tall else (1e-6, 1e-3)
    np.testing.assert_allclose(one.pop("objective_"), other.pop("objective_"), rtol=same)
    for name, value in other.items():
        np.testing.assert_allclose(one[name], value, rtol=near, atol=near, err_msg=name)


@pytest.mark.parametrize("kind", LEARNERS)
def test_weights_of_any_size_give_the_weighted_minimum(kind):
    """At the learned penalties scikit-learn's own weighted fit has the same coefficients."""
    X, y, _, _ = drawn("logistic" if kind in CLASSIFIERS else "linear", 80, 5)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 80)
    model = kind().fit(X, y, sample_weight=weights)
    if kind in CLASSIFIERS:
        other = LogisticRegression(C=1 / model.penalties_[0], tol=1e-12, max_iter=10_000)
    else:
        other = Ridge(alpha=model.alphas_[0])
    other.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-5, atol=1e-6)
    once = kind().fit(X, y)
    ones = kind().fit(X, y, sample_weight=np.ones(80))
    np.testing.assert_array_equal(once.coef_, ones.coef_)
    assert not np.allclose(once.coef_, model.coef_)


def test_unusable_weights_are_refused_in_a_sentence():
    X, y, _, _ = drawn("linear", 10, 3)
    for weights, sentence in (
        (np.zeros(10), "weight"),
        (-np.ones(10), "[Nn]egative"),
        (np.ones(9), "inconsistent|shape"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tunescope.RidgeMM().fit(X, y, sample_weight=weights)
    labels = np.repeat([0, 1], 5)
    with pytest.raises(ValueError, match="one class only"):
        tunescope.LogisticMM().fit(X, labels, sample_weight=labels)


def test_learning_by_the_recommended_method_takes_weights():
    X, y, counts, again = drawn("logistic", 50, 4)
    one = tunescope.learn_penalties(X, y, sample_weight=counts)
    other = tunescope.learn_penalties(X[again], y[again])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-8)


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("shape", [(30, 4), (9, 14)])
@pytest.mark.parametrize("name", ["linear", "logistic", "multinomial"])
def test_a_weighted_loss_is_that_of_repeated_rows(name, shape, sparsely):
    X, y, counts, again = drawn(name, *shape)
    some = counts > 0
    X = sparse.csr_matrix(X) if sparsely else X
    one = build_loss(name, X[some], y[some], weights=counts[some].astype(float))
    other = build_loss(name, X[again], y[again])
    random = np.random.default_rng(2)
    w, v = random.normal(size=(2, one.size))
    a, b = one.point_at(w), other.point_at(w)
    assert one.examples == other.examples
    np.testing.assert_allclose(a.value, b.value)
    for left, right in (
        (one.initial_weights(), other.initial_weights()),
        (a.gradient, b.gradient), (a.product(v), b.product(v)),
        (a.dense_hessian(), b.dense_hessian()), (a.diagonal(), b.diagonal()),
        (a.majorizer_product(v), b.majorizer_product(v)),
        (a.rough_product()(v), b.rough_product()(v)),
    ):  # fmt: skip
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)
    if name != "linear":
        np.testing.assert_allclose(a.sampled_blocks(1), b.sampled_blocks(1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 3), (12, 30)])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_rows_that_count_for_less_than_one_are_left_out_whole(name, shape):
    """Against a fit without each of them; a row that counts twice leaves one of its copies."""
    X, y, _, _ = drawn(name, *shape)
    counts = np.random.default_rng(3).choice([0.25, 0.8, 1.0, 2.5], shape[0])
    loss = build_loss(name, X, y, weights=counts)
    penalties = np.full(loss.size, 4.0)
    penalties[loss.design.column_count :: loss.design.width] = 0.0

    def minimum(weights):
        from core.optimize.descent import solve_penalized

        part = build_loss(name, X, y, weights=weights)
        return solve_penalized(
            part, penalties, part.initial_weights(), tolerance=1e-13, max_steps=200
        ).point.w

    expected = 0.0
    for row, count in enumerate(counts):
        less = counts.copy()
        less[row] = max(count - 1.0, 1e-12)
        expected += count * loss.for_data(X[[row]], y[[row]]).point_at(minimum(less)).value
    found = leave_one_out_loss(loss, minimum(counts), penalties).value
    assert found == pytest.approx(expected, rel=0.02)  # one Newton step is taken, not the whole way


def test_equal_rows_are_one_that_counts_as_often():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, -0.0], [1.0, 0.0]])
    y = np.array([1, 1, 1, 0])
    for rows in (X, sparse.csr_matrix(X)):
        one = merge_equal_rows(WeightedRows(rows, y))
        dense = one.X.toarray() if sparse.issparse(one.X) else one.X
        found = {(*x, t): s for x, t, s in zip(dense.tolist(), one.y, one.weights, strict=True)}
        assert found == {(1.0, 0.0, 1): 2.0, (2.0, 1.0, 1): 1.0, (1.0, 0.0, 0): 1.0}
        assert merge_equal_rows(WeightedRows(rows[[0, 1, 3]], y[[0, 1, 3]])).weights is None
