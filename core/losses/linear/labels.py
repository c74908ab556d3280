"""Class labels and their codes 0 … K − 1, in the sorted order of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UnusableError


def two_or_more(y: Any, exactly_two: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and every example's code.

    Raises:
        UnusableError: there is one class only, or more than two where two are needed.
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        raise UnusableError(
            "the target has one class only", where="target", cure="give rows of a second class"
        )
    if exactly_two and len(classes) > 2:
        raise UnusableError(
            f"the target has {len(classes)} classes where two are needed",
            where="target",
            cure="use the model for several classes",
        )
    return classes, codes.ravel()


def codes_of(y: Any, classes: np.ndarray) -> np.ndarray:
    """The codes of labels among known classes.

    Raises:
        UnusableError: a label that is none of them.
    """
    y = np.asarray(y)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = classes[codes] != y
    if strange.any():
        raise UnusableError(
            f"the class “{y[strange][0]}” does not occur in the training rows",
            where="target",
            cure="leave its rows out or give more of them",
        )
    return codes
