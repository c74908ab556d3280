"""The trees of a fitted LightGBM model, read from its dump."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree
from core.json_reading import read_as

_ZERO = float(np.float32(1e-35))  # kZeroThreshold of LightGBM: what is no larger counts as 0


@dataclass(frozen=True)
class _Node:
    """A split; a leaf has no children."""

    split_feature: int = -1
    decision_type: str = "<="
    threshold: float | str = 0.0
    leaf_value: float = 0.0
    left_child: _Node | None = None
    right_child: _Node | None = None


@dataclass(frozen=True)
class _TreeInfo:
    tree_structure: _Node


@dataclass(frozen=True)
class _Dump:
    num_tree_per_iteration: int
    tree_info: list[_TreeInfo]


def read_trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output."""
    dump = read_as(_Dump, model.booster_.dump_model())
    outputs = dump.num_tree_per_iteration
    flat_trees = [_build_tree(tree.tree_structure) for tree in dump.tree_info]
    return [flat_trees[start : start + outputs] for start in range(0, len(flat_trees), outputs)]


def raw_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """Sums of the trees before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.booster_.predict(X, raw_score=True, num_threads=1))


def _build_tree(root: _Node) -> Tree:
    nodes, threshold, left, right = [root], [], [], []
    for node in nodes:  # which grows meanwhile
        if node.left_child is None or node.right_child is None:
            threshold.append(0.0)
            left.append(0)
            right.append(0)
            continue
        if node.decision_type != "<=":
            raise ValueError(f"a split by {node.decision_type}")
        threshold.append(_threshold(float(node.threshold)))
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


def _threshold(threshold: float) -> float:
    if -_ZERO <= threshold < 0:  # LightGBM takes all numbers near 0 for 0
        return math.nextafter(-_ZERO, -math.inf)
    return _ZERO if 0 <= threshold < _ZERO else threshold
