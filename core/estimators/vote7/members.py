"""The seven members of the vote: each fits rows, gives a classifier of scikit-learn, and predicts.

Weighted sums of columns, of pieces of columns, or of kernel values have classes in scikit-learn: a
member predicts by these alone, and an exported vote holds nothing of ours.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n, p, K | | | rows, columns, classes |
| V | ``rows.vectors`` | | weight vectors: one for two classes, otherwise one a class |
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder

from core.estimators.tables.two_penalties import minimize
from core.estimators.vote7.online import (
    intersection_functions,
    kernel_machine,
    passive_aggressive_weights,
    perceptron_weights,
    winnow_weights,
)

_POOL = 1000  # rows whose kernel matrix a fit can afford: 8 MB, some 20 ms
_BAYES_BINS = 10


@dataclass(frozen=True)
class MemberTrainingData:
    """Training rows as every member takes them."""

    X: np.ndarray  # columns, C-ordered, shape (n, p)
    codes: np.ndarray  # the class of every row, 0 … K − 1, shape (n,)
    classes: int  # K
    seed: int  # of what the members draw

    @property
    def vectors(self) -> int:
        return 1 if self.classes == 2 else self.classes

    def row_orders(self, epochs: int, member: int) -> np.ndarray:
        """A random order of the rows for every epoch, shape (epochs, n)."""
        numbers = np.tile(np.arange(len(self.codes)), (int(epochs), 1))
        return self.generator(member).permuted(numbers, axis=1)

    def generator(self, member: int) -> np.random.Generator:
        """Random numbers of one member, whatever the others draw."""
        return np.random.default_rng([self.seed, member])

    def scaled_columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns from 0 to 1, and the least value and the range of each (1 for a constant)."""
        low = self.X.min(axis=0)
        spread = self.X.max(axis=0) - low
        spread[spread == 0] = 1.0
        return np.clip((self.X - low) / spread, 0.0, 1.0), low, spread


def fit_winnow(
    rows: MemberTrainingData, *, epochs: int, tol: float, bias_tol: float, margin: float
) -> SGDClassifier:
    """Winnow on columns scaled to [0, 1] and their complements (Littlestone 1988)."""
    Z, low, spread = rows.scaled_columns()
    orders = rows.row_orders(epochs, 0)
    W, b = winnow_weights(
        Z, rows.codes, rows.vectors, orders, float(margin), float(tol), float(bias_tol)
    )
    W = W / spread
    return _linear_classifier(W, b - W @ low)


def fit_perceptron(rows: MemberTrainingData, *, average: bool, epochs: int) -> SGDClassifier:
    """The perceptron, averaged or not."""
    orders = rows.row_orders(epochs, 1)
    return _linear_classifier(
        *perceptron_weights(rows.X, rows.codes, rows.vectors, orders, bool(average))
    )


def fit_logistic(
    rows: MemberTrainingData, *, l1: float, l2: float, max_iter: int, tol: float
) -> LogisticRegression:
    """Logistic regression with two penalties against the mean loss."""
    solution = minimize(rows.X, rows.codes, rows.classes, l1, l2, int(max_iter), tol)
    plain = LogisticRegression()
    plain.n_iter_ = np.array([solution.iterations], dtype=np.int32)
    return _with_weights(plain, solution.weights, solution.intercepts)


def fit_bayes(rows: MemberTrainingData, *, floor: float) -> Pipeline:
    """Naive Bayes on binned columns: p(bin | class) is its share, and at least `floor`.

    At most ten bins hold equally many distinct values each: many equal ones (the zeros of a sparse
    file) do not use up the bins.
    """
    cuts = [_column_cuts(column) for column in rows.X.T]
    max_bins = max(len(column_cuts) for column_cuts in cuts) + 1
    counts_of_class = np.bincount(rows.codes, minlength=rows.classes)
    logs = np.empty((rows.classes, len(cuts), max_bins))
    for index, (column, column_cuts) in enumerate(zip(rows.X.T, cuts, strict=True)):
        bin_codes = np.searchsorted(column_cuts, column, side="right")
        counts = np.bincount(rows.codes * max_bins + bin_codes, minlength=rows.classes * max_bins)
        shares = counts.reshape(rows.classes, max_bins) / counts_of_class[:, None]
        logs[:, index] = np.log(np.maximum(shares, floor))
    priors = np.log(counts_of_class / len(rows.codes))
    if rows.classes == 2:
        logs, priors = logs[1:] - logs[:1], priors[1:] - priors[:1]
    numbers = np.zeros(len(cuts)), np.ones(len(cuts))
    # The number of a bin, cut into pieces of length one, says of every bin whether it is passed.
    steps = [
        ("bins", _make_binner(cuts)),
        ("passed", _column_pieces(*numbers, max(1, max_bins - 1))),
    ]
    return Pipeline([*steps, _sum_of_pieces(logs, priors + logs[:, :, 0].sum(axis=1))])


