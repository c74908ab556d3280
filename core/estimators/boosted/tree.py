"""Trees that send a row left where x <= threshold, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tree:
    """One tree of one output: arrays over its nodes, (nodes,), parents before children."""

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
