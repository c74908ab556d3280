"""Each member of the vote learns what its paper says: against peers, by hand, by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.naive_bayes import CategoricalNB

from core.estimators.tables.l1l2_classifier import L1L2Classifier
from core.estimators.vote7 import members
from core.estimators.vote7.members import MemberTrainingData
from core.estimators.vote7.online import (
    _WINNOW_RATE,
    intersection_functions,
    kernel_machine,
    passive_aggressive_weights,
    perceptron_weights,
    raise_functions,
    winnow_weights,
)

ENDLESS = {"shuffle": False, "tol": None, "random_state": 0}


def data(classes=2, n=80, p=6):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=classes
    )
    return X, y.astype(np.int64)


def in_order(n, epochs):
    return np.tile(np.arange(n), (epochs, 1))


def unit_box(X):
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


@pytest.mark.parametrize("epochs", [1, 4])
def test_the_perceptron_is_scikit_learns(epochs):
    X, y = data()
    W, b = perceptron_weights(X, y, 1, in_order(len(y), epochs), False)
    peer = Perceptron(max_iter=epochs, **ENDLESS).fit(X, y)
    np.testing.assert_allclose(W, peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(b, peer.intercept_, rtol=1e-10)


@pytest.mark.parametrize("spread", [1.0, 40.0])  # the second is separable, and ends early
def test_the_averaged_perceptron_is_scikit_learns(spread):
    X, y = data()
    X[:, 0] += spread * (y - 0.5)
    W, b = perceptron_weights(X, y, 1, in_order(len(y), 6), True)
    how = {"loss": "perceptron", "average": True, "learning_rate": "constant", "eta0": 1.0}
    peer = SGDClassifier(penalty=None, max_iter=6, **how, **ENDLESS).fit(X, y)
    np.testing.assert_allclose(W, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(b, peer.intercept_, rtol=1e-9)


def test_the_perceptron_of_several_classes_moves_the_class_and_its_best_rival():
    X, y = data(3)
    W, b = perceptron_weights(X, y, 3, in_order(len(y), 3), True)
    V, sums = np.zeros((3, 7)), np.zeros((3, 7))
    for _ in range(3):
        for x, own in zip(np.column_stack([X, np.ones(len(X))]), y, strict=True):
            scores = V @ x
            rival = max((k for k in range(3) if k != own), key=lambda k: scores[k])
            if scores[own] <= scores[rival]:
                V[own] += x
                V[rival] -= x
            sums += V
    np.testing.assert_allclose(np.column_stack([W, b]), sums / (3 * len(X)), rtol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.2])
def test_the_passive_aggressive_learner_is_scikit_learns(C):
    X, y = data()
    W, b = passive_aggressive_weights(X, y, 1, in_order(len(y), 3), 1.0, C)
    how = {"loss": "hinge", "learning_rate": "pa1", "eta0": C, "penalty": None}
    peer = SGDClassifier(fit_intercept=False, max_iter=3, **how, **ENDLESS)
    peer.fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose(np.column_stack([W, b]), peer.coef_, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_sensitivity_is_the_scale_of_the_margin(classes):
    """The update is homogeneous: margin s and steps up to s C give s times the weights."""
    X, y = data(classes)
    vectors, orders = classes if classes > 2 else 1, in_order(len(y), 2)
    W, b = passive_aggressive_weights(X, y, vectors, orders, 1.0, 0.1)
    half_W, half_b = passive_aggressive_weights(X, y, vectors, orders, 0.5, 0.05)
    np.testing.assert_allclose(half_W, W / 2, rtol=1e-9)
    np.testing.assert_allclose(half_b, b / 2, rtol=1e-9)


def test_a_full_step_brings_a_row_to_its_margin_over_its_rival():
    X, y = data(3)
    W, b = passive_aggressive_weights(X[:1], y[:1], 3, in_order(1, 1), 0.7, np.inf)
    scores = W @ X[0] + b
    assert scores[y[0]] - scores.min() == pytest.approx(0.7)
    assert sorted(scores) == pytest.approx([-0.35, 0.0, 0.35])  # the third class stays


def test_two_steps_of_winnow_by_hand():
    """Row (1, 0) of the second class, then row (0, 1) of the first, weights and bar at 1 before.

    The first multiplies u⁺ by (e, 1), u⁻ by (1, e) and the bar by 1/e, with e = exp(η). The second
    then has the score (1 + 1)/2 − 1/e > 0 and is demoted: u⁺ = (e, 1/e), u⁻ = (1/e, e), bar 1.
    """
    Z, y = np.eye(2), np.array([1, 0])
    W, b = winnow_weights(Z, y, 1, in_order(2, 1), 0.0, 0.0, 0.0)
    eta = _WINNOW_RATE
    np.testing.assert_allclose(W, [[math.sinh(eta), -math.sinh(eta)]], rtol=1e-12)
    np.testing.assert_allclose(b, [math.cosh(eta) - 1.0], rtol=1e-9)


def test_winnow_of_several_classes_promotes_one_and_demotes_the_other():
    Z, y = np.array([[1.0, 0.25]]), np.array([2])
    W, b = winnow_weights(Z, y, 3, in_order(1, 1), 0.0, 0.0, 0.0)
    eta = _WINNOW_RATE
    for row, sign in ((2, 1.0), (0, -1.0), (1, 0.0)):  # of equal rivals the first is demoted
        up, down = np.exp(sign * eta * Z[0]), np.exp(sign * eta * (1 - Z[0]))
        np.testing.assert_allclose(W[row], (up - down) / 2, atol=1e-15)
        assert b[row] == pytest.approx(down.mean() - math.exp(-sign * eta), abs=1e-15)


def test_winnow_ends_where_both_changes_are_small():
    X, y = data()
    Z = unit_box(X)

    def after(rounds, settled, bias_settled):
        return winnow_weights(Z, y, 1, in_order(len(y), rounds), 0.1, settled, bias_settled)[0]

    assert np.array_equal(after(9, 1e9, 1e9), after(1, 0.0, 0.0))
    assert np.array_equal(after(9, 1e9, 0.0), after(9, 0.0, 0.0))
    assert np.array_equal(after(9, 0.0, 1e9), after(9, 0.0, 0.0))
    assert not np.array_equal(after(9, 0.0, 0.0), after(1, 0.0, 0.0))


@pytest.mark.parametrize("classes", [2, 3])
def test_naive_bayes_of_a_few_values_is_scikit_learns(classes):
    draw = np.random.default_rng(1)
    y = np.arange(600) % classes
    X = draw.integers(4, size=(600, 5)) + draw.integers(2, size=(600, 5)) * (y == 0)[:, None]
    X[:, 4] = 7  # a constant column says nothing
    ours = members.fit_bayes(MemberTrainingData(X.astype(float), y, classes, 0), floor=1e-9)
    common = (X[:, :4] < 4).all(axis=1)  # the value 4 comes in one class only
    peer = CategoricalNB(alpha=1e-300, force_alpha=True).fit(X, y)
    theirs = peer.predict_joint_log_proba(X[common])
    scores = ours.decision_function(X[common].astype(float))
    assert common.sum() > 50
    if classes == 2:
        np.testing.assert_allclose(scores, theirs[:, 1] - theirs[:, 0], atol=1e-9)
    else:
        np.testing.assert_allclose(scores, theirs, atol=1e-9)


def test_naive_bayes_gives_what_it_never_saw_the_least_probability():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 1, 1])
    model = members.fit_bayes(MemberTrainingData(X, y, 2, 0), floor=0.01)
    odds = model.decision_function([[0.0], [1.0], [99.0]])
    expected = [math.log(0.01 * 3 / 2), math.log(100 * 3 / 2), math.log(100 * 3 / 2)]
    np.testing.assert_allclose(odds, expected, rtol=1e-12)


def test_bins_hold_equally_many_distinct_values():
    column = np.random.default_rng(0).permutation(np.r_[np.zeros(500), np.arange(100) ** 2.0])
    places = np.searchsorted(members._column_cuts(column), np.unique(column), side="right")
    assert np.bincount(places).tolist() == [10] * 10


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l2", [0.05, 3.0])
def test_the_kernel_machine_of_degree_one_is_the_same_in_weights(classes, l2):
    """Primal steps on explicit features; with ℓ2 = λ they are those of Pegasos."""
    X, y = data(classes, n=40)
    draw, decay = np.random.default_rng(2), 0.05
    picks = draw.integers(40, size=(300, 3))
    phi, vectors = np.column_stack([X, np.ones(40)]), classes if classes > 2 else 1
    dual = kernel_machine(phi @ phi.T, y, vectors, picks, decay, l2)
    W = np.zeros((vectors, 7))
    for t, batch in enumerate(picks, start=1):
        change = np.zeros_like(W)
        for i in batch:
            scores = W @ phi[i]
            if classes == 2:
                sign = 2 * y[i] - 1
                change[0] += (sign * scores[0] < 1) * sign * phi[i]
            else:
                rival = max((k for k in range(3) if k != y[i]), key=lambda k: scores[k])
                if scores[y[i]] - scores[rival] < 1:
                    change[y[i]] += phi[i]
                    change[rival] -= phi[i]
        if l2 == decay:  # Pegasos at step t + 1 shrinks, and adds with the longer step of t
            W = (1 - 1 / (t + 1)) * (W + change / 3 / (decay * t))
        else:
            W = (W + change / 3 / (decay * t)) / (1 + l2 / (decay * t))
    np.testing.assert_allclose(dual @ phi, W, rtol=1e-8, atol=1e-10)


def test_the_kernel_machine_lives_through_a_large_penalty():
    X, y = data(n=40)
    picks = np.random.default_rng(0).integers(40, size=(20_000, 1))
    dual = kernel_machine(X @ X.T, y, 1, picks, 1e-4, 100.0)
    assert np.isfinite(dual).all()
    assert dual.any()


@pytest.mark.parametrize("degree", [1, 2, 7, 20])
def test_the_polynomial_machine_sums_kernel_values(degree):
    X, y = data(3)
    rows = MemberTrainingData(X, y, 3, 0)
    setting = {"decay": 0.01, "max_iter": 200, "batch": 2, "l2": 0.01}
    model = members.fit_svm(rows, degree=degree, bias=0.5, **setting)
    kernel, box = model["kernel"], 2 * unit_box(X) - 1
    np.testing.assert_allclose(kernel.components_, box[kernel.component_indices_], atol=1e-12)
    values = polynomial_kernel(box, kernel.components_, degree, 1 / 6, 0.5) / 1.5**degree
    assert abs(values).max() <= 1 + 1e-9
    expected = values @ kernel.normalization_.T
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(members.integer_power(box, degree), box**degree, rtol=1e-12)


def test_the_pool_bounds_the_support_vectors():
    X, y = data(n=3000)
    setting = {"degree": 2, "bias": 1.0, "decay": 1e-4, "max_iter": 20_000, "batch": 1, "l2": 1e-4}
    model = members.fit_svm(MemberTrainingData(X, y, 2, 0), **setting)
    assert 1 <= len(model["kernel"].components_) <= 1000


@pytest.mark.parametrize("bins", [1, 4, 9])
def test_one_step_of_the_intersection_learner_is_its_kernel(bins):
    draw = np.random.default_rng(3)
    x, others = draw.random(5), draw.random((200, 5))
    H, b = np.zeros((1, 5, bins + 1)), np.zeros(1)
    raise_functions(H, b, 0, x, 1.0)
    at_knots = np.arange(bins + 1) / bins
    np.testing.assert_allclose(H[0], np.minimum(x[:, None], at_knots), rtol=1e-12)
    values = sum(np.interp(others[:, j], at_knots, H[0, j]) for j in range(5))
    exact = np.minimum(x, others).sum(axis=1)
    assert abs(values - exact).max() <= 5 / (4 * bins) + 1e-12  # a quarter of a piece a column


@pytest.mark.parametrize("classes", [2, 3])
def test_the_intersection_learner_is_passive_aggressive_on_its_features(classes):
    X, y = data(classes)
    Z, bins = unit_box(X), 4
    pieces = [np.clip(bins * Z - at, 0, 1) / math.sqrt(bins) for at in range(bins)]
    features, orders = np.hstack(pieces), in_order(len(y), 3)
    vectors = classes if classes > 2 else 1
    W, b = passive_aggressive_weights(features, y, vectors, orders, 1.0, np.inf)
    H, offset = intersection_functions(Z, y, vectors, orders, bins, 1.0)
    rises = np.diff(H, axis=2).transpose(0, 2, 1).reshape(vectors, -1)
    np.testing.assert_allclose(rises * math.sqrt(bins), W, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(offset, b, rtol=1e-8, atol=1e-10)
    model = members.fit_intersection(
        MemberTrainingData(X, y, classes, 0), bins=bins, rate=1.0, epochs=1
    )
    drawn = MemberTrainingData(X, y, classes, 0).row_orders(1, 6)
    W, b = passive_aggressive_weights(features, y, vectors, drawn, 1.0, np.inf)
    scores = np.squeeze(features @ W.T + b)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-8, atol=1e-9)


def test_what_winnow_learned_on_scaled_columns_holds_for_the_columns_themselves():
    X, y = data(3)
    X[:, 2] = 4.0
    model = members.fit_winnow(
        MemberTrainingData(X, y, 3, 5), epochs=3, tol=0.0, bias_tol=0.0, margin=0.1
    )
    Z, _, _ = MemberTrainingData(X, y, 3, 5).scaled_columns()
    W, b = winnow_weights(Z, y, 3, MemberTrainingData(X, y, 3, 5).row_orders(3, 0), 0.1, 0.0, 0.0)
    np.testing.assert_allclose(model.decision_function(X), Z @ W.T + b, atol=1e-12)


def test_the_logistic_member_is_the_model_of_that_name():
    X, y = data(3)
    member = members.fit_logistic(
        MemberTrainingData(X, y, 3, 0), l1=0.01, l2=0.02, max_iter=50, tol=1e-6
    )
    alone = L1L2Classifier(0.01, 0.02, 50, 1e-6).fit(X, y)
    assert np.array_equal(member.coef_, alone.coef_)
