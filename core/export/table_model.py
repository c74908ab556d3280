"""A fitted pipeline that predicts the raw rows of a table; MLflow folders hold this source."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.pipeline import Pipeline

from core.datasets.cell_values import ColumnFormat, read_cells


class TableModel:
    """The model of a skops file; `trusted`: the types that may be in it.

    `formats` says how the cells of each feature are written; none of a matrix.
    """

    def __init__(
        self, path: Path | str, trusted: Collection[str], formats: Mapping[str, ColumnFormat]
    ) -> None:
        from skops.io import load  # a second, for which the rest of this file need not wait

        self.pipeline = load(path, trusted=[*trusted])
        self.formats = formats

    def predict(self, model_input: Any, params: Any = None) -> pd.DataFrame:
        """The predictions of rows; a table has the features by name, NaN or None where missing."""
        if not self.formats:
            return predictions_table(self.pipeline, sparse.csr_matrix(model_input, dtype=float))
        cells = {name: read_cells(model_input[name], form) for name, form in self.formats.items()}
        return predictions_table(self.pipeline, pd.DataFrame(cells))


def predictions_table(pipeline: Any, rows: Any) -> pd.DataFrame:
    """Predictions, and probabilities of every class where the model gives them."""
    model = pipeline
    if isinstance(pipeline, Pipeline) and len(pipeline) > 1:  # rows are prepared once for both
        rows, model = pipeline[:-1].transform(rows), pipeline[-1]
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    return outputs_table(model.predict(rows), probabilities, getattr(model, "classes_", ()))


def outputs_table(
    predictions: np.ndarray, probabilities: np.ndarray | None, classes: Sequence[Any]
) -> pd.DataFrame:
    """The prediction of every row, and the probabilities of its classes if there are some."""
    table = pd.DataFrame({"prediction": predictions})
    if probabilities is not None:
        if (columns := probabilities.shape[1]) != len(classes):  # in a file that was altered
            raise ValueError(f"it has {len(classes)} classes and probabilities of {columns}")
        for column, label in enumerate(classes):
            table[f"probability of {label}"] = probabilities[:, column]
    return table
