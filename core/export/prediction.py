"""Predictions of an exported model for a new file, without the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
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
from core.export.destination import check_destination, write_whole_file
from core.export.exportable_models import can_run_code
from core.export.files import joblib_file, json_model, npz_file, skops_file
from core.export.onnx.onnx_file import OnnxModel
from core.export.raw_rows import rows_of
from core.tuning.scores.scoring import one_line_error

_LOADERS = {".skops": skops_file.load_pipeline, ".joblib": joblib_file.load_pipeline}
_ARRAYS = {".npz": npz_file.load_arrays, ".json": json_model.load_arrays}


def _ignore_progress(done: int, every: int) -> None:
    """Say nothing."""


def predict_file(
    model_path: Path | str,
    file: Path | str,
    out: Path | str | None = None,
    report: Callable[[int, int], None] = _ignore_progress,
    *,
    trust: bool = False,
) -> pd.DataFrame:
    """A table with a line for each row of the file.

    Args:
        model_path: a model that Tunescope exported (.skops, .joblib or .onnx; .npz or .json for
        sequences and molecules; .zip for topics and deep latent Gaussian models).
        file: CSV or LIBSVM rows like the training file's; the target may be absent.
        out: where to write the table as CSV; None to write nothing.
        report: called with (rows done, all rows) from time to time.
        trust: whether a file that can run code when it is opened (.joblib) may be opened.

    Returns:
        Columns "prediction" and, where possible, "probability of CLASS"; before them the sequence
        of a token; for molecules those of core.export.bundle.fold_prediction.

    Raises:
        UnusableError: an unusable model, file or `out`, or a missing column.
    """
    tables = list(prediction_tables(model_path, file, report, trust=trust))
    table = tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)
    if out is not None:
        write_whole_file(Path(out).expanduser(), lambda path: table.to_csv(path, index=False))
    return table


def predict_into(
    model_path: Path | str,
    file: Path | str,
    out: Path | str,
    report: Callable[[int, int], None] = _ignore_progress,
    *,
    trust: bool = False,
) -> int:
    """Write the predictions of a file of any size as CSV, whole or not at all, and count them.

    Arguments and errors are those of `predict_file`.
    """
    path, count = Path(out).expanduser(), 0
    check_destination(path)
    tables = prediction_tables(model_path, file, report, trust=trust)
    first = next(tables)  # unusable input raises before anything is written

    def write_tables(draft: Path) -> None:
        nonlocal count
        with draft.open("w", encoding="utf-8", newline="") as stream:
            for index, table in enumerate(chain([first], tables)):
                table.to_csv(stream, index=False, header=index == 0)
                count += len(table)

    write_whole_file(path, write_tables)
    return count


def prediction_tables(
    model_path: Path | str,
    file: Path | str,
    report: Callable[[int, int], None] = _ignore_progress,
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
    """The predictions of a pipeline for raw rows.

    Raises:
        UnusableError: it cannot predict them; `where` names their file or run.
    """
    try:
        return predictions_table(pipeline, rows)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise UnusableError(
            f"the model cannot predict these rows ({one_line_error(error)})",
            where=where,
            cure="export the model again, or give rows like those it was trained on",
        ) from error


def _row_chunks(file: str, card: ModelCard) -> Iterator[Any]:
    for file_part in memory_sized_parts(open_table(file)):
        with file_part.lines.translate_line_numbers():
            rows = rows_of(file_part, card)
        yield rows


def load_model(model_path: Path | str, *, trust: bool = False) -> tuple[Any, ModelCard]:
    """An exported pipeline and its card; `trust` allows files that can run code when opened.

    Raises:
        UnusableError: no such file, another ending, damaged, untrusted, or not from Tunescope.
    """
    path = check_path(str(model_path))
    if path.suffix.lower() not in _LOADERS:
        raise UnusableError(
            "this is no exported model",
            where=str(path),
            cure="give a .skops, .joblib, .onnx, .npz, .json or .zip file",
        )
    if can_run_code(path) and not trust:
        raise UnusableError(
            "opening a joblib file can run any code that is in it, with all your rights",
            where=str(path),
            cure="if you know who made it, give --trust; otherwise ask for a .skops file",
        )
    pipeline = _LOADERS[path.suffix.lower()](path)
    card = card_of(pipeline)
    if card is None or not hasattr(pipeline, "predict"):
        raise UnusableError(
            "this model does not say which columns it takes",
            where=str(path),
            cure="export the model from Tunescope again",
        )
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
