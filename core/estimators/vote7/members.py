"""The seven members of the vote: each fits rows and gives a fitted classifier of scikit-learn.

What an online learner has learned is a weighted sum of columns, of pieces of columns, or of kernel
values; scikit-learn has a class for each. So a member predicts by scikit-learn alone, and an
exported vote holds nothing of ours.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p, K | | | rows, columns, classes |
| V | ``rows.vectors`` | | weight vectors: one for two classes, otherwise one a class |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder

from core.estimators.tables.two_penalties import minimize
from core.estimators.vote7.kernels import intersection, kernel_machine
from core.estimators.vote7.online import passive_aggressive, perceptron, winnow

_POOL = 1000  # rows whose kernel matrix a fit can afford: 8 MB, some 20 ms
_BAYES_BINS = 10


@dataclass(frozen=True)
class Rows:
    """Training rows as every member takes them.

    Attributes:
        X: columns, C-ordered, shape (n, p).
        codes: the class of every row, 0 … K − 1, shape (n,).
        classes: K.
        seed: of what the members draw.
    """

    X: np.ndarray
    codes: np.ndarray
    classes: int
    seed: int

    @property
    def vectors(self) -> int:
        """How many weight vectors tell the classes apart."""
        return 1 if self.classes == 2 else self.classes

    def orders(self, epochs: int, member: int) -> np.ndarray:
        """A random order of the rows for every epoch, shape (epochs, n)."""
        numbers = np.tile(np.arange(len(self.codes)), (int(epochs), 1))
        return self.generator(member).permuted(numbers, axis=1)

    def generator(self, member: int) -> np.random.Generator:
        """Random numbers of one member, whatever the others draw."""
        return np.random.default_rng([self.seed, member])

    def scaled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns from 0 to 1, and the least value and the range of each (1 for a constant)."""
        low = self.X.min(axis=0)
        spread = self.X.max(axis=0) - low
        spread[spread == 0] = 1.0
        return np.clip((self.X - low) / spread, 0.0, 1.0), low, spread


def fit_winnow(
    rows: Rows, *, epochs: int, tol: float, bias_tol: float, margin: float
) -> SGDClassifier:
    """Winnow on columns scaled to [0, 1] and their complements (Littlestone 1988)."""
    Z, low, spread = rows.scaled()
    orders = rows.orders(epochs, 0)
    W, b = winnow(Z, rows.codes, rows.vectors, orders, float(margin), float(tol), float(bias_tol))
    W = W / spread
    return _linear(W, b - W @ low)


def fit_perceptron(rows: Rows, *, average: bool, epochs: int) -> SGDClassifier:
    """The perceptron, averaged or not."""
    orders = rows.orders(epochs, 1)
    return _linear(*perceptron(rows.X, rows.codes, rows.vectors, orders, bool(average)))


def fit_logistic(
    rows: Rows, *, l1: float, l2: float, max_iter: int, tol: float
) -> LogisticRegression:
    """Logistic regression with two penalties against the mean loss."""
    found = minimize(rows.X, rows.codes, rows.classes, l1, l2, int(max_iter), tol)
    plain = LogisticRegression()
    plain.n_iter_ = np.array([found.iterations], dtype=np.int32)
    return _with_weights(plain, found.weights, found.intercepts)


