"""What a file is that is no table, told by its first bytes, and what to do with it."""

from __future__ import annotations

import json
import re
from collections import Counter

from core.errors import UnusableError

_SAVE_AS = "save the table as .xlsx or CSV and open that"
_SAVE_THERE = "save the data as CSV in the program that wrote it"
_UNPACK = "unpack it and open the table inside"
_JSON = "turn it into CSV, in Python by pandas.read_json(FILE{}).to_csv(…)"
_DATA_FILES = {
    **{b"RDX3\n": "R", b"RDX2\n": "R", b"X\n\0\0\0": "R", b"$FL2": "SPSS", b"$FL3": "SPSS"},
    **{b"<stata_dta>": "Stata", b"\0" * 12 + b"\xc2\xea\x81\x60": "SAS", b"MATLAB 5.0": "MATLAB"},
}
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
# {first bytes: what it is, and what to do}
_BINARY = {
    **dict.fromkeys(_PICTURES, ("a picture", _SAVE_AS)),
    **{magic: (f"a data file of {name}", _SAVE_THERE) for magic, name in _DATA_FILES.items()},
    b"%PDF": ("a PDF document", "copy its table into a spreadsheet and save that"),
    b"{\\rtf": ("a document of formatted text", _SAVE_AS),
    b"%!PS": ("a PostScript document", _SAVE_AS),
    b"SQLite format 3": ("an SQLite database", "export the table of interest as CSV"),
    b"\x89HDF": ("an HDF5 file", _SAVE_AS),
    b"FEA1": ("a Feather file of the first version", _SAVE_AS),
    b"\x93NUMPY": ("a numpy array", "save it by numpy.savetxt(…, delimiter=',')"),
    b"Obj\x01": ("an Avro file", _SAVE_AS),
    b"ORC": ("an ORC file", _SAVE_AS),
    b"\x7fELF": ("a program", _SAVE_AS),
    b"7z\xbc\xaf": ("a 7z archive", _UNPACK),
    b"Rar!": ("a RAR archive", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("a Zstandard file", _UNPACK),
}
_WEB_STARTS = (b"<!doctype html", b"<html", b"<table", b"<head", b"<body", b"<meta", b"<!--")
_PICKLED = re.compile(rb"\x80[\x02-\x05]|\((lp|dp)\d+\n|ccopy_reg\n|c(posix|nt|os|builtins)\n")
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x19\x1b-\x1f\x7f]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_UTF_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_JSON_START = (b'{"', b"{\n", b"{\r\n", b'[{"', b"[\n", b"[\r\n", b"[{\n")


def check_foreign(start: bytes, name: str) -> None:
    """Raise UnusableError where a file with these first bytes is no text and no table."""
    if kind := _foreign(start):
        raise UnusableError(f"this is {kind[0]}, not a table", where=name, cure=kind[1])
    if start.startswith(_UTF_32) or (not start.startswith(_UTF_16) and _is_wide(start)):
        which = "in UTF-32" if start.startswith(_UTF_32) else "in UTF-16 or UTF-32 without its mark"
        raise UnusableError(f"the text is {which}", where=name, cure="save it in UTF-8")
    odd = sum(start.count(byte) for byte in range(32) if byte not in b"\t\n\r\f\x1a\x1b")
    if odd > 0.02 * len(start) and not start.startswith(_UTF_16):
        raise UnusableError("this is a binary file, not a table", where=name, cure=_SAVE_AS)


def control_line(head: bytes) -> int:
    """The first line with a control character such as ESC, from 1; 0 for none."""
    match = None if head.startswith(_UTF_16) else _CONTROL.search(head)
    return head.count(b"\n", 0, match.start()) + 1 if match else 0


def _foreign(start: bytes) -> tuple[str, str] | None:
    for magic, kind in _BINARY.items():
        # Letters alone may as well be the name of a column.
        if start.startswith(magic) and not (magic.isalnum() and b"\0" not in start):
            return kind
    if _PICKLED.match(start):
        return "a pickle, which could run anything once opened", "save its table as CSV or Parquet"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    words = text[:512].lower()
    if words.startswith(_WEB_STARTS):
        cure = "open it in a spreadsheet program and save the table as .xlsx or CSV"
        return "a web page", cure
    if words.startswith((b"<?xml", b"<?mso")):
        if b'progid="excel.sheet"' in words:
            return "a workbook of Excel 2003 in XML", "save it as .xlsx"
        return "an XML file", _SAVE_AS
    return _json(text)


def _json(text: bytes) -> tuple[str, str] | None:
    if not text.startswith((b"{", b"[")):
        return None
    decoded = text.decode("utf-8", "replace")
    values = 0
    while values < 2 and decoded.startswith(("{", "[")):
        try:
            end = json.JSONDecoder().raw_decode(decoded)[1]
        except (ValueError, RecursionError):
            break
        rest = decoded[end:].lstrip(" \t\r")
        if rest and not rest.startswith("\n"):
            return None  # a cell in brackets
        values, decoded = values + 1, rest.lstrip()
    if values == 1 and decoded and not decoded.startswith(("{", "[")):
        return None  # a line in brackets above others
    if values == 2:
        return "a file of JSON lines", _JSON.format(", lines=True")
    return ("a JSON file", _JSON.format("")) if values or text.startswith(_JSON_START) else None


def _is_wide(start: bytes) -> bool:
    """Whether hardly a letter has no NUL beside it."""
    start = start[:1024]
    is_text = not any(byte in start for byte in range(1, 9))
    return is_text and 0.4 * len(start) <= start.count(0) <= 0.8 * len(start)


def check_fixed_width(text: str, name: str) -> None:
    """Raise UnusableError for columns that stand below each other with nothing but blanks between.

    Where nearly every row has as many words, these are its cells.
    """
    lines = [line for line in text.splitlines()[:60] if line.strip()][:50]
    widths = Counter(len(line.split()) for line in lines)
    is_even = max(widths.values(), default=0) > 0.8 * len(lines)
    if len(lines) < 5 or is_even or any(sign in text[:4096] for sign in ",;|\t"):
        return
    longest = max(map(len, lines))
    columns = zip(*(line.ljust(longest) for line in lines), strict=True)
    if "  " in "".join(" " if set(column) == {" "} else "x" for column in columns).strip():
        fault = "the columns have fixed widths and nothing but blanks between them"
        cure = "turn it into CSV, in Python by pandas.read_fwf(FILE).to_csv(…)"
        raise UnusableError(fault, where=name, cure=cure)
