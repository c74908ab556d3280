"""Two settings at once: the expected score as a coloured surface with contour lines."""

from __future__ import annotations

import numpy as np

from app.text.numbers import plain, shown
from app.views.surrogate.surface_view import SurfaceView


class Surface(SurfaceView):
    """The surrogate's mean over two axes."""

    name = "surface"
    title = "Pairs of settings"
    question = "Which pairs of settings go well together?"
    waiting = "The expected score over two settings appears here after the first few trials."

    def what_to_evaluate(self) -> dict[str, object]:
        """The surface over the chosen axes through the best point."""
        first, second = self.first.currentData(), self.second.currentData()
        return {"what": "surface", "first": first, "second": second}

    def describe(self) -> str:
        """The best pair, and the range of the expected score."""
        answer, best = self.answer, self.record.best()
        mean = np.array(answer["mean"])
        said = "Expected score over {} and {}, from {} to {}.".format(
            answer["first"], answer["second"], plain(mean.min()), plain(mean.max())
        )
        if best is not None:
            pair = [shown(best.setting.get(answer[key])) for key in ("first", "second")]
            said += " " + "Best {} at {} and {}.".format(plain(best.score), *pair)
        return said