def fit_bayes(rows: Rows, *, floor: float) -> Pipeline:
    """Naive Bayes on binned columns: p(bin | class) is its share, and at least `floor`.

    The bins are cut between the distinct values of a column, into ten at most with equally many of
    them in each. Thus columns of a few values keep them all apart, and many equal values (the
    zeros of a sparse file) do not use up the bins.
    """
    cuts = [_cuts(column) for column in rows.X.T]
    most = max(len(own) for own in cuts) + 1
    counts_of_class = np.bincount(rows.codes, minlength=rows.classes)
    logs = np.empty((rows.classes, len(cuts), most))
    for at, (column, own) in enumerate(zip(rows.X.T, cuts, strict=True)):
        places = np.searchsorted(own, column, side="right")
        counts = np.bincount(rows.codes * most + places, minlength=rows.classes * most)
        shares = counts.reshape(rows.classes, most) / counts_of_class[:, None]
        logs[:, at] = np.log(np.maximum(shares, floor))
    priors = np.log(counts_of_class / len(rows.codes))
    if rows.classes == 2:
        logs, priors = logs[1:] - logs[:1], priors[1:] - priors[:1]
    numbers = np.zeros(len(cuts)), np.ones(len(cuts))
    # The number of a bin, cut into pieces of length one, says of every bin whether it is passed.
    steps = [("bins", _binner(cuts)), ("passed", _pieces(*numbers, max(1, most - 1)))]
    return Pipeline([*steps, _sum_of_pieces(logs, priors + logs[:, :, 0].sum(axis=1))])


def fit_svm(
    rows: Rows, *, degree: int, bias: float, decay: float, max_iter: int, batch: int, l2: float
) -> Pipeline:
    """A support vector machine with the kernel ((xᵀz/p + c) / (1 + c))^d on columns in [−1, 1].

    Its batches are drawn from a pool of at most 1,000 training rows, so that the kernel matrix is
    made once and no more rows can become support vectors. In that range of the columns the kernel
    is at most 1, whatever the degree.
    """
    draw = rows.generator(4)
    n, p = rows.X.shape
    pool = np.sort(draw.permutation(n)[:_POOL])
    scaler = _scaler(rows.X.min(axis=0), rows.X.max(axis=0), (-1, 1))
    Z = scaler.transform(rows.X[pool])
    gram = power((Z @ Z.T / p + bias) / (1.0 + bias), int(degree))
    picks = draw.integers(len(pool), size=(int(max_iter), int(batch)))
    codes = rows.codes[pool]
    dual = kernel_machine(gram, codes, rows.vectors, picks, float(decay), float(l2))
    support = np.flatnonzero(dual.any(axis=0))
    kernel = Nystroem(
        kernel="poly",
        gamma=1.0 / (p * (1.0 + bias)),
        coef0=bias / (1.0 + bias),
        degree=int(degree),
        n_components=len(support),
    )
    kernel.components_, kernel.component_indices_ = Z[support], pool[support]
    # Its outputs are the kernel values times this matrix: the scores themselves.
    kernel.normalization_, kernel.n_features_in_ = dual[:, support], p
    scores = _last(np.eye(rows.vectors), np.zeros(rows.vectors))
    return Pipeline([("scale", scaler), ("kernel", kernel), scores])


def fit_passive_aggressive(
    rows: Rows, *, sensitivity: float, relaxation: float, epochs: int
) -> SGDClassifier:
    """The passive-aggressive learner (Crammer 2006)."""
    orders = rows.orders(epochs, 5)
    how = (float(sensitivity), float(relaxation))
    return _linear(*passive_aggressive(rows.X, rows.codes, rows.vectors, orders, *how))


def fit_intersection(rows: Rows, *, bins: int, rate: float, epochs: int) -> Pipeline:
    """The passive-aggressive learner on the intersection kernel's features (Maji 2008).

    Yogatama and Mann 2014 name it IKPamir, "a combination of Crammer et al. (2006) and Maji et al.
    (2008)", and say no more of it. Every piece of a column is a column scaled to [0, 1] between two
    knots and clipped there.
    """
    Z, low, spread = rows.scaled()
    bins = int(bins)
    orders = rows.orders(epochs, 6)
    H, b = intersection(Z, rows.codes, rows.vectors, orders, bins, float(rate))
    return Pipeline([("pieces", _pieces(low, spread / bins, bins)), _sum_of_pieces(H, b)])


