"""Class labels and their codes 0 … K − 1: their places among the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError


def two_or_more(y: Any, exactly_two: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and every example's code; UnusableError if one, or wrongly many."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        cure = "give rows of a second class"
        raise UnusableError("the target has one class only", where="target", cure=cure)
    if exactly_two and len(classes) > 2:
        message = f"the target has {len(classes)} classes where two are needed"
        raise UnusableError(message, where="target", cure="use the model for several classes")
    return classes, codes.ravel()


def label_codes(y: Any, classes: Sequence[Any] | np.ndarray) -> np.ndarray:
    """The place of every label among the classes, shape (m,); −1 where it is none of them."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "OU":
        return np.asarray(pd.Index(list(classes)).get_indexer(pd.Index(labels)), dtype=np.int64)
    # pandas would first make texts of its own of them, which takes a multiple of this.
    code_by_label = {label: code for code, label in enumerate(classes)}
    codes = (code_by_label.get(label, -1) for label in labels.tolist())
    return np.fromiter(codes, np.int64, len(labels))


def codes_of(y: Any, classes: Sequence[Any] | np.ndarray) -> np.ndarray:
    """The same where every label must be one of the classes, or UnusableError."""
    codes = label_codes(y, classes)
    strange = codes < 0
    # A fold may lack a class; its loss would have no parameters for it.
    if strange.any():
        message = f"the class “{np.asarray(y)[strange][0]}” does not occur in the training rows"
        raise UnusableError(message, where="target", cure="leave its rows out or give more of them")
    return codes
