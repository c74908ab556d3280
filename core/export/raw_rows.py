"""Raw rows for an exported model: a new file read the way the training file was."""

from __future__ import annotations

import difflib
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from core.datasets.files import libsvm, libsvm_faults
from core.datasets.files.delimiters import is_number
from core.datasets.files.opening import open_bytes
from core.datasets.files.sniffing import decode, is_missing, looks_like_libsvm
from core.datasets.files.table_file import TableFile, TextFile, open_table
from core.datasets.sampling.taking import Part
from core.errors import UnusableError

_HOW = (
    *("sep", "na_values", "keep_default_na", "index_col", "decimal", "thousands", "quotechar"),
    *("skipinitialspace", "skiprows", "dtype"),
)
_MORE = " More follow further down."
_PAIR = re.compile(rb"\d+:\S+")


def read_rows(file: str, card: dict[str, Any]) -> pd.DataFrame | sparse.csr_matrix:
    """The features of every row, as the model's pipeline takes them.

    The target may be there or not; further columns are passed over. The file may be written
    differently from the training file (delimiter, decimal sign, encoding, compression), or be a
    table in another format.

    Args:
        file: a table of any format, or LIBSVM lines where the model was trained on them.
        card: what the model says about itself (core.export.files.model_card).

    Raises:
        UnusableError: unreadable, another kind of file, or a column is missing.
    """
    return rows_of(Part(open_table(file)), card)


@dataclass
class Noted:
    """What was noted while a file was read.

    Attributes:
        passed_over: columns that the model does not know.
        strays: {column of numbers: what is said of its words, which count as missing}.
    """

    passed_over: list[str] = field(default_factory=list)
    strays: dict[str, str] = field(default_factory=dict)

    def add(self, other: Noted) -> None:
        """Add what was noted in a further part of the file."""
        self.passed_over = list(dict.fromkeys([*self.passed_over, *other.passed_over]))
        for column, said in other.strays.items():
            before = self.strays.get(column, "")
            more = "" if not before or before.endswith(_MORE) else _MORE
            self.strays[column] = f"{before or said}{more}"


def rows_of(
    part: Part, card: dict[str, Any], noted: Noted | None = None
) -> pd.DataFrame | sparse.csr_matrix:
    """The same of a part of a file.

    Args:
        part: of the file.
        card: as for `read_rows`.
        noted: where it is noted what a person should know.

    Raises:
        UnusableError: as `read_rows`.
    """
    opened = part.file
    pairs = isinstance(opened, TextFile) and (
        looks_like_libsvm(decode(opened.head)[1]) or _without_labels(opened.head)
    )
    if card["format"] != "libsvm":
        if pairs:
            raise _wrong_kind(opened.path, "a table with columns")
        return _table(opened, card, noted or Noted())
    if not (pairs and isinstance(opened, TextFile)):
        raise _wrong_kind(opened.path, "LIBSVM lines (label index:value …)")
    return _matrix(opened, card, part.zero_based)


def _wrong_kind(path: Path, wanted: str) -> UnusableError:
    return UnusableError(
        f"the model was trained on {wanted}, and this file is not like that",
        where=path.name,
        cure="give a file like the one it was trained on",
    )


def _without_labels(head: bytes) -> bool:
    """Whether the first line that says something begins with a pair, not with a label."""
    lines = (line.partition(b"#")[0].split() for line in head.splitlines())
    first = next((words for words in lines if words), [])
    return bool(first) and all(_PAIR.fullmatch(word) for word in first)


def _matrix(
    file: TextFile, card: dict[str, Any], zero_based: bool | None = None
) -> sparse.csr_matrix:
    """The rows, with the model's number of features; features it does not know are passed over.

    Args:
        file: the rows, perhaps only some of a larger file.
        card: of the model.
        zero_based: whether the larger file counts from 0; None where all of it is here.
    """
    path = file.path
    if _without_labels(file.head):
        matrix, from_zero = _unlabelled(path, file.compression, zero_based)
    else:
        rows = libsvm.read_rows(path, file.compression, file.head, zero_based)
        matrix, from_zero = rows.matrix, rows.zero_based
    wanted = bool(card["libsvm"].get("zero_based", False))
    if from_zero and not wanted:
        raise UnusableError(
            "an index is 0, but the model's training file counted from 1",
            where=path.name,
            cure="count the features from 1",
        )
    shift = int(wanted and not from_zero)
    width = len(card["features"])
    entries = matrix.tocoo()
    columns = entries.col + shift
    known = columns < width
    return sparse.csr_matrix(
        (entries.data[known], (entries.row[known], columns[known])), shape=(matrix.shape[0], width)
    )


def _unlabelled(
    path: Path, compression: str, zero_based: bool | None = None
) -> tuple[sparse.csr_matrix, bool]:
    """LIBSVM lines without labels: indices from 0, and whether the file counted so."""
    with open_bytes(path, compression) as stream:
        lines = stream.read().splitlines()
    text = b"\n".join(b"0 " + line for line in lines if line.partition(b"#")[0].strip())
    try:
        matrix = load_svmlight_file(io.BytesIO(text), zero_based=True)[0]
    except (ValueError, OverflowError) as error:
        raise libsvm_faults.explained(error, path, compression) from None
    if zero_based or (matrix.nnz and matrix.indices.min() == 0):
        return matrix, True
    return matrix[:, 1:], False


