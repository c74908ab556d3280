"""Fitted models of LightGBM, XGBoost and CatBoost as scikit-learn's histogram gradient boosting."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.json_reading import read_as

_PROBES = 64  # rows on which the two are compared
# How much they may differ, by the size of the sums: XGBoost adds up in single precision.
_SINGLE = 1e-5
_ZERO = float(np.float32(1e-35))  # kZeroThreshold of LightGBM: what is no larger counts as 0


@dataclass(frozen=True)
class Tree:
    """One tree of one output: arrays over its nodes, (nodes,), parents before children.

    A row goes left where x <= threshold, in double precision.
    """

    feature: np.ndarray  # -1 in a leaf
    threshold: np.ndarray
    left: np.ndarray  # children; unused in a leaf
    right: np.ndarray
    value: np.ndarray  # what a leaf adds to the output


def last_rounded_to(single: np.ndarray) -> np.ndarray:
    """The largest double that rounds to a single number or below.

    Single-precision float(x) <= t is x <= last_rounded_to(t) for every double x.
    """
    single = np.asarray(single, dtype=np.float32)
    with np.errstate(over="ignore"):
        successor = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
        middle = (single.astype(np.float64) + successor) / 2  # a tie, rounded to the even one
        return np.where(middle.astype(np.float32) <= single, middle, np.nextafter(middle, -np.inf))


@dataclass(frozen=True)
class _LightgbmNode:
    """A split; a leaf has no children."""

    split_feature: int = -1
    decision_type: str = "<="
    threshold: float | str = 0.0
    leaf_value: float = 0.0
    left_child: _LightgbmNode | None = None
    right_child: _LightgbmNode | None = None


@dataclass(frozen=True)
class _LightgbmTree:
    tree_structure: _LightgbmNode


@dataclass(frozen=True)
class _LightgbmDump:
    num_tree_per_iteration: int
    tree_info: list[_LightgbmTree]


def _lightgbm_trees(model: Any) -> list[list[Tree]]:
    dump = read_as(_LightgbmDump, model.booster_.dump_model())
    outputs = dump.num_tree_per_iteration
    flat_trees = [_lightgbm_tree(tree.tree_structure) for tree in dump.tree_info]
    return [flat_trees[start : start + outputs] for start in range(0, len(flat_trees), outputs)]


def _lightgbm_tree(root: _LightgbmNode) -> Tree:
    nodes, threshold, left, right = [root], [], [], []
    # Breadth first, so that parents come before children; the list grows meanwhile.
    for node in nodes:
        if node.left_child is None or node.right_child is None:
            threshold.append(0.0)
            left.append(0)
            right.append(0)
            continue
        if node.decision_type != "<=":
            raise ValueError(f"a split by {node.decision_type}")
        threshold.append(_lightgbm_threshold(float(node.threshold)))
        left.append(len(nodes))
        right.append(len(nodes) + 1)
        nodes += [node.left_child, node.right_child]
    return Tree(
        feature=np.array([node.split_feature for node in nodes]),
        threshold=np.array(threshold),
        left=np.array(left),
        right=np.array(right),
        value=np.array([float(node.leaf_value) for node in nodes]),
    )


def _lightgbm_threshold(threshold: float) -> float:
    if -_ZERO <= threshold < 0:  # LightGBM takes all numbers near 0 for 0
        return math.nextafter(-_ZERO, -math.inf)
    return _ZERO if 0 <= threshold < _ZERO else threshold


@dataclass(frozen=True)
class _XgboostTree:
    split_type: list[int]
    split_indices: list[int]
    split_conditions: list[float]
    left_children: list[int]
    right_children: list[int]


@dataclass(frozen=True)
class _XgboostForest:
    trees: list[_XgboostTree]
    tree_info: list[int]


def _xgboost_trees(model: Any) -> list[list[Tree]]:
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    forest = read_as(_XgboostForest, document["learner"]["gradient_booster"]["model"])
    tree_outputs = forest.tree_info  # the output of every tree
    outputs = max(tree_outputs, default=0) + 1
    if tree_outputs != [index % outputs for index in range(len(tree_outputs))]:
        raise ValueError("trees in another order")
    flat_trees = [_xgboost_tree(tree) for tree in forest.trees]
    return [flat_trees[start : start + outputs] for start in range(0, len(flat_trees), outputs)]


def _xgboost_tree(tree: _XgboostTree) -> Tree:
    if any(tree.split_type):
        raise ValueError("a split by categories")
    left, right = np.array(tree.left_children), np.array(tree.right_children)
    leaf, number = left < 0, np.array(tree.split_conditions, dtype=np.float32)
    # A row goes left where float(x) < t: up to the single number before t.
    previous = np.nextafter(number, np.float32(-np.inf))
    return Tree(
        feature=np.where(leaf, -1, np.array(tree.split_indices)),
        threshold=np.where(leaf, 0.0, last_rounded_to(previous)),
        left=np.where(leaf, 0, left),
        right=np.where(leaf, 0, right),
        value=np.where(leaf, number.astype(np.float64), 0.0),
    )


@dataclass(frozen=True)
class _SymmetricSplit:
    split_type: str
    border: float = 0.0
    float_feature_index: int = -1


@dataclass(frozen=True)
class _SymmetricTree:
    leaf_values: list[float]  # by leaf, then output
    splits: list[_SymmetricSplit] | None = None  # one a depth: the tree is symmetric


@dataclass(frozen=True)
class _FloatFeature:
    feature_index: int
    flat_feature_index: int


@dataclass(frozen=True)
class _CatboostFeatures:
    float_features: list[_FloatFeature]


@dataclass(frozen=True)
class _CatboostModel:
    scale_and_bias: tuple[float, list[float]]  # a bias for each output
    features_info: _CatboostFeatures
    oblivious_trees: list[_SymmetricTree]


def _catboost_trees(model: Any) -> list[list[Tree]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        document = read_as(_CatboostModel, json.loads(path.read_text(encoding="utf-8")))
    scale, biases = document.scale_and_bias
    features = document.features_info.float_features
    columns = {feature.feature_index: feature.flat_feature_index for feature in features}
    return [_output_trees(tree, len(biases), scale, columns) for tree in document.oblivious_trees]


def _output_trees(
    tree: _SymmetricTree, outputs: int, scale: float, columns: dict[int, int]
) -> list[Tree]:
    splits = tree.splits or []
    if any(split.split_type != "FloatFeature" for split in splits):
        raise ValueError("a split by categories")
    feature = np.array([columns[split.float_feature_index] for split in splits], dtype=int)
    border = last_rounded_to(np.array([split.border for split in splits]))
    leaves = scale * np.reshape(tree.leaf_values, (-1, outputs))
    return [_symmetric_tree(feature, border, column) for column in leaves.T]


def _symmetric_tree(feature: np.ndarray, border: np.ndarray, leaves: np.ndarray) -> Tree:
    """The tree of questions (D,) and leaves (2^D,), with equal siblings merged."""
    # Bit d of a leaf's index answers the question of depth d; node i has the children 2i + 1 and
    # 2i + 2.
    depth = len(feature)
    # Merging pays: most leaves of a deep tree have no rows, and the value 0.
    value, alike = np.zeros(2 ** (depth + 1) - 1), np.ones(2 ** (depth + 1) - 1, dtype=bool)
    # From left to right the first answer counts most: the bits are turned around.
    value[2**depth - 1 :] = leaves.reshape((2,) * depth).transpose().ravel()
    depth_of = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    for d in reversed(range(depth)):
        nodes = np.arange(2**d - 1, 2 ** (d + 1) - 1)
        left, right = value[2 * nodes + 1], value[2 * nodes + 2]
        alike[nodes] = alike[2 * nodes + 1] & alike[2 * nodes + 2] & (left == right)
        value[nodes] = np.where(alike[nodes], left, 0.0)
    is_kept = np.ones(len(value), dtype=bool)
    for d in range(1, depth + 1):
        nodes = np.arange(2**d - 1, 2 ** (d + 1) - 1)
        parent = (nodes - 1) // 2
        is_kept[nodes] = is_kept[parent] & ~alike[parent]
    new_index, old_index = np.cumsum(is_kept) - 1, np.flatnonzero(is_kept)
    leaf = alike[old_index]
    split_depth = depth_of[old_index[~leaf]]
    tree = Tree(
        feature=np.full(len(old_index), -1),
        threshold=np.zeros(len(old_index)),
        left=np.zeros(len(old_index), dtype=int),
        right=np.zeros(len(old_index), dtype=int),
        value=value[old_index],
    )
    tree.feature[~leaf], tree.threshold[~leaf] = feature[split_depth], border[split_depth]
    children = 2 * old_index[~leaf]
    tree.left[~leaf], tree.right[~leaf] = new_index[children + 1], new_index[children + 2]
    return tree


@dataclass(frozen=True)
class TreeReader:
    """How the fitted models of a library are read."""

    # The trees of every iteration, one an output. Not by the library's own files: opening these may
    # run code.
    read_trees: Callable[[Any], list[list[Tree]]]
    raw_predictions: Callable[[Any, np.ndarray], np.ndarray]  # sums of the trees before any link


READERS = {  # by the first part of their module's name
    "lightgbm": TreeReader(
        _lightgbm_trees, lambda model, X: model.booster_.predict(X, raw_score=True, num_threads=1)
    ),
    "xgboost": TreeReader(_xgboost_trees, lambda model, X: model.predict(X, output_margin=True)),
    "catboost": TreeReader(
        _catboost_trees,
        lambda model, X: model.predict(X, prediction_type="RawFormulaVal", thread_count=1),
    ),
}


def is_boosted(model: Any) -> bool:
    """Whether a model is of these libraries; none is imported."""
    return type(model).__module__.split(".")[0] in READERS


def to_scikit_learn(model: Any, classes: Any = None) -> Any:
    """A fitted model as ``HistGradientBoostingClassifier`` or ``-Regressor``.

    `classes` are the sorted labels of a model with classes 0 … K − 1; None for the model's own.
    """
    library = type(model).__module__.split(".")[0]
    reader = READERS[library]
    if classes is None:
        classes = getattr(model, "classes_", None)
    # CatBoost's regressor has an empty list of classes.
    has_classes = classes is not None and len(classes) > 0
    features = int(model.n_features_in_)
    boosting = _empty_boosting(features, np.asarray(classes) if has_classes else None)
    try:
        trees = reader.read_trees(model)
        boosting._predictors = [[_predictor(tree) for tree in iteration] for iteration in trees]
        boosting.max_iter = max(1, len(trees))
        rows = _probe_rows([tree for iteration in trees for tree in iteration], features)
        _set_baseline(boosting, rows, reader.raw_predictions(model, rows))
    # As of a version of the library that writes its trees in another form.
    except (LookupError, TypeError, ValueError) as error:
        raise UnusableError(
            f"these trees of {library} cannot be written as scikit-learn's ({error})",
            cure=f"export the script, which fits the model with {library}",
        ) from error
    return boosting


def _set_baseline(boosting: Any, rows: np.ndarray, raw_predictions: np.ndarray) -> None:
    """Set what all rows share, the median difference to the library's raw predictions."""
    start = boosting._baseline_prediction
    boosting._baseline_prediction = np.zeros_like(start)
    sums = boosting._raw_predict(rows, n_threads=1)
    raw_predictions = np.asarray(raw_predictions).reshape(len(rows), -1).astype(np.float64)
    difference = raw_predictions - sums
    # The median: a row whose value the library rounds across a threshold must not shift them all.
    common = np.median(difference, axis=0, keepdims=True)
    size = 1.0 + np.max(np.abs(raw_predictions)) + np.max(np.abs(sums))
    if difference.shape != sums.shape or np.max(np.abs(difference - common)) > _SINGLE * size:
        raise ValueError("they do not add up to what it predicts")
    boosting._baseline_prediction = common.reshape(start.shape)


