"""What the command line says of single columns: --role and --kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from core.errors import UnusableError
from core.records import JsonObject

_EXAMPLES = {"--role": "--role patient=group", "--kind": "--kind code=category"}


def parse_column_words(texts: Sequence[str], option: str) -> dict[str, str]:
    """{column: word} of every COLUMN=WORD, or of JSON objects {"column": "word"}.

    A column's name may hold an equals sign; one that begins or ends with a blank needs JSON.

    Raises:
        UnusableError: one is written otherwise, or a column is there twice.
    """
    words: dict[str, str] = {}
    for text in texts:
        for column, word in (json_object(text, str) or _column_and_word(text, option)).items():
            if words.get(column, word) != word:
                raise UnusableError(
                    f"“{column}” is there as {words[column]} and as {word}",
                    where=option,
                    cure="give each column once",
                )
            words[column] = word
    return words


def json_object(text: str, *kinds: type) -> JsonObject:
    """What a JSON object of names and values of these kinds holds; {} for any other text."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    right = isinstance(read, dict) and all(type(value) in kinds for value in read.values())
    return read if right else {}


def _column_and_word(text: str, option: str) -> dict[str, str]:
    column, equals, word = (piece.strip() for piece in text.rpartition("="))
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
