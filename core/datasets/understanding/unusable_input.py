"""Errors with a way out: other targets to choose from, or another way to read the file."""

from __future__ import annotations

from collections.abc import Sequence

from core.datasets.finding import SuggestedChange
from core.errors import UnusableError


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
