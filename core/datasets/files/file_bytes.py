"""The decompressed bytes of a file, guarded against what no table contains."""

from __future__ import annotations

import bz2
import difflib
import gzip
import hashlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

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
    """Decompressed bytes without endless lines and NUL (but in UTF-16: `wide`), or `fault`."""

    def __init__(self, inner: IO[bytes], name: str, *, wide: bool) -> None:
        self._inner = inner
        self._name = name
        self._wide = wide
        self._since_newline = 0
        self.block = b""  # what was read last
        self.lines = 0
        self.fault: UnusableError | None = None

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill the buffer from the file; raises UnusableError at damaged or endless content."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        try:
            with file_faults(self._name):
                size = self._inner.readinto(view)  # type: ignore[attr-defined]
            self._check_chunk(view[:size])
        except UnusableError as fault:
            self.fault = fault
            raise
        return int(size)

    def close(self) -> None:
        """Close the inner file too."""
        self._inner.close()
        super().close()

    def _check_chunk(self, view: memoryview) -> None:
        if not view:
            self.lines += self.block[-1:] not in (b"", b"\n")
            self.block = b""
            return
        data = self.block = view.tobytes()
        if not self._wide and b"\0" in data:
            lines_before = self.lines + data.count(b"\n", 0, data.index(b"\0"))
            fault = "there is a NUL byte, so this is no plain text"
            cure = "save the table as CSV again, in UTF-8"
            raise UnusableError(fault, where=f"{self._name}, line {lines_before + 1}", cure=cure)
        self.lines += data.count(b"\n")
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._since_newline = len(data) - last - 1 if last >= 0 else self._since_newline + len(data)
        if self._since_newline > LONGEST_LINE:
            fault = f"the line is longer than {LONGEST_LINE // 2**20} megabytes"
            cure = "check that the file is a table with one row a line"
            raise UnusableError(fault, where=f"{self._name}, line {self.lines + 1}", cure=cure)


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
    with io.BufferedReader(
        GuardedFile(open_bytes(path, compression), path.name, wide=True)
    ) as file:
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
