"""Predictions for a file of any size in parts, with marks and intervals."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.sampling import file_parts, row_sampling
from core.datasets.sampling.file_parts import FilePart, form_of, memory_sized_parts, row_parts
from core.errors import UnusableError
from core.evaluation.conformal import PredictionInterval
from core.export.exportable_models import STRUCTURED, export_variants_of
from core.export.exporters import export_run
from core.export.finished_run import FinishedRun
from core.export.prediction import predict_file
from core.export.raw_rows import ReadNotes, rows_of
from core.export.using.input_checks import InputChecks, far_dates, with_unreadable
from core.export.using.loaded_model import NOT_KNOWN, LoadedModel, compared_columns
from core.export.using.out_of_distribution import unlike_reasons

UNLIKE = "unlike the training rows"
LARGE_BYTES = 4_000_000  # bytes of a file that is read in parts
PART_ROWS = 20_000  # rows of a part


@dataclass(frozen=True)
class PredictedRows:
    """The predictions for some rows."""

    answers: pd.DataFrame  # predictions, intervals, marks where possible
    marked_count: int  # rows unlike the training rows


@dataclass
class PredictionStream:
    """The rows of a file and a model's predictions for them, part after part."""

    model: LoadedModel
    file: str
    total: int = 0  # rows; 0 while unknown
    done: int = 0  # rows predicted
    marked_count: int = 0  # predicted rows unlike the training rows
    _checks: InputChecks = field(init=False)

    def __post_init__(self) -> None:
        self._checks = InputChecks(self.model)

    def __iter__(self) -> Iterator[PredictedRows]:
        """Predict the next part; UnusableError: unreadable rows, a missing column, or no rows."""
        for file_part in self._file_parts():
            noted = ReadNotes()
            with file_part.lines.translate_line_numbers():
                rows = rows_of(file_part, self.model.card, noted)
            self._checks.noted.add_notes(noted)
            predicted_rows = self._predict_rows(rows, noted)
            self.done += len(predicted_rows.answers)
            self.marked_count += predicted_rows.marked_count
            self.total = max(self.total, self.done)
            yield predicted_rows
        if not self.done:
            fault = "there is no row under the names of the columns"
            raise UnusableError(fault, where=Path(self.file).name, cure="give one row at least")

    def _file_parts(self) -> Iterator[FilePart]:
        file = open_table(self.file)
        if not is_large(file):
            yield from memory_sized_parts(file)
            return
        self.total = _row_count(file)
        yield from row_parts(file, PART_ROWS)

    def _predict_rows(self, rows: object, noted: ReadNotes) -> PredictedRows:
        table = self.model.predict(rows)
        if self.model.interval is not None:
            _add_interval(table, self.model.interval)
        compared_rows, marked_count = compared_columns(rows, self.model), 0
        is_compared = compared_rows is not None and self.model.profile is not None
        far = far_dates(rows, self.model)
        if is_compared or noted.unreadable or far:
            words = [""] * len(table)
            if compared_rows is not None and self.model.profile is not None:
                words = unlike_reasons(compared_rows, self.model.profile)
            table[UNLIKE] = words = with_unreadable(words, noted.unreadable, self.model, far)
            marked_count = sum(map(bool, words))
        if (checked_rows := rows if isinstance(rows, pd.DataFrame) else compared_rows) is not None:
            self._checks.add_rows(checked_rows)
        return PredictedRows(table, marked_count)

    def sentences(self) -> list[str]:
        """Remarks on the rows that were predicted."""
        has_profile = self.model.profile is not None
        return [*self._checks.sentences(), *([] if has_profile else [NOT_KNOWN])]


def _add_interval(table: pd.DataFrame, interval: PredictionInterval) -> None:
    percent = f"{100 * interval.coverage:g} %"
    table[f"low ({percent})"] = table["prediction"] - interval.half
    table[f"high ({percent})"] = table["prediction"] + interval.half


def is_large(file: TableFile) -> bool:
    """Whether a file is read in parts."""
    return file_parts.can_be_drawn(file) and file.path.stat().st_size > LARGE_BYTES


def _row_count(file: TableFile) -> int:
    if isinstance(file, ColumnarFile):
        return file.count_labels()[0]
    assert isinstance(file, TextFile)
    with file_parts.open_text(file) as stream:
        return sum(1 for _ in row_sampling.rows_of(stream, form_of(file)))


def predict_as_exported(run: FinishedRun, file: str) -> pd.DataFrame:
    """The predictions of a run's model of sequences, molecules or texts, by its exported file."""
    (form,) = export_variants_of(run.takeaway.task, run.plan.model)
    ending = ".npz" if form in STRUCTURED else ".zip"
    with tempfile.TemporaryDirectory() as folder:
        return predict_file(export_run(run, Path(folder) / f"model{ending}"), file)
