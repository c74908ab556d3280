"""What views of an average over models share."""

from __future__ import annotations

import math

import numpy as np

from app.look import appearance
from app.text.score_text import metric_in_short
from app.views.plot.view import View
from core.tuning.events import RunStarted

# Values further from the best than so many times the middle one are not shown.
REACH = 4.0
MIN_VALUES_TO_CUT = 4  # values that are all shown


class EnsembleView(View):
    """A view of runs that average their best models."""

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs of trials whose strategy averages."""
        return started.kind == "trials" and started.averages

    def measured(self) -> str:
        """The metric's shortest name."""
        return metric_in_short(self.run.started.metric)

    def better_by(self, first: float, second: float) -> float:
        """The difference of two scores, positive where the first is better."""
        return first - second if self.run.started.maximize else second - first


def average_colour() -> str:
    """The colour of the average and its members."""
    return appearance.current().series[2]


def near_the_best(values: np.ndarray, maximize: bool, reach: float = REACH) -> tuple[float, float]:
    """The range without values over `reach` times the median distance from the best."""
    finite = np.sort(values[np.isfinite(values)])
    if not len(finite):
        return math.nan, math.nan
    if len(finite) < MIN_VALUES_TO_CUT:
        return float(finite[0]), float(finite[-1])
    ordered = finite[::-1] if maximize else finite
    far = np.abs(ordered - ordered[0])
    if far[len(far) // 2] > 0:
        ordered = ordered[far <= reach * far[len(far) // 2]]
    return float(ordered.min()), float(ordered.max())
