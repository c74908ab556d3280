"""Averages of fitted models of tables: against sums by hand and scikit-learn's own voting."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from core.errors import UnusableError
from core.estimators.averages.table_average import average_models

WEIGHTS = (0.5, 0.3, 0.2)
LABELS = {"text": ["ant", "bee", "cat"], "numbers": [-3, 0, 7], "truth": [False, True]}


def _rows(kind: str):
    labels = LABELS[kind]
    X, codes = make_classification(
        120, 5, n_informative=4, n_redundant=0, n_classes=len(labels), random_state=3
    )
    return X, np.array(labels)[codes], labels


def _unfitted():
    return [
        ("linear", LogisticRegression(C=0.1)),
        ("near", make_pipeline(StandardScaler(), KNeighborsClassifier(7))),
        ("trees", RandomForestClassifier(5, random_state=1)),
    ]


def _fitted(pairs, X, y):
    return [(name, clone(model).fit(X, y)) for name, model in pairs]


@pytest.mark.parametrize("kind", LABELS)
def test_classes_are_the_weighted_sum_of_the_members(kind):
    X, y, labels = _rows(kind)
    members = _fitted(_unfitted(), X, y)
    vote = average_models("multiclass" if len(labels) > 2 else "binary", members, WEIGHTS, labels)
    by_hand = sum(w * m.predict_proba(X) for w, (_, m) in zip(WEIGHTS, members, strict=True))
    np.testing.assert_allclose(vote.predict_proba(X), by_hand, rtol=0, atol=1e-15)
    assert vote.predict(X).tolist() == [labels[code] for code in by_hand.argmax(axis=1)]
    assert vote.classes_.tolist() == labels
    # Its attributes are those of the vote that scikit-learn fits afresh, which it equals.
    fresh = VotingClassifier(_unfitted(), voting="soft", weights=WEIGHTS).fit(X, y)
    np.testing.assert_allclose(vote.predict_proba(X), fresh.predict_proba(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(vote.predict(X), fresh.predict(X))
    np.testing.assert_array_equal(vote.transform(X), fresh.transform(X))
    assert type(vote) is VotingClassifier
    assert vote.n_features_in_ == fresh.n_features_in_
    assert set(vars(fresh)) == set(vars(vote))
    assert vote.named_estimators_["near"] is vote.estimators_[1]


def test_numbers_equal_scikit_learns_voting():
    X, y = make_regression(60, 4, random_state=0)
    pairs = [("line", Ridge(2.0)), ("near", KNeighborsRegressor(3))]
    members = _fitted(pairs, X, y)
    ours = average_models("regression", members, (3.0, 1.0), ())
    fresh = VotingRegressor(pairs, weights=(3.0, 1.0)).fit(X, y)
    by_hand = 0.75 * members[0][1].predict(X) + 0.25 * members[1][1].predict(X)
    np.testing.assert_allclose(ours.predict(X), by_hand, rtol=1e-13)
    np.testing.assert_allclose(ours.predict(X), fresh.predict(X), rtol=1e-13)
    assert set(vars(fresh)) == set(vars(ours))


def test_members_of_weight_nothing_are_left_out():
    X, y, labels = _rows("text")
    members = _fitted(_unfitted(), X, y)
    vote = average_models("multiclass", members, (0.0, 2.0, 0.0), labels)
    assert [name for name, _ in vote.estimators] == ["near"]
    np.testing.assert_array_equal(vote.predict_proba(X), members[1][1].predict_proba(X))


def test_the_members_are_not_kept_twice():
    X, y, labels = _rows("text")
    members = _fitted([("trees", RandomForestClassifier(50, random_state=1))], X, y)
    vote = average_models("multiclass", members, (1.0,), labels)
    assert len(pickle.dumps(vote)) < 1.1 * len(pickle.dumps(members[0][1]))


def test_a_member_that_never_saw_a_class_is_refused():
    X, y, labels = _rows("text")
    members = _fitted(_unfitted(), X, y)
    seen = y != "bee"
    members[1] = ("near", members[1][1].fit(X[seen], y[seen]))
    with pytest.raises(UnusableError, match=r'near: .* never saw the class "bee"'):
        average_models("multiclass", members, WEIGHTS, labels)
    with pytest.raises(UnusableError, match=r"linear: .* classes that the others do not"):
        average_models("binary", members, WEIGHTS, ["ant", "cat"])


def test_a_member_without_probabilities_is_refused():
    X, y, labels = _rows("text")
    members = _fitted([("ridge", RidgeClassifier())], X, y)
    with pytest.raises(UnusableError, match=r"ridge: .* no probabilities"):
        average_models("multiclass", members, (1.0,), labels)


@pytest.mark.parametrize(
    ("names", "weights"),
    [
        ([], []),
        (["a"], [1.0, 2.0]),
        (["a", "a"], [1.0, 1.0]),
        (["a__b", "c"], [1.0, 1.0]),
        (["a", "b"], [1.0, -0.5]),
        (["a", "b"], [0.0, 0.0]),
        (["a", "b"], [1.0, np.nan]),
    ],
)
def test_what_is_no_average(names, weights):
    X, y = make_regression(10, 2, random_state=0)
    members = [(name, Ridge().fit(X, y)) for name in names]
    with pytest.raises(ValueError, match=r"weights|names"):
        average_models("regression", members, weights, ())
