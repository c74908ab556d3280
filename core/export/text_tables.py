"""The output of a fitted preparation for every text it knows, as a table to look up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from core.datasets.prepared_columns import encoder_of, merged_levels

UNKNOWN = "\0 a text that no column has \0"


def text_table(step: Any, names: list[str], index: int) -> tuple[list[str], np.ndarray]:
    """The C known texts of a column, "" for missing values last, and the fitted step's outputs.

    The outputs, shape (C + 1, outputs), end with those of an unknown text. The step is one of
    `core.datasets.preparation` for the columns `names`, yes/no or categories.
    """
    encoder = encoder_of(step, OneHotEncoder, OrdinalEncoder, TargetEncoder)
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


def level_keys(step: Any, index: int) -> list[str] | None:
    """The texts of a column with an output of 0 or 1 each, "" for missing values, in order.

    None where a step does not give exactly that.
    """
    if not isinstance(step, OneHotEncoder) or merged_levels(step, index):
        return None
    return [level if isinstance(level, str) else "" for level in step.categories_[index]]


def _output_widths(encoder: OneHotEncoder | OrdinalEncoder | TargetEncoder) -> list[int]:
    if isinstance(encoder, TargetEncoder):
        is_many = encoder.target_type_ == "multiclass"
        return [len(encoder.classes_) if is_many else 1] * len(encoder.categories_)
    if isinstance(encoder, OrdinalEncoder):
        return [1] * len(encoder.categories_)
    merged_counts = [len(merged_levels(encoder, i)) for i in range(len(encoder.categories_))]
    pairs = zip(encoder.categories_, merged_counts, strict=True)
    return [len(levels) - max(0, merged - 1) for levels, merged in pairs]