def shares_of_votes(vote: VotingClassifier, shares: list[float], classes: np.ndarray) -> Pipeline:
    """The shares of a fitted vote as scores: a sum over members of share × [it votes so].

    Args:
        vote: its members give codes 0 … K − 1.
        shares: of the members, shape (M,).
        classes: the K labels.
    """
    K, M = len(classes), len(shares)
    which = OneHotEncoder(categories=[np.arange(K)] * M, sparse_output=False)
    which.fit(np.zeros((1, M), dtype=np.int64))
    W = np.kron(shares, np.eye(K) if K > 2 else np.array([[-1.0, 1.0]]))
    sum_ = _linear(W, np.zeros(len(W)))
    sum_.classes_ = classes
    return Pipeline([("votes", vote), ("which", which), ("sum", sum_)])


def _pieces(low: np.ndarray, width: np.ndarray, count: int) -> FeatureUnion:
    """Columns cut into pieces: how much of every piece lies below the value, from 0 to 1."""
    ends = [(low + at * width, low + (at + 1) * width) for at in range(count)]
    return FeatureUnion([(f"piece{at}", _scaler(*pair)) for at, pair in enumerate(ends)])


def _sum_of_pieces(values: np.ndarray, b: np.ndarray) -> tuple[str, SGDClassifier]:
    """Piecewise linear functions of columns: values at the knots, (V, p, knots), 0 being at b."""
    rises = np.diff(values, axis=2) if values.shape[2] > 1 else np.zeros_like(values)
    return _last(rises.transpose(0, 2, 1).reshape(len(b), -1), b)


def _linear(W: np.ndarray, b: np.ndarray) -> SGDClassifier:
    """The classifier whose scores are W x + b, whoever learned them."""
    return _with_weights(SGDClassifier(), W, b)


def _last(W: np.ndarray, b: np.ndarray) -> tuple[str, SGDClassifier]:
    return "sum", _linear(W, b)


def _with_weights(plain: Any, W: np.ndarray, b: np.ndarray) -> Any:
    plain.coef_, plain.intercept_ = np.ascontiguousarray(W), np.asarray(b)
    plain.classes_, plain.n_features_in_ = np.arange(max(2, len(W))), W.shape[1]
    return plain


def _scaler(low: np.ndarray, high: np.ndarray, to: tuple[int, int] = (0, 1)) -> MinMaxScaler:
    """The scaler from [low, high] to a range, clipped; a constant column becomes its lower end."""
    scaler = MinMaxScaler(feature_range=to, clip=True)
    spread = np.where(high > low, high - low, 1.0)
    scaler.scale_ = (to[1] - to[0]) / spread
    scaler.min_ = to[0] - low * scaler.scale_
    scaler.data_min_, scaler.data_max_, scaler.data_range_ = low, high, high - low
    scaler.n_features_in_, scaler.n_samples_seen_ = len(low), 2
    return scaler


def _cuts(column: np.ndarray) -> np.ndarray:
    """Where a column is cut into bins, ascending; none for a constant."""
    values = np.unique(column)
    between = (values[:-1] + values[1:]) / 2
    if len(between) < _BAYES_BINS:
        return between
    places = np.arange(1, _BAYES_BINS) * len(values) // _BAYES_BINS
    return between[places - 1]


def _binner(cuts: list[np.ndarray]) -> KBinsDiscretizer:
    # Only the inner edges are looked at: values beyond the outer ones join the outer bins.
    binner = KBinsDiscretizer(_BAYES_BINS, encode="ordinal", strategy="quantile")
    edges = np.empty(len(cuts), dtype=object)
    for at, own in enumerate(cuts):
        edges[at] = np.concatenate([[-np.inf], own, [np.inf]])
    binner.bin_edges_, binner.n_features_in_ = edges, len(cuts)
    binner.n_bins_ = np.array([len(own) + 1 for own in cuts])
    return binner


def power(base: np.ndarray, degree: int) -> np.ndarray:
    """Base to a whole power by repeated squaring, which is much faster than numpy's own."""
    result: np.ndarray | None = None
    while degree:
        if degree & 1:
            result = base if result is None else result * base
        degree >>= 1
        base = base * base if degree else base
    return np.ones_like(base) if result is None else result
