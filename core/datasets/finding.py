"""What a person should know about the data, and the change that it suggests."""

from __future__ import annotations

from collections.abc import Mapping
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
