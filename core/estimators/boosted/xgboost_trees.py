"""The trees of a fitted XGBoost model, as its own JSON tells them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree, last_rounded_to
from core.json_reading import read_as


@dataclass(frozen=True)
class _TreeArrays:
    """A tree as the library has it, an entry a node."""

    split_type: list[int]
    split_indices: list[int]
    split_conditions: list[float]
    left_children: list[int]
    right_children: list[int]


@dataclass(frozen=True)
class _Forest:
    """All trees; `tree_info` says of which output each is."""

    trees: list[_TreeArrays]
    tree_info: list[int]


def read_trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output.

    Args:
        model: a fitted ``XGBClassifier`` or ``XGBRegressor`` of numbers without categories.
    """
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    forest = read_as(_Forest, document["learner"]["gradient_booster"]["model"])
    of_output = forest.tree_info
    outputs = max(of_output, default=0) + 1
    if of_output != [index % outputs for index in range(len(of_output))]:
        raise ValueError("trees in another order")
    flat_trees = [_build_tree(tree) for tree in forest.trees]
    return [flat_trees[start : start + outputs] for start in range(0, len(flat_trees), outputs)]


def raw_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """What the trees add up to before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, output_margin=True))


def _build_tree(tree: _TreeArrays) -> Tree:
    """A row goes left where float(x) < t: up to the single number before t."""
    if any(tree.split_type):
        raise ValueError("a split by categories")
    left, right = np.array(tree.left_children), np.array(tree.right_children)
    leaf, number = left < 0, np.array(tree.split_conditions, dtype=np.float32)
    below = np.nextafter(number, np.float32(-np.inf))
    return Tree(
        feature=np.where(leaf, -1, np.array(tree.split_indices)),
        threshold=np.where(leaf, 0.0, last_rounded_to(below)),
        left=np.where(leaf, 0, left),
        right=np.where(leaf, 0, right),
        value=np.where(leaf, number.astype(np.float64), 0.0),
    )
