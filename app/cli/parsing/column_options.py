"""Options about single columns: --role, --kind and --reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from core.errors import UnusableError
from core.records import JsonObject

_EXAMPLES = {
    "--role": "--role patient=group",
    "--kind": "--kind code=category",
    "--reading": "--reading country=missing",
}


def parse_column_words(texts: Sequence[str], option: str) -> dict[str, str]:
    """{column: word} of every COLUMN=WORD, or of JSON objects; UnusableError: syntax, two words."""
    words: dict[str, str] = {}
    for text in texts:
        for column, word in (json_object(text, str) or _column_and_word(text, option)).items():
            if words.get(column, word) != word:
                fault = f"“{column}” is there as {words[column]} and as {word}"
                raise UnusableError(fault, where=option, cure="give each column once")
            words[column] = word
    return words


def json_object(text: str, *kinds: type) -> JsonObject:
    """The JSON object in a text, its values of these types, or {}."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    is_valid = isinstance(read, dict) and all(type(value) in kinds for value in read.values())
    return read if is_valid else {}


def _column_and_word(text: str, option: str) -> dict[str, str]:
    column, equals, word = (piece.strip() for piece in text.rpartition("="))
    if not (column and equals and word):
        fault = f"“{text}” is not COLUMN={option.strip('-').upper()}"
        raise UnusableError(fault, where=option, cure=f"write for example {_EXAMPLES[option]}")
    return {column: word}


def refuse_role_of_target(roles: Mapping[str, str], target: str) -> None:
    """Raise UnusableError where the column to predict has another role."""
    if roles.get(target, "target") != "target":
        fault = f"“{target}” is what is predicted, so it cannot be given the role {roles[target]}"
        cure = "choose another column with --target, or leave this one alone"
        raise UnusableError(fault, where="--role", cure=cure)
