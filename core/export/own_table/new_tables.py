"""New files for a table whose own format is another one: CSV, an Excel workbook, Parquet."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape

import pandas as pd

from core.datasets.files.quotes import Quotes
from core.errors import UnusableError
from core.export.own_table.answer_rows import Cell, answer_text, is_empty
from core.export.own_table.columnar_rows import ColumnarWriter
from core.export.own_table.text_lines import formulas_sentence, quoted
from core.export.spreadsheet_cells import is_formula

MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 2**20, 2**14, 32_767  # of a sheet, in spreadsheet programs
_BATCH = 20_000
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:[.,]\d{1,14})?")
_DECIMALS = 15  # styles of numbers: with 0, 1, … 14 digits behind the sign
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML


def write_csv(
    into: IO[bytes], names: Sequence[str], rows: Iterable[Sequence[Cell]], delimiter: str = ","
) -> list[str]:
    """Write a CSV file in UTF-8; sentences on cells that are written otherwise."""
    formulas = 0
    for row in chain([names], rows):
        line, count = _csv_line(row, delimiter)
        formulas += count
        into.write(line)
    return [formulas_sentence(formulas)] if formulas else []


def _csv_line(row: Sequence[Cell], delimiter: str) -> tuple[bytes, int]:
    texts, quotes = [answer_text(cell) for cell in row], Quotes(delimiter)
    flags = [is_formula(text) for text in texts]
    if any(flags):
        texts = [f"'{text}" if flag else text for text, flag in zip(texts, flags, strict=True)]
    line = delimiter.join(quoted(text, quotes) for text in texts)
    line = '""' if not line and len(texts) == 1 else line  # a blank line would be no row
    return f"{line}\n".encode("utf-8", "surrogateescape"), sum(flags)


def write_columnar(
    path: Path, kind: str, names: Sequence[str], rows: Iterable[Sequence[Cell]], text_count: int
) -> list[str]:
    """Write a Parquet or Feather file, whose first `text_count` columns are texts."""
    import pyarrow as pa

    remaining_rows = iter(rows)
    with ColumnarWriter(path, kind) as writer:
        while block := list(islice(remaining_rows, _BATCH)):
            table = pd.DataFrame(block, columns=list(names))
            for name in names[:text_count]:
                table[name] = table[name].map(answer_text, na_action="ignore").astype(object)
            writer.write_columns(pa.schema([]), [], table)
    return []


def write_workbook(
    path: Path,
    names: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    name: str,
    number_columns: Collection[int] = (),
) -> list[str]:
    """Write an Excel workbook of one sheet; UnusableError where the table does not fit in it."""
    # In number columns, a text that is a number becomes one that shows as many digits as it had;
    # every other text stays a text, which no spreadsheet calculates.
    formulas = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part_name, content in _workbook_parts().items():
            archive.writestr(part_name, content)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
            sheet = io.BufferedWriter(part)
            sheet.write(_SHEET_START)
            for number, row in enumerate(chain([names], rows), 1):
                if number > MAX_ROWS or len(row) > MAX_COLUMNS:
                    fault = f"a sheet holds {MAX_ROWS:,} rows of {MAX_COLUMNS:,} columns at most"
                    raise UnusableError(fault, where=name, cure="end the name in .csv or .parquet")
                formulas += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
                indices = number_columns if number > 1 else ()
                cells = (_sheet_cell(c, is_number=i in indices) for i, c in enumerate(row))
                sheet.write(f'<row r="{number}">{"".join(cells)}</row>'.encode())
            sheet.write(b"</sheetData></worksheet>")
            sheet.flush()
            sheet.detach()
    return [formulas_sentence(formulas)] if formulas else []


def columns_of_numbers(rows: Iterable[Sequence[Cell]], width: int) -> set[int]:
    """The indices of columns in whose rows every text is a number, and no code such as 007."""
    indices = set(range(width))
    for row in rows:
        filled = [index for index in indices if not is_empty(row[index])]
        indices -= {p for p in filled if not _NUMBER.fullmatch(str(row[p]).strip())}
    return indices


def _sheet_cell(cell: Cell, *, is_number: bool) -> str:
    if is_empty(cell):
        return "<c/>"
    if isinstance(cell, str) and is_number and _NUMBER.fullmatch(cell):
        digits = cell.replace(",", ".")
        decimals = len(digits.partition(".")[2])
        if decimals < _DECIMALS and len(digits.lstrip("-0.").replace(".", "")) <= 15:
            return f'<c s="{decimals}"><v>{digits}</v></c>'
    return sheet_cell(cell)


def sheet_cell(cell: Cell, address: str = "", prefix: str = "") -> str:
    """The XML of a cell of a sheet; a text stays a text, whatever it begins with."""
    where = f' r="{address}"' if address else ""
    if isinstance(cell, bool):
        return f'<{prefix}c{where} t="b"><{prefix}v>{int(cell)}</{prefix}v></{prefix}c>'
    if isinstance(cell, (int, float)) and abs(cell) < 10**15:  # beyond, digits would be lost
        return f"<{prefix}c{where}><{prefix}v>{cell!r}</{prefix}v></{prefix}c>"
    text = escape(sheet_text(answer_text(cell)))
    inner = f'<{prefix}t xml:space="preserve">{text}</{prefix}t>'
    return f'<{prefix}c{where} t="inlineStr"><{prefix}is>{inner}</{prefix}is></{prefix}c>'


def sheet_text(text: str) -> str:
    """A text as a sheet can hold it."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)[:MAX_LETTERS]


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_FORMATS = "http://schemas.openxmlformats.org"
_MAIN = f"{_FORMATS}/spreadsheetml/2006/main"
_LINKS = f"{_FORMATS}/officeDocument/2006/relationships"
_SHEET_START = f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>'.encode()


def _workbook_parts() -> dict[str, str]:
    """The parts of a workbook beside its sheet; ECMA-376, part 1, chapters 12 and 18."""
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    package = f"{_FORMATS}/package/2006"
    digits, number = range(1, _DECIMALS), ' xfId="0" applyNumberFormat="1"'
    number_format = '<numFmt numFmtId="{}" formatCode="0.{}"/>'
    formats = "".join(number_format.format(164 + d, "0" * d) for d in digits)
    style = '<xf numFmtId="{}" fontId="0" fillId="0" borderId="0"{}/>'
    styles = "".join(
        [style.format(0, ' xfId="0"'), *(style.format(164 + d, number) for d in digits)]
    )
    return {
        "[Content_Types].xml": (
            f'{_XML}<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/></Types>'
        ),
        "_rels/.rels": _links(package, [("officeDocument", "xl/workbook.xml")]),
        "xl/_rels/workbook.xml.rels": _links(
            package, [("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]
        ),
        "xl/workbook.xml": (
            f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
        ),
        "xl/styles.xml": (
            f'{_XML}<styleSheet xmlns="{_MAIN}">'
            f'<numFmts count="{_DECIMALS - 1}">{formats}</numFmts>'
            '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
            '<fills count="2"><fill><patternFill patternType="none"/></fill>'
            '<fill><patternFill patternType="gray125"/></fill></fills>'
            '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border>'
            f'</borders><cellStyleXfs count="1">{style.format(0, "")}</cellStyleXfs>'
            f'<cellXfs count="{_DECIMALS}">{styles}</cellXfs>'
            '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
            "</styleSheet>"
        ),
    }


def _links(package: str, targets: Sequence[tuple[str, str]]) -> str:
    links = "".join(
        f'<Relationship Id="rId{number}" Type="{_LINKS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{_XML}<Relationships xmlns="{package}/relationships">{links}</Relationships>'
