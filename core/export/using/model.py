"""A model as it is used on new rows: of a run, or of a file alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.files.opening import check_path
from core.errors import UnusableError
from core.evaluation.conformal import Interval
from core.export.bundle import folder_file
from core.export.choices import forms_of
from core.export.files.model_card import card_of, interval_of_run, with_card
from core.export.finished_run import FinishedRun
from core.export.onnx.file import OnnxModel
from core.export.prediction import load_model, outputs_table, predicted
from core.export.using.unlike import Seen, seen_in, seen_of
from core.tuning.results.training_rows import (
    TrainingRows,
    read_training_rows,
    training_rows_of,
)

LOOKED_AT = ("number", "category", "yes/no")  # kinds of columns; dates and texts are always new
WIDEST_MATRIX = 300  # features of LIBSVM rows that are looked at one by one
NOT_KNOWN = (
    "Rows unlike the training rows are not marked: this model does not say what its training rows "
    "were like."
)


@dataclass(frozen=True)
class UsedModel:
    """A model of tables, ready to predict.

    Attributes:
        name: the run, or the file.
        card: what it says of itself (core.export.files.model_card).
        say: predictions of raw rows, a table.
        training: what its training rows were like; None where that is not known.
        seen: the same for marking rows.
        interval: around predicted numbers; None for none.
        refitted: whether it was fitted on the test rows too, once it was tested.
    """

    name: str
    card: dict[str, Any]
    say: Callable[[Any], pd.DataFrame]
    training: TrainingRows | None = None
    seen: Seen | None = None
    interval: Interval | None = None
    refitted: bool = False

    @property
    def features(self) -> list[str]:
        """The columns that it takes, in its order."""
        return list(self.card["features"])


def model_of_run(run: FinishedRun, dataset: Dataset | None) -> UsedModel | None:
    """The model of a run; None where its rows are no table's (molecules, texts, …).

    Args:
        run: one that has ended.
        dataset: the run's own; None where it is not there any more.
    """
    if "table" not in forms_of(run.takeaway.task, run.plan.model):
        return None
    pipeline = with_card(run)
    card, training = card_of(pipeline), _training(card_of(pipeline))
    seen = seen_of(training) if training else None
    rows = _training_rows(run, dataset)
    if dataset is not None and rows is not None:
        training = training or training_rows_of(dataset, rows)
        if dataset.table is not None and (names := _looked_at(run, dataset)):
            seen = seen_in(dataset.table[names].iloc[rows])
        elif training and not seen:
            seen = seen_of(training)
    return UsedModel(
        run.name,
        card,
        lambda some: predicted(pipeline, some, run.name),
        training,
        seen,
        interval_of_run(run),
        run.takeaway.refitted,
    )


def model_of_file(path: str, *, trust: bool = False) -> UsedModel | None:
    """The model of a file; None where its rows are no table's.

    Raises:
        UnusableError: as `core.export.prediction.load_model`.
    """
    file = check_path(path)
    ending = file.suffix.lower()
    if ending in (".npz", ".json", ".zip"):
        return None
    say: Callable[[Any], pd.DataFrame]
    if ending == ".onnx":
        model = OnnxModel(file)
        card = model.card

        def say(rows: Any) -> pd.DataFrame:
            said = model.outputs(rows)
            return outputs_table(said["prediction"], said.get("probabilities"), model.classes_)

    else:
        pipeline, card = load_model(file, trust=trust)

        def say(rows: Any) -> pd.DataFrame:
            return predicted(pipeline, rows, str(file))

    training = _training(card)
    seen = seen_of(training) if training else None
    return UsedModel(file.name, card, say, training, seen, _interval(card))


def is_of_tables(path: Path) -> bool:
    """Whether a model file takes rows of tables, as far as its name and first bytes tell."""
    ending = path.suffix.lower()
    return ending in (".skops", ".joblib", ".onnx") and not folder_file.holds_model(path)


def _training(card: dict[str, Any]) -> TrainingRows | None:
    return read_training_rows(card.get("training"), list(card["features"]))


def _interval(card: dict[str, Any]) -> Interval | None:
    """What a card says of the interval; a stranger may have written anything into it."""
    told = card.get("interval")
    if not isinstance(told, dict) or card.get("task") != "regression":
        return None
    half, coverage, rows = told.get("half"), told.get("coverage"), told.get("rows")
    if type(half) is not float or type(coverage) is not float or type(rows) is not int:
        return None
    sound = math.isfinite(half) and half >= 0 and 0 < coverage < 1 and rows > 0
    return Interval(half, coverage, rows) if sound else None


def _training_rows(run: FinishedRun, dataset: Dataset | None) -> np.ndarray | None:
    """The places of the rows that the model was fitted on; None where these are not at hand."""
    takeaway = run.takeaway
    if dataset is None or dataset.source.fingerprint != takeaway.source["fingerprint"]:
        return None
    if dataset.feature_names != takeaway.feature_names or dataset.rows != takeaway.rows:
        return None
    fitted = takeaway.fitted_rows or takeaway.train_rows
    if takeaway.refitted or not fitted:
        return np.arange(dataset.rows)
    return np.array(fitted, dtype=int)


def _looked_at(run: FinishedRun, dataset: Dataset) -> list[str]:
    assert dataset.table is not None
    kinds = {column["name"]: column["kind"] for column in run.takeaway.columns}
    return [name for name in run.takeaway.feature_names if kinds.get(name) in LOOKED_AT]


def row_of(values: dict[str, Any], model: UsedModel) -> Any:
    """One raw row as the model takes it; what is not given is missing.

    Args:
        values: {column: number, text or None}.
        model: that takes it.

    Raises:
        UnusableError: a text stands where a number must.
    """
    card, made = model.card, {}
    for name in model.features:
        value = values.get(name)
        if name in card["text"]:
            made[name] = pd.Series([None if value in (None, "") else str(value)], dtype="str")
        else:
            made[name] = pd.Series([_number(value, name)], dtype=float)
    if card["format"] == "libsvm":
        numbers = np.array([[one.iloc[0] for one in made.values()]])
        return sparse.csr_matrix(np.nan_to_num(numbers))
    return pd.DataFrame(made)


def _number(value: Any, name: str) -> float:
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableError(
            f"“{str(value)[:60]}” is no number",
            where=f"column {name}",
            cure="give a number, or leave it empty where the value is missing",
        )
    return number


def looked_at(rows: Any, model: UsedModel) -> pd.DataFrame | None:
    """The columns of raw rows that are compared with the training rows; None for none."""
    seen = model.seen
    if seen is None:
        return None
    if not isinstance(rows, pd.DataFrame):
        if rows.shape[1] > WIDEST_MATRIX:
            return None
        rows = pd.DataFrame(rows.toarray(), columns=model.features)
    names = {*seen.ranges, *seen.kinds}
    return rows[[name for name in rows.columns if str(name) in names]]
