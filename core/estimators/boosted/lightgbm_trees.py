"""The trees of a fitted LightGBM model, as its own dump tells them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree

_ZERO = float(np.float32(1e-35))  # kZeroThreshold of LightGBM: what is no larger counts as 0


def trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output.

    Args:
        model: a fitted ``LGBMClassifier`` or ``LGBMRegressor`` of numbers without categories.
    """
    document = model.booster_.dump_model()
    outputs = int(document["num_tree_per_iteration"])
    found = [_tree(one["tree_structure"]) for one in document["tree_info"]]
    return [found[at : at + outputs] for at in range(0, len(found), outputs)]


def raw(model: Any, X: np.ndarray) -> np.ndarray:
    """What the trees add up to before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.booster_.predict(X, raw_score=True, num_threads=1))


def _tree(root: dict[str, Any]) -> Tree:
    nodes, feature, threshold, left, right, value = [root], [], [], [], [], []
    for node in nodes:  # which grows meanwhile
        leaf = "split_feature" not in node
        if not leaf and node["decision_type"] != "<=":
            raise ValueError(f"a split by {node['decision_type']}")
        feature.append(-1 if leaf else int(node["split_feature"]))
        threshold.append(0.0 if leaf else _threshold(float(node["threshold"])))
        left.append(0 if leaf else len(nodes))
        right.append(0 if leaf else len(nodes) + 1)
        value.append(float(node["leaf_value"]) if leaf else 0.0)
        if not leaf:
            nodes += [node["left_child"], node["right_child"]]
    return Tree(*map(np.array, (feature, threshold, left, right, value)))


def _threshold(given: float) -> float:
    """Up to which number a row goes left, where LightGBM takes all numbers near 0 for 0."""
    if -_ZERO <= given < 0:
        return math.nextafter(-_ZERO, -math.inf)
    return _ZERO if 0 <= given < _ZERO else given
