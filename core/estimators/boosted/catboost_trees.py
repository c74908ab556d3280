"""The trees of a fitted CatBoost model, as its own JSON tells them.

They are symmetric: all nodes of a depth ask the same, and bit d of a leaf's number is the answer to
the question of depth d.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree, last_rounded_to


def trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output.

    Args:
        model: a fitted ``CatBoostClassifier`` or ``CatBoostRegressor`` of numbers alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        document = json.loads(path.read_text(encoding="utf-8"))
    scale, constants = document["scale_and_bias"]
    of_feature = {
        feature["feature_index"]: feature["flat_feature_index"]
        for feature in document["features_info"]["float_features"]
    }
    return [_of(one, len(constants), scale, of_feature) for one in document["oblivious_trees"]]


def raw(model: Any, X: np.ndarray) -> np.ndarray:
    """What the trees add up to before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, prediction_type="RawFormulaVal", thread_count=1))


def _of(one: dict[str, Any], outputs: int, scale: float, of_feature: dict[int, int]) -> list[Tree]:
    splits = one["splits"] or []
    if any(split["split_type"] != "FloatFeature" for split in splits):
        raise ValueError("a split by categories")
    feature = np.array([of_feature[split["float_feature_index"]] for split in splits], dtype=int)
    border = last_rounded_to(np.array([split["border"] for split in splits]))
    leaves = scale * np.reshape(one["leaf_values"], (-1, outputs))
    return [_tree(feature, border, column) for column in leaves.T]


def _tree(feature: np.ndarray, border: np.ndarray, leaves: np.ndarray) -> Tree:
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
        at = np.arange(2**d - 1, 2 ** (d + 1) - 1)
        left, right = value[2 * at + 1], value[2 * at + 2]
        alike[at] = alike[2 * at + 1] & alike[2 * at + 2] & (left == right)
        value[at] = np.where(alike[at], left, 0.0)
    kept = np.ones(len(value), dtype=bool)
    for d in range(1, depth + 1):
        at = np.arange(2**d - 1, 2 ** (d + 1) - 1)
        above = (at - 1) // 2
        kept[at] = kept[above] & ~alike[above]
    place, old = np.cumsum(kept) - 1, np.flatnonzero(kept)
    leaf = alike[old]
    asked = depth_of[old[~leaf]]
    tree = Tree(
        feature=np.full(len(old), -1),
        threshold=np.zeros(len(old)),
        left=np.zeros(len(old), dtype=int),
        right=np.zeros(len(old), dtype=int),
        value=value[old],
    )
    tree.feature[~leaf], tree.threshold[~leaf] = feature[asked], border[asked]
    tree.left[~leaf], tree.right[~leaf] = place[2 * old[~leaf] + 1], place[2 * old[~leaf] + 2]
    return tree
