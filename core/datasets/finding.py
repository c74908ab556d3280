"""What a person should know about the data, and the change that it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.records import Record


@dataclass(frozen=True)
class SuggestedChange(Record):
    """A change of the data plan that a finding offers.

    Attributes:
        words: on its button.
        option: what asks for it on the command line.
        roles: {column: role} that it sets.
        fields: {field of the data plan: value} that it sets.
        kinds: {column: kind} that it sets.
    """

    words: str
    option: str
    roles: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding(Record):
    """Something a person should know about the data, in one plain sentence."""

    sentence: str
    column: str = ""
    serious: bool = False
    proposal: SuggestedChange | None = None
