"""Learning the undrawn rows of a file larger than memory in parts, by models that can."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.table_file import open_table
from core.datasets.reading import read_part
from core.datasets.sampling.file_parts import row_parts
from core.errors import UnusableError

MAX_CHUNK_ROWS = 500_000  # rows of a part


@dataclass(frozen=True)
class OutOfCoreFit:
    """A pipeline that learned from all rows of a file, its preparation fitted on the drawn ones."""

    pipeline: Any
    rows: int  # how many undrawn rows it learned from
    skipped_rows: int  # rows of classes that the drawn rows lack


def supports_partial_fit(model: Any) -> bool:
    """Whether a pipeline's fitted estimator can go on learning."""
    while hasattr(model, "regressor_"):
        model = model.regressor_
    return hasattr(model, "partial_fit")


def fit_remaining_rows(pipeline: Any, dataset: Dataset) -> OutOfCoreFit:
    """A copy of a pipeline, fitted on drawn rows, that has learned the file's other rows once each.

    Raises:
        UnusableError: the file has changed, or a part of it cannot be read.
    """
    assert dataset.sampled is not None
    path = Path(dataset.source.path)
    if fingerprint(path) != dataset.source.fingerprint:
        problem = "the file has changed since its rows were drawn"
        raise UnusableError(problem, where=path.name, cure="start anew")
    pipeline = deepcopy(pipeline)
    learned_rows = skipped_rows = 0
    size = min(MAX_CHUNK_ROWS, max(dataset.rows, 1))
    for chunk in row_parts(open_table(str(path)), size, dataset.sampled.chosen):
        try:
            rows = read_part(dataset, chunk)
        except UnusableError as error:
            if "no row has a value" in error.what:
                continue
            raise
        X, y = rows.features, rows.target
        if dataset.classes:
            has_known_class = np.isin(y, np.array(dataset.classes))
            skipped_rows += int((~has_known_class).sum())
            X, y = X[has_known_class], y[has_known_class]
        if len(y):
            _fit_chunk(pipeline[-1], pipeline[:-1].transform(X), y)
        learned_rows += len(y)
    return OutOfCoreFit(pipeline, learned_rows, skipped_rows)


def _fit_chunk(model: Any, X: Any, y: np.ndarray) -> None:
    while hasattr(model, "regressor_"):
        y = model.transformer_.transform(np.asarray(y, dtype=float).reshape(-1, 1)).ravel()
        model = model.regressor_
    model.partial_fit(X, y)
