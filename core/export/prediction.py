"""Exported models on new rows: one of tables ready to predict, and the predictions for a file."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import check_path
from core.datasets.files.file_parts import memory_sized_parts
from core.datasets.files.registry import open_table
from core.datasets.task import Task
from core.errors import UnusableError
from core.evaluation.conformal import PredictionInterval
from core.evaluation.rank_distance import MIN_ROWS
from core.export.bundle import carrier, parameter_arrays
from core.export.exportable_models import can_run_code, export_variants_of
from core.export.files import model_file
from core.export.files.model_file import interval_of_run, with_card
from core.export.finished_run import FinishedRun
from core.export.onnx.onnx_file import OnnxModel
from core.export.raw_rows import ModelCard, card_of, feature_cells, formats_of_card, rows_of
from core.export.table_model import outputs_table, predictions_table
from core.export.using.row_answers import CellValue
from core.json_reading import read_as
from core.tuning.results.model_metadata import version_note
from core.tuning.results.training_rows import TrainingRows, read_training_rows, training_rows_of
from core.tuning.scores.scoring import one_line_error

NOT_KNOWN = (
    "Rows unlike the training rows are not marked: this model does not say what its training rows "
    "were like."
)
RANGES_ALONE = (
    "Rows are marked for single values that training never had, as many ordinary rows have them: "
    "how far training rows are from each other is not known of models of earlier versions and of "
    f"fewer than {MIN_ROWS} rows."
)


@dataclass(frozen=True)
class LoadedModel:
    """A model of tables, ready to predict."""

    name: str  # the run, or the file
    card: ModelCard
    predict: Callable[[Any], pd.DataFrame]  # a table of predictions for raw rows
    training: TrainingRows | None = None  # the properties of its training rows
    interval: PredictionInterval | None = None  # around predicted numbers
    refitted: bool = False  # on the test rows too, after the test
    version_note: str = ""  # where another scikit-learn fitted it

    @property
    def features(self) -> list[str]:
        return self.card.features


def model_of_run(run: FinishedRun, dataset: Dataset | None) -> LoadedModel | None:
    """The model of a run that ended, with its dataset; None where its rows are no table's."""
    if "table" not in export_variants_of(run.takeaway.task, run.plan.model):
        return None
    pipeline = with_card(run)
    card = card_of(pipeline)
    assert card is not None  # the one that was just made
    training = read_training_rows(card.training, card.features)
    rows = _training_rows(run, dataset)
    if (training is None or training.distance is None) and dataset is not None and rows is not None:
        training = training_rows_of(dataset, rows)
    return LoadedModel(
        run.name,
        card,
        partial(checked_predictions, partial(predictions_table, pipeline), where=run.name),
        training,
        interval_of_run(run),
        run.takeaway.refitted,
        version_note(run.takeaway.versions),
    )


def model_of_file(path: str, *, trust: bool = False) -> LoadedModel | None:
    """The model of a file; None where its rows are no table's; `trust` as of `predict_file`."""
    file = check_path(path)
    if file.suffix.lower() in _ARRAYS:
        return None
    predict: Callable[[Any], pd.DataFrame]
    note = ""
    if file.suffix.lower() == ".onnx":
        model = OnnxModel(file)
        card, predict = model.card, partial(_onnx_predictions, model)
    else:
        pipeline, card = load_model(file, trust=trust)
        predict, note = partial(predictions_table, pipeline), version_note(card.versions)
    checked_predict = partial(checked_predictions, predict, where=str(file))
    training = read_training_rows(card.training, card.features)
    return LoadedModel(
        file.name, card, checked_predict, training, _interval(card), version_note=note
    )


def _onnx_predictions(model: OnnxModel, rows: Any) -> pd.DataFrame:
    outputs = model.outputs(rows)
    return outputs_table(outputs["prediction"], outputs.get("probabilities"), model.classes_)


