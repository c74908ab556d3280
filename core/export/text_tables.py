"""What a fitted preparation makes of every text that it knows: a table to look up elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

UNKNOWN = "\0 a text that no column has \0"


def text_table(step: Any, names: list[str], place: int) -> tuple[list[str], np.ndarray]:
    """The texts of one column, and what the fitted step makes of them and of an unknown one.

    Args:
        step: fitted, of `core.datasets.preparation`: yes/no or categories, with or without filling.
        names: of its columns.
        place: of the column among them.

    Returns:
        C texts, the last "" for what is missing, and what they become, shape (C + 1, outputs); the
        last line is what an unknown text becomes.
    """
    encoder = _encoder(step)
    known = [
        [str(word) for word in words if isinstance(word, str)] for words in encoder.categories_
    ]
    keys = [word for word in known[place] if word]
    probe = [*keys, np.nan, UNKNOWN]
    others = {
        name: np.full(len(probe), words[0] if words else UNKNOWN, dtype=object)
        for name, words in zip(names, known, strict=True)
    }
    rows = pd.DataFrame({**others, names[place]: np.array(probe, dtype=object)})
    made = step.transform(rows)
    dense = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)
    widths = _widths(encoder)
    start = sum(widths[:place])
    return [*keys, ""], dense[:, start : start + widths[place]]


def _encoder(step: Any) -> OneHotEncoder | OrdinalEncoder:
    if not isinstance(step, Pipeline):
        return step
    return next(one for _, one in step.steps if isinstance(one, (OneHotEncoder, OrdinalEncoder)))


def _widths(encoder: OneHotEncoder | OrdinalEncoder) -> list[int]:
    """How many outputs every column has."""
    if isinstance(encoder, OrdinalEncoder):
        return [1] * len(encoder.categories_)
    pairs = zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    return [len(words) - (len(rare) - 1 if rare is not None else 0) for words, rare in pairs]