def fit_svm(
    rows: MemberTrainingData,
    *,
    degree: int,
    bias: float,
    decay: float,
    max_iter: int,
    batch: int,
    l2: float,
) -> Pipeline:
    """A support vector machine with the kernel ((xᵀz/p + c) / (1 + c))^d on columns in [−1, 1].

    Batches come from a pool of at most 1,000 training rows, so that the kernel matrix is made once;
    it is at most 1.
    """
    draw = rows.generator(4)
    n, p = rows.X.shape
    pool = np.sort(draw.permutation(n)[:_POOL])
    scaler = _range_scaler(rows.X.min(axis=0), rows.X.max(axis=0), (-1, 1))
    Z = scaler.transform(rows.X[pool])
    gram = integer_power((Z @ Z.T / p + bias) / (1.0 + bias), int(degree))
    picks = draw.integers(len(pool), size=(int(max_iter), int(batch)))
    dual = kernel_machine(gram, rows.codes[pool], rows.vectors, picks, float(decay), float(l2))
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
    scores = _sum_step(np.eye(rows.vectors), np.zeros(rows.vectors))
    return Pipeline([("scale", scaler), ("kernel", kernel), scores])


def fit_passive_aggressive(
    rows: MemberTrainingData, *, sensitivity: float, relaxation: float, epochs: int
) -> SGDClassifier:
    """The passive-aggressive learner (Crammer 2006)."""
    orders = rows.row_orders(epochs, 5)
    options = (float(sensitivity), float(relaxation))
    return _linear_classifier(
        *passive_aggressive_weights(rows.X, rows.codes, rows.vectors, orders, *options)
    )


def fit_intersection(rows: MemberTrainingData, *, bins: int, rate: float, epochs: int) -> Pipeline:
    """The passive-aggressive learner on the intersection kernel's features (Maji 2008).

    Yogatama and Mann 2014 name it IKPamir, "a combination of Crammer et al. (2006) and Maji et al.
    (2008)", and say no more of it. Every piece of a column is a column scaled to [0, 1] between two
    knots and clipped there.
    """
    Z, low, spread = rows.scaled_columns()
    bins = int(bins)
    orders = rows.row_orders(epochs, 6)
    H, b = intersection_functions(Z, rows.codes, rows.vectors, orders, bins, float(rate))
    return Pipeline([("pieces", _column_pieces(low, spread / bins, bins)), _sum_of_pieces(H, b)])


def shares_of_votes(vote: VotingClassifier, shares: list[float], classes: np.ndarray) -> Pipeline:
    """The shares of a fitted vote as scores: a sum over M members of share × [it votes so].

    Its members give codes 0 … K − 1 of the K `classes`; `shares` are the members', shape (M,).
    """
    K, M = len(classes), len(shares)
    encoder = OneHotEncoder(categories=[np.arange(K)] * M, sparse_output=False)
    encoder.fit(np.zeros((1, M), dtype=np.int64))
    W = np.kron(shares, np.eye(K) if K > 2 else np.array([[-1.0, 1.0]]))
    sum_ = _linear_classifier(W, np.zeros(len(W)))
    sum_.classes_ = classes
    return Pipeline([("votes", vote), ("which", encoder), ("sum", sum_)])


def _column_pieces(low: np.ndarray, width: np.ndarray, count: int) -> FeatureUnion:
    """Columns cut into pieces: how much of every piece lies below the value, from 0 to 1."""
    ends = [(low + index * width, low + (index + 1) * width) for index in range(count)]
    return FeatureUnion(
        [(f"piece{index}", _range_scaler(*pair)) for index, pair in enumerate(ends)]
    )


def _sum_of_pieces(values: np.ndarray, b: np.ndarray) -> tuple[str, SGDClassifier]:
    """Piecewise linear functions of columns: values at the knots, (V, p, knots), 0 being at b."""
    rises = np.diff(values, axis=2) if values.shape[2] > 1 else np.zeros_like(values)
    return _sum_step(rises.transpose(0, 2, 1).reshape(len(b), -1), b)


def _linear_classifier(W: np.ndarray, b: np.ndarray) -> SGDClassifier:
    return _with_weights(SGDClassifier(), W, b)