def _interval(card: ModelCard) -> PredictionInterval | None:
    if card.interval is None or card.task != Task.REGRESSION:
        return None
    try:  # a stranger may have written anything
        interval = read_as(PredictionInterval, card.interval)
    except ValueError:
        return None
    is_sound = 0 <= interval.half < math.inf and 0 < interval.coverage < 1 and interval.rows > 0
    return interval if is_sound else None


def _training_rows(run: FinishedRun, dataset: Dataset | None) -> np.ndarray | None:
    takeaway = run.takeaway
    if dataset is None or dataset.source.fingerprint != takeaway.source.fingerprint:
        return None
    if dataset.feature_names != takeaway.feature_names or dataset.rows != takeaway.rows:
        return None
    fitted = takeaway.fitted_rows or takeaway.train_rows
    if takeaway.refitted or not fitted:
        return np.arange(dataset.rows)
    return np.array(fitted, dtype=int)


def make_raw_row(
    values: Mapping[str, CellValue], model: LoadedModel
) -> pd.DataFrame | sparse.csr_matrix:
    """One raw row, empty columns missing; UnusableError where a number column has a text."""
    card, columns = model.card, dict[str, pd.Series]()
    for name, form in formats_of_card(card).items():
        value = pd.Series([values.get(name)], dtype=object)
        columns[name], strays = feature_cells(value, form)
        # A person can be asked for the number again; a date that is none counts as missing and is
        # marked.
        if len(strays) and form.kind == "number":
            fault = f"“{str(strays.iloc[0])[:60]}” is no number"
            cure = "give a number, or leave it empty where the value is missing"
            raise UnusableError(fault, where=f"column {name}", cure=cure)
    if card.format == "libsvm":
        numbers = np.array([[column.iloc[0] for column in columns.values()]])
        return sparse.csr_matrix(np.nan_to_num(numbers))
    return pd.DataFrame(columns)


def compared_columns(rows: Any, model: LoadedModel) -> pd.DataFrame | None:
    """Raw rows as a table; None where they are compared with no training rows."""
    if model.training is None:
        return None
    is_table = isinstance(rows, pd.DataFrame)
    return rows if is_table else pd.DataFrame(rows.toarray(), columns=model.features)


_LOADERS = {".skops": model_file.load_skops, ".joblib": model_file.load_joblib}
_ARRAYS = {
    ".npz": carrier.load_arrays,
    ".json": parameter_arrays.load_document_arrays,
    ".zip": carrier.load_arrays,
}


def ignore_progress(done: int, every: int) -> None:
    """Say nothing."""


def predict_file(
    model_path: Path | str,
    file: Path | str,
    report: Callable[[int, int], None] = ignore_progress,
    *,
    trust: bool = False,
) -> pd.DataFrame:
    """The predictions for every row: "prediction" and, where possible, "probability of CLASS".

    Args:
        model_path: an exported .skops, .joblib, .onnx, .npz, .json or .zip.
        file: rows like the training file's; the target may be absent.
        report: called with (rows done, all rows) from time to time.
        trust: whether a file that can run code when it is opened (.joblib) may be opened.
    """
    path = check_path(str(model_path))
    model = model_of_file(str(model_path), trust=trust)
    if model is None:
        arrays = _ARRAYS[path.suffix.lower()](path)
        return carrier.predict_rows(arrays, str(file), report, path)
    tables = []
    for file_part in memory_sized_parts(open_table(str(file))):
        # Errors name the lines of the file, not those of the part.
        with file_part.lines.translate_line_numbers():
            rows = rows_of(file_part, model.card)
        tables.append(model.predict(rows))
    return pd.concat(tables, ignore_index=True)


def checked_predictions(
    predict: Callable[[Any], pd.DataFrame], rows: Any, where: str
) -> pd.DataFrame:
    """The predictions for raw rows, or UnusableError; `where` names the model's file or run."""
    try:
        # A model from elsewhere may lack parts, or want other columns than its card says.
        return predict(rows)
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        fault = f"the model cannot predict these rows ({one_line_error(error)})"
        cure = "export the model again, or give rows like those it was trained on"
        raise UnusableError(fault, where=where, cure=cure) from error


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
