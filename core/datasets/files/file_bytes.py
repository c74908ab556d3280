"""The decompressed bytes of a file, guarded against what no table contains."""

from __future__ import annotations

import bz2
import codecs
import difflib
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, cast

import numpy as np

from core.datasets.files.foreign_files import check_foreign
from core.datasets.files.unpacking_limits import check_stream, max_unpacked_bytes, too_large_error
from core.errors import UnusableError

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
        """Always True."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill the buffer from the file; raises UnusableError at damaged or endless content."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        block = self.read_block(len(view))
        view[: len(block)] = block
        return len(block)

    def read_block(self, size: int = 2**18) -> bytes:
        """The next bytes, empty at the end; raises as `readinto`."""
        with file_faults(self._name):
            block = self._inner.read(size)
        if not self._wide and b"\0" in block:
            lines_before = self.lines + block.count(b"\n", 0, block.index(b"\0"))
            fault = "there is a NUL byte, so this is no plain text"
            cure = "save the table as CSV again, in UTF-8"
            raise UnusableError(fault, where=f"{self._name}, line {lines_before + 1}", cure=cure)
        self.lines += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
        last = block.rfind(b"\n")
        last = last if last >= 0 else block.rfind(b"\r")
        ahead = self._since_newline if last < 0 else 0
        self._since_newline = ahead + len(block) - last - 1
        if self._since_newline > LONGEST_LINE:
            fault = f"the line is longer than {LONGEST_LINE // 2**20} megabytes"
            cure = "check that the file is a table with one row a line"
            raise UnusableError(fault, where=f"{self._name}, line {self.lines + 1}", cure=cure)
        return block

    def close(self) -> None:
        """Close the inner file too."""
        self._inner.close()
        super().close()


def check_path(file: str) -> Path:
    """The path of an existing, ordinary file; raises UnusableError with the nearest name."""
    path = Path(file).expanduser()
    try:
        if path.is_dir():
            raise UnusableError("this is a folder, not a file", where=file, cure=_files_in(path))
        if path.is_file():
            return path
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError as error:
        raise _unreadable(file, error) from None
    if path.exists():
        raise UnusableError("this is no ordinary file", where=file, cure="choose a CSV file")
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.5)
    cure = f"did you mean {path.with_name(near[0])}" if near else "check the path and the name"
    raise UnusableError("there is no such file", where=file, cure=cure)


def _files_in(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
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
    broken = UnusableError(
        "the compressed file is broken or cut short", where=name, cure="download or pack it again"
    )
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile):
        raise broken from None
    except NotImplementedError:  # zipfile lacks this compression method
        raise broken from None
    except OSError as error:
        if error.errno is None:  # "Invalid data stream" of bz2
            raise broken from None
        raise _unreadable(name, error) from None


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise UnusableError where a file is written to while it is read inside."""
    with file_faults(path.name):
        before = path.stat()
    try:
        yield
    finally:
        with file_faults(path.name):
            after = path.stat()
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            fault = "the file changed while it was read"
            cure = "read it again when no other program writes to it"
            raise UnusableError(fault, where=path.name, cure=cure)


def compression_of(path: Path) -> str:
    """gzip, bz2, xz, zip or "" by the first bytes; UnusableError for an empty or foreign file."""
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
        """The encoding and the text of the first bytes."""
        return decode_head(self.head)

    @property
    def encoding(self) -> str:
        """As `open` takes it."""
        return "utf-8-sig" if self.start[0] == "utf-8" else self.start[0]

    @property
    def is_complete(self) -> bool:
        """Whether the first bytes are all."""
        size = 0 if self.compression else self.path.stat().st_size
        return len(self.head) < HEAD_BYTES or len(self.head) == size

    def open_lines(self, encoding: str = "") -> io.TextIOWrapper:
        """The lines with their ends; what is no letter of the encoding is replaced."""
        encoding = self.encoding if encoding in ("", "utf-8") else encoding
        raw = guarded_bytes(self.path, self.compression, wide=True)
        return io.TextIOWrapper(raw, encoding, "replace", newline="")


def guarded_bytes(path: Path, compression: str, *, wide: bool) -> io.BufferedReader:
    """The file's decompressed bytes, guarded as in `GuardedFile`."""
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
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    if len(names) != 1:
        fault = f"the archive holds {len(names)} files, not one"
        cure = "unpack it and open one of them" if names else "choose another file"
        raise UnusableError(fault, where=path.name, cure=cure)
    if archive.getinfo(names[0]).file_size > max_unpacked_bytes(path.stat().st_size):
        raise too_large_error(path)
    if archive.infolist()[0].flag_bits & 1:
        raise UnusableError("the archive has a password", where=path.name, cure="unpack it first")
    return archive.open(names[0])


def read_head(path: Path, compression: str) -> bytes:
    """The first megabyte, or ten lines; UnusableError if empty, binary, endless or a bomb."""
    if compression in ("gzip", "bz2", "xz"):  # a zip file declares its size
        with file_faults(path.name), open_bytes(path, compression) as packed:
            check_stream(packed, path)
    with guarded_bytes(path, compression, wide=True) as file:
        head = file.read(HEAD_BYTES)
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
        digest = hashlib.sha256()
        while chunk := file.read(4 * 2**20):
            digest.update(chunk)
    return digest.hexdigest()
