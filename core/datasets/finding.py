"""What a person should know about the data, and the change that it suggests."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.records import Record


@dataclass(frozen=True)
class SuggestedChange(Record):
    """A change of the data plan that a finding suggests."""

    words: str  # label of its button
    option: str  # the same on the command line
    roles: Mapping[str, str] = field(default_factory=dict)  # {column: role}
    fields: Mapping[str, Any] = field(default_factory=dict)  # of the data plan
    kinds: Mapping[str, str] = field(default_factory=dict)  # {column: kind}
    readings: Mapping[str, str] = field(default_factory=dict)  # {column: of READINGS}


@dataclass(frozen=True)
class Finding(Record):
    """One sentence on the data for a person."""

    sentence: str
    column: str = ""
    serious: bool = False
    proposal: SuggestedChange | None = None


@dataclass(frozen=True)
class ColumnReading(Record):
    """What a column was taken for where it could mean something else."""

    column: str
    sentence: str
    proposal: SuggestedChange | None = None  # to read it otherwise

    @property
    def full_sentence(self) -> str:
        """The sentence with the column's name."""
        return f"“{self.column}”: {self.sentence}."


_FIELDS = {"--role": "roles", "--kind": "kinds", "--reading": "readings"}


def column_change(words: str, option: str, name: str, choice: str) -> SuggestedChange:
    """The suggestion of another role, kind or reading of one column."""
    choices: Mapping[str, Any] = {_FIELDS[option]: {name: choice}}
    return SuggestedChange(words, column_option(option, name, choice), **choices)


def column_title(name: str, unit: str | None) -> str:
    """A column's name with its unit, if any, wherever a person reads it."""
    return f"{name}, {unit}" if unit else name


def column_option(option: str, name: str, word: str) -> str:
    """``--role COLUMN=feature``, quoted for a shell; JSON where the name needs it."""
    plain = name and name == name.strip() and "," not in name and not name.startswith("{")
    text = f"{name}={word}" if plain else json.dumps({name: word}, ensure_ascii=False)
    return option_with_value(option, text)


def option_with_value(option: str, value: str) -> str:
    """An option with its value, joined by = where the value begins with a dash."""
    between = "=" if not value or value.startswith("-") else " "
    return f"{option}{between}{shlex.quote(value)}"


def shared_changes(readings: Iterable[ColumnReading]) -> list[SuggestedChange]:
    """One change for all columns whose decimal sign, or whose day and month, could be the other."""
    columns_by_word: dict[str, dict[str, str]] = {}
    for reading in readings:
        for column, word in (reading.proposal.readings if reading.proposal else {}).items():
            if word in _OF_FILES:
                columns_by_word.setdefault(word, {})[column] = word
    return [
        SuggestedChange(
            f"Read all {len(columns)} columns {_OF_FILES[word]}",
            " ".join(column_option("--reading", column, word) for column in columns),
            readings=columns,
        )
        for word, columns in columns_by_word.items()
        if len(columns) > 1
    ]


_OF_FILES = {
    **{word: f"with a decimal {word}" for word in ("comma", "point")},
    **{f"{word} first": f"with the {word} first" for word in ("day", "month")},
}
