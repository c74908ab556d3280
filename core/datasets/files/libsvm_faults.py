"""Locates faults of a LIBSVM file line by line, after the fast loader failed."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path

from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.errors import UnusableError

# Arrays have an entry for every feature, used or not: one wrong index must not fill the memory.
# The widest public files of text have some three million.
MAX_FEATURES = 5_000_000

_TOKEN = re.compile(r"\S+")
_INDEX = re.compile(r"[+-]?\d+")


def load_error(error: Exception, path: Path, compression: str) -> UnusableError:
    """The error for what the loader failed on, with its place."""
    if isinstance(error, UnusableError):
        return error
    try:
        check_lines(path, compression)
    except UnusableError as fault:
        return fault
    reason = str(error).strip().rstrip(".")
    return UnusableError(
        f"the file cannot be read as LIBSVM ({reason})",
        where=path.name,
        cure="write each row as: label index:value index:value",
    )


def check_lines(
    path: Path, compression: str, *, from_one: str = "", has_queries: bool = False
) -> None:
    """Raise UnusableError with line and position of what is wrong first, if anything.

    `from_one` says who counts from 1, where this one must, too; `has_queries`: every row has a qid.
    """
    raw = GuardedFile(open_bytes(path, compression), path.name, wide=False)
    with io.BufferedReader(raw, 2**18) as file:
        for number, line in enumerate(file, 1):
            text = line.split(b"#", 1)[0].decode("utf-8", "replace")
            where, previous_index = f"{path.name}, line {number}", -1
            tokens = list(_TOKEN.finditer(text))
            queries = sum(token[0].startswith("qid:") for token in tokens)
            if tokens and has_queries and queries != 1:
                fault = "the row does not have one qid as the others do"
                raise UnusableError(fault, where=where, cure="give every row one qid, or none")
            for i, token in enumerate(tokens):
                if i and token[0].startswith("qid:"):
                    continue
                place = f"{where}, column {token.start() + 1}"
                if i == 0:
                    _check_label(token[0], place)
                    continue
                index = _check_pair(token[0], place)
                if index == 0 and from_one:
                    fault = f"the index is 0, but {from_one} from 1"
                    cure = "let all indices count from the same number"
                    raise UnusableError(fault, where=place, cure=cure)
                if index <= previous_index:
                    fault = f"index {index} comes after index {previous_index}"
                    cure = "sort the indices of each row, each one once"
                    raise UnusableError(fault, where=place, cure=cure)
                previous_index = index


def _check_label(text: str, where: str) -> None:
    if "," in text:
        fault = f"the row has several labels (“{text[:30]}”)"
        raise UnusableError(fault, where=where, cure="give each row one label")
    value = _parse_number(text)
    if value is None or math.isinf(value):
        fault = f"the label “{text[:30]}” is {'infinite' if value else 'no number'}"
        raise UnusableError(fault, where=where, cure="begin each row with a finite number")


def _check_pair(token: str, where: str) -> int:
    """The pair's index, if the pair is valid."""
    index_text, _, value_text = token.partition(":")
    value = _parse_number(value_text)
    if not _INDEX.fullmatch(index_text) or value is None:
        fault, cure = f"“{token[:30]}” is no pair of index and value", "write it like 3:0.5"
    elif int(index_text) < 0:
        fault, cure = f"the index {index_text} is negative", "count from 1"
    elif int(index_text) > MAX_FEATURES:
        fault = f"the index {index_text} is too large"
        cure = f"number the features from 1 to {MAX_FEATURES:,} at most"
    elif not math.isfinite(value):
        fault = f"the value {value_text} is {'no number' if math.isnan(value) else 'infinite'}"
        cure = "give a finite number, or leave the pair out"
    else:
        return int(index_text)
    raise UnusableError(fault, where=where, cure=cure)


def _parse_number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
