"""Fitted scikit-learn models as nodes of an ONNX graph, all in double precision.

The operators that ONNX has for whole models calculate in single precision: a support vector machine
with C = 1000 was off by 2e-3 of the target's deviation. So sums and kernels are written out here.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| N, p, K | | | rows, prepared columns, classes |
| X | ``X`` | (N, p) | the prepared rows, name of a result |
| s, a | ``support_vectors_``, ``dual_coef_`` | (S, p), | support vectors and their weights |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from core.errors import UnusableError
from core.export.onnx.graph import Graph
from core.export.onnx.neighbours import neighbours
from core.export.onnx.trees import boosted, forest

_WHOLE = 7  # ONNX's number of the type int64
_HIDDEN = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


@dataclass(frozen=True)
class Classes:
    """What a classifier says, as names of results.

    Attributes:
        place: of the predicted class among the sorted ones, (N,).
        degrees: probabilities or scores, (N, K).
        probable: whether they are probabilities.
    """

    place: str
    degrees: str
    probable: bool


def numbers(graph: Graph, X: str, model: Any) -> str:
    """What a fitted regressor predicts, (N, 1).

    Raises:
        UnusableError: the graph has no counterpart of this kind of model.
    """
    return _known(_NUMBERS, model)(graph, X, model)


def classes(graph: Graph, X: str, model: Any) -> Classes:
    """What a fitted classifier predicts.

    Raises:
        UnusableError: the graph has no counterpart of this kind of model.
    """
    return _known(_CLASSES, model)(graph, X, model)


def _known(writers: dict[type, Callable[..., Any]], model: Any) -> Callable[..., Any]:
    writer = writers.get(type(model))
    if writer is None:
        raise _no_counterpart(model)
    return writer


def _no_counterpart(model: Any) -> UnusableError:
    return UnusableError(
        f"ONNX has no counterpart of this kind of model ({type(model).__name__})",
        cure="export it as skops, or choose another model",
    )


# Numbers ----------------------------------------------------------------------------------


def _linear(graph: Graph, X: str, model: Any) -> str:
    return graph.affine(X, np.reshape(model.coef_, (-1, 1)), np.reshape(model.intercept_, (1, 1)))


def _mean(graph: Graph, X: str, model: DummyRegressor) -> str:
    return _same_for_every_row(graph, X, model.constant_.reshape(1, 1))


def _same_for_every_row(graph: Graph, X: str, said: np.ndarray) -> str:
    """One line of numbers, (1, K), for each of the N rows."""
    rows = graph.node("Shape", X, start=0, end=1)
    shape = graph.node("Concat", rows, graph.constant(np.array([1])), axis=0)
    return graph.node("Expand", graph.constant(said.astype(np.float64)), shape)


def _support_regression(graph: Graph, X: str, model: SVR) -> str:
    weights = _dense(model.dual_coef_).T
    return graph.affine(_kernel(graph, X, model), weights, model.intercept_.reshape(1, 1))


def _on_standard_target(graph: Graph, X: str, model: TransformedTargetRegressor) -> str:
    """ŷ = μ + σ f(x) of a regressor f of the standardized target."""
    scaler = model.transformer_
    if type(scaler) is not StandardScaler:
        raise _no_counterpart(scaler)
    inner = numbers(graph, X, model.regressor_)
    scaled = graph.node("Mul", inner, graph.constant(scaler.scale_.reshape(1, 1)))
    return graph.node("Add", scaled, graph.constant(scaler.mean_.reshape(1, 1)))


def _mean_of_numbers(graph: Graph, X: str, vote: VotingRegressor) -> str:
    said = [numbers(graph, X, member) for member in vote.estimators_]
    return _weighted(graph, said, vote.weights)


# Classes ----------------------------------------------------------------------------------


def _logistic(graph: Graph, X: str, model: LogisticRegression) -> Classes:
    return _linked(graph, graph.affine(X, model.coef_.T, model.intercept_[None]), model)


def _shares(graph: Graph, X: str, model: DummyClassifier) -> Classes:
    if model.strategy != "prior":
        raise _no_counterpart(model)
    return _likeliest(graph, _same_for_every_row(graph, X, model.class_prior_[None]))


def _linked(graph: Graph, z: str, model: Any) -> Classes:
    """One number a row, (N, 1), by the logistic function; one a class, (N, K), by softmax."""
    if len(model.classes_) > 2:
        return _likeliest(graph, graph.node("Softmax", z, axis=1))
    second = graph.node("Sigmoid", z)
    return _likeliest(graph, _two(graph, second))


def _two(graph: Graph, second: str) -> str:
    """The probabilities of both classes from that of the second, (N, 1)."""
    first = graph.node("Sub", graph.constant(np.ones((1, 1))), second)
    return graph.node("Concat", first, second, axis=1)


def _likeliest(graph: Graph, shares: str) -> Classes:
    return Classes(graph.node("ArgMax", shares, axis=1, keepdims=0), shares, True)


def _network_of_numbers(graph: Graph, X: str, model: MLPRegressor) -> str:
    if model.out_activation_ != "identity":
        raise _no_counterpart(model)
    return _layers(graph, X, model)


def _network(graph: Graph, X: str, model: MLPClassifier) -> Classes:
    return _linked(graph, _layers(graph, X, model), model)


def _layers(graph: Graph, X: str, model: Any) -> str:
    """What the last layer of a network is given."""
    *inner, last = zip(model.coefs_, model.intercepts_, strict=True)
    for weights, constant in inner:
        X = graph.node(_HIDDEN[model.activation], graph.affine(X, weights, constant[None]))
    weights, constant = last
    return graph.affine(X, weights, constant[None])


def _support_classes(graph: Graph, X: str, model: SVC) -> Classes:
    """Every pair of classes decides between its two; scores are scikit-learn's own.

    Two classes: −f and f. Several: the votes of the pairs, and less than a third of a vote by how
    sure they are, Σf / (3 (|Σf| + 1)).
    """
    pairs = list(combinations(range(len(model.classes_)), 2))
    f = graph.affine(_kernel(graph, X, model), *_pair_weights(model, pairs))  # > 0: the first
    zero, one = graph.constant(np.zeros((1, 1))), graph.constant(np.ones((1, 1)))
    firsts, seconds = (np.eye(len(model.classes_))[list(side)] for side in zip(*pairs, strict=True))
    if len(pairs) == 1:
        scores = graph.node("MatMul", f, graph.constant(np.array([[1.0, -1.0]])))
        return Classes(graph.node("ArgMax", scores, axis=1, keepdims=0), scores, False)
    first = graph.node("Where", graph.node("Greater", f, zero), one, zero)
    against = graph.node("Sub", one, first)
    votes = graph.sum(
        [
            graph.node("MatMul", first, graph.constant(firsts)),
            graph.node("MatMul", against, graph.constant(seconds)),
        ]
    )
    sure = graph.node("MatMul", f, graph.constant(firsts - seconds))
    size = graph.node("Add", graph.node("Abs", sure), one)
    part = graph.node("Div", sure, graph.node("Mul", size, graph.constant(np.full((1, 1), 3.0))))
    return Classes(
        graph.node("ArgMax", votes, axis=1, keepdims=0), graph.node("Add", votes, part), False
    )


def _pair_weights(model: SVC, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the kernel in every pair's decision, (S, pairs), and its constant.

    Row j − 1 of libsvm's table holds the weights of class i's support vectors against class j > i,
    row j those against class j < i. scikit-learn turns the sign of two classes' public copy.
    """
    dual = _dense(model.dual_coef_)
    sign = -1.0 if len(model.classes_) == 2 else 1.0
    ends = np.cumsum(model.n_support_)
    of_class = [slice(end - n, end) for end, n in zip(ends, model.n_support_, strict=True)]
    weights = np.zeros((dual.shape[1], len(pairs)))
    for at, (i, j) in enumerate(pairs):
        weights[of_class[i], at] = dual[j - 1, of_class[i]]
        weights[of_class[j], at] = dual[i, of_class[j]]
    return sign * weights, sign * np.asarray(model.intercept_).reshape(1, -1)


