"""Where exports go: a file appears whole, or a sentence says why not; the endings of tables."""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from core.errors import UnusableError, write_error
from core.writing import whole_file, whole_folder

Result = TypeVar("Result")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:|databricks$")  # no letter of a drive


@dataclass(frozen=True)
class OutputForm:
    """The format of a file to write."""

    kind: str  # text, lines, xlsx, ods, arff, parquet or feather
    ending: str = ".csv"
    compression: str = ""  # of a text: gzip, bz2 or xz

    @property
    def delimiter(self) -> str:
        """Between the cells of a new text."""
        return "\t" if self.ending in TABS else ","


def fill_destination(
    path: Path, fill: Callable[[Path], Result], *, is_folder: bool = False
) -> Result:
    """Let `fill` write a draft, a file or a new folder, then rename it; what it returns.

    UnusableError as below, or the disk is full.
    """
    check_destination(path, is_new=is_folder)
    try:
        with whole_folder(path) if is_folder else whole_file(path) as draft:
            return fill(draft)
    except OSError as error:
        raise write_error("the folder" if is_folder else "the file", path, error) from error


def is_address(destination: Path | str) -> bool:
    """Whether it is the address of a server or a database, as sqlite:///runs.db, not a path."""
    return bool(_ADDRESS.match(str(destination)))


def check_destination(path: Path, is_new: bool = False) -> None:
    """UnusableError where nothing can be written: no folder, no permission, a folder so called.

    Where it `is_new`, nothing may have the name.
    """
    if path.is_dir() or (is_new and path.is_file()):
        fault = f"a {'folder' if path.is_dir() else 'file'} has this name"
        raise UnusableError(fault, where=str(path), cure="choose another name")
    # A link stays one: the draft is made beside the file that it leads to.
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if not folder.is_dir():
        fault = "there is no such folder"
        raise UnusableError(fault, where=str(folder), cure="create it or choose another")
    if not os.access(folder, os.W_OK):
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise write_error("the file", path, refused)


TABS = (".tsv", ".tab")
_PAIRS = (".libsvm", ".svm", ".svmlight")
TEXTS = ("", ".csv", *TABS, ".txt", ".data", ".dat", ".psv", *_PAIRS)
SHEETS = {".xlsx": "xlsx", ".xlsm": "xlsx", ".ods": "ods"}
COLUMNAR = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
OWN_ALONE = (".xlsm", ".ods", ".arff")  # written of such files alone
TEXT_KINDS = ("text", "lines", "arff")  # of `OutputForm`, whose files may be compressed
LINES = (".conll", ".conllu", ".fasta", ".fa", ".dbn")
_OLD_WORKBOOKS = (".xls", ".xlsb", ".xltx", ".xltm", ".ots")


def own_ending(file: str) -> str:
    """The ending with which the table of a file comes back in its own format, or a near one."""
    ending = Path(file.partition("#")[0]).suffix.lower()
    # These are read, but nothing here writes them.
    if ending in _OLD_WORKBOOKS:
        return ".xlsx"
    # LIBSVM lines have no columns behind which answers could stand.
    texts = [text for text in TEXTS if text and text not in _PAIRS]
    return ending if ending in (*texts, *SHEETS, *COLUMNAR, *LINES, ".arff") else ".csv"
