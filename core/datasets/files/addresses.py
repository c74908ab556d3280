"""The address of a table: a file, or a sheet of a workbook as book.xlsx#Sheet2."""

from __future__ import annotations

from pathlib import Path

SHEET_ENDINGS = (*(".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls", ".xlt"), *(".ods", ".ots"))


def split_sheet_address(file: str) -> tuple[str, str]:
    """The path and the sheet, "" for none; an existing file with # in its name takes precedence."""
    path, sign, sheet = file.rpartition("#")
    named = path.lower().endswith(SHEET_ENDINGS)
    if not (sign and sheet and named) or Path(file).expanduser().exists():
        return file, ""
    return path, sheet


def with_sheet(file: str, sheet: str) -> str:
    """The address of a sheet of the file, replacing any sheet in it."""
    return f"{split_sheet_address(file)[0]}#{sheet}"


def file_exists(file: str) -> bool:
    """Whether the file exists, whatever sheet is meant."""
    return Path(split_sheet_address(file)[0]).expanduser().is_file()
