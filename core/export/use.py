"""A run's model used on new rows: what they are, what it says of them, what is unlike training."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from core.datasets.dataset import Dataset
from core.export.choices import STRUCTURED, forms_of
from core.export.exporters import export_run
from core.export.files.model_card import card_of, with_card
from core.export.finished_run import FinishedRun
from core.export.prediction import predict_file, predictions_of
from core.export.unlike import seen_in, unlike

UNLIKE = "unlike the training rows"
LOOKED_AT = ("number", "category", "yes/no")  # kinds of columns; dates and texts are always new
NOT_KNOWN = (
    "Rows unlike the training rows are not marked: what this model learned from is not known."
)


@dataclass(frozen=True)
class Used:
    """Predictions of new rows.

    Attributes:
        table: the predictions, what is unlike the training rows where that is known, and the rows.
        said: what is not known, a sentence; "" for nothing.
        marked: how many rows are unlike the training rows.
    """

    table: pd.DataFrame
    said: str = ""
    marked: int = 0


def use_run(run: FinishedRun, file: str, dataset: Dataset | None) -> Used:
    """What a run's model says of the rows of a file.

    Args:
        run: one that has ended.
        file: rows like those it was trained on; the target may be absent.
        dataset: the run's own; None where it is not there any more.

    Raises:
        UnusableError: unreadable rows, or a column is missing.
    """
    if "table" not in forms_of(run.takeaway.task, run.plan.model):
        return Used(_of_no_table(run, file), NOT_KNOWN)
    pipeline = with_card(run)
    rows, said = predictions_of(pipeline, card_of(pipeline), file)
    if not isinstance(rows, pd.DataFrame):
        return Used(said, NOT_KNOWN)
    table = pd.concat([said, rows.reset_index(drop=True)], axis=1)
    train = _training_rows(run, dataset)
    if train is None:
        return Used(table, NOT_KNOWN)
    words = unlike(rows[list(train.columns)], seen_in(train))
    table.insert(len(said.columns), UNLIKE, words)
    return Used(table, "", sum(map(bool, words)))


def use_file(model: str, file: str, *, trust: bool = False) -> Used:
    """What a model file says of the rows of another file.

    Args:
        model, file, trust: as for `core.export.prediction.predict_file`.

    Raises:
        UnusableError: as there.
    """
    return Used(predict_file(model, file, trust=trust), NOT_KNOWN)


def _training_rows(run: FinishedRun, dataset: Dataset | None) -> pd.DataFrame | None:
    """The rows that the model was fitted on, their numbers and categories; None if unknown."""
    takeaway = run.takeaway
    if dataset is None or dataset.table is None:
        return None
    if dataset.source.fingerprint != takeaway.source["fingerprint"]:
        return None
    kinds = {column["name"]: column["kind"] for column in takeaway.columns}
    names = [name for name in takeaway.feature_names if kinds.get(name) in LOOKED_AT]
    if not names or not set(names) <= set(dataset.table.columns):
        return None
    whole = takeaway.refitted or not (takeaway.fitted_rows or takeaway.train_rows)
    table = dataset.table[names]
    return table if whole else table.iloc[takeaway.fitted_rows or takeaway.train_rows]


def _of_no_table(run: FinishedRun, file: str) -> pd.DataFrame:
    """Sequences, molecules and texts: as their exported model predicts."""
    (form,) = forms_of(run.takeaway.task, run.plan.model)
    ending = ".npz" if form in STRUCTURED else ".zip"
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"model{ending}"
        return predict_file(export_run(run, path), file)
