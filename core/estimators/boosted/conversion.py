"""Fitted models of LightGBM, XGBoost and CatBoost as scikit-learn's histogram gradient boosting.

The trees are the same; XGBoost adds up in single precision and differs by that alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.estimators.boosted.tree import Tree

READERS = ("lightgbm", "xgboost", "catboost")  # their own files may run code when read
_PROBES = 64  # rows on which the two are compared
_SINGLE = 1e-5  # how much they may differ, by the size of the sums


def is_boosted(model: Any) -> bool:
    """Whether a model is of these libraries; none is imported."""
    return type(model).__module__.split(".")[0] in READERS


def to_scikit_learn(model: Any, classes: Any = None) -> Any:
    """A fitted model as ``HistGradientBoostingClassifier`` or ``-Regressor``.

    Args:
        model: of one of the libraries, fitted on numbers.
        classes: sorted labels of a model with classes 0 … K − 1; None for the model's own.

    Raises:
        UnusableError: scikit-learn has no such trees, or the predictions differ.
    """
    library = type(model).__module__.split(".")[0]
    reader = importlib.import_module(f"core.estimators.boosted.{library}_trees")
    if classes is None:
        classes = getattr(model, "classes_", None)
    has_classes = classes is not None and len(classes) > 0  # CatBoost's regressor has classes: none
    features = int(model.n_features_in_)
    boosting = _empty_boosting(features, np.asarray(classes) if has_classes else None)
    try:
        trees: list[list[Tree]] = reader.read_trees(model)
        boosting._predictors = [[_predictor(tree) for tree in iteration] for iteration in trees]
        boosting.max_iter = max(1, len(trees))
        rows = _probe_rows([tree for iteration in trees for tree in iteration], features)
        _set_baseline(boosting, rows, reader.raw_predictions(model, rows))
    except (LookupError, TypeError, ValueError) as error:  # as of a version with another form
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
    raw_predictions = raw_predictions.reshape(len(rows), -1).astype(np.float64)
    difference = raw_predictions - sums
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
    """Rows with values at the thresholds and just above them, (rows, features)."""
    random = np.random.default_rng(0)
    X = random.normal(size=(_PROBES, features))
    feature = np.concatenate([tree.feature for tree in trees]) if trees else np.zeros(0)
    threshold = np.concatenate([tree.threshold for tree in trees]) if trees else np.zeros(0)
    for column in np.unique(feature[feature >= 0]):
        values = random.choice(threshold[feature == column], _PROBES)
        is_above = random.random(_PROBES) < 0.5
        X[:, column] = np.where(is_above, np.nextafter(values, np.inf), values)
    return X
