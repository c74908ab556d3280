"""A model file's predictions for the rows of a file, written behind the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pandas as pd

from core.datasets.files.file_bytes import check_path
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.export.destination import check_destination, write_whole_file
from core.export.own_table.answer_rows import Answers
from core.export.own_table.line_rows import LABEL, STRUCTURE
from core.export.own_table.output_form import form_without_name, output_form
from core.export.own_table.own_table import OwnTable, own_table_of, write_own_table, write_own_text
from core.export.prediction import ignore_progress, prediction_tables
from core.export.using.loaded_model import LoadedModel, model_of_file
from core.export.using.prediction_stream import PredictionStream

Report = Callable[[int, int], None]


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
) -> WrittenPredictions:
    """Write the table of a file, of any size, with the predictions behind it.

    Args:
        model_path, trust: as of `core.export.prediction.predict_file`.
        out: a path, whose ending gives the format, or a stream for a text.
        report: called with (rows done, all rows) from time to time.
        only: whether the predictions are written alone.

    Raises:
        UnusableError: an unusable model, file or name, or a missing column.
    """
    path = Path(out).expanduser() if isinstance(out, (Path, str)) else None
    if path is not None:
        check_destination(path)
    check_path(str(model_path))
    table_file = None if only else returned_table(str(file))
    form = form_without_name(table_file)
    if path is not None:
        form = output_form(path, table_file)
    model = model_of_file(str(model_path), trust=trust)
    stream = PredictionStream(model, str(file)) if model is not None else None
    if stream is None:
        tables = list(prediction_tables(model_path, file, report, trust=trust))
        table, table_answers, remarks = beside_rows(pd.concat(tables), table_file)
        answers = Answers([table_answers])
    else:
        answers, remarks = Answers(_tables_of(stream, report)), list[str]()
        table = table_of_model(table_file, model)
    sentences = list(remarks)
    if path is None:
        assert not isinstance(out, (Path, str))
        sentences += write_own_text(out, form, table, answers)
    else:
        write_whole_file(path, lambda p: sentences.extend(write_own_table(p, form, table, answers)))
    if stream is None:
        return WrittenPredictions(answers.count, 0, sentences)
    sentences = [*stream.sentences(), *sentences]
    return WrittenPredictions(stream.done, stream.marked_count, sentences)


def table_of_model(table_file: TableFile | None, model: LoadedModel | None) -> OwnTable | None:
    """The table of a file as it was given; None where it has no columns (LIBSVM)."""
    if table_file is None or model is None or model.card.format == "libsvm":
        return None
    return own_table_of(table_file, model.features[0])


def returned_table(file: str) -> TableFile | None:
    """The file whose table comes back; None for LIBSVM lines, which have no columns."""
    table_file = open_table(file)
    return None if isinstance(table_file, TextFile) and table_file.is_libsvm else table_file


def beside_rows(
    answers: pd.DataFrame, table_file: TableFile | None
) -> tuple[OwnTable | None, pd.DataFrame, list[str]]:
    """The table of tokens, molecules or texts, the answers behind it, and remarks."""
    # The answers begin with columns of the table, which are left out; they stand alone, with these,
    # where the table has rows without an answer, such as empty texts.
    if table_file is None:
        return None, answers, []
    table = own_table_of(table_file)
    if sum(1 for _ in table.rows()) != len(answers):
        remark = "The file has rows without a prediction, so the predictions stand alone."
        return None, answers, [remark]
    start = next((i for i, name in enumerate(answers) if name in (LABEL, STRUCTURE)), 0)
    return table, answers.iloc[:, start:], []


def _tables_of(stream: PredictionStream, report: Report) -> Iterator[pd.DataFrame]:
    for rows in stream:
        if stream.total > stream.done or stream.done > len(rows.answers):
            report(stream.done, stream.total)
        yield rows.answers
