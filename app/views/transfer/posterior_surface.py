"""The joint surrogate over two hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.text.number_format import format_number
from app.text.setting_text import setting_title
from app.views.plot.items import Dots, clear_colour
from app.views.plot.scales import axis_position
from app.views.surrogate.surface_view import SurfaceView
from app.views.transfer.posterior_view import PosteriorView

if TYPE_CHECKING:
    from core.gp.evaluations import JointImage


class PosteriorSurface(PosteriorView, SurfaceView):
    """The mean over two axes; small triangles for earlier datasets."""

    answer: JointImage
    name = "common surface"
    title = "Pairs of settings"
    question = "Which pairs did well earlier (triangles), and here (circles)?"
    waiting = "What earlier datasets found appears here before the first trial."

    def behind_trials(self) -> list[Dots]:
        """The trials of earlier datasets."""
        self.earlier = Dots("triangle", 7)
        return [self.earlier]

    def paint_theme(self) -> None:
        """Style earlier datasets."""
        super().paint_theme()
        self.earlier.set_style(clear_colour("#FFFFFF", 0.45), "#1F2933", 0.7)

    def maximize(self) -> bool:
        """Always, whatever the metric."""
        return True

    def measured(self) -> str:
        """The response."""
        return "response"

    def draw_more(self) -> None:
        """Draw earlier trials."""
        (x_scale, y_scale), earlier = self.scales, self.answer.earlier
        x = [axis_position(trial.x, x_scale) for trial in earlier]
        self.earlier.set_data(x, [axis_position(trial.y, y_scale) for trial in earlier])

    def describe(self) -> str:
        """The origin and the maximum."""
        answer = self.answer
        mean = np.array(answer.mean)
        row, column = np.unravel_index(int(np.argmax(mean)), mean.shape)
        x, y = answer.x_labels or answer.x, answer.y_labels or answer.y
        words = "Joint surface over {} and {}. {} Highest at {} and {}."
        pair = [p if isinstance(p, str) else format_number(p) for p in (x[column], y[row])]
        names = map(setting_title, self.shown_axes())
        return words.format(*names, self.origin_text(), *pair) + " Bright is better."
