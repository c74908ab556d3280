"""The common surface over two settings: where earlier datasets and this one did well."""

from __future__ import annotations

import numpy as np

from app.text.numbers import plain
from app.text.settings import named
from app.views.plot.items import Dots, clear_colour
from app.views.plot.scales import scale_of
from app.views.surrogate.slice_view import place_of
from app.views.surrogate.surface_view import SurfaceView
from app.views.transfer.posterior_view import PosteriorView


class PosteriorSurface(PosteriorView, SurfaceView):
    """The common surface's mean over two axes; small triangles for earlier datasets."""

    name = "common surface"
    title = "Pairs of settings"
    question = "Which pairs did well earlier (triangles), and here (circles)?"
    waiting = "What earlier datasets found appears here before the first trial."

    def behind_trials(self) -> list[Dots]:
        """Those of earlier datasets."""
        self.earlier = Dots("triangle", 7)
        return [self.earlier]

    def paint_theme(self) -> None:
        """Earlier datasets pale on all of viridis."""
        super().paint_theme()
        self.earlier.set_style(clear_colour("#FFFFFF", 0.45), "#1F2933", 0.7)

    def what_to_evaluate(self) -> dict[str, object]:
        """The surface over the chosen axes through the best point."""
        first, second = self.first.currentData(), self.second.currentData()
        return {"what": "common surface", "first": first, "second": second}

    def maximize(self) -> bool:
        """Responses are higher where the score is better, whatever the metric."""
        return True

    def measured(self) -> str:
        """The response."""
        return "response"

    def draw_more(self, columns: list[int]) -> None:
        """The trials of earlier datasets."""
        axes = [self.record.axes[column] for column in columns]
        x, y = (
            [place_of(trial[key], axis, scale_of(axis)) for trial in self.answer["earlier"]]
            for key, axis in zip("xy", axes, strict=True)
        )
        self.earlier.set_data(x, y)

    def describe(self) -> str:
        """Whose trials it comes from, and where it is highest."""
        answer = self.answer
        mean = np.array(answer["mean"])
        row, column = np.unravel_index(int(np.argmax(mean)), mean.shape)
        x, y = answer["x_labels"] or answer["x"], answer["y_labels"] or answer["y"]
        words = "Common surface over {} and {}. {} Highest at {} and {}."
        pair = [p if isinstance(p, str) else plain(p) for p in (x[column], y[row])]
        names = map(named, self.shown_axes())
        return words.format(*names, self.whose(), *pair) + " Bright is better."
