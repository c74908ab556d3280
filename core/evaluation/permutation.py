"""Columns in another order of their rows, and columns that say nearly the same.

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
    """R copies of X below each other, some columns of each in another order of the rows.

    Columns that are permuted together keep their values of one row side by side.

    Args:
        X: shape (n, p).
        columns: their places.
        orders: shape (R, n).

    Returns:
        Shape (R n, p).
    """
    X = sparse.csr_matrix(X)
    inside = np.zeros(X.shape[1], dtype=bool)
    inside[columns] = True
    held = inside[X.indices]
    moved, staying = _kept(X, held), _kept(X, ~held)
    return sparse.csr_matrix(
        sparse.vstack([staying] * len(orders)) + moved[np.asarray(orders).ravel()]
    )


def _kept(X: sparse.csr_matrix, held: np.ndarray) -> sparse.csr_matrix:
    """Some entries of X alone."""
    ends = np.concatenate([[0], np.cumsum(held)])[X.indptr]
    return sparse.csr_matrix((X.data[held], X.indices[held], ends), shape=X.shape)


def alike_groups(
    columns: Sequence[np.ndarray], is_category: Sequence[bool], least: float = ALIKE
) -> list[tuple[list[int], float]]:
    """Columns that say nearly the same: groups of which all pairs are correlated so much.

    Args:
        columns: numbers (NaN where missing), or codes of categories, n each.
        is_category: which of them are codes.
        least: the correlation.

    Returns:
        The columns' places, and the least correlation of two of them, the group with the
        smallest place first.
    """
    count = len(columns)
    if count < 2 or len(columns[0]) < 3:
        return []
    close = np.eye(count)
    numbers = [at for at in range(count) if not is_category[at]]
    if len(numbers) > 1:
        close[np.ix_(numbers, numbers)] = _rank_correlations([columns[at] for at in numbers])
    named = [at for at in range(count) if is_category[at]]
    for place, one in enumerate(named):
        for other in named[place + 1 :]:
            close[one, other] = close[other, one] = cramers_v(columns[one], columns[other])
    far = np.clip(1.0 - close, 0.0, 1.0)
    np.fill_diagonal(far, 0.0)
    labels = fcluster(
        linkage(squareform(far, checks=False), "complete"), 1.0 - least + 1e-12, "distance"
    )
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    found = [(g.tolist(), float(close[np.ix_(g, g)].min())) for g in groups if len(g) > 1]
    return sorted(found, key=lambda group: group[0][0])


def _rank_correlations(columns: Sequence[np.ndarray]) -> np.ndarray:
    """|Spearman's ρ|, a missing value as the middle rank, 0 for a constant column."""
    ranks = []
    for values in columns:
        known = np.isfinite(values)
        rank = np.zeros(len(values))
        if known.any():
            rank[known] = rankdata(values[known])
            rank[known] -= rank[known].mean()
        ranks.append(rank)
    Z = np.array(ranks)
    size = np.sqrt((Z * Z).sum(axis=1))
    Z = np.divide(Z, size[:, None], out=np.zeros_like(Z), where=size[:, None] > 0)
    return np.abs(Z @ Z.T)


def cramers_v(one: np.ndarray, other: np.ndarray) -> float:
    """√(χ² / (n · (min(r, c) − 1))) of two columns of codes; 0 where either is constant."""
    table = pd.crosstab(one, other).to_numpy(float)
    least = min(table.shape) - 1
    if least < 1 or max(table.shape) > len(one) / 3:  # nearly a name for every row
        return 0.0
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / least))
