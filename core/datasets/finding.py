"""What a person should know of the data, the change it suggests, and errors with a way out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import UnusableError
from core.records import Record
from core.wording import quoted, with_short_names


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", with_short_names(self.sentence))


@dataclass(frozen=True)
class ColumnReading(Record):
    """What a column was taken for where it could mean something else."""

    column: str
    sentence: str
    proposal: SuggestedChange | None = None  # to read it otherwise

    @property
    def full_sentence(self) -> str:
        return f"{quoted([self.column])[0]}: {self.sentence}."


@dataclass(frozen=True)
class RewrittenCells(Record):
    """Cells of a column whose texts do not come back from their values letter by letter."""

    count: int = 0  # 0 where they were not counted
    example: str = ""  # "“$1,200” is 1200"
    proposal: SuggestedChange | None = None  # to keep the texts


def column_change(words: str, option: str, name: str, choice: str) -> SuggestedChange:
    """The suggestion of another role, kind or reading of one column."""
    field_name = f"{option.removeprefix('--')}s"  # roles, kinds or readings
    choices: Mapping[str, Any] = {field_name: {name: choice}}
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
            columns_by_word.setdefault(word, {})[column] = word
    changes = []
    for word, columns in columns_by_word.items():
        if len(columns) > 1 and word in _OF_FILES:
            option = " ".join(column_option("--reading", column, word) for column in columns)
            words = f"Read all {len(columns)} columns with {_OF_FILES[word]} {word}"
            changes.append(SuggestedChange(words, option, readings=columns))
    return changes


# How a whole file is written, and the words before it.
_OF_FILES = {"comma": "a decimal", "point": "a decimal", "day first": "the", "month first": "the"}


class UnusableTargetError(UnusableError):
    """A target that cannot be predicted; `columns`: others; `texts`: those with topics."""

    def __init__(
        self, what: str, *, columns: Sequence[str] = (), texts: Sequence[str] = (), **words: str
    ) -> None:
        super().__init__(what, **words)
        self.columns, self.texts = tuple(columns), tuple(texts)


class FixableInputError(UnusableError):
    """An UnusableError with a suggestion: `offer` is how the file could be used."""

    def __init__(self, what: str, offer: SuggestedChange, **words: str) -> None:
        super().__init__(what, **words)
        self.offer = offer
