"""Where a table is: a file, and in a workbook the sheet, written as book.xlsx#Sheet2."""

from __future__ import annotations

from pathlib import Path

SHEET_ENDINGS = (".xlsx", ".xlsm", ".xltx", ".xltm", ".ods", ".ots")


def split_sheet_address(file: str) -> tuple[str, str]:
    """The path of a file, and the sheet that is asked for; "" for none.

    A file whose own name holds the sign comes before a sheet.
    """
    path, sign, sheet = file.rpartition("#")
    named = path.lower().endswith(SHEET_ENDINGS)
    if not (sign and sheet and named) or Path(file).expanduser().exists():
        return file, ""
    return path, sheet


def with_sheet(file: str, sheet: str) -> str:
    """The same file with a sheet of it; the file may name a sheet already."""
    return f"{split_sheet_address(file)[0]}#{sheet}"


def file_exists(file: str) -> bool:
    """Whether the file is there, whatever sheet of it is meant."""
    return Path(split_sheet_address(file)[0]).expanduser().is_file()
