"""What the views of the Results page share."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.views.plot.view import View
from app.widgets.quiet_controls import QuietComboBox
from core.tuning.events import RunStarted
from core.tuning.run_results import Results


def hidden_chooser(name: str, on_chosen: Callable[[], None]) -> QuietComboBox:
    """A chooser that is hidden until it has choices."""
    chooser = QuietComboBox()
    chooser.setAccessibleName(name)
    chooser.activated.connect(lambda _index: on_chosen())
    chooser.hide()
    return chooser


class ResultView(View):
    """A view of the results of a finished run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.results = Results()
        super().__init__(None, parent)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Never: results are not part of a board's stream."""
        return False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Whether the results have something for this view."""
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
        """Whether the results suit."""
        return self.is_suitable(self.results)

    def _on_resized(self) -> None:
        self.redraw()

    def _on_theme_changed(self, theme: object) -> None:
        super()._on_theme_changed(theme)
        self.redraw()
