"""What the pictures of the Results page share: they show the results of a run, all at once."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.plot.view import View
from core.tuning.events import RunStarted
from core.tuning.run_results import Results


class ResultView(View):
    """A view of the `results` of a finished run; it draws as soon as it is told."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.results = Results()
        super().__init__(None, parent)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """None: results come at the end, not in the stream of a board."""
        return False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Whether such results have something for this picture."""
        raise NotImplementedError

    def show_results(self, results: Results) -> None:
        """Draw these results."""
        self.results = results
        self.draw_afresh()

    def draw_afresh(self) -> None:
        """Draw something else, with ranges of its own."""
        for plot in self.canvas.plots if hasattr(self, "canvas") else []:
            plot.forget_ranges()
        self.redraw()

    def has_content(self) -> bool:
        """Whether the results have what this picture needs."""
        return self.is_suitable(self.results)

    def _on_resized(self) -> None:
        self.redraw()

    def _on_theme_changed(self, theme: object) -> None:
        super()._on_theme_changed(theme)
        self.redraw()
