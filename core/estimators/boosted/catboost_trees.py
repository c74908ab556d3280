"""The trees of a fitted CatBoost model, read from its JSON."""

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
    leaf_values: list[float]  # by leaf, then output
    splits: list[_Split] | None = None  # one a depth: the tree is symmetric


@dataclass(frozen=True)
class _FloatFeature:
    feature_index: int
    flat_feature_index: int


@dataclass(frozen=True)
class _Features:
    float_features: list[_FloatFeature]


@dataclass(frozen=True)
class _Document:
    scale_and_bias: tuple[float, list[float]]  # a bias for each output
    features_info: _Features
    oblivious_trees: list[_ObliviousTree]


def read_trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        document = read_as(_Document, json.loads(path.read_text(encoding="utf-8")))
    scale, biases = document.scale_and_bias
    features = document.features_info.float_features
    columns = {feature.feature_index: feature.flat_feature_index for feature in features}
    return [_output_trees(tree, len(biases), scale, columns) for tree in document.oblivious_trees]


def raw_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """Sums of the trees before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, prediction_type="RawFormulaVal", thread_count=1))


def _output_trees(
    tree: _ObliviousTree, outputs: int, scale: float, columns: dict[int, int]
) -> list[Tree]:
    splits = tree.splits or []
    if any(split.split_type != "FloatFeature" for split in splits):
        raise ValueError("a split by categories")
    feature = np.array([columns[split.float_feature_index] for split in splits], dtype=int)
    border = last_rounded_to(np.array([split.border for split in splits]))
    leaves = scale * np.reshape(tree.leaf_values, (-1, outputs))
    return [_build_tree(feature, border, column) for column in leaves.T]


def _build_tree(feature: np.ndarray, border: np.ndarray, leaves: np.ndarray) -> Tree:
    """The tree of questions (D,) and leaves (2^D,), with equal siblings merged.

    Bit d of a leaf's index answers the question of depth d; node i has the children 2i + 1, 2i + 2.
    """
    depth = len(feature)  # merging pays: most leaves of a deep tree have no rows, and the value 0
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
