"""Fitted scikit-learn models as nodes of an ONNX graph, all in double precision.

N rows, p prepared columns, K classes; X (N, p) is the name of the prepared rows; s (S, p) and a are
the support vectors (``support_vectors_``) and their weights (``dual_coef_``).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn import ensemble
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from core.errors import UnusableError
from core.estimators.multi_model import without_own_columns
from core.export.bundle.column_transforms import to_dense
from core.export.onnx.graph import OnnxGraph

# ONNX's own operators for models calculate in single precision, which for a support vector machine
# with C = 1000 was off by 2e-3 of the target's deviation. So sums and kernels are written out;
# only trees are one operator, which returns its sum in single precision.

_INT64 = 7  # ONNX's number of the type int64
_HIDDEN = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}


@dataclass(frozen=True)
class ClassifierOutputs:
    """The outputs of a classifier, as names of results."""

    class_index: str  # of the prediction among the sorted classes, (N,)
    scores: str  # probabilities or scores, (N, K)
    has_probabilities: bool  # whether `scores` are probabilities


def add_model(graph: OnnxGraph, X: str, model: Any) -> Any:
    """The numbers of a fitted regressor, (N, 1), or the `ClassifierOutputs` of a classifier."""
    if type(model) not in _WRITERS:
        raise _no_counterpart(model)
    return _WRITERS[type(model)](graph, X, model)


def _no_counterpart(model: Any) -> UnusableError:
    problem = f"ONNX has no counterpart of this kind of model ({type(model).__name__})"
    return UnusableError(problem, cure="export it as skops, or choose another model")


# Numbers ----------------------------------------------------------------------------------


def _linear_numbers(graph: OnnxGraph, X: str, model: Any) -> str:
    return graph.add_affine(X, np.atleast_2d(model.coef_).T, np.reshape(model.intercept_, (1, -1)))


def _same_for_every_row(graph: OnnxGraph, X: str, values: np.ndarray) -> str:
    rows = graph.add_node("Shape", X, start=0, end=1)
    shape = graph.add_node("Concat", rows, [1], axis=0)
    return graph.add_node("Expand", values.reshape(1, -1).astype(float), shape)


def _support_regression(graph: OnnxGraph, X: str, model: SVR) -> str:
    weights = to_dense(model.dual_coef_).T
    return graph.add_affine(_rbf_kernel(graph, X, model), weights, model.intercept_.reshape(1, 1))


def _on_scaled_target(graph: OnnxGraph, X: str, model: TransformedTargetRegressor) -> str:
    """The numbers of a regressor of a scaled, and perhaps bounded, target on its own scale."""
    transform = model.transformer_
    steps = [step for _, step in getattr(transform, "steps", [("", transform)])]
    numbers: str = add_model(graph, X, model.regressor_)
    # What was done last is undone first.
    for step in reversed(steps):
        inverse: list[tuple[str, list[Any]]]
        if type(step) is StandardScaler:
            inverse = [("Mul", [step.scale_]), ("Add", [step.mean_])]
        elif type(step) is MinMaxScaler:
            inverse = [("Sub", [step.min_]), ("Div", [step.scale_])]
        elif type(step) is FunctionTransformer and step.inverse_func is np.clip:
            bounds = step.inv_kw_args
            inverse = [("Clip", [bounds["a_min"], bounds["a_max"]])]
        else:
            raise _no_counterpart(step)
        for kind, values in inverse:
            numbers = graph.add_node(kind, numbers, *values)
    return numbers


def _mean_of_numbers(graph: OnnxGraph, X: str, vote: ensemble.VotingRegressor) -> str:
    member_numbers = [add_model(graph, X, member) for member in vote.estimators_]
    return _weighted(graph, member_numbers, vote.weights)


# Classes ----------------------------------------------------------------------------------


def _dummy_classes(graph: OnnxGraph, X: str, model: DummyClassifier) -> ClassifierOutputs:
    if model.strategy != "prior":
        raise _no_counterpart(model)
    return _likeliest(graph, _same_for_every_row(graph, X, model.class_prior_))


def _linked_classes(
    add_numbers: Callable[[OnnxGraph, str, Any], str], graph: OnnxGraph, X: str, model: Any
) -> ClassifierOutputs:
    """The logistic function of one number a row, (N, 1), or the softmax of one a class, (N, K)."""
    z = add_numbers(graph, X, model)
    if len(model.classes_) > 2:
        return _likeliest(graph, graph.add_node("Softmax", z, axis=1))
    return _likeliest(graph, _both_shares(graph, graph.add_node("Sigmoid", z)))


def _both_shares(graph: OnnxGraph, second: str) -> str:
    first = graph.add_node("Sub", 1.0, second)
    return graph.add_node("Concat", first, second, axis=1)


def _likeliest(graph: OnnxGraph, shares: str) -> ClassifierOutputs:
    return ClassifierOutputs(graph.add_node("ArgMax", shares, axis=1, keepdims=0), shares, True)


def _network_of_numbers(graph: OnnxGraph, X: str, model: MLPRegressor) -> str:
    if model.out_activation_ != "identity":
        raise _no_counterpart(model)
    return _network_layers(graph, X, model)


def _network_layers(graph: OnnxGraph, X: str, model: Any) -> str:
    *inner, last = zip(model.coefs_, model.intercepts_, strict=True)
    for weights, constant in inner:
        X = graph.add_node(_HIDDEN[model.activation], graph.add_affine(X, weights, constant[None]))
    weights, constant = last
    return graph.add_affine(X, weights, constant[None])


def _support_classes(graph: OnnxGraph, X: str, model: SVC) -> ClassifierOutputs:
    """Every pair of classes decides between its two; scores are scikit-learn's own.

    Two classes: −f and f. Several: the votes of the pairs, and less than a third of a vote by how
    sure they are, Σf / (3 (|Σf| + 1)).
    """
    pairs = list(combinations(range(len(model.classes_)), 2))
    # Positive for the first class of a pair.
    f = graph.add_affine(_rbf_kernel(graph, X, model), *_pair_weights(model, pairs))
    firsts, seconds = (np.eye(len(model.classes_))[list(side)] for side in zip(*pairs, strict=True))
    if len(pairs) == 1:
        scores = graph.add_node("MatMul", f, np.array([[1.0, -1.0]]))
        class_index = graph.add_node("ArgMax", scores, axis=1, keepdims=0)
        return ClassifierOutputs(class_index, scores, False)
    first_wins = graph.add_node("Where", graph.add_node("Greater", f, 0.0), 1.0, 0.0)
    second_wins = graph.add_node("Sub", 1.0, first_wins)
    first_votes = graph.add_node("MatMul", first_wins, firsts)
    second_votes = graph.add_node("MatMul", second_wins, seconds)
    votes = graph.add_node("Sum", first_votes, second_votes)
    confidence = graph.add_node("MatMul", f, firsts - seconds)
    size = graph.add_node("Add", graph.add_node("Abs", confidence), 1.0)
    size = graph.add_node("Mul", size, 3.0)
    tie_break = graph.add_node("Div", confidence, size)
    class_index = graph.add_node("ArgMax", votes, axis=1, keepdims=0)
    return ClassifierOutputs(class_index, graph.add_node("Add", votes, tie_break), False)


def _pair_weights(model: SVC, pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the kernel in every pair's decision, (S, pairs), and its constant."""
    # Row j − 1 of libsvm's table holds the weights of class i's vectors against class j > i, row j
    # those against class j < i. scikit-learn turns the sign of two classes' public copy.
    dual = to_dense(model.dual_coef_)
    sign = -1.0 if len(model.classes_) == 2 else 1.0
    ends = np.cumsum(model.n_support_)
    of_class = [slice(end - n, end) for end, n in zip(ends, model.n_support_, strict=True)]
    weights = np.zeros((dual.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        weights[of_class[i], column] = dual[j - 1, of_class[i]]
        weights[of_class[j], column] = dual[i, of_class[j]]
    return sign * weights, sign * np.asarray(model.intercept_).reshape(1, -1)


def _rbf_kernel(graph: OnnxGraph, X: str, model: SVC | SVR) -> str:
    """exp(−γ ‖x − s‖²) of every row and support vector, (N, S)."""
    if model.kernel != "rbf":
        raise _no_counterpart(model)
    vectors, gamma = to_dense(model.support_vectors_), float(model._gamma)
    row_squares = graph.add_node("ReduceSumSquare", X, [1], keepdims=1)
    products = graph.add_node("MatMul", X, -2.0 * vectors.T)
    squares = graph.add_node("Sum", row_squares, products, (vectors**2).sum(axis=1)[None])
    # Rounding can leave the square of a distance a little below 0.
    squares = graph.add_node("Max", squares, 0.0)
    return graph.add_node("Exp", graph.add_node("Mul", squares, -gamma))


def _calibrated_classes(
    graph: OnnxGraph, X: str, model: CalibratedClassifierCV
) -> ClassifierOutputs:
    member_shares = [_one_calibrated(graph, X, member) for member in model.calibrated_classifiers_]
    return _likeliest(graph, _weighted(graph, member_shares, None))


def _one_calibrated(graph: OnnxGraph, X: str, model: Any) -> str:
    """Sigmoids of the decisions, 1 / (1 + exp(a f + b)), with sum 1 over the classes, (N, K)."""
    inner: ClassifierOutputs = add_model(graph, X, model.estimator)
    sigmoids = model.calibrators
    if inner.has_probabilities or {*map(type, sigmoids)} != {_SigmoidCalibration}:
        raise _no_counterpart(model)
    a, b = (np.array([[getattr(sigmoid, name) for sigmoid in sigmoids]]) for name in ("a_", "b_"))
    decisions = inner.scores
    if len(sigmoids) == 1:  # of the second class
        decisions = graph.add_node("Gather", decisions, [1], axis=1)
    scaled = graph.add_node("Mul", decisions, -a)
    shares = graph.add_node("Sigmoid", graph.add_node("Sub", scaled, b))
    if len(sigmoids) == 1:
        return _both_shares(graph, shares)
    total = graph.add_node("ReduceSum", shares, [1], keepdims=1)
    return graph.add_node("Div", shares, total)


def _mean_of_shares(graph: OnnxGraph, X: str, vote: ensemble.VotingClassifier) -> ClassifierOutputs:
    if vote.voting == "hard":  # a tie between labels would be broken in another way
        raise _no_counterpart(vote)
    member_shares = [add_model(graph, X, member).scores for member in vote.estimators_]
    return _likeliest(graph, _weighted(graph, member_shares, vote.weights))


def _threshold_classes(
    graph: OnnxGraph, X: str, model: FixedThresholdClassifier
) -> ClassifierOutputs:
    inner: ClassifierOutputs = add_model(graph, X, model.estimator_)
    # The file compares the probability of the second class, nothing else.
    if not inner.has_probabilities or model.pos_label != model.classes_[1]:
        raise _no_counterpart(model)
    second = graph.add_node("Gather", inner.scores, [1], axis=1)
    is_second = graph.add_node("GreaterOrEqual", second, float(model.threshold))
    class_index = graph.add_node("Cast", is_second, to=_INT64)
    return replace(inner, class_index=graph.add_node("Reshape", class_index, [-1]))


def _forest_classes(graph: OnnxGraph, X: str, model: Any) -> ClassifierOutputs:
    return _likeliest(graph, forest_mean(graph, X, model))


def _naive_bayes(graph: OnnxGraph, X: str, model: GaussianNB) -> ClassifierOutputs:
    """Softmax of log π_k − ½ Σ_j log 2πσ²_kj − ½ Σ_j ((x_j − θ_kj) / σ_kj)²."""
    wide = graph.add_node("Unsqueeze", X, [1])  # (N, 1, p)
    difference = graph.add_node("Sub", wide, model.theta_[None])
    scaled = graph.add_node("Div", difference, np.sqrt(model.var_)[None])
    squares = graph.add_node("ReduceSumSquare", scaled, [2], keepdims=0)
    exponent = graph.add_node("Mul", squares, -0.5)
    constant = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    joint = graph.add_node("Add", exponent, constant[None])
    return _likeliest(graph, graph.add_node("Softmax", joint, axis=1))


def _mean_of_neighbours(graph: OnnxGraph, X: str, model: KNeighborsRegressor) -> str:
    targets = np.asarray(model._y, dtype=np.float64).reshape(-1, 1)
    return _neighbour_mean(graph, *neighbours(graph, X, model), targets)


def _vote_of_neighbours(graph: OnnxGraph, X: str, model: KNeighborsClassifier) -> ClassifierOutputs:
    votes = np.eye(len(model.classes_))[model._y]
    return _likeliest(graph, _neighbour_mean(graph, *neighbours(graph, X, model), votes))


def _neighbour_mean(graph: OnnxGraph, row_indices: str, weights: str, targets: np.ndarray) -> str:
    nearest = graph.add_node("Gather", targets, row_indices, axis=0)
    wide = graph.add_node("Unsqueeze", weights, [2])
    weighted = graph.add_node("Mul", nearest, wide)  # (N, k, outputs)
    sums = graph.add_node("ReduceSum", weighted, [1], keepdims=0)
    total = graph.add_node("ReduceSum", weights, [1], keepdims=1)
    return graph.add_node("Div", sums, total)


def _weighted(graph: OnnxGraph, results: list[str], weights: Any) -> str:
    raw = np.ones(len(results)) if weights is None else np.asarray(weights, dtype=np.float64)
    pairs = zip(results, raw / raw.sum(), strict=True)
    return graph.add_node("Sum", *(graph.add_node("Mul", result, share) for result, share in pairs))


def _model_of_own_columns(graph: OnnxGraph, X: str, model: Pipeline) -> Any:
    inner, columns = without_own_columns(model)
    if inner is model:
        raise _no_counterpart(model)
    start, end = columns.start or 0, columns.stop or np.iinfo(np.int64).max
    return add_model(graph, graph.add_node("Slice", X, [start], [end], [1]), inner)


MAX_COLUMNS = 500  # each is a node of its own


def neighbours(graph: OnnxGraph, X: str, model: Any) -> tuple[str, str]:
    """The indices of the k nearest training rows, (N, k), and their weights, (N, k)."""
    s = to_dense(model._fit_X)
    if s.shape[1] > MAX_COLUMNS:
        problem = f"ONNX would take too long to compare {s.shape[1]:,} columns"
        raise UnusableError(problem, cure="export it as skops")
    powers = _distance_powers(graph, X, s.astype(np.float64), model.p)
    count = [int(model.n_neighbors)]
    nearest, row_indices = graph.add_multi_output_node("TopK", 2, powers, count, axis=1, largest=0)
    distances = nearest if model.p == 1 else graph.add_node("Sqrt", nearest)
    # Ones in the shape of the distances, which is known when rows come.
    if model.weights == "uniform":
        return row_indices, graph.add_node("Add", graph.add_node("Mul", distances, 0.0), 1.0)
    # Where training rows are the same as the row, these alone count.
    is_same = graph.add_node("Where", graph.add_node("Equal", distances, 0.0), 1.0, 0.0)
    has_same = graph.add_node("ReduceMax", is_same, [1], keepdims=1)
    inverse = graph.add_node("Div", 1.0, distances)
    has_same = graph.add_node("Greater", has_same, 0.0)
    return row_indices, graph.add_node("Where", has_same, is_same, inverse)


def _distance_powers(graph: OnnxGraph, X: str, s: np.ndarray, p: int) -> str:
    """Σ_j |x_j − s_j|^p of every row and training row, (N, S)."""
    total = ""
    for column in range(s.shape[1]):
        x = graph.add_node("Gather", X, [column], axis=1)
        gap = graph.add_node("Sub", x, s[None, :, column])
        power = graph.add_node("Abs", gap) if p == 1 else graph.add_node("Mul", gap, gap)
        total = graph.add_node("Add", total, power) if total else power
    return total


class _Tree(NamedTuple):
    """One tree, its nodes numbered from the root, 0."""

    leaf: np.ndarray  # which nodes are leaves, (nodes,)
    feature: np.ndarray  # of each node, like the next three; unused at a leaf
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray  # of a leaf for each of the outputs, (nodes, outputs)


def forest_mean(graph: OnnxGraph, X: str, model: Any) -> str:
    """The mean of a random forest's trees: numbers (N, 1), or shares of classes (N, K)."""
    from onnx import TensorProto

    trees = []
    # The operator adds up in single precision: about the mean the sums are small, and so is their
    # rounding.
    mean = np.mean([tree.tree_.value[:1, 0, :] for tree in model.estimators_], axis=0)
    for tree in model.estimators_:
        nodes = tree.tree_
        values = (nodes.value[:, 0, :] - mean) / len(model.estimators_)
        splits = (nodes.feature, nodes.threshold, nodes.children_left, nodes.children_right)
        trees.append(_Tree(nodes.children_left < 0, *splits, values))
    # scikit-learn's forests compare in single precision.
    single = graph.add_node("Cast", X, to=TensorProto.FLOAT)
    double = graph.add_node("Cast", single, to=TensorProto.DOUBLE)
    return graph.add_node("Add", _sum_of_trees(graph, double, trees), mean)


def boosted_sum(graph: OnnxGraph, X: str, model: Any) -> str:
    """The sum of histogram-boosted trees before any link, (N, trees an iteration)."""
    width = model.n_trees_per_iteration_
    trees = []
    for iteration in model._predictors:
        for output, predictor in enumerate(iteration):
            nodes = predictor.nodes
            values = np.zeros((len(nodes), width))
            values[:, output] = nodes["value"]
            features, thresholds = nodes["feature_idx"], nodes["num_threshold"]
            leaf = nodes["is_leaf"].astype(bool)
            trees.append(_Tree(leaf, features, thresholds, nodes["left"], nodes["right"], values))
    # Added outside of the trees, in double precision.
    start = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(1, -1)
    return graph.add_node("Add", _sum_of_trees(graph, X, trees), start)


def _sum_of_trees(graph: OnnxGraph, X: str, trees: list[_Tree]) -> str:
    from onnx import TensorProto, numpy_helper

    sizes = [len(tree.leaf) for tree in trees]
    leaf, *splits, values = map(np.concatenate, zip(*trees, strict=True))
    # scikit-learn has negative numbers at leaves, which the operator refuses.
    feature, threshold, left, right = (np.where(leaf, 0, array) for array in splits)
    width = values.shape[1]
    tree_of = np.repeat(np.arange(len(trees)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])
    leaf_nodes, output = np.nonzero(leaf[:, None] & np.ones(width, dtype=bool))
    leaf_values = values[leaf_nodes, output]
    single = graph.add_node(
        "TreeEnsembleRegressor",
        X,
        domain="ai.onnx.ml",
        n_targets=width,
        nodes_treeids=tree_of.tolist(),
        nodes_nodeids=node_of.tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_featureids=feature.astype(int).tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(threshold.astype(np.float64)),
        nodes_truenodeids=left.astype(int).tolist(),
        nodes_falsenodeids=right.astype(int).tolist(),
        target_treeids=tree_of[leaf_nodes].tolist(),
        target_nodeids=node_of[leaf_nodes].tolist(),
        target_ids=output.tolist(),
        target_weights_as_tensor=numpy_helper.from_array(leaf_values.astype(np.float64)),
    )
    return graph.add_node("Cast", single, to=TensorProto.DOUBLE)


# The exact classes: a subclass may calculate otherwise.
_WRITERS: dict[type, Callable[..., str | ClassifierOutputs]] = {
    Ridge: _linear_numbers,
    ElasticNet: _linear_numbers,
    SVR: _support_regression,
    MLPRegressor: _network_of_numbers,
    ensemble.RandomForestRegressor: forest_mean,
    ensemble.ExtraTreesRegressor: forest_mean,
    KNeighborsRegressor: _mean_of_neighbours,
    ensemble.HistGradientBoostingRegressor: boosted_sum,
    TransformedTargetRegressor: _on_scaled_target,
    ensemble.VotingRegressor: _mean_of_numbers,
    DummyRegressor: lambda graph, X, model: _same_for_every_row(graph, X, model.constant_),
    LogisticRegression: partial(_linked_classes, _linear_numbers),
    SVC: _support_classes,
    MLPClassifier: partial(_linked_classes, _network_layers),
    ensemble.RandomForestClassifier: _forest_classes,
    ensemble.ExtraTreesClassifier: _forest_classes,
    KNeighborsClassifier: _vote_of_neighbours,
    GaussianNB: _naive_bayes,
    ensemble.HistGradientBoostingClassifier: partial(_linked_classes, boosted_sum),
    CalibratedClassifierCV: _calibrated_classes,
    ensemble.VotingClassifier: _mean_of_shares,
    FixedThresholdClassifier: _threshold_classes,
    DummyClassifier: _dummy_classes,
    Pipeline: _model_of_own_columns,
}
