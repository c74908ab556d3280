"""The error for an unusable target, with the columns to choose from instead."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import UnusableError


class UnusableTargetError(UnusableError):
    """A target that cannot be predicted; `columns`: others; `texts`: those with topics."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        cure: str = "",
        columns: Sequence[str] = (),
        texts: Sequence[str] = (),
    ) -> None:
        super().__init__(what, where=where, cure=cure)
        self.columns, self.texts = tuple(columns), tuple(texts)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.what, self.where, self.cure, self.columns, self.texts))


def _rebuild(
    what: str, where: str, cure: str, columns: Sequence[str], texts: Sequence[str]
) -> UnusableTargetError:
    return UnusableTargetError(what, where=where, cure=cure, columns=columns, texts=texts)
