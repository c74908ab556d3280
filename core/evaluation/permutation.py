"""Columns with their rows permuted, and columns that are nearly the same.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p | | | rows and columns |
| R | ``orders`` | (R, n) | orders of the rows |
| ρ | | (p, p) | correlation of ranks; of two categories Cramér's V |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

ALIKE = 0.9  # correlation from which on two columns say nearly the same


def permuted(X: sparse.csr_matrix, columns: np.ndarray, orders: np.ndarray) -> sparse.csr_matrix:
    """R copies of X below each other, (R n, p), some columns with rows in orders (R, n)."""
    X = sparse.csr_matrix(X)
    inside = np.zeros(X.shape[1], dtype=bool)
    inside[columns] = True
    is_permuted = inside[X.indices]
    copies = sparse.vstack([_masked_entries(X, ~is_permuted)] * len(orders))
    permuted_rows = _masked_entries(X, is_permuted)[np.asarray(orders).ravel()]
    return sparse.csr_matrix(copies + permuted_rows)


def _masked_entries(X: sparse.csr_matrix, mask: np.ndarray) -> sparse.csr_matrix:
    ends = np.concatenate([[0], np.cumsum(mask)])[X.indptr]
    return sparse.csr_matrix((X.data[mask], X.indices[mask], ends), shape=X.shape)


def alike_groups(
    columns: Sequence[np.ndarray], is_category: Sequence[bool], min_correlation: float = ALIKE
) -> list[tuple[list[int], float]]:
    """Columns that are nearly the same: groups of which all pairs are correlated so much.

    Columns are numbers (NaN where missing) or codes of categories. The groups are their indices and
    the least correlation of two of them, in order of the first.
    """
    count = len(columns)
    if count < 2 or len(columns[0]) < 3:
        return []
    close = np.eye(count)
    numbers = [k for k in range(count) if not is_category[k]]
    if len(numbers) > 1:
        close[np.ix_(numbers, numbers)] = _rank_correlations([columns[k] for k in numbers])
    categories = [k for k in range(count) if is_category[k]]
    for index, first in enumerate(categories):
        for second in categories[index + 1 :]:
            close[first, second] = close[second, first] = cramers_v(columns[first], columns[second])
    distances = np.clip(1.0 - close, 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    # Complete linkage: every pair of a group is as close as the threshold asks.
    tree = linkage(squareform(distances, checks=False), "complete")
    labels = fcluster(tree, 1.0 - min_correlation + 1e-12, "distance")
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    pairs = [(g.tolist(), float(close[np.ix_(g, g)].min())) for g in groups if len(g) > 1]
    return sorted(pairs, key=lambda pair: pair[0][0])


def _rank_correlations(columns: Sequence[np.ndarray]) -> np.ndarray:
    """|Spearman's ρ|, a missing value as the middle rank, 0 for a constant column."""
    ranks = []
    for values in columns:
        is_finite = np.isfinite(values)
        rank = np.zeros(len(values))
        if is_finite.any():
            rank[is_finite] = rankdata(values[is_finite])
            rank[is_finite] -= rank[is_finite].mean()
        ranks.append(rank)
    Z = np.array(ranks)
    size = np.sqrt((Z * Z).sum(axis=1))
    Z = np.divide(Z, size[:, None], out=np.zeros_like(Z), where=size[:, None] > 0)
    return np.abs(Z @ Z.T)


def cramers_v(first: np.ndarray, second: np.ndarray) -> float:
    """√(χ² / (n · (min(r, c) − 1))) of two columns of codes; 0 where either is constant."""
    table = pd.crosstab(first, second).to_numpy(float)
    min_degrees = min(table.shape) - 1
    if min_degrees < 1 or max(table.shape) > len(first) / 3:  # nearly a name for every row
        return 0.0
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / min_degrees))
