"""Locates faults of a LIBSVM file line by line, after the fast loader failed."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from pathlib import Path

from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.errors import UnusableError

# Arrays have an entry for every feature, used or not: one wrong index must not fill the memory.
# The widest public files of text have some three million.
MAX_FEATURES = 5_000_000

_TOKEN = re.compile(r"\S+")


def _token_lines(path: Path, compression: str) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Each non-empty line: its number, and (position from 1, token) of its words."""
    raw = GuardedFile(open_bytes(path, compression), path.name, wide=False)
    with io.BufferedReader(raw, 2**18) as file:
        for number, line in enumerate(file, 1):
            text = line.split(b"#", 1)[0].decode("utf-8", "replace")
            tokens = [(match.start() + 1, match.group()) for match in _TOKEN.finditer(text)]
            if tokens:
                yield number, tokens


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


def check_lines(path: Path, compression: str) -> None:
    """Raise UnusableError with line and position of the first invalid label or pair, if any."""
    for number, tokens in _token_lines(path, compression):
        where = f"{path.name}, line {number}, column "
        _check_label(tokens[0], where)
        previous_index = -1
        for position, token in tokens[1:]:
            if token.startswith("qid:"):
                continue
            index = _check_pair(token, f"{where}{position}")
            if index <= previous_index:
                fault = f"index {index} comes after index {previous_index}"
                cure = "sort the indices of each row, each one once"
                raise UnusableError(fault, where=f"{where}{position}", cure=cure)
            previous_index = index


def _check_label(token: tuple[int, str], where: str) -> None:
    position, text = token
    if "," in text:
        fault = f"the row has several labels (“{text[:30]}”)"
        raise UnusableError(fault, where=f"{where}{position}", cure="give each row one label")
    value = _parse_number(text)
    if value is None or math.isinf(value):
        fault = f"the label “{text[:30]}” is {'infinite' if value else 'no number'}"
        cure = "begin each row with a finite number"
        raise UnusableError(fault, where=f"{where}{position}", cure=cure)


def _check_pair(token: str, where: str) -> int:
    """The pair's index, if the pair is valid."""
    index_text, colon, value_text = token.partition(":")
    if not colon or not re.fullmatch(r"[+-]?\d+", index_text) or _parse_number(value_text) is None:
        fault = f"“{token[:30]}” is no pair of index and value"
        raise UnusableError(fault, where=where, cure="write it like 3:0.5")
    if int(index_text) < 0:
        raise UnusableError(f"the index {index_text} is negative", where=where, cure="count from 1")
    if int(index_text) > MAX_FEATURES:
        cure = f"number the features from 1 to {MAX_FEATURES:,} at most"
        raise UnusableError(f"the index {index_text} is too large", where=where, cure=cure)
    if not math.isfinite(float(value_text)):
        fault = "no number" if value_text.lower() == "nan" else "infinite"
        cure = "give a finite number, or leave the pair out"
        raise UnusableError(f"the value {value_text} is {fault}", where=where, cure=cure)
    return int(index_text)


def _parse_number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def without_query(path: Path, compression: str) -> UnusableError:
    """The error for the first row with no qid or two, where others have one."""
    line = 0
    for line, tokens in _token_lines(path, compression):  # noqa: B007
        if sum(token.startswith("qid:") for _, token in tokens) != 1:
            break
    fault = "the row does not have one qid as the others do"
    cure = "give every row one qid, or none"
    return UnusableError(fault, where=f"{path.name}, line {line}", cure=cure)


def find_zero(path: Path, compression: str) -> tuple[int, int]:
    """Line and position of the first index 0."""
    for number, tokens in _token_lines(path, compression):
        for position, token in tokens[1:]:
            if re.match(r"[+-]?0+:", token):
                return number, position
    return 0, 0
