"""Trees of numbers: a row goes left where x <= threshold, in double precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tree:
    """One tree of one output; its nodes are numbered from the root, 0, parents before children.

    Attributes:
        feature: that a node asks for, -1 in a leaf, (nodes,).
        threshold: up to which a row goes left, (nodes,).
        left, right: the children; nothing is asked of a leaf's, (nodes,).
        value: what a leaf adds to the output, (nodes,).
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray


def last_rounded_to(single: np.ndarray) -> np.ndarray:
    """The largest double that is rounded to a single number or to one below it.

    Libraries that calculate in single precision compare float(x) <= t; x <= last_rounded_to(t) is
    the same of every double x.
    """
    single = np.asarray(single, dtype=np.float32)
    with np.errstate(over="ignore"):
        above = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
        middle = (single.astype(np.float64) + above) / 2  # a tie, rounded to the even one
        return np.where(middle.astype(np.float32) <= single, middle, np.nextafter(middle, -np.inf))
