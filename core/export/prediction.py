"""Predictions of an exported model for a new file, without the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.files.file_bytes import check_path
from core.datasets.files.table_file import open_table
from core.datasets.sampling.file_parts import memory_sized_parts
from core.errors import UnusableError
from core.export.bundle import folder_file
from core.export.bundle.structured_prediction import predict_rows
from core.export.card_record import ModelCard, card_of
from core.export.exportable_models import can_run_code
from core.export.files import joblib_file, json_model, npz_file, skops_file
from core.export.onnx.onnx_file import OnnxModel
from core.export.raw_rows import rows_of
from core.tuning.scores.scoring import one_line_error

_LOADERS = {".skops": skops_file.load_pipeline, ".joblib": joblib_file.load_pipeline}
_ARRAYS = {".npz": npz_file.load_arrays, ".json": json_model.load_arrays}


def ignore_progress(done: int, every: int) -> None:
    """Say nothing."""


def predict_file(
    model_path: Path | str,
    file: Path | str,
    report: Callable[[int, int], None] = ignore_progress,
    *,
    trust: bool = False,
) -> pd.DataFrame:
    """A table with a line for each row of the file.

    "prediction" and, where possible, "probability of CLASS"; before them the sequence of a token;
    for molecules the columns of core.export.bundle.fold_prediction.

    Args:
        model_path: an exported .skops, .joblib, .onnx; .npz or .json; .zip.
        file: CSV or LIBSVM rows like the training file's; the target may be absent.
        report: called with (rows done, all rows) from time to time.
        trust: whether a file that can run code when it is opened (.joblib) may be opened.

    Raises:
        UnusableError: an unusable model or file, or a missing column.
    """
    tables = list(prediction_tables(model_path, file, report, trust=trust))
    return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)


def prediction_tables(
    model_path: Path | str,
    file: Path | str,
    report: Callable[[int, int], None] = ignore_progress,
    *,
    trust: bool = False,
) -> Iterator[pd.DataFrame]:
    """The tables of `predict_file`: several of a file larger than memory."""
    path = check_path(str(model_path))
    ending = path.suffix.lower()
    if ending == ".zip" or (ending == ".npz" and folder_file.holds_model(path)):
        yield folder_file.predict_rows(path, str(file), report)
    elif ending in _ARRAYS:
        yield predict_rows(_ARRAYS[ending](path), str(file), report)
    elif ending == ".onnx":
        model = OnnxModel(path)
        for rows in _row_chunks(str(file), model.card):
            outputs = model.outputs(rows)
            yield outputs_table(outputs["prediction"], outputs.get("probabilities"), model.classes_)
    else:
        pipeline, card = load_model(path, trust=trust)
        for rows in _row_chunks(str(file), card):
            yield checked_predictions(pipeline, rows, str(path))


def checked_predictions(pipeline: Any, rows: Any, where: str) -> pd.DataFrame:
    """The predictions for raw rows, or UnusableError; `where` names their file or run."""
    try:
        return predictions_table(pipeline, rows)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        fault = f"the model cannot predict these rows ({one_line_error(error)})"
        cure = "export the model again, or give rows like those it was trained on"
        raise UnusableError(fault, where=where, cure=cure) from error


def _row_chunks(file: str, card: ModelCard) -> Iterator[Any]:
    for file_part in memory_sized_parts(open_table(file)):
        with file_part.lines.translate_line_numbers():
            rows = rows_of(file_part, card)
        yield rows


def load_model(model_path: Path | str, *, trust: bool = False) -> tuple[Any, ModelCard]:
    """An exported pipeline and its card, or UnusableError; `trust`: files that can run code too."""
    path = check_path(str(model_path))
    if path.suffix.lower() not in _LOADERS:
        cure = "give a .skops, .joblib, .onnx, .npz, .json or .zip file"
        raise UnusableError("this is no exported model", where=str(path), cure=cure)
    if can_run_code(path) and not trust:
        fault = "opening a joblib file can run any code that is in it, with all your rights"
        cure = "if you know who made it, give --trust; otherwise ask for a .skops file"
        raise UnusableError(fault, where=str(path), cure=cure)
    pipeline = _LOADERS[path.suffix.lower()](path)
    card = card_of(pipeline)
    if card is None or not hasattr(pipeline, "predict"):
        fault = "this model does not say which columns it takes"
        raise UnusableError(fault, where=str(path), cure="export the model from Tunescope again")
    return pipeline, card


def predictions_table(pipeline: Any, rows: Any) -> pd.DataFrame:
    """Predictions, and probabilities of every class where the model gives them."""
    probabilities = pipeline.predict_proba(rows) if hasattr(pipeline, "predict_proba") else None
    return outputs_table(pipeline.predict(rows), probabilities, getattr(pipeline, "classes_", ()))


def outputs_table(
    predictions: np.ndarray, probabilities: np.ndarray | None, classes: Sequence[Any]
) -> pd.DataFrame:
    """The prediction of every row, and the probabilities of its classes if there are some."""
    table = pd.DataFrame({"prediction": predictions})
    if probabilities is not None:
        for column, label in enumerate(classes):
            table[f"probability of {label}"] = probabilities[:, column]
    return table
