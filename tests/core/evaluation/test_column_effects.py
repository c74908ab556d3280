"""Shuffled columns and columns that say nearly the same, against what is done by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import spearmanr
from scipy.stats.contingency import association

from core.evaluation.column_effects import alike_groups, cramers_v, permuted


def test_a_sparse_matrix_is_shuffled_as_its_dense_form():
    rng = np.random.default_rng(1)
    X = sparse.random(30, 6, 0.3, format="csr", random_state=rng)
    orders = np.array([rng.permutation(30) for _ in range(3)])
    expected = np.tile(X.toarray(), (3, 1))
    for column in (1, 4):
        expected[:, column] = X.toarray()[orders.ravel(), column]
    found = permuted(X, [1, 4], orders)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-15)


def test_alike_columns_are_found_by_ranks():
    rng = np.random.default_rng(2)
    a = rng.standard_normal(200)
    b = np.exp(a + 0.05 * rng.standard_normal(200))  # not linear, and still the same order
    other = rng.standard_normal(200)
    (group, least), *rest = alike_groups([a, other, b], [False] * 3)
    assert group == [0, 2]
    assert not rest
    assert abs(least - spearmanr(a, b).statistic) < 1e-9


def test_the_association_of_categories_is_cramers():
    rng = np.random.default_rng(3)
    one = rng.integers(3, size=300)
    other = np.where(rng.random(300) < 0.7, one, rng.integers(3, size=300))
    expected = association(pd.crosstab(one, other).to_numpy(), method="cramer")
    assert abs(cramers_v(one, other) - expected) < 1e-12
    ((group, least),) = alike_groups([one, one.copy()], [True, True])
    assert group == [0, 1]
    assert abs(least - 1) < 1e-9
