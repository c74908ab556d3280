"""Penalty groups: which output columns share a penalty."""

from __future__ import annotations

import difflib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from core.datasets.files.file_bytes import check_path, file_faults
from core.errors import UnusableError
from core.ordinary_files import read_ordinary
from core.wording import MAX_NAME, shortened_text

# One for all; one an output; one a column, as of the levels of a category; columns of one prefix.
SPECS = ("single", "each", "column", "prefix")
OTHER = "other"
MAX_BYTES = 100_000_000  # of a file of groups
_EXAMPLE = 'write it like {"blood": ["iron", "salt"], "rest": ["age"]}'
_SEPARATOR = re.compile(r"[_.\-:/ ]")


def penalty_groups(
    spec: str | Mapping[str, Sequence[str]], names: Sequence[str], sources: Sequence[str]
) -> tuple[list[str], np.ndarray]:
    """The groups' names, and the group number of each output column; or UnusableError.

    `spec` is one of `SPECS`, or {group: [columns or outputs]}, where the others are "other".
    """
    if spec == "each":
        return _short_names(names), np.arange(len(names))
    if not isinstance(spec, str):
        labels = _of_mapping(spec, names, sources)
    elif spec == "single":
        labels = ["all"] * len(names)
    elif spec == "column":
        labels = list(sources)
    elif spec == "prefix":
        group_of = {c: g for g, columns in prefix_groups(sources).items() for c in columns}
        labels = [group_of[source] for source in sources]
    else:
        near = difflib.get_close_matches(spec, SPECS, n=1)
        cure = f"did you mean {near[0]}" if near else f"use {', '.join(SPECS)} or a JSON file"
        raise UnusableError(f"there is no grouping “{spec}”", where="groups", cure=cure)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(labels))}
    return _short_names(numbers), np.array([numbers[label] for label in labels], dtype=np.int64)


def _short_names(groups: Iterable[str]) -> list[str]:
    """The names with a checksum for what is left out of a long one: every step records them."""
    return [
        name
        if len(name) <= MAX_NAME
        else f"{shortened_text(name, MAX_NAME - 9)} {zlib.crc32(name.encode()):08x}"
        for name in groups
    ]


def prefix_groups(columns: Sequence[str]) -> dict[str, list[str]]:
    """Columns by the part of their name before the first _ . - : / or blank.

    A prefix of one column only, or before a mere number ("feature 3"), counts as "other".
    """
    prefixes = {name: _SEPARATOR.split(name, maxsplit=1)[0].strip() for name in columns}
    counts = Counter(prefixes.values())
    groups: dict[str, list[str]] = {}
    for name, prefix in prefixes.items():
        # A number behind a made-up name says nothing of what belongs together.
        is_nameless = prefix in ("", "feature", "column", "Unnamed")
        group = OTHER if is_nameless or counts[prefix] == 1 else prefix
        groups.setdefault(group, []).append(name)
    return groups


def _of_mapping(
    spec: Mapping[str, Sequence[str]], names: Sequence[str], sources: Sequence[str]
) -> list[str]:
    known_names = {*names, *sources}
    group_of: dict[str, str] = {}
    for group, columns in spec.items():
        for column in columns:
            if column not in known_names:
                near = difflib.get_close_matches(column, sorted(known_names), n=1)
                cure = "name only columns that are features"
                cure = f"did you mean “{near[0]}”" if near else cure
                fault = f"there is no feature “{column}”"
                raise UnusableError(fault, where=f"groups, group “{group}”", cure=cure)
            if (other := group_of.setdefault(column, group)) != group:
                fault = f"the column “{column}” is in two groups, “{other}” and “{group}”"
                raise UnusableError(fault, where="groups", cure="leave it in one")
    # An output's own name is more precise than its source's.
    outputs = zip(names, sources, strict=True)
    return [group_of.get(name, group_of.get(source, OTHER)) for name, source in outputs]


def groups_from_file(file: str | Path) -> dict[str, list[str]]:
    """Groups from a JSON file like {"blood": ["iron", "salt"]}; or UnusableError with its line."""
    path = check_path(str(file))
    try:
        with file_faults(path.name):
            text = read_ordinary(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableError("the file is no text", where=path.name, cure=_EXAMPLE) from None
    return groups_from_text(text, path.name)


def groups_from_text(text: str, source: str) -> dict[str, list[str]]:
    """Groups from JSON text; `source` is its name in errors."""

    def unique_groups(pairs: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
        names = [name for name, _ in pairs]
        if twice := [name for name in names if names.count(name) > 1]:  # json would use the last
            fault = f"the group “{twice[0]}” is there twice"
            raise UnusableError(fault, where=source, cure="put it together")
        return dict(pairs)

    try:
        groups = json.loads(text, object_pairs_hook=unique_groups)
    except json.JSONDecodeError as error:
        fault = f"this is no JSON ({error.msg.lower()})"
        where = f"{source}, line {error.lineno}, column {error.colno}"
        raise UnusableError(fault, where=where, cure=_EXAMPLE) from None
    except RecursionError:
        groups = None
    if not isinstance(groups, dict) or not groups:
        raise UnusableError("there are no groups in it", where=source, cure=_EXAMPLE)
    for group, columns in groups.items():
        if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
            fault = "the group is no list of column names"
            raise UnusableError(fault, where=f"{source}, group “{group}”", cure=_EXAMPLE)
    return groups