def _empty_boosting(features: int, classes: np.ndarray | None) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    targets = np.array([0.0, 1.0]) if classes is None else classes
    y = np.repeat(targets, 2)
    kind = HistGradientBoostingRegressor if classes is None else HistGradientBoostingClassifier
    # Fitted on zeros; its trees are replaced.
    unfitted = kind(max_iter=1, early_stopping=False, random_state=0)
    return unfitted.fit(np.zeros((len(y), features)), y)


def _predictor(tree: Tree) -> Any:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    leaf = tree.feature < 0
    nodes = np.zeros(len(leaf), dtype=PREDICTOR_RECORD_DTYPE)
    nodes["value"], nodes["is_leaf"] = tree.value, leaf
    nodes["feature_idx"], nodes["num_threshold"] = np.where(leaf, 0, tree.feature), tree.threshold
    nodes["left"], nodes["right"] = tree.left, tree.right
    none = np.zeros((0, 8), dtype=np.uint32)  # sets of categories
    return TreePredictor(nodes, none, none)


def _probe_rows(trees: Sequence[Tree], features: int) -> np.ndarray:
    # At the thresholds and just above them a misread one shows; elsewhere it would hardly be met.
    random = np.random.default_rng(0)
    X = random.normal(size=(_PROBES, features))
    feature = np.concatenate([tree.feature for tree in trees]) if trees else np.zeros(0)
    threshold = np.concatenate([tree.threshold for tree in trees]) if trees else np.zeros(0)
    for column in np.unique(feature[feature >= 0]):
        values = random.choice(threshold[feature == column], _PROBES)
        is_above = random.random(_PROBES) < 0.5
        X[:, column] = np.where(is_above, np.nextafter(values, np.inf), values)
    return X
