"""The vote of seven classifiers: a scikit-learn classifier whose votes are counted rightly."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from core.estimators.vote7.classifier import Vote7Classifier
from core.estimators.vote7.members import codes_of
from core.estimators.vote7.online import perceptron_weights
from core.estimators.vote7.vote7_model import OURS, VOTE7
from core.space import default_setting

NAMES = [axis.removeprefix("weight_") for axis in VOTE7.simplex]


@parametrize_with_checks([Vote7Classifier()])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def rows(classes=3):
    return make_classification(
        120, 6, n_informative=4, n_classes=classes, class_sep=1.5, random_state=classes
    )


def whole_numbers(classes):
    """Few small whole numbers: scores and votes are often equal."""
    draw = np.random.default_rng(classes)
    return draw.integers(-1, 2, size=(90, 3)).astype(float), draw.integers(classes, size=90)


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "two": lambda: rows(2),
    "four": lambda: rows(4),
    "whole numbers, two": lambda: whole_numbers(2),
    "whole numbers, five": lambda: whole_numbers(5),
    "one column": lambda: (rows(2)[0][:, :1], rows(2)[1]),
}


@pytest.mark.parametrize("name", DATA)
def test_the_plain_vote_is_scikit_learns_and_says_the_same(name):
    X, y = DATA[name]()
    y = np.array([f"class {k}" for k in range(9)])[y]
    for number, weights in enumerate([(1,) * 7, (0, 1, 1, 0, 0, 0, 0), (0.3, 0, 1, 0.7, 0, 0, 1)]):
        shares = dict(zip(VOTE7.simplex, weights, strict=True))
        ours = Vote7Classifier(**shares, random_state=number).fit(X[::2], y[::2])
        plain = ours.as_plain()
        assert type(plain).__module__.startswith("sklearn.")
        assert np.array_equal(plain.predict(X), ours.predict(X))


class Says:
    """A member that says the same of any rows."""

    def __init__(self, *codes):
        self.codes = np.array(codes)

    def predict(self, X):
        return self.codes


def test_votes_are_counted_with_their_weights():
    X, y = rows(3)
    vote = Vote7Classifier(random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    vote.members_ = {"p": Says(0, 1, 2, 2), "q": Says(1, 1, 0, 0), "r": Says(2, 1, 0, 2)}
    vote.shares_ = {"p": 0.5, "q": 0.25, "r": 0.25}
    # Row 2 is a tie of c (p) and a (q, r), and the first class has it.
    assert vote.predict(X[:4]).tolist() == ["a", "b", "a", "c"]
    expected = [[0.5, 0.25, 0.25], [0, 1, 0], [0.5, 0, 0.5], [0.25, 0, 0.75]]
    assert vote.decision_function(X[:4]).tolist() == expected


def test_only_shares_of_the_weights_count_and_no_weight_at_all_is_equal_weights():
    X, y = rows()
    weights = dict(zip(VOTE7.simplex, (0.1, 0.2, 0.3, 0.1, 0.0, 0.1, 0.2), strict=True))
    small = Vote7Classifier(**weights, random_state=0).fit(X, y)
    large = Vote7Classifier(**{k: 4 * w for k, w in weights.items()}, random_state=0).fit(X, y)
    assert "svm" not in small.members_
    assert sum(small.shares_.values()) == pytest.approx(1.0)
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(X), atol=1e-15)
    none = Vote7Classifier(**dict.fromkeys(VOTE7.simplex, 0.0), random_state=0).fit(X, y)
    assert list(none.shares_) == NAMES
    assert set(none.shares_.values()) == {1 / 7}


@pytest.mark.parametrize("name", NAMES)
def test_a_member_alone_decides_alone_and_as_it_would_among_the_others(name):
    X, y = rows()
    alone = {f"weight_{other}": float(other == name) for other in NAMES}
    vote = Vote7Classifier(**alone, random_state=7).fit(X, y)
    together = Vote7Classifier(random_state=7).fit(X, y)
    assert list(vote.members_) == [name]
    assert np.array_equal(vote.predict(X), together.members_[name].predict(X))
    assert vote.score(X, y) > 0.45  # a third by chance


def test_many_rows_are_counted_in_parts(monkeypatch):
    X, y = rows()
    vote = Vote7Classifier(random_state=0).fit(X, y)
    at_once = vote.decision_function(X)
    monkeypatch.setattr("core.estimators.vote7.classifier._AT_ONCE", 50)
    assert np.array_equal(vote.decision_function(X), at_once)


def test_frozen_rows_are_not_compiled_for_anew():
    X, y = rows()
    Vote7Classifier(random_state=0).fit(X, y)
    before = len(perceptron_weights.signatures)
    X.flags.writeable = False
    Vote7Classifier(random_state=0).fit(X, y)
    assert len(perceptron_weights.signatures) == before == 1


def test_a_negative_weight_is_refused():
    with pytest.raises(ValueError, match="at least 0"):
        Vote7Classifier(weight_pa=-0.1).fit(*rows())


def test_its_space_is_that_of_the_paper():
    space = VOTE7.space("binary")
    weights = [axis.name for axis in space if axis.name.startswith("weight_")]
    assert (len(space), len(weights), tuple(weights)) == (30, 7, VOTE7.simplex)
    parameters = list(inspect.signature(Vote7Classifier).parameters)
    assert parameters == [axis.name for axis in space] + ["random_state"]
    assert default_setting(space) == {
        key: value for key, value in Vote7Classifier().get_params().items() if key != "random_state"
    }
    ends = {(axis.name, end): getattr(axis, end) for axis in space for end in ("low", "high")}
    printed = {
        ("perceptron_epochs", "high"): 15,
        ("logistic_max_iter", "high"): 500,
        ("bayes_floor", "low"): 1e-4,
        ("bayes_floor", "high"): 1e-2,
        ("svm_degree", "high"): 20,
        ("svm_bias", "low"): 1e-2,
        ("svm_bias", "high"): 10,
        ("svm_lambda", "high"): 1.2,
        ("svm_max_iter", "high"): 20_000,
        ("svm_batch", "high"): 5,
        ("svm_l2", "high"): 100,
        ("pa_sensitivity", "high"): 1.5,
        ("pa_relaxation", "high"): 1.5,
        ("ikpa_epochs", "high"): 8,
    }
    assert {key: ends[key] for key in printed} == printed
    assert all(end not in OURS.get(name, ()) for name, end in printed)


@pytest.mark.parametrize("degree", [1, 20])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("whole", [False, True])
def test_every_member_says_what_its_pipeline_says(classes, whole, degree):
    X, y = make_classification(
        600, 8, n_informative=6, n_classes=classes, flip_y=0.2, random_state=classes
    )
    X = np.round(X) if whole else X  # whole numbers lie on the edges of bins and pieces
    X[:, 3] = 1.0
    vote = Vote7Classifier(svm_degree=degree, ikpa_bins=degree % 7, random_state=0)
    vote.fit(X[:400], y[:400])
    rows = np.vstack([X, 3.0 * X])  # beyond every range that was fitted
    for member in vote.members_.values():
        np.testing.assert_array_equal(codes_of(member, rows), member.predict(rows))


def test_constant_columns_have_one_bin():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    vote = Vote7Classifier(random_state=0).fit(X, y)
    for member in vote.members_.values():
        np.testing.assert_array_equal(codes_of(member, X), member.predict(X))
