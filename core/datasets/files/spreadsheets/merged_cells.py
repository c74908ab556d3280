"""Merged cells of a sheet that can be filled: those within one column."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.dataset import Fill
from core.datasets.files.spreadsheets.sheet_header import SheetHeader
from core.datasets.files.spreadsheets.workbook import Merged, SheetExtent
from core.errors import UnusableError

_MAX_FILLS = 100_000
_UNMERGE = "unmerge them in the spreadsheet program and give each cell a value of its own"


def fills_of(extent: SheetExtent, columns: Sequence[int], head: SheetHeader) -> tuple[Fill, ...]:
    """Merged cells below the header (column, first, last row); UnusableError across columns."""
    names = dict(zip(columns, head.column_names, strict=True))
    fills = []
    for range_ in extent.merged:
        top, left, bottom, right = range_
        inside = [column for column in columns if left <= column <= right]
        bottom = min(bottom, extent.rows - 1)
        if not inside or (top, left) == (bottom, right) or max(top, bottom) < head.first:
            continue
        if left != right or top < head.first:
            raise _merged_cells_error(extent, range_, "")
        fills.append((names[inside[0]], top - head.first, bottom - head.first))
    if len(fills) > _MAX_FILLS:
        raise _merged_cells_error(extent, extent.merged[0], f"and {len(fills):,} others ")
    return tuple(fills)


def _merged_cells_error(extent: SheetExtent, range_: Merged, which: str) -> UnusableError:
    top, left, bottom, right = range_
    cells = f"{column_letters(left)}{top + 1}:{column_letters(right)}{bottom + 1}"
    return UnusableError(f"the cells {cells} {which}are merged", where=extent.where, cure=_UNMERGE)


def column_letters(column: int) -> str:
    """The spreadsheet name of a column (from 0): A to Z, then AA, AB and so on."""
    column_name = ""
    column += 1
    while column:
        column, letter_index = divmod(column - 1, 26)
        column_name = chr(ord("A") + letter_index) + column_name
    return column_name
