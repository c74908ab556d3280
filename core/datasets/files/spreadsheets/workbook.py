"""What the sheets of a workbook hold, before any is read: extent, merged cells, lost formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error
from core.errors import UnusableError

MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
MAX_GRID_CELLS = 20_000_000  # rows × columns from the first cell to the last that holds anything
SMALL_GRID_CELLS, MIN_FILLED_SHARE = 500_000, 0.01  # of more places, this share must hold something
Merged = tuple[int, int, int, int]  # top, left, bottom, right: from 0, the last ones included


class ScanFinished(Exception):  # noqa: N818 - it ends a scan early and is no error
    """A sheet holds something, and nobody wants to know more."""


@dataclass
class SheetExtent:
    """Where a sheet holds something; rows and columns count from 0.

    Attributes:
        name: the sheet's.
        max_cells: how many cells with values may be read.
        where: file and sheet, for errors.
        rows: how many rows there are down to the last with a value.
        columns: those with a value.
        cells: how many cells have one.
        merged: the ranges of merged cells.
        lost: {column: formulas whose value is not in the file}.
    """

    name: str
    where: str
    max_cells: int
    rows: int = 0
    columns: set[int] = field(default_factory=set)
    cells: int = 0
    merged: list[Merged] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)

    def add_cells(self, row: int, column: int, rows: int = 1, columns: int = 1) -> None:
        """Take note of a value that stands in so many rows and columns from a place on.

        Raises:
            UnusableError: the sheet is too large, or the place is in none.
        """
        if not (rows > 0 and columns > 0):
            return
        if not (0 <= row <= MAX_ROWS - rows and 0 <= column <= MAX_COLUMNS - columns):
            raise damaged_file_error(
                self.where, "a cell lies beyond the last row or column of a sheet"
            )
        self.rows = max(self.rows, row + rows)
        if columns == 1:
            self.columns.add(column)
        else:
            self.columns.update(range(column, column + columns))
        self.cells += rows * columns
        if self.cells > self.max_cells:
            raise self._too_large(f"more than {self.max_cells:,} cells")

    def check_spread(self) -> None:
        """See that its cells do not lie so far apart that the places between fill the memory.

        Raises:
            UnusableError: they do.
        """
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
    """The sheets of a workbook by name, those first that are not hidden.

    Attributes:
        names: of every sheet.
        scan: an Extent is filled with what a sheet holds; it raises EnoughSeen at the first value
            where its second argument is true.
        package: what reads it.
        max_cells: how many cells of a sheet can be read.
    """

    names: tuple[str, ...]
    scan: Callable[[SheetExtent, bool], None]
    package: str
    max_cells: int

    def sheet_extent(self, sheet: str, file: str) -> SheetExtent:
        """What a sheet holds.

        Raises:
            UnusableError: damaged, or too large.
        """
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}", self.max_cells)
        self.scan(extent, False)
        extent.check_spread()
        return extent

    def filled_sheets(self, file: str) -> tuple[str, ...]:
        """The sheets that hold anything."""
        return tuple(name for name in self.names if self._is_filled(name, file))

    def _is_filled(self, sheet: str, file: str) -> bool:
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}", self.max_cells)
        try:
            self.scan(extent, True)
        except ScanFinished:
            return True
        return extent.cells > 0
