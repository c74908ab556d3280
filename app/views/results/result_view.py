"""What the pictures of the Results page share: they show one dict of results, all at once."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app.views.plot.view import View
from core.tuning.events import RunStarted


class ResultView(View):
    """A view of the `results` of a finished run; it draws as soon as it is told."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.results: dict[str, Any] = {}
        super().__init__(None, parent)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """None: results come at the end, not in the stream of a board."""
        return False

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Whether such results have something for this picture."""
        raise NotImplementedError

    def show_results(self, results: dict[str, Any]) -> None:
        """Draw these results."""
        self.results = results
        for plot in self.canvas.plots if hasattr(self, "canvas") else []:
            plot.forget_ranges()
        self.redraw()

    def has_content(self) -> bool:
        """Whether the results have what this picture needs."""
        return bool(self.results) and self.suits(self.results)

    def _resized(self) -> None:
        self.redraw()

    def _themed(self, theme: object) -> None:
        super()._themed(theme)
        self.redraw()
