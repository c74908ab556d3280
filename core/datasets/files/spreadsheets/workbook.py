"""The content of a workbook's sheets before reading: extent, merged cells, lost formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.datasets.files.spreadsheets.zipped_xml import damaged_file_error
from core.errors import UnusableError

MAX_ROWS, MAX_COLUMNS = 2**20, 2**14  # of a sheet, in every spreadsheet program
MAX_GRID_CELLS = 6_000_000  # rows × columns, empty ones included
MAX_LETTERS = 300_000_000  # of all texts; one that is stored once counts in every cell
SMALL_GRID_CELLS, MIN_FILLED_SHARE = 500_000, 0.01  # of a larger grid, this share must be filled
Merged = tuple[int, int, int, int]  # top, left, bottom, right: from 0, the last ones included


class ScanFinished(Exception):  # noqa: N818 - it ends a scan early and is no error
    """The sheet holds a value, and no more was asked."""


@dataclass
class SheetExtent:
    """The filled part of a sheet; rows and columns count from 0."""

    name: str
    where: str  # file and sheet
    rows: int = 0  # down to the last value
    width: int = 0  # columns up to the last value
    cells: int = 0  # with a value
    letters: int = 0
    merged: list[Merged] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)  # formulas without value, by column

    def add_cells(
        self, row: int, column: int, rows: int = 1, columns: int = 1, letters: int = 0
    ) -> None:
        """Record a value of so many letters that fills rows and columns from a cell on."""
        if not (rows > 0 and columns > 0):
            return
        if not (0 <= row <= MAX_ROWS - rows and 0 <= column <= MAX_COLUMNS - columns):
            why = "a cell lies beyond the last row or column of a sheet"
            raise damaged_file_error(self.where, why)
        if row + rows > self.rows:
            self.rows = row + rows
        if column + columns > self.width:
            self.width = column + columns
        self.cells += rows * columns
        if self.cells > MAX_GRID_CELLS:
            raise self._too_large(f"more than {MAX_GRID_CELLS:,} cells")
        if letters:
            self.add_letters(letters * rows * columns)

    def add_letters(self, letters: int) -> None:
        """Record the texts of cells."""
        self.letters += letters
        if self.letters > MAX_LETTERS:
            raise self._too_large(f"texts of more than {MAX_LETTERS:,} letters")

    def check_spread(self) -> None:
        """Check that the cells are not so far apart that empty ones between fill the memory."""
        grid_cells = self.rows * self.width
        if grid_cells > SMALL_GRID_CELLS and self.cells < MIN_FILLED_SHARE * grid_cells:
            raise UnusableError(
                f"the sheet has {self.rows:,} rows and {self.width:,} columns, and nearly all are "
                "empty",
                where=self.where,
                cure="delete what stands alone far below or to the right of the table",
            )
        if grid_cells > MAX_GRID_CELLS:
            raise self._too_large(f"{self.rows:,} rows and {self.width:,} columns")

    def _too_large(self, size_text: str) -> UnusableError:
        fault = f"the sheet has {size_text}, more than can be read from a workbook"
        return UnusableError(fault, where=self.where, cure="save it as CSV and open that")


@dataclass(frozen=True)
class Workbook:
    """The sheets of a workbook by name, hidden ones last."""

    names: tuple[str, ...]  # of every sheet
    scan: Callable[[SheetExtent, bool], None]  # with True, perhaps up to the first value alone

    def sheet_extent(self, sheet: str, file: str) -> SheetExtent:
        """The extent of a sheet; raises UnusableError if damaged or too large."""
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}")
        self.scan(extent, False)
        extent.check_spread()
        return extent

    def filled_sheets(self, file: str) -> tuple[str, ...]:
        """The sheets that hold values."""
        return tuple(name for name in self.names if self._is_filled(name, file))

    def _is_filled(self, sheet: str, file: str) -> bool:
        extent = SheetExtent(sheet, f"{file}, sheet {sheet}")
        try:
            self.scan(extent, True)
        except ScanFinished:
            return True
        return extent.cells > 0


def scanned_workbook(extents: list[SheetExtent]) -> Workbook:
    """A workbook whose sheets were all looked at; UnusableError if together they are too large."""
    by_name = {extent.name: extent for extent in extents}
    for extent in extents:
        extent.check_spread()
    n_cells = sum(extent.rows * extent.width for extent in extents)
    if n_cells > MAX_GRID_CELLS or sum(extent.letters for extent in extents) > MAX_LETTERS:
        fault = "its sheets together hold more than can be read from a workbook"
        cure = "save the one that you mean as CSV and open that"
        raise UnusableError(fault, where=extents[0].where.partition(", sheet ")[0], cure=cure)

    def scan(extent: SheetExtent, is_enough: bool) -> None:
        vars(extent).update(vars(by_name[extent.name]))

    return Workbook(tuple(by_name), scan)
