"""What members say without a pipeline's checks is what scikit-learn's own pipelines say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

from core.estimators.vote7.classifier import Vote7Classifier
from core.estimators.vote7.vote_prediction import codes_of


@pytest.mark.parametrize("degree", [1, 3, 20])
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
