"""The refusal of a target, with the columns that a person may choose from instead."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import UnusableError


class UnusableTargetError(UnusableError):
    """The file could be read, but its target cannot be predicted, or by nothing but texts.

    Args:
        what, where, cure: as for UnusableError.
        columns: the names of the file's other columns, in its order.
        texts: those of its columns whose topics could be looked for instead.
    """

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
