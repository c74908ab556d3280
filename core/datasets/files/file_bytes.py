"""The decompressed bytes of a file, guarded against what no table contains."""

from __future__ import annotations

import bz2
import codecs
import difflib
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np

from core.errors import UnusableError

ALWAYS_ALLOWED = 2**24  # bytes that any packed file may unpack to
MAX_EXPANSION = 100  # how often a larger one may hold its own size; tables have some 3 to 30
MAX_MODEL_BYTES = 2**32  # bytes of a model, unpacked
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def max_unpacked_bytes(packed: int) -> int:
    """The maximal unpacked size of a packed file of a size."""
    return max(ALWAYS_ALLOWED, MAX_EXPANSION * packed)


def too_large_error(path: Path, max_bytes: float = 0) -> UnusableError:
    """The error for a packed file beyond the limit, of its size where none is given."""
    packed = path.stat().st_size
    max_bytes = max_bytes or max_unpacked_bytes(packed)
    return UnusableError(
        f"unpacked, its {packed / 1e6:.3g} MB are more than {max_bytes / 1e6:,.0f} MB, as in "
        "files that are made to fill the memory",
        where=path.name,
        cure="if you trust it, unpack it yourself and open what is inside",
    )


def check_stream(unpacked: IO[bytes], path: Path) -> None:
    """Unpack a file once, without storing it, up to the limit."""
    remaining_bytes = max_unpacked_bytes(path.stat().st_size)
    while chunk := unpacked.read(2**18):
        remaining_bytes -= len(chunk)
        if remaining_bytes < 0:
            raise too_large_error(path)


