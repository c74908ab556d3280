"""The error for a file that would be usable if read in another way."""

from __future__ import annotations

from core.datasets.finding import SuggestedChange
from core.errors import UnusableError


class FixableInputError(UnusableError):
    """An UnusableError with a suggestion: `offer` is how the file could be used."""

    def __init__(
        self, what: str, offer: SuggestedChange, *, where: str = "", cure: str = ""
    ) -> None:
        super().__init__(what, where=where, cure=cure)
        self.offer = offer

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.what, self.offer, self.where, self.cure))


def _rebuild(what: str, offer: SuggestedChange, where: str, cure: str) -> FixableInputError:
    return FixableInputError(what, offer, where=where, cure=cure)
