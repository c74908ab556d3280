"""The output of a fitted preparation for every text it knows, as a table to look up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

UNKNOWN = "\0 a text that no column has \0"


def text_table(step: Any, names: list[str], index: int) -> tuple[list[str], np.ndarray]:
    """The C known texts of a column, "" for missing values last, and the fitted step's outputs.

    The outputs, shape (C + 1, outputs), end with those of an unknown text. The step is one of
    `core.datasets.preparation` for the columns `names`, yes/no or categories.
    """
    encoder = _encoder(step)
    words_by_column = [
        [str(word) for word in words if isinstance(word, str)] for words in encoder.categories_
    ]
    keys = list(filter(None, words_by_column[index]))
    probe = [*keys, np.nan, UNKNOWN]
    columns = {
        name: np.full(len(probe), words[0] if words else UNKNOWN, dtype=object)
        for name, words in zip(names, words_by_column, strict=True)
    }
    rows = pd.DataFrame({**columns, names[index]: np.array(probe, dtype=object)})
    outputs = step.transform(rows)
    outputs = outputs.toarray() if hasattr(outputs, "toarray") else outputs
    dense, widths = np.asarray(outputs, dtype=np.float64), _output_widths(encoder)
    start = sum(widths[:index])
    return [*keys, ""], dense[:, start : start + widths[index]]


def _encoder(step: Any) -> OneHotEncoder | OrdinalEncoder:
    if not isinstance(step, Pipeline):
        return step
    return next(t for _, t in step.steps if isinstance(t, (OneHotEncoder, OrdinalEncoder)))


def _output_widths(encoder: OneHotEncoder | OrdinalEncoder) -> list[int]:
    if isinstance(encoder, OrdinalEncoder):
        return [1] * len(encoder.categories_)
    pairs = zip(encoder.categories_, encoder.infrequent_categories_, strict=True)
    return [len(words) - (len(rare) - 1 if rare is not None else 0) for words, rare in pairs]
