"""The trees of a fitted XGBoost model, as its own JSON tells them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from core.estimators.boosted.tree import Tree, last_rounded_to


def trees(model: Any) -> list[list[Tree]]:
    """The trees of every iteration, one an output.

    Args:
        model: a fitted ``XGBClassifier`` or ``XGBRegressor`` of numbers without categories.
    """
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    gathered = document["learner"]["gradient_booster"]["model"]
    of_output = gathered["tree_info"]
    outputs = max(of_output, default=0) + 1
    if of_output != [at % outputs for at in range(len(of_output))]:
        raise ValueError("trees in another order")
    found = [_tree(one) for one in gathered["trees"]]
    return [found[at : at + outputs] for at in range(0, len(found), outputs)]


def raw(model: Any, X: np.ndarray) -> np.ndarray:
    """What the trees add up to before any link, (rows,) or (rows, outputs)."""
    return np.asarray(model.predict(X, output_margin=True))


def _tree(one: dict[str, Any]) -> Tree:
    """A row goes left where float(x) < t: up to the single number before t."""
    if any(one["split_type"]):
        raise ValueError("a split by categories")
    left, right = np.array(one["left_children"]), np.array(one["right_children"])
    leaf, number = left < 0, np.array(one["split_conditions"], dtype=np.float32)
    below = np.nextafter(number, np.float32(-np.inf))
    return Tree(
        feature=np.where(leaf, -1, np.array(one["split_indices"])),
        threshold=np.where(leaf, 0.0, last_rounded_to(below)),
        left=np.where(leaf, 0, left),
        right=np.where(leaf, 0, right),
        value=np.where(leaf, number.astype(np.float64), 0.0),
    )
