"""The table of the self-test in every readable format."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# {ending: the package that reads it}
FORMATS = {"csv": "pandas", "xlsx": "openpyxl", "ods": "odf", "parquet": "pyarrow"}


def sample_table() -> pd.DataFrame:
    """A sample table of 400 rows."""
    from core.datasets.samples.registry import SAMPLES

    return SAMPLES["groups"].table()


def readable() -> list[str]:
    """Endings of the formats that can be read here."""
    return [ending for ending, package in FORMATS.items() if find_spec(package) is not None]


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the ending."""
    match path.suffix:
        case ".csv":
            table.to_csv(path, index=False)
        case ".xlsx":
            table.to_excel(path, index=False)
        case ".ods":
            _write_ods(table, path)
        case ".parquet":
            import pyarrow
            from pyarrow import parquet

            columns = {str(name): table[name].tolist() for name in table}
            parquet.write_table(pyarrow.table(columns), path)


def _write_ods(table: pd.DataFrame, path: Path) -> None:
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    document = OpenDocumentSpreadsheet()
    sheet = Table(name="People")
    for cells in ([str(name) for name in table], *table.itertuples(index=False)):
        row = TableRow()
        for cell in cells:
            if isinstance(cell, str):
                table_cell = TableCell(valuetype="string")
                table_cell.addElement(P(text=cell))
            else:
                table_cell = TableCell(valuetype="float", value=float(cell))
            row.addElement(table_cell)
        sheet.addElement(row)
    document.spreadsheet.addElement(sheet)
    document.save(str(path))
