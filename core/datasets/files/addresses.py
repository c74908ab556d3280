"""The address of a table: a file, a sheet as book.xlsx#Sheet2, or pasted cells kept as a file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from core.errors import UnusableError, write_error
from core.writing import write_whole

SHEET_ENDINGS = (*(".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls", ".xlt"), *(".ods", ".ots"))


def split_sheet_address(file: str) -> tuple[str, str]:
    """The path and the sheet, "" for none; an existing file with # in its name takes precedence."""
    path, sign, sheet = file.rpartition("#")
    named = path.lower().endswith(SHEET_ENDINGS)
    if not (sign and sheet and named) or Path(file).expanduser().exists():
        return file, ""
    return path, sheet


def with_sheet(file: str, sheet: str) -> str:
    """The address of a sheet of the file."""
    return f"{split_sheet_address(file)[0]}#{sheet}"


def file_exists(file: str) -> bool:
    """Whether the file exists, whatever sheet is meant."""
    return Path(split_sheet_address(file)[0]).expanduser().is_file()


MAX_LETTERS = 2**28  # letters
_CURE = "copy the cells of a table, those of its header too"


def keep_pasted(text: str, folder: Path) -> Path:
    """The file with pasted tab-separated cells, an equal one if there is one."""
    # Two lines tell, and a clipboard may hold hundreds of megabytes.
    lines = [line for line in text[: 2**16].splitlines() if line.strip()]
    if len(lines) < 2:
        fault = "there is no text" if not lines else "the text is one line, so no table"
        raise UnusableError(fault, where="clipboard", cure=_CURE)
    if len(text) > MAX_LETTERS:
        raise UnusableError(
            f"the text is longer than {MAX_LETTERS // 2**20} million letters",
            where="clipboard",
            cure="save the table as a file and open that",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A clipboard may hold half of a pair of surrogates, which no encoding has.
        data = text.encode("utf-8", "replace")
        for file in sorted(folder.glob("pasted *.tsv")):
            if file.stat().st_size == len(data) and file.read_bytes() == data:
                return file
        path = _new_name(folder)
        write_whole(path, data.decode("utf-8"))
        # What a person copied is theirs, whoever else uses this computer.
        path.chmod(0o600)
    except OSError as error:
        raise write_error("the pasted table", folder, error, cure="save it as a file") from None
    return path


def _new_name(folder: Path) -> Path:
    moment = datetime.now().astimezone().strftime("%Y-%m-%d %H.%M.%S")
    path, count = folder / f"pasted {moment}.tsv", 1
    while path.exists():
        count += 1
        path = folder / f"pasted {moment} ({count}).tsv"
    return path
