"""A model that is used on new rows: of a run, or of a file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import check_path
from core.datasets.task import Task
from core.errors import UnusableError
from core.evaluation.conformal import PredictionInterval
from core.export.card_record import ModelCard, card_of
from core.export.exportable_models import export_variants_of
from core.export.files.model_card import interval_of_run, with_card
from core.export.finished_run import FinishedRun
from core.export.onnx.onnx_file import OnnxModel
from core.export.prediction import checked_predictions, load_model, outputs_table
from core.export.raw_rows import feature_cells, formats_of_card
from core.export.using.out_of_distribution import (
    TrainingProfile,
    profile_of_summary,
    training_profile,
)
from core.export.using.row_answers import CellValue
from core.json_reading import read_as
from core.tuning.results.training_columns import TrainingRows
from core.tuning.results.training_rows import read_training_rows, training_rows_of

COMPARED_KINDS = ("number", "category", "yes/no")  # of columns; dates and texts are always new
MAX_MATRIX_WIDTH = 300  # features of LIBSVM rows that are compared one by one
NOT_KNOWN = (
    "Rows unlike the training rows are not marked: this model does not say what its training rows "
    "were like."
)


@dataclass(frozen=True)
class LoadedModel:
    """A model of tables, ready to predict."""

    name: str  # the run, or the file
    card: ModelCard
    predict: Callable[[Any], pd.DataFrame]  # a table of predictions for raw rows
    training: TrainingRows | None = None  # the properties of its training rows
    profile: TrainingProfile | None = None  # the same, for marking unlike rows
    interval: PredictionInterval | None = None  # around predicted numbers
    refitted: bool = False  # on the test rows too, after the test

    @property
    def features(self) -> list[str]:
        """Its columns, in its order."""
        return self.card.features


def model_of_run(run: FinishedRun, dataset: Dataset | None) -> LoadedModel | None:
    """The model of a run that ended, with its dataset; None where its rows are no table's."""
    if "table" not in export_variants_of(run.takeaway.task, run.plan.model):
        return None
    pipeline = with_card(run)
    card = card_of(pipeline)
    assert card is not None  # the one that was just made
    training = _training(card)
    profile = profile_of_summary(training) if training else None
    rows = _training_rows(run, dataset)
    if dataset is not None and rows is not None:
        training = training or training_rows_of(dataset, rows)
        if dataset.table is not None and (names := _compared_names(run, dataset)):
            profile = training_profile(dataset.table[names].iloc[rows])
        elif training and not profile:
            profile = profile_of_summary(training)
    return LoadedModel(
        run.name,
        card,
        lambda raw_rows: checked_predictions(pipeline, raw_rows, run.name),
        training,
        profile,
        interval_of_run(run),
        run.takeaway.refitted,
    )


def model_of_file(path: str, *, trust: bool = False) -> LoadedModel | None:
    """The model of a file, or UnusableError; None where its rows are no table's."""
    file = check_path(path)
    ending = file.suffix.lower()
    if ending in (".npz", ".json", ".zip"):
        return None
    predict: Callable[[Any], pd.DataFrame]
    if ending == ".onnx":
        model = OnnxModel(file)
        card = model.card

        def predict(rows: Any) -> pd.DataFrame:
            outputs = model.outputs(rows)
            shares = outputs.get("probabilities")
            return outputs_table(outputs["prediction"], shares, model.classes_)

    else:
        pipeline, card = load_model(file, trust=trust)

        def predict(rows: Any) -> pd.DataFrame:
            return checked_predictions(pipeline, rows, str(file))

    training = _training(card)
    profile = profile_of_summary(training) if training else None
    return LoadedModel(file.name, card, predict, training, profile, _interval(card))


def _training(card: ModelCard) -> TrainingRows | None:
    return read_training_rows(card.training, card.features)


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


def _compared_names(run: FinishedRun, dataset: Dataset) -> list[str]:
    assert dataset.table is not None
    kinds = {column.name: column.kind for column in run.takeaway.columns}
    return [name for name in run.takeaway.feature_names if kinds.get(name) in COMPARED_KINDS]


def make_raw_row(
    values: Mapping[str, CellValue], model: LoadedModel
) -> pd.DataFrame | sparse.csr_matrix:
    """One raw row, empty columns missing; UnusableError where a number column has a text."""
    card, columns = model.card, dict[str, pd.Series]()
    for name, form in formats_of_card(card).items():
        value = pd.Series([values.get(name)], dtype=object)
        columns[name], strays = feature_cells(value, form)
        if len(strays) and form.kind == "number":
            fault = f"“{str(strays.iloc[0])[:60]}” is no number"
            cure = "give a number, or leave it empty where the value is missing"
            raise UnusableError(fault, where=f"column {name}", cure=cure)
    if card.format == "libsvm":
        numbers = np.array([[column.iloc[0] for column in columns.values()]])
        return sparse.csr_matrix(np.nan_to_num(numbers))
    return pd.DataFrame(columns)


def compared_columns(rows: Any, model: LoadedModel) -> pd.DataFrame | None:
    """The columns of raw rows that are compared with the training rows; None for none."""
    profile = model.profile
    if profile is None:
        return None
    if not isinstance(rows, pd.DataFrame):
        if rows.shape[1] > MAX_MATRIX_WIDTH:
            return None
        rows = pd.DataFrame(rows.toarray(), columns=model.features)
    names = {*profile.ranges, *profile.kinds}
    return rows[[name for name in rows.columns if str(name) in names]]
