"""A model's prediction for one row that a person fills in, or for a row of the test set."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.dataset import Dataset
from core.datasets.finding import column_title
from core.datasets.reading import rows_in_file
from core.datasets.task import Task
from core.errors import UnusableError
from core.evaluation.conformal import MIN_ERRORS
from core.export.finished_run import FinishedRun
from core.export.prediction import LoadedModel, compared_columns, make_raw_row
from core.export.using.input_checks import far_dates, is_outside, unlike_reasons, unread_dates
from core.export.using.row_answers import CellValue, ModelForm, RowPrediction, TestRow
from core.tuning.results.training_columns import NUMBER, TEXT, TrainingColumn

MAX_FIELDS = 300  # columns of a form; the others keep their typical values
NO_DATE = "is no date like {}, so it counts as missing"


def form_of_model(model: LoadedModel) -> ModelForm:
    """The fields of a model's form."""
    training, card = model.training, model.card
    target_format = (card.formats or {}).get(card.target)
    if training is not None:
        columns = training.columns
    else:
        # Models of earlier versions say nothing of their training rows.
        columns = tuple(
            TrainingColumn(name, TEXT, numeric=False, more=True)
            if name in card.text
            else TrainingColumn(name, NUMBER, numeric=True, more=True)
            for name in model.features
        )
    return ModelForm(
        name=model.name,
        target=column_title(card.target, target_format.unit if target_format else ""),
        task=card.task,
        fields=columns[:MAX_FIELDS],
        known=training is not None,
        rows=training.rows if training is not None else 0,
        left_out=max(0, len(columns) - MAX_FIELDS),
        interval=model.interval,
        fewest=MIN_ERRORS,
        refitted=model.refitted,
    )


def predict_row(model: LoadedModel, values: dict[str, CellValue]) -> RowPrediction:
    """The prediction for one row, empty columns typical; UnusableError where it cannot be."""
    unknown_names = [name for name in values if name not in model.features]
    if unknown_names:
        raise UnusableError(f"the model has no column “{unknown_names[0]}”", cure="leave it out")
    columns = model.training.columns if model.training else ()
    typical = {column.name: column.typical for column in columns}
    row = make_raw_row(typical | values, model)
    table = model.predict(row)
    prefix = "probability of "
    cells = ((str(name), cell) for name, cell in table.iloc[0].items())
    shares = [(n.removeprefix(prefix), float(cell)) for n, cell in cells if n.startswith(prefix)]
    shares.sort(key=lambda pair: -pair[1])
    prediction = table["prediction"].iloc[0]  # of a row as a whole, 8 would be 8.0
    number = model.card.task == Task.REGRESSION
    half_width = model.interval.half if number and model.interval else None
    compared_row = compared_columns(row, model)
    words, outside = "", []
    if compared_row is not None and (training := model.training) is not None:
        words = unlike_reasons(compared_row, training)[0]
        mask = is_outside(training.numbers_and_codes(compared_row), training)[0]
        pairs = zip(training.columns, mask, strict=True)
        outside = [column.name for column, is_marked in pairs if is_marked and words]
    odd, far = unread_dates(row, model.training), far_dates(row, model.training)
    date_texts = [f"{name} {NO_DATE.format(typical[name])}" for name in odd]
    date_texts += [sentences[0] for sentences in far.values()]
    words = "; ".join(filter(None, [words, *date_texts]))
    return RowPrediction(
        prediction=float(prediction) if number else str(prediction),
        shares=shares,
        low=None if half_width is None else float(prediction) - half_width,
        high=None if half_width is None else float(prediction) + half_width,
        unlike=words,
        outside=[*outside, *odd, *far],
    )


@dataclass(frozen=True)
class TestRows:
    """The rows that tested a run's model, in the order of their file."""

    __test__ = False  # no test, for pytest

    dataset: Dataset
    row_indices: np.ndarray  # in the dataset
    lines: list[int]  # where each begins in the file
    counted: str  # "line", or "row" where the data have no lines
    target: str  # the column to predict

    def row_by_number(self, number: int) -> TestRow:
        """The row of a number from 1, or UnusableError."""
        if not 1 <= number <= len(self.row_indices):
            fault = f"there is no row {number:,} in the test set"
            raise UnusableError(fault, cure=f"give a number from 1 to {len(self.row_indices):,}")
        row_index = int(self.row_indices[number - 1])
        return TestRow(
            number=number,
            count=len(self.row_indices),
            line=self.lines[number - 1],
            counted=self.counted,
            values=_row_values(self.dataset, row_index),
            truth=_cell_value(self.dataset.target[row_index]),
            target=self.target,
        )

    def row_at_line(self, line: int) -> TestRow:
        """The row that begins in a line of the file or the next below it, or UnusableError."""
        index = bisect_left(self.lines, line)
        if index == len(self.lines):
            fault = f"no test row is in {self.counted} {line:,} or below"
            raise UnusableError(fault, cure=f"the last one is in {self.counted} {self.lines[-1]:,}")
        return self.row_by_number(index + 1)


def test_rows_of(run: FinishedRun, dataset: Dataset | None) -> TestRows | None:
    """The test rows of a run that ended; None where its data are missing or have changed."""
    takeaway = run.takeaway
    if dataset is None or dataset.source.fingerprint != takeaway.source.fingerprint:
        return None
    test_dataset = dataset.test if takeaway.test_source else dataset
    if test_dataset is None or max(takeaway.test_rows, default=np.inf) >= test_dataset.rows:
        return None
    if takeaway.test_source and test_dataset.source.fingerprint != takeaway.test_source.fingerprint:
        return None
    # In the order of the file, so that a row can be found by its line.
    row_indices = np.sort(np.array(takeaway.test_rows, dtype=int))
    file_rows = rows_in_file(test_dataset, row_indices)
    return TestRows(test_dataset, row_indices, file_rows.lines, file_rows.counted, takeaway.target)


test_rows_of.__test__ = False  # type: ignore[attr-defined]


def _row_values(dataset: Dataset, row_index: int) -> dict[str, CellValue]:
    if dataset.table is not None:
        row = dataset.table.iloc[row_index]
        return {str(name): _cell_value(row[name]) for name in dataset.table.columns}
    assert dataset.matrix is not None
    numbers = dataset.matrix[row_index].toarray()[0]
    return dict(zip(dataset.feature_names, map(float, numbers), strict=True))


def _cell_value(value: Any) -> CellValue:
    if pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, (int, float)) else str(value)