def check_archive(archive: zipfile.ZipFile, path: Path, packed: int = 0) -> None:
    """Check the size of a model's archive by its directory, and how it is packed.

    `path` is its file, or contains it, with `packed` bytes (0 for the file's size).
    """
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    # Arrays of trees pack better than tables, but not without a bound.
    if size > min(MAX_MODEL_BYTES, 4 * max_unpacked_bytes(packed or path.stat().st_size)):
        fault = f"unpacked, this file takes {size / 1e6:,.0f} MB, more than a model of its size"
        raise UnusableError(fault, where=str(path), cure="give a file that Tunescope exported")
    if any(entry.compress_type not in _PLAIN for entry in entries):
        raise zipfile.BadZipFile("another way of packing")


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
_ODD_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1a\x1b")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_UTF_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_JSON_START = (b'{"', b"{\n", b"{\r\n", b'[{"', b"[\n", b"[\r\n", b"[{\n")


def check_foreign(start: bytes, name: str) -> None:
    """Refuse a file whose first bytes are those of no text and no table."""
    if kind := _foreign(start):
        raise UnusableError(f"this is {kind[0]}, not a table", where=name, cure=kind[1])
    if start.startswith(_UTF_32) or (not start.startswith(_UTF_16) and _is_wide(start)):
        which = "in UTF-32" if start.startswith(_UTF_32) else "in UTF-16 or UTF-32 without its mark"
        raise UnusableError(f"the text is {which}", where=name, cure="save it in UTF-8")
    # Texts have a few control characters at most, terminals' colours among them.
    odd = len(start) - len(start.translate(None, _ODD_BYTES))
    if odd > 0.02 * len(start) and not start.startswith(_UTF_16):
        raise UnusableError("this is a binary file, not a table", where=name, cure=_SAVE_AS)


def control_line(head: bytes) -> int:
    """The first line with a control character such as ESC, from 1; 0 for none."""
    letters = np.frombuffer(head, np.uint8)
    # Hardly any byte is so low, and the search of all of them would take as long as parsing them.
    low = letters[letters < 32].tobytes()
    if head.startswith(_UTF_16) or not (b"\x7f" in head or _CONTROL.search(low)):
        return 0
    match = _CONTROL.search(head)
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
        # A list may be the first cell of a table; what follows it in its line tells.
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
    """Refuse columns that stand below each other with nothing but blanks between.

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


LONGEST_LINE = 64 * 2**20  # bytes
HEAD_BYTES = 2**20  # by which a format is detected

_COMPRESSED = (
    *((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz")),
    *((b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip")),
)


class GuardedFile(io.RawIOBase):
    """Decompressed bytes without endless lines and NUL (but in UTF-16: `wide`)."""

    def __init__(self, inner: IO[bytes], name: str, *, wide: bool) -> None:
        self._inner = inner
        self._name = name
        self._wide = wide
        self._since_newline = 0
        self.lines = 0  # that ended so far

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        block = self.read_block(len(view))
        view[: len(block)] = block
        return len(block)

    def read_block(self, size: int = 2**18) -> bytes:
        """The next bytes, empty at the end."""
        with file_faults(self._name):
            block = self._inner.read(size)
        if not self._wide and b"\0" in block:
            lines_before = self.lines + block.count(b"\n", 0, block.index(b"\0"))
            fault = "there is a NUL byte, so this is no plain text"
            cure = "save the table as CSV again, in UTF-8"
            raise UnusableError(fault, where=f"{self._name}, line {lines_before + 1}", cure=cure)
        self.lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
        last = block.rfind(b"\n")
        # Old Macs ended lines by a carriage return alone.
        last = last if last >= 0 else block.rfind(b"\r")
        ahead = self._since_newline if last < 0 else 0
        self._since_newline = ahead + len(block) - last - 1
        if self._since_newline > LONGEST_LINE:
            fault = f"the line is longer than {LONGEST_LINE // 2**20} megabytes"
            cure = "check that the file is a table with one row a line"
            raise UnusableError(fault, where=f"{self._name}, line {self.lines + 1}", cure=cure)
        return block

    def close(self) -> None:
        self._inner.close()
        super().close()


def check_path(file: str) -> Path:
    """The path of an existing, ordinary file."""
    path = Path(file).expanduser()
    try:
        if path.is_dir():
            raise UnusableError("this is a folder, not a file", where=file, cure=_files_in(path))
        if path.is_file():
            return path
        names_beside = [entry.name for entry in _first_entries(path.parent)]
    except OSError as error:
        raise _unreadable(file, error) from None
    if path.exists():
        raise UnusableError("this is no ordinary file", where=file, cure="choose a CSV file")
    near = difflib.get_close_matches(path.name, names_beside, n=1, cutoff=0.5)
    cure = f"did you mean {path.with_name(near[0])}" if near else "check the path and the name"
    raise UnusableError("there is no such file", where=file, cure=cure)


def _first_entries(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return list(islice(entries, 1000))


def _files_in(folder: Path) -> str:
    names = sorted(entry.name for entry in _first_entries(folder) if entry.is_file())
    endings = (".csv", ".libsvm", ".svm", ".xls", ".ods", ".parquet", ".feather", ".arff")
    tables = [name for name in names if any(ending in name for ending in endings)]
    return f"choose a file in it, such as {tables[0]}" if tables else "choose a file in it"


def _unreadable(name: str, error: OSError) -> UnusableError:
    if isinstance(error, PermissionError):
        cure = "ask for the right to read it"
        return UnusableError("the file may not be read", where=name, cure=cure)
    if isinstance(error, FileNotFoundError):
        return UnusableError("the file is gone", where=name, cure="put it back or choose another")
    reason = (error.strerror or str(error)).lower()
    return UnusableError(f"the file cannot be read ({reason})", where=name, cure="copy it anew")


@contextmanager
def file_faults(name: str) -> Iterator[None]:
    """Turn errors while reading a file (vanished, forbidden, damaged) into an UnusableError."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise _unreadable(name, error) from None
        raise _broken(name) from None  # "Invalid data stream" of bz2, or a bad gzip file
    except _BROKEN:
        raise _broken(name) from None


# NotImplementedError: zipfile lacks this compression method.
_BROKEN = (EOFError, NotImplementedError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


def _broken(name: str) -> UnusableError:
    fault, cure = "the compressed file is broken or cut short", "download or pack it again"
    return UnusableError(fault, where=name, cure=cure)


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse a file that is written to while it is read inside."""
    with file_faults(path.name):
        before = path.stat()
    try:
        yield
    finally:
        with file_faults(path.name):
            after = path.stat()
        # Half of an old table and half of a new one would look like one.
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            fault = "the file changed while it was read"
            cure = "read it again when no other program writes to it"
            raise UnusableError(fault, where=path.name, cure=cure)


def compression_of(path: Path) -> str:
    """gzip, bz2, xz, zip or "" by the first bytes."""
    with file_faults(path.name), path.open("rb") as file:
        start = file.read(2**16)
    if not start:
        raise UnusableError("the file is empty", where=path.name, cure="choose a file with rows")
    compression = next((name for magic, name in _COMPRESSED if start.startswith(magic)), "")
    if not compression:
        check_foreign(start, path.name)
    return compression


def decode_head(head: bytes) -> tuple[str, str]:
    """The encoding (Latin-1 if undefined in Windows-1252), and the text without a cut letter."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", codecs.getincrementaldecoder("utf-16")("replace").decode(head)
    # Other text is hardly ever valid UTF-8; of one-byte encodings Windows' is by far the most
    # usual.
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(encoding)().decode(head)
            return encoding, text.removeprefix("\ufeff")
    return "latin-1", head.decode("latin-1")


@dataclass(frozen=True)
class TextSource:
    """A text file with its first bytes; `compression` as of `compression_of`."""

    path: Path
    compression: str
    head: bytes

    @cached_property
    def start(self) -> tuple[str, str]:
        """What `decode_head` says of the first bytes."""
        return decode_head(self.head)

    @property
    def encoding(self) -> str:
        return "utf-8-sig" if self.start[0] == "utf-8" else self.start[0]

    @property
    def is_complete(self) -> bool:
        size = 0 if self.compression else self.path.stat().st_size
        return len(self.head) < HEAD_BYTES or len(self.head) == size

    def open_lines(self, encoding: str = "") -> io.TextIOWrapper:
        """The lines with their ends; what is no letter of the encoding is replaced."""
        encoding = self.encoding if encoding in ("", "utf-8") else encoding
        raw = guarded_bytes(self.path, self.compression, wide=True)
        return io.TextIOWrapper(raw, encoding, "replace", newline="")


def guarded_bytes(path: Path, compression: str, *, wide: bool) -> io.BufferedReader:
    """Decompressed, and guarded as by `GuardedFile`."""
    guarded = GuardedFile(open_bytes(path, compression), path.name, wide=wide)
    return io.BufferedReader(guarded, 2**18)


def open_bytes(path: Path, compression: str) -> IO[bytes]:
    """The file's decompressed bytes."""
    with file_faults(path.name):
        if compression == "zip":
            return _open_zip(path)
        libraries = {"gzip": gzip, "bz2": bz2, "xz": lzma, "": io}
        return cast(IO[bytes], libraries[compression].open(path, "rb"))


def _open_zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [entry.filename for entry in archive.infolist()]
    names = [name for name in names if not name.endswith("/")]
    if len(names) != 1:
        # Which one is meant cannot be guessed.
        fault = f"the archive holds {len(names)} files, not one"
        cure = "unpack it and open one of them" if names else "choose another file"
        raise UnusableError(fault, where=path.name, cure=cure)
    if archive.getinfo(names[0]).file_size > max_unpacked_bytes(path.stat().st_size):
        raise too_large_error(path)
    if archive.infolist()[0].flag_bits & 1:
        raise UnusableError("the archive has a password", where=path.name, cure="unpack it first")
    return archive.open(names[0])


def read_head(path: Path, compression: str) -> bytes:
    """The first megabyte, or ten lines, of what is no bomb."""
    if compression in ("gzip", "bz2", "xz"):  # a zip file declares its size
        with file_faults(path.name), open_bytes(path, compression) as packed:
            check_stream(packed, path)
    with guarded_bytes(path, compression, wide=True) as file:
        head = file.read(HEAD_BYTES)
        # Very wide tables: a megabyte may be less than a row, and some rows must be seen.
        while len(head) < 4 * LONGEST_LINE and head.count(b"\n") + head.count(b"\r") < 10:
            more = file.read(HEAD_BYTES)
            if not more:
                break
            head += more
    if not head.strip():
        raise UnusableError("the file is empty", where=path.name, cure="choose a file with rows")
    check_foreign(head[: 2**16], path.name)
    return head


def fingerprint(path: Path) -> str:
    """SHA-256 of the file's bytes on disk, hexadecimal."""
    with file_faults(path.name), path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
