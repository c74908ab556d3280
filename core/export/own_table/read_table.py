"""A table that is read as a whole, every cell as text, as it stands in a sheet or an ARFF file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.datasets.files.table_file import TableFile
from core.datasets.raw_table import RawTable
from core.export.own_table.answer_rows import Cell


@dataclass(frozen=True)
class ReadTable:
    """The table of a file without a reader of parts."""

    file: TableFile

    @cached_property
    def raw_table(self) -> RawTable:
        """All of it, as texts."""
        return self.file.read(dict.fromkeys(self.file.first_cells(), "category"))

    @property
    def has_header(self) -> bool:
        """Whether names stand above the rows."""
        arguments = self.raw_table.source.read_csv
        return "header" not in arguments or arguments["header"] is not None

    @property
    def names(self) -> list[str]:
        """The columns' names as they are read."""
        return list(map(str, self.raw_table.table.columns))

    def rows(self) -> Iterator[list[Cell]]:
        """The cells of every row, as texts."""
        table = self.raw_table.table
        columns = [table[name].astype(object).where(table[name].notna(), None) for name in table]
        for row in zip(*columns, strict=True):
            yield [None if cell is None else str(cell) for cell in row]
