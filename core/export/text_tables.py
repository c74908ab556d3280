"""What a fitted preparation makes of every text that it knows: a table to look up elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

UNKNOWN = "\0 a text that no column has \0"


def text_table(step: Any, names: list[str], index: int) -> tuple[list[str], np.ndarray]:
    """The texts of one column, and what the fitted step makes of them and of an unknown one.

    Args:
        step: fitted, of `core.datasets.preparation`: yes/no or categories, with or without filling.
        names: of its columns.
        index: of the column among them.

    Returns:
        C texts, the last "" for what is missing, and what they become, shape (C + 1, outputs); the
        last line is what an unknown text becomes.
    """
    encoder = _encoder(step)
    words_by_column = [
        [str(word) for word in words if isinstance(word, str)] for words in encoder.categories_
    ]
    keys = [word for word in words_by_column[index] if word]
    probe = [*keys, np.nan, UNKNOWN]
    columns = {
        name: np.full(len(probe), words[0] if words else UNKNOWN, dtype=object)
        for name, words in zip(names, words_by_column, strict=True)
    }
    rows = pd.DataFrame({**columns, names[index]: np.array(probe, dtype=object)})
    outputs = step.transform(rows)
    dense = np.asarray(
        outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=np.float64
    )
    widths = _output_widths(encoder)
    start = sum(widths[:index])
    return [*keys, ""], dense[:, start : start + widths[index]]


def _encoder(step: Any) -> OneHotEncoder | OrdinalEncoder:
    if not isinstance(step, Pipeline):
        return step
    return next(
        transformer
        for _, transformer in step.steps
        if isinstance(transformer, (OneHotEncoder, OrdinalEncoder))
    )


def _output_widths(encoder: OneHotEncoder | OrdinalEncoder) -> list[int]:
    """How many outputs every column has."""
    if isinstance(encoder, OrdinalEncoder):
        return [1] * len(encoder.categories_)
    pairs = zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    return [len(words) - (len(rare) - 1 if rare is not None else 0) for words, rare in pairs]
