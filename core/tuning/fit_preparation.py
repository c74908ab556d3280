"""Fitting a preparation without keeping the intermediate rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.tuning.problem import take_rows


def fit_prepared(prepare: Pipeline, dataset: Dataset, rows: np.ndarray) -> Any:
    """The prepared rows; `prepare` is fitted in place, and keeps no input of its steps."""
    y, prepared = dataset.target[rows], None
    for index, (_, step) in enumerate(prepare.steps):
        X = take_rows(dataset.features, rows) if index == 0 else prepared
        prepared = step.fit_transform(X, y)
        del X  # before the next step makes its own
    return prepared