def _kernel(graph: Graph, X: str, model: SVC | SVR) -> str:
    """exp(−γ ‖x − s‖²) of every row and support vector, (N, S)."""
    if model.kernel != "rbf":
        raise _no_counterpart(model)
    vectors, gamma = _dense(model.support_vectors_), float(model._gamma)
    own = graph.node("ReduceSumSquare", X, graph.constant(np.array([1])), keepdims=1)
    theirs = graph.constant((vectors**2).sum(axis=1)[None])
    both = graph.node("MatMul", X, graph.constant(-2.0 * vectors.T))
    apart = graph.node("Max", graph.sum([own, both, theirs]), graph.constant(np.zeros((1, 1))))
    return graph.node("Exp", graph.node("Mul", apart, graph.constant(np.full((1, 1), -gamma))))


def _calibrated(graph: Graph, X: str, model: CalibratedClassifierCV) -> Classes:
    said = [_one_calibrated(graph, X, one) for one in model.calibrated_classifiers_]
    return _likeliest(graph, _weighted(graph, said, None))


def _one_calibrated(graph: Graph, X: str, model: Any) -> str:
    """Sigmoids of the decisions, 1 / (1 + exp(a f + b)), with sum 1 over the classes, (N, K)."""
    inner, sigmoids = classes(graph, X, model.estimator), model.calibrators
    if inner.probable or any(type(one) is not _SigmoidCalibration for one in sigmoids):
        raise _no_counterpart(model)
    a, b = (np.array([[getattr(one, name) for one in sigmoids]]) for name in ("a_", "b_"))
    decisions = inner.degrees
    if len(sigmoids) == 1:  # of the second class
        decisions = graph.node("Gather", decisions, graph.constant(np.array([1])), axis=1)
    scaled = graph.node("Mul", decisions, graph.constant(-a))
    shares = graph.node("Sigmoid", graph.node("Sub", scaled, graph.constant(b)))
    if len(sigmoids) == 1:
        return _two(graph, shares)
    total = graph.node("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
    return graph.node("Div", shares, total)


def _mean_of_shares(graph: Graph, X: str, vote: VotingClassifier) -> Classes:
    if vote.voting == "hard":  # a tie between labels would be broken in another way
        raise _no_counterpart(vote)
    said = [classes(graph, X, member) for member in vote.estimators_]
    return _likeliest(graph, _weighted(graph, [one.degrees for one in said], vote.weights))


def _decided(graph: Graph, X: str, model: FixedThresholdClassifier) -> Classes:
    """The second of two classes from its threshold on; the probabilities stay as they are."""
    inner = classes(graph, X, model.estimator_)
    if not inner.probable or model.pos_label != model.classes_[1]:
        raise _no_counterpart(model)
    second = graph.node("Gather", inner.degrees, graph.constant(np.array([1])), axis=1)
    reached = graph.node(
        "GreaterOrEqual", second, graph.constant(np.array([float(model.threshold)]))
    )
    place = graph.node("Cast", reached, to=_WHOLE)
    return replace(inner, place=graph.node("Reshape", place, graph.constant(np.array([-1]))))


def _boosted_classes(graph: Graph, X: str, model: Any) -> Classes:
    return _linked(graph, boosted(graph, X, model), model)


def _forest_classes(graph: Graph, X: str, model: Any) -> Classes:
    return _likeliest(graph, forest(graph, X, model))


def _naive_bayes(graph: Graph, X: str, model: GaussianNB) -> Classes:
    """Softmax of log π_k − ½ Σ_j log 2πσ²_kj − ½ Σ_j ((x_j − θ_kj) / σ_kj)²."""
    apart = graph.node("Sub", _third_axis(graph, X), graph.constant(model.theta_[None]))
    scaled = graph.node("Div", apart, graph.constant(np.sqrt(model.var_)[None]))
    squares = graph.node("ReduceSumSquare", scaled, graph.constant(np.array([2])), keepdims=0)
    half = graph.node("Mul", squares, graph.constant(np.full((1, 1), -0.5)))
    constant = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    joint = graph.node("Add", half, graph.constant(constant[None]))
    return _likeliest(graph, graph.node("Softmax", joint, axis=1))


def _third_axis(graph: Graph, X: str) -> str:
    """(N, p) as (N, 1, p)."""
    return graph.node("Unsqueeze", X, graph.constant(np.array([1])))


def _mean_of_neighbours(graph: Graph, X: str, model: KNeighborsRegressor) -> str:
    targets = np.asarray(model._y, dtype=np.float64).reshape(-1, 1)
    return _asked(graph, *neighbours(graph, X, model), targets)


def _vote_of_neighbours(graph: Graph, X: str, model: KNeighborsClassifier) -> Classes:
    votes = np.eye(len(model.classes_))[model._y]
    return _likeliest(graph, _asked(graph, *neighbours(graph, X, model), votes))


def _asked(graph: Graph, places: str, weights: str, said: np.ndarray) -> str:
    """The weighted mean of what the neighbours have, (N, outputs); `said` is that of all rows."""
    theirs = graph.node("Gather", graph.constant(said), places, axis=0)  # (N, k, outputs)
    weighed = graph.node(
        "Mul", theirs, graph.node("Unsqueeze", weights, graph.constant(np.array([2])))
    )
    sums = graph.node("ReduceSum", weighed, graph.constant(np.array([1])), keepdims=0)
    total = graph.node("ReduceSum", weights, graph.constant(np.array([1])), keepdims=1)
    return graph.node("Div", sums, total)


def _weighted(graph: Graph, said: list[str], weights: Any) -> str:
    """The weighted mean of results; None weighs them alike."""
    given = np.ones(len(said)) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = given / given.sum()
    pairs = zip(said, shares, strict=True)
    return graph.sum(
        [graph.node("Mul", one, graph.constant(np.full((1, 1), w))) for one, w in pairs]
    )


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


_NUMBERS: dict[type, Callable[..., str]] = {
    Ridge: _linear,
    ElasticNet: _linear,
    SVR: _support_regression,
    MLPRegressor: _network_of_numbers,
    RandomForestRegressor: forest,
    ExtraTreesRegressor: forest,
    KNeighborsRegressor: _mean_of_neighbours,
    HistGradientBoostingRegressor: boosted,
    TransformedTargetRegressor: _on_standard_target,
    VotingRegressor: _mean_of_numbers,
    DummyRegressor: _mean,
}
_CLASSES: dict[type, Callable[..., Classes]] = {
    LogisticRegression: _logistic,
    SVC: _support_classes,
    MLPClassifier: _network,
    RandomForestClassifier: _forest_classes,
    ExtraTreesClassifier: _forest_classes,
    KNeighborsClassifier: _vote_of_neighbours,
    GaussianNB: _naive_bayes,
    HistGradientBoostingClassifier: _boosted_classes,
    CalibratedClassifierCV: _calibrated,
    VotingClassifier: _mean_of_shares,
    FixedThresholdClassifier: _decided,
    DummyClassifier: _shares,
}
