"""The colour of each group of columns."""

from __future__ import annotations

from PySide6.QtGui import QPen

from app.look import appearance
from app.views.plot.items import pen


class GroupColours:
    """Series colours in the order of groups, repeated."""

    def __init__(self) -> None:
        self._rank: dict[str, int] = {}

    def set_groups(self, groups: list[str]) -> None:
        """Set the groups of a run in their order."""
        self._rank = {name: rank for rank, name in enumerate(groups)}

    def is_repeated(self, name: str) -> bool:
        """Whether an earlier group has the same colour."""
        count = len(appearance.current().series)
        return self._rank.setdefault(name, len(self._rank)) // count % 2 == 1

    def colour_of(self, name: str) -> str:
        """A group's colour in the current theme."""
        series = appearance.current().series
        return series[self._rank.setdefault(name, len(self._rank)) % len(series)]


def pens_of(colour: str, width: float = 2.0, dashed: bool = False) -> tuple[QPen, QPen | None]:
    """The pen of a line, and of the ink below a light one."""
    theme = appearance.current()
    line_pen = pen(colour, width, dashed)
    return line_pen, pen(theme.ink, width + 1.6) if colour in theme.outlined else None
