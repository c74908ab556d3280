"""The trees of a fitted XGBoost model, read from its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree, last_rounded_to
from core.json_reading import read_as


@dataclass(frozen=True)
class _TreeArrays:
    split_type: list[int]
    split_indices: list[int]
    split_conditions: list[float]
    left_children: list[int]
    right_children: list[int]


@dataclass(frozen=True)
class _Forest:
    trees: list[_TreeArrays]
    tree_info: list[int]


def read_trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output."""
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    forest = read_as(_Forest, document["learner"]["gradient_booster"]["model"])
    tree_outputs = forest.tree_info  # the output of every tree
    outputs = max(tree_outputs, default=0) + 1
    if tree_outputs != [index % outputs for index in range(len(tree_outputs))]:
        raise ValueError("trees in another order")
    flat_trees = [_build_tree(tree) for tree in forest.trees]
    return [flat_trees[start : start + outputs] for start in range(0, len(flat_trees), outputs)]


def raw_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """Sums of the trees before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, output_margin=True))


def _build_tree(tree: _TreeArrays) -> Tree:
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
