"""The content of a workbook's sheets before reading: extent, merged cells, lost formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error
from core.errors import UnusableError

MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
MAX_GRID_CELLS = 20_000_000  # rows × columns, empty ones included
SMALL_GRID_CELLS, MIN_FILLED_SHARE = 500_000, 0.01  # of a larger grid, this share must be filled
Merged = tuple[int, int, int, int]  # top, left, bottom, right: from 0, the last ones included


class ScanFinished(Exception):  # noqa: N818 - it ends a scan early and is no error
    """The sheet holds a value, and no more was asked."""


@dataclass
class SheetExtent:
    """The filled part of a sheet; rows and columns count from 0."""

    name: str
    where: str  # file and sheet
    max_cells: int  # with values
    rows: int = 0  # down to the last value
    columns: set[int] = field(default_factory=set)  # with a value
    cells: int = 0  # with a value
    merged: list[Merged] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)  # formulas without value

    def add_cells(self, row: int, column: int, rows: int = 1, columns: int = 1) -> None:
        """Record a value that fills so many rows and columns from a cell on."""
        if not (rows > 0 and columns > 0):
            return
        if not (0 <= row <= MAX_ROWS - rows and 0 <= column <= MAX_COLUMNS - columns):
            why = "a cell lies beyond the last row or column of a sheet"
            raise damaged_file_error(self.where, why)
        self.rows = max(self.rows, row + rows)
        if columns == 1:
            self.columns.add(column)
        else:
            self.columns.update(range(column, column + columns))
        self.cells += rows * columns
        if self.cells > self.max_cells:
            raise self._too_large(f"more than {self.max_cells:,} cells")

    def check_spread(self) -> None:
        """Check that the cells are not so far apart that empty ones between fill the memory."""
        width = max(self.columns, default=0) + 1
        grid_cells = self.rows * width
        if grid_cells > SMALL_GRID_CELLS and self.cells < MIN_FILLED_SHARE * grid_cells:
            raise UnusableError(
                f"the sheet has {self.rows:,} rows and {width:,} columns, and nearly all are empty",
                where=self.where,
                cure="delete what stands alone far below or to the right of the table",
            )
        if grid_cells > MAX_GRID_CELLS:
            raise self._too_large(f"{self.rows:,} rows and {width:,} columns")

    def _too_large(self, size_text: str) -> UnusableError:
        return UnusableError(
            f"the sheet has {size_text}, more than can be read from a workbook",
            where=self.where,
            cure="save it as CSV and open that",
        )


@dataclass(frozen=True)
class Workbook:
    """The sheets of a workbook by name, hidden ones last."""

    names: tuple[str, ...]  # of every sheet
    scan: Callable[[SheetExtent, bool], None]  # with True, up to the first value
    package: str  # the library that reads it
    max_cells: int  # of a sheet

    def sheet_extent(self, sheet: str, file: str) -> SheetExtent:
        """The extent of a sheet; raises UnusableError if damaged or too large."""
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}", self.max_cells)
        self.scan(extent, False)
        extent.check_spread()
        return extent

    def filled_sheets(self, file: str) -> tuple[str, ...]:
        """The sheets that hold values."""
        return tuple(name for name in self.names if self._is_filled(name, file))

    def _is_filled(self, sheet: str, file: str) -> bool:
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}", self.max_cells)
        try:
            self.scan(extent, True)
        except ScanFinished:
            return True
        return extent.cells > 0
