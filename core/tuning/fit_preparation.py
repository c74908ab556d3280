"""Rows as a model takes them, prepared without the memory of what was there in between."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.tuning.problem import take_rows


def fit_prepared(prepare: Pipeline, dataset: Dataset, rows: np.ndarray) -> Any:
    """Fit a preparation to some rows and give them prepared; what every step took is let go.

    Args:
        prepare: unfitted; it is fitted in place, as by its own `fit_transform`, which keeps the raw
            rows beside all that it makes of them.
        dataset: with the raw rows.
        rows: their places.
    """
    y, prepared = dataset.target[rows], None
    for index, (_, step) in enumerate(prepare.steps):
        prepared = step.fit_transform(
            take_rows(dataset.features, rows) if index == 0 else prepared, y
        )
    return prepared
