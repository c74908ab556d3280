"""Predictions for the rows of a file, kept until a person says where the table goes."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from core.datasets.files.addresses import split_sheet_address
from core.errors import UnusableError, write_error
from core.export.destination import check_destination, write_whole_file
from core.export.own_table.answer_rows import Answers, answer_text
from core.export.own_table.output_form import output_form
from core.export.own_table.own_table import OwnTable, write_own_table


class KeptAnswers:
    """The answers on the rows of a file, in a private folder; without `table` they stand alone."""

    def __init__(self, file: str, table: OwnTable | None) -> None:
        self.count = 0
        self.is_whole = True  # whether there is an answer for every row
        self._table = table
        self._file = Path(split_sheet_address(file)[0]).expanduser()
        self._state = self._file_state()
        self._folder = Path(tempfile.mkdtemp(prefix="predictions-"))

    def add_rows(self, answers: pd.DataFrame) -> None:
        """Keep the answers on the next rows; raises UnusableError where the disk is full."""
        try:
            with self._path.open("ab") as stream:
                pickle.dump(answers, stream)  # nobody else can write to the folder
        except OSError as error:
            raise write_error("the predictions", self._folder, error) from error
        self.count += len(answers)

    def forget(self) -> None:
        """Delete the answers."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def first_rows(self, answers: pd.DataFrame) -> tuple[list[str], list[list[object]]]:
        """The headers and the first rows of the table with the first answers behind."""
        beside = Answers([answers])
        answer_rows = list(beside.rows())
        if self._table is None:
            return beside.columns, [list(row) for row in answer_rows]
        names = self._table.names
        own_rows = islice(self._table.rows(), len(answer_rows))
        rows: list[list[object]] = [
            [*map(answer_text, own_row), *row]
            for own_row, row in zip(own_rows, answer_rows, strict=False)
        ]
        return [*names, *beside.names_beside(names)], rows

    def write_table(self, path: Path) -> list[str]:
        """Write the table with the answers, or UnusableError; sentences on what could not stay."""
        check_destination(path)
        table_file = self._table.file if self._table is not None else None
        form = output_form(path, table_file)
        if table_file is not None and self._file_state() != self._state:
            fault = "the file was changed after its rows were predicted"
            raise UnusableError(fault, where=str(self._file), cure="open the file of rows again")
        answers = Answers(self._tables(), is_whole=self.is_whole)
        table, sentences = self._table, list[str]()
        write_whole_file(path, lambda p: sentences.extend(write_own_table(p, form, table, answers)))
        return sentences

    @property
    def _path(self) -> Path:
        return self._folder / "answers"

    def _file_state(self) -> tuple[int, int]:
        if not self._file.is_file():
            return 0, 0
        state = self._file.stat()
        return state.st_size, state.st_mtime_ns

    def _tables(self) -> Iterator[pd.DataFrame]:
        if not self._path.is_file():
            cure = "open the file of rows again"
            raise UnusableError("the predictions are not there any more", cure=cure)
        with self._path.open("rb") as stream:
            while stream.peek(1):
                yield pickle.load(stream)
