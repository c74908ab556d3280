"""The trees of a fitted CatBoost model, as its own JSON tells them.

They are symmetric: all nodes of a depth ask the same, and bit d of a leaf's number is the answer to
the question of depth d.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree, last_rounded_to
from core.json_reading import read_as


@dataclass(frozen=True)
class _Split:
    split_type: str
    border: float = 0.0
    float_feature_index: int = -1


@dataclass(frozen=True)
class _ObliviousTree:
    """A split for each depth, and a value for each leaf and output."""

    leaf_values: list[float]
    splits: list[_Split] | None = None


@dataclass(frozen=True)
class _FloatFeature:
    feature_index: int
    flat_feature_index: int


@dataclass(frozen=True)
class _Features:
    float_features: list[_FloatFeature]


@dataclass(frozen=True)
class _Document:
    """What the library writes; `scale_and_bias` has a bias for each output."""

    scale_and_bias: tuple[float, list[float]]
    features_info: _Features
    oblivious_trees: list[_ObliviousTree]


def read_trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output.

    Args:
        model: a fitted ``CatBoostClassifier`` or ``CatBoostRegressor`` of numbers alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        document = read_as(_Document, json.loads(path.read_text(encoding="utf-8")))
    scale, constants = document.scale_and_bias
    of_feature = {
        feature.feature_index: feature.flat_feature_index
        for feature in document.features_info.float_features
    }
    return [
        _output_trees(tree, len(constants), scale, of_feature) for tree in document.oblivious_trees
    ]


def raw_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """What the trees add up to before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, prediction_type="RawFormulaVal", thread_count=1))


def _output_trees(
    tree: _ObliviousTree, outputs: int, scale: float, of_feature: dict[int, int]
) -> list[Tree]:
    splits = tree.splits or []
    if any(split.split_type != "FloatFeature" for split in splits):
        raise ValueError("a split by categories")
    feature = np.array([of_feature[split.float_feature_index] for split in splits], dtype=int)
    border = last_rounded_to(np.array([split.border for split in splits]))
    leaves = scale * np.reshape(tree.leaf_values, (-1, outputs))
    return [_build_tree(feature, border, column) for column in leaves.T]


def _build_tree(feature: np.ndarray, border: np.ndarray, leaves: np.ndarray) -> Tree:
    """Node i of the whole tree has the children 2i + 1 and 2i + 2; like leaves become one.

    Most leaves of a deep tree have no rows, and the value 0.

    Args:
        feature, border: what is asked at every depth d, (D,).
        leaves: the values, bit d of the index the answer at depth d, (2^D,).
    """
    depth = len(feature)
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
        above = (nodes - 1) // 2
        is_kept[nodes] = is_kept[above] & ~alike[above]
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
    tree.left[~leaf], tree.right[~leaf] = (
        new_index[2 * old_index[~leaf] + 1],
        new_index[2 * old_index[~leaf] + 2],
    )
    return tree
