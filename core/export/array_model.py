"""A model as named arrays that predicts the rows of a table; MLflow folders hold this source."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.export.bundle.csv_rows import cell_format_of


class ArrayModel:
    """The model of an npz file; `predict_table`: (arrays, text, report) -> header and rows."""

    def __init__(self, path: Path | str, predict_table: Callable[..., Any]) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            self.arrays = {name: arrays[name] for name in arrays.files}
        self.settings = json.loads(str(self.arrays["settings"]))
        self.predict_table = predict_table

    def predict(self, model_input: Any, params: Any = None) -> pd.DataFrame:
        """The predictions of a table, or of a matrix where LIBSVM lines trained the model."""
        with np.errstate(all="ignore"):
            header, rows = self.predict_table(self.arrays, self._text(model_input), lambda *_: None)
        return pd.DataFrame(rows, columns=header)

    def _text(self, model_input: Any) -> str:
        if isinstance(model_input, pd.DataFrame):
            cells = cell_format_of(self.settings)
            return model_input.to_csv(index=False, quotechar=cells.quote, decimal=cells.decimal)
        first = 0 if self.settings["zero_based"] else 1
        matrix = sparse.csr_matrix(model_input)
        rows = (matrix[[row]] for row in range(matrix.shape[0]))
        pairs = (zip(row.indices.tolist(), row.data.tolist(), strict=True) for row in rows)
        return "".join(
            " ".join(["0", *(f"{i + first}:{x!r}" for i, x in row)]) + "\n" for row in pairs
        )