def _sum_step(W: np.ndarray, b: np.ndarray) -> tuple[str, SGDClassifier]:
    return "sum", _linear_classifier(W, b)


def _with_weights(plain: Any, W: np.ndarray, b: np.ndarray) -> Any:
    plain.coef_, plain.intercept_ = np.ascontiguousarray(W), np.asarray(b)
    plain.classes_, plain.n_features_in_ = np.arange(max(2, len(W))), W.shape[1]
    return plain


def _range_scaler(
    low: np.ndarray, high: np.ndarray, feature_range: tuple[int, int] = (0, 1)
) -> MinMaxScaler:
    """The scaler from [low, high] to a range, clipped; a constant column becomes its lower end."""
    scaler = MinMaxScaler(feature_range=feature_range, clip=True)
    spread = np.where(high > low, high - low, 1.0)
    scaler.scale_ = (feature_range[1] - feature_range[0]) / spread
    scaler.min_ = feature_range[0] - low * scaler.scale_
    scaler.data_min_, scaler.data_max_, scaler.data_range_ = low, high, high - low
    scaler.n_features_in_, scaler.n_samples_seen_ = len(low), 2
    return scaler


def _column_cuts(column: np.ndarray) -> np.ndarray:
    """Where a column is cut into bins, ascending; none for a constant."""
    values = np.unique(column)
    between = (values[:-1] + values[1:]) / 2
    if len(between) < _BAYES_BINS:
        return between
    positions = np.arange(1, _BAYES_BINS) * len(values) // _BAYES_BINS
    return between[positions - 1]


def _make_binner(cuts: list[np.ndarray]) -> KBinsDiscretizer:
    # Only the inner edges are looked at: values beyond the outer ones join the outer bins.
    binner = KBinsDiscretizer(_BAYES_BINS, encode="ordinal", strategy="quantile")
    edges = np.empty(len(cuts), dtype=object)
    for index, column_cuts in enumerate(cuts):
        edges[index] = np.concatenate([[-np.inf], column_cuts, [np.inf]])
    binner.bin_edges_, binner.n_features_in_ = edges, len(cuts)
    binner.n_bins_ = np.array([len(column_cuts) + 1 for column_cuts in cuts])
    return binner


def integer_power(base: np.ndarray, degree: int) -> np.ndarray:
    """Base to a whole power by repeated squaring, which is much faster than numpy's own."""
    result: np.ndarray | None = None
    while degree:
        if degree & 1:
            result = base if result is None else result * base
        degree >>= 1
        base = base * base if degree else base
    return np.ones_like(base) if result is None else result


def codes_of(member: Any, X: np.ndarray) -> np.ndarray:
    """The codes of rows, shape (n,), as the member's own `predict` gives them.

    Scores are scikit-learn's to the last bit, but for kernel values, powers by squaring. `X` are
    finite numbers, C-ordered, shape (n, p).
    """
    if not isinstance(member, Pipeline):
        return np.asarray(member.predict(X))
    steps = dict(member.steps)
    if "kernel" in steps:
        features = _kernel_sums(steps["kernel"], steps["scale"].transform(X))
    elif "bins" in steps:
        features = _pieces_of(steps["passed"], _bins_of(steps["bins"], X))
    else:
        features = _pieces_of(steps["pieces"], X)
    return np.asarray(steps["sum"].predict(features))


def _kernel_sums(kernel: Any, Z: np.ndarray) -> np.ndarray:
    """The outputs of a Nystroem with a polynomial kernel, shape (n, V)."""
    gram = Z @ kernel.components_.T
    gram *= kernel.gamma
    gram += kernel.coef0
    return np.asarray(integer_power(gram, kernel.degree) @ kernel.normalization_.T)


def _bins_of(binner: Any, X: np.ndarray) -> np.ndarray:
    """The number of the bin of every value, shape (n, p)."""
    bin_codes = np.empty(X.shape)
    for column, edges in enumerate(binner.bin_edges_):
        bin_codes[:, column] = np.searchsorted(edges[1:-1], X[:, column], side="right")
    return bin_codes


def _pieces_of(union: Any, X: np.ndarray) -> np.ndarray:
    """The outputs of a union of clipping scalers, side by side, shape (n, pieces × p)."""
    n, p = X.shape
    features = np.empty((n, len(union.transformer_list) * p))
    for index, (_, scaler) in enumerate(union.transformer_list):
        piece = features[:, index * p : (index + 1) * p]
        np.multiply(X, scaler.scale_, out=piece)
        piece += scaler.min_
        np.clip(piece, *scaler.feature_range, out=piece)
    return features