def _table(opened: TableFile, card: dict[str, Any], noted: Noted) -> pd.DataFrame:
    features = card["features"]
    table = None
    if isinstance(opened, TextFile) and card["format"] in ("csv", "sample"):
        table = _read_alike(opened.path, opened.compression, opened.head, card)
    if table is None:
        kinds = {
            name.strip(): "category" if name in card["text"] else "number" for name in features
        }
        try:
            raw = opened.read(kinds)
        except UnusableError:
            _refuse_words(opened, kinds)
            raise
        noted.strays |= {one.column: one.sentence for one in raw.findings if one.column in kinds}
        table = _named_by_place(raw.table, card)
        table = table.set_axis(_told(table, features), axis=1)
    missing = [name for name in features if name not in table.columns]
    if missing:
        raise _missing(opened.path, missing, [str(name) for name in table.columns], card)
    if not len(table):
        raise UnusableError(
            "there is no row under the names of the columns",
            where=opened.path.name,
            cure="give one row at least",
        )
    known = {*features, *card["columns"], card["target"]}
    noted.passed_over += [str(name) for name in table.columns if name not in known]
    return table[features]


def _refuse_words(opened: TableFile, kinds: dict[str, str]) -> None:
    """Say where the first word stands in a column of numbers, if that is what is wrong.

    Raises:
        UnusableError: it is.
    """
    try:
        raw = opened.read(dict.fromkeys(kinds, "category"))
    except UnusableError:
        return
    decimal, thousands = (raw.source.read_csv.get(n) or "" for n in ("decimal", "thousands"))
    for name in raw.table.columns:
        if kinds.get(str(name).strip()) != "number":
            continue
        values = raw.table[name].dropna().astype(str)
        odd = [one for one in values.unique() if not is_number(one, decimal or ".", thousands)]
        odd = [one for one in odd if not is_missing(one)]
        if not odd:
            continue
        row = int(np.flatnonzero((raw.table[name] == odd[0]).to_numpy(bool))[0])
        count = int(values.isin(odd).sum())
        more = f", and {count - 1:,} more like it" if count > 1 else ""
        raise UnusableError(
            f"“{odd[0][:60]}” is no number{more}",
            where=f"{opened.path.name}, line {raw.line_of(row):,}, column {name}",
            cure="the model takes numbers here: correct the cell, or leave it empty",
        )


def _read_alike(
    path: Path, compression: str, head: bytes, card: dict[str, Any]
) -> pd.DataFrame | None:
    """The table by the training file's own arguments; None where these do not fit this file.

    The encoding is this file's own.
    """
    if not card["read_csv"] or _is_headless(card):
        return None
    arguments: dict[str, Any] = {**_arguments(card["read_csv"]), "encoding": decode(head)[0]}
    try:
        with open_bytes(path, compression) as file:
            header = pd.read_csv(file, **{**arguments, "nrows": 0})
        told = _told(header, card["features"])
        if not set(card["features"]) <= set(told) or len(set(told)) < len(told):
            return None
        if told != list(header.columns):
            arguments |= {"header": 0, "names": told}
        with open_bytes(path, compression) as file:
            table = pd.read_csv(file, **arguments)
    except (ValueError, TypeError, OSError, EOFError):
        return None  # the closer look of the sniffing reader finds the words
    numbers = [name for name in card["features"] if name not in card["text"]]
    fits = all(pd.api.types.is_numeric_dtype(table[name].dtype) for name in numbers)
    return table if fits else None


def _told(table: pd.DataFrame, features: list[str]) -> list[str]:
    """The table's names, those of features as the model knows them: blanks around are no part."""
    own = {name.strip(): name for name in features}
    names = [str(name) for name in table.columns]
    return [name if name in features else own.get(name.strip(), name) for name in names]


def _is_headless(card: dict[str, Any]) -> bool:
    """Whether the training file had no header; its columns then have the names of their places."""
    return "names" in card["read_csv"] and card["read_csv"].get("header") is None


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """What a model may ask of pandas: how cells are written, and nothing else."""
    known = {name: given[name] for name in _HOW if name in given}
    if len(known.get("sep", ",")) > 1 and known["sep"] != r"\s+":
        del known["sep"]  # any pattern, which could take for ever
    return known


def _named_by_place(table: pd.DataFrame, card: dict[str, Any]) -> pd.DataFrame:
    """Columns of files without a header, named as in the training file, target present or not."""
    if not _is_headless(card):
        return table
    every = card["columns"]
    for names in (every, [name for name in every if name != card["target"]]):
        if len(names) == table.shape[1]:
            return table.set_axis(names, axis=1)
    return table


def _missing(
    path: Path, missing: list[str], found: list[str], card: dict[str, Any]
) -> UnusableError:
    some = ", ".join(f"“{name}”" for name in missing[:5]) + (" …" if len(missing) > 5 else "")
    what = f"the column {some} is missing" if len(missing) == 1 else f"columns are missing: {some}"
    there = ", ".join(found[:8]) + (" …" if len(found) > 8 else "")
    spare = [name for name in found if name not in (*card["features"], card["target"])]
    near = [f"“{other}” to “{name}”" for name, other in _renamed(missing, spare).items()]
    cure = f"rename {', '.join(near[:3])} if that is what is meant, or " if near else ""
    cure += f"add what is missing; the file has {there}"
    return UnusableError(what, where=path.name, cure=cure)


def _renamed(missing: list[str], spare: list[str]) -> dict[str, str]:
    """{missing column: the column of the file that has the nearest name}, where one is near."""
    bare = {_bare(name): name for name in reversed(spare)}
    found: dict[str, str] = {}
    for name in missing[:20]:
        near = difflib.get_close_matches(_bare(name), list(bare), n=1, cutoff=0.6)
        inside = [one for one in bare if _bare(name) and _bare(name) in one.split()]
        if near or inside:
            found[name] = bare.pop((near or inside)[0])
    return found


def _bare(name: str) -> str:
    """A name without case and signs: "Age (years)" and "age_years" are near."""
    return " ".join(re.findall(r"\w+", name.lower().replace("_", " ")))
