"""A file's rows and a model's predictions for them: in parts, kept, written behind the rows."""

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

import pandas as pd

from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.file_bytes import check_path
from core.datasets.files.file_parts import FilePart, memory_sized_parts, row_parts
from core.datasets.files.registry import open_table
from core.datasets.files.table_reader import TableReader
from core.errors import UnusableError, write_error
from core.export.bundle import carrier
from core.export.bundle.carrier import Report
from core.export.destination import check_destination, fill_destination
from core.export.finished_run import FinishedRun
from core.export.own_table.answer_rows import Answers, OwnTable, answer_text
from core.export.own_table.own_table import (
    form_without_name,
    joined_rows,
    output_form,
    own_table_of,
    write_own_table,
    write_own_text,
)
from core.export.own_table.row_order import RecordFile
from core.export.own_table.text_lines import LABEL, STRUCTURE
from core.export.prediction import (
    NOT_KNOWN,
    RANGES_ALONE,
    LoadedModel,
    compared_columns,
    ignore_progress,
    model_of_file,
    predict_file,
)
from core.export.raw_rows import ReadNotes, rows_of
from core.export.using.input_checks import InputChecks, far_dates, unlike_reasons, with_unreadable

UNLIKE = "unlike the training rows"
LARGE_BYTES = 4_000_000  # bytes of a file that is read in parts
PART_ROWS = 20_000  # rows of a part


@dataclass
class PredictionStream:
    """A model's predictions for the rows of a file, with intervals and marks, part after part."""

    model: LoadedModel
    file: str
    total: int = 0  # rows; 0 while unknown
    done: int = 0  # rows predicted
    marked_count: int = 0  # predicted rows unlike the training rows
    _checks: InputChecks = field(init=False)

    def __post_init__(self) -> None:
        self._checks = InputChecks(self.model.training)

    def __iter__(self) -> Iterator[pd.DataFrame]:
        for file_part in self._file_parts():
            noted = ReadNotes()
            with file_part.lines.translate_line_numbers():
                rows = rows_of(file_part, self.model.card, noted)
            self._checks.noted.add_notes(noted)
            answers = self._predict_rows(rows, noted)
            self.done += len(answers)
            self.total = max(self.total, self.done)
            yield answers
        if not self.done:
            fault = "there is no row under the names of the columns"
            raise UnusableError(fault, where=Path(self.file).name, cure="give one row at least")

    def _file_parts(self) -> Iterator[FilePart]:
        file = open_table(self.file)
        # To count the rows of a large file first makes its progress known.
        if not is_large(file):
            yield from memory_sized_parts(file)
            return
        self.total = file.count_rows(labels=False).total
        yield from row_parts(file, PART_ROWS)

    def _predict_rows(self, rows: object, noted: ReadNotes) -> pd.DataFrame:
        table, training = self.model.predict(rows), self.model.training
        if (interval := self.model.interval) is not None:
            percent = f"{100 * interval.coverage:g} %"
            table[f"low ({percent})"] = table["prediction"] - interval.half
            table[f"high ({percent})"] = table["prediction"] + interval.half
        compared_rows = compared_columns(rows, self.model)
        far = far_dates(rows, training)
        if compared_rows is not None or noted.unreadable or far:
            words = [""] * len(table)
            if compared_rows is not None and training is not None:
                words = unlike_reasons(compared_rows, training)
            table[UNLIKE] = words = with_unreadable(words, noted.unreadable, training, far)
            self.marked_count += sum(map(bool, words))
        if (checked_rows := rows if isinstance(rows, pd.DataFrame) else compared_rows) is not None:
            self._checks.add_rows(checked_rows)
        return table

    def sentences(self) -> list[str]:
        training, note = self.model.training, self.model.version_note
        sentences = [*filter(None, [note]), *self._checks.sentences()]
        if training is not None and training.distance is not None:
            return sentences
        return [*sentences, NOT_KNOWN if training is None else RANGES_ALONE]


def is_large(file: TableReader) -> bool:
    """Whether a file is read in parts."""
    return file.can_be_drawn and file.path.stat().st_size > LARGE_BYTES


def predict_as_exported(run: FinishedRun, file: str) -> pd.DataFrame:
    """The predictions of a run's model of sequences, molecules or texts, as its files predict."""
    return carrier.predict_rows(carrier.arrays_of(run), file, ignore_progress)


@dataclass(frozen=True)
class WrittenPredictions:
    """What was written, and what a person should know of it."""

    count: int  # predicted rows
    marked_count: int  # rows unlike the training rows
    sentences: list[str]


def predict_into(
    model_path: Path | str,
    file: Path | str,
    out: Path | str | IO[bytes],
    report: Report = ignore_progress,
    *,
    trust: bool = False,
    only: bool = False,
    least_sure_first: bool = False,
) -> WrittenPredictions:
    """Write the table of a file, of any size, with the predictions behind it.

    Args:
        model_path, report, trust: as of `core.export.prediction.predict_file`.
        out: a path, whose ending gives the format, or a stream for a text.
        only: whether the predictions are written alone.
        least_sure_first: whether the table is sorted by doubt, where there are probabilities.
    """
    path = Path(out).expanduser() if isinstance(out, (Path, str)) else None
    # Refused before a model is opened and rows are read, which may take long.
    if path is not None:
        check_destination(path)
    check_path(str(model_path))
    table_file = None if only else returned_table(str(file))
    form = form_without_name(table_file)
    if path is not None:
        form = output_form(path, table_file)
    model = model_of_file(str(model_path), trust=trust)
    predict_alone = partial(predict_file, model_path, file, report, trust=trust)
    answered = answered_file(model, str(file), table_file, predict_alone)
    stream, table, sentences = answered.stream, answered.table, list(answered.remarks)
    # Sorted answers alone would not say of which rows they are.
    is_sorted = least_sure_first and table is not None
    answers = Answers(_tables_of(answered, report), least_sure_first=is_sorted)
    if path is None:
        assert not isinstance(out, (Path, str))
        sentences += write_own_text(out, form, table, answers)
    else:
        sentences += fill_destination(path, lambda p: write_own_table(p, form, table, answers))
    if stream is None:
        return WrittenPredictions(answers.count, 0, sentences)
    sentences = [*stream.sentences(), *sentences]
    return WrittenPredictions(stream.done, stream.marked_count, sentences)


