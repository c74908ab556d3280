"""The table of the self-test in every readable format."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    import pandas as pd

# {ending: the package that reads it}
FORMATS = {
    **{"csv": "pandas", "xlsx": "python_calamine", "ods": "python_calamine"},
    "parquet": "pyarrow",
}
_SPACES = ("office", "table", "text", "manifest")  # of XML


def sample_table() -> pd.DataFrame:
    """A sample table of 400 rows."""
    from core.datasets.samples import SAMPLES

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
            from core.export.own_table.sheet_rows import write_workbook

            rows = table.astype(object).itertuples(index=False, name=None)
            write_workbook(path, [str(name) for name in table], rows, path.name)
        case ".ods":
            _write_ods(table, path)
        case ".parquet":
            import pyarrow
            from pyarrow import parquet

            columns = {str(name): table[name].tolist() for name in table}
            parquet.write_table(pyarrow.table(columns), path)


def _write_ods(table: pd.DataFrame, path: Path) -> None:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in _SPACES)
    rows = [[str(name) for name in table], *table.itertuples(index=False)]
    lines = "".join(
        f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", f"<manifest:manifest {spaces}/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="People">{lines}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


def _ods_cell(cell: object) -> str:
    kind = "string" if isinstance(cell, str) else f'float" office:value="{cell}'
    text = f"<text:p>{escape(str(cell))}</text:p>"
    return f'<table:table-cell office:value-type="{kind}">{text}</table:table-cell>'
