"""The vote of seven classifiers: a scikit-learn classifier whose votes are counted rightly."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from core.estimators.vote7_classifier import Vote7Classifier


@parametrize_with_checks([Vote7Classifier()])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)