@dataclass(frozen=True)
class AnsweredFile:
    """The predictions for the rows of a file, and the table that they go behind."""

    tables: Iterable[pd.DataFrame]  # of predictions, part after part
    stream: PredictionStream | None = None  # of a model of tables
    table: OwnTable | None = None  # None where the predictions stand alone
    remarks: tuple[str, ...] = ()


def answered_file(
    model: LoadedModel | None,
    file: str,
    table_file: TableReader | None,
    predict_alone: Callable[[], pd.DataFrame],
) -> AnsweredFile:
    """The predictions by a model of tables, or those of `predict_alone`, which are all there."""
    if model is None:
        return _answered_at_once(predict_alone(), table_file)
    stream = PredictionStream(model, file)
    has_columns = table_file is not None and model.card.format != "libsvm"
    table = own_table_of(table_file, model.features[0]) if table_file and has_columns else None
    return AnsweredFile(stream, stream, table)


def returned_table(file: str) -> TableReader | None:
    """The file whose table comes back; None for LIBSVM lines, which have no columns."""
    table_file = open_table(file)
    return None if table_file.is_sparse else table_file


def _answered_at_once(answers: pd.DataFrame, table_file: TableReader | None) -> AnsweredFile:
    # The answers begin with columns of the table, which are left out; they stand alone, with these,
    # where the table has rows without an answer, such as empty texts.
    if table_file is None:
        return AnsweredFile([answers])
    table = own_table_of(table_file)
    if sum(1 for _ in table.rows()) != len(answers):
        remark = "The file has rows without a prediction, so the predictions stand alone."
        return AnsweredFile([answers], remarks=(remark,))
    start = next((i for i, name in enumerate(answers) if name in (LABEL, STRUCTURE)), 0)
    return AnsweredFile([answers.iloc[:, start:]], table=table)


def _tables_of(answered: AnsweredFile, report: Report) -> Iterator[pd.DataFrame]:
    stream = answered.stream
    for table in answered.tables:
        # A file of a single part is done before anyone could see progress.
        if stream and (stream.total > stream.done or stream.done > len(table)):
            report(stream.done, stream.total)
        yield table


class KeptAnswers:
    """The answers on the rows of a file, in a private file; without `table` they stand alone."""

    def __init__(self, file: str, table: OwnTable | None) -> None:
        self.count = 0
        self.is_whole = True  # whether there is an answer for every row
        self._table = table
        self._file = Path(split_sheet_address(file)[0]).expanduser()
        # The answers belong to the rows as they are now, not to a file that changes afterwards.
        self._state = self._file_state()
        self._records = RecordFile()
        self._chunk_count = 0

    def add_rows(self, answers: pd.DataFrame) -> None:
        """Keep the answers on the next rows; raises UnusableError where the disk is full."""
        try:
            self._records.add(pickle.dumps(answers))  # nobody else has the file
        except OSError as error:
            raise write_error("the predictions", Path(tempfile.gettempdir()), error) from error
        self.count += len(answers)
        self._chunk_count += 1

    def forget(self) -> None:
        """Delete the answers."""
        self._records.close()

    @property
    def n_own_columns(self) -> int:
        return 0 if self._table is None else len(self._table.names)

    def first_rows(
        self, size: int, *, least_sure_first: bool = False
    ) -> tuple[list[str], list[list[object]]]:
        names, rows = joined_rows(self._table, self._answers(least_sure_first))
        n_own = self.n_own_columns
        with closing(rows):
            first_rows = islice(rows, size)
            return names, [[*map(answer_text, row[:n_own]), *row[n_own:]] for row in first_rows]

    def write_table(self, path: Path, *, least_sure_first: bool = False) -> list[str]:
        """Write the table with the answers, or UnusableError; sentences on what could not stay."""
        check_destination(path)
        form = output_form(path, self._table.file if self._table is not None else None)
        answers = self._answers(least_sure_first)
        return fill_destination(path, lambda p: write_own_table(p, form, self._table, answers))

    def _answers(self, least_sure_first: bool) -> Answers:
        if self._table is not None and self._file_state() != self._state:
            fault = "the file was changed after its rows were predicted"
            raise UnusableError(fault, where=str(self._file), cure="open the file of rows again")
        # Sorted answers alone would not say of which rows they are.
        is_sorted = least_sure_first and self._table is not None
        tables = map(pickle.loads, self._records.records(range(self._chunk_count)))
        return Answers(tables, is_whole=self.is_whole, least_sure_first=is_sorted)

    def _file_state(self) -> tuple[int, int]:
        if not self._file.is_file():
            return 0, 0
        state = self._file.stat()
        return state.st_size, state.st_mtime_ns
