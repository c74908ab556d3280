"""What the command line says of single columns: --role and --kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import UnusableError

_EXAMPLES = {"--role": "--role patient=group", "--kind": "--kind code=category"}


def of_columns(given: Sequence[str], option: str) -> dict[str, str]:
    """{column: word} of every COLUMN=WORD, or of JSON objects {"column": "word"}.

    A column's name may hold an equals sign; one that begins or ends with a blank needs JSON.

    Raises:
        UnusableError: one is written otherwise, or a column is there twice.
    """
    found: dict[str, str] = {}
    for text in given:
        for column, word in (json_object(text, str) or _pair(text, option)).items():
            if found.get(column, word) != word:
                raise UnusableError(
                    f"“{column}” is there as {found[column]} and as {word}",
                    where=option,
                    cure="give each column once",
                )
            found[column] = word
    return found


def json_object(text: str, *kinds: type) -> dict[str, Any]:
    """What a JSON object of names and values of these kinds holds; {} for any other text."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    right = isinstance(read, dict) and all(type(value) in kinds for value in read.values())
    return read if right else {}


def _pair(text: str, option: str) -> dict[str, str]:
    column, equals, word = (part.strip() for part in text.rpartition("="))
    if not (column and equals and word):
        raise UnusableError(
            f"“{text}” is not COLUMN={option.strip('-').upper()}",
            where=option,
            cure=f"write for example {_EXAMPLES[option]}",
        )
    return {column: word}


def refuse_role_of_target(roles: Mapping[str, str], target: str) -> None:
    """See that the column to predict is not given another use.

    Raises:
        UnusableError: it is.
    """
    if roles.get(target, "target") != "target":
        raise UnusableError(
            f"“{target}” is what is predicted, so it cannot be given the role {roles[target]}",
            where="--role",
            cure="choose another column with --target, or leave this one alone",
        )
