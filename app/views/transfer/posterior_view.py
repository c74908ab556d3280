"""What views of the common response surface share: whose runs they show, and what they ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.text.past.datasets import datasets_used
from app.text.strategies import surrogate_of
from app.views.surrogate.surrogate_view import RANKING, WITH_HISTORY, SurrogateView, plain_fields
from core.tuning.events import (
    CommonSurfaceFitted,
    Event,
    HistoryRead,
    RunFinished,
    RunStopped,
    TrialExcluded,
)


class PosteriorView(SurrogateView):
    """A view of the surface that the strategy fits to this dataset and to earlier ones.

    Heights are responses: how many of its dataset's standard deviations a score is better than
    its dataset's mean, or how high a setting ranks. The answer of the evaluator also has the
    trials of earlier datasets under "earlier".
    """

    listens = (CommonSurfaceFitted, HistoryRead, TrialExcluded, RunFinished, RunStopped)
    surrogates = WITH_HISTORY

    def waits_for(self) -> str:
        """What will appear, or that the history is empty."""
        waits = self.fitted() is None and self.run.history is not None
        if not waits or self.run.history.datasets:
            return super().waits_for()
        return (
            "The history holds no other dataset with this model yet. This dataset's own "
            "trials appear here after the first one."
        )

    def response_in_words(self) -> str:
        """What a response is, on an axis; whatever the metric, higher is better."""
        ranks = surrogate_of(self.run.started) == RANKING
        return "rank" if ranks else "better than the mean"

    def fitted(self) -> Event | None:
        """The common surface, once it and the history are there."""
        return self.run.common if self.run.history is not None else None

    def handed_over(self, fitted: Event) -> dict[str, Any]:
        """The surface and the history."""
        return {"surrogate": plain_fields(fitted), "history": plain_fields(self.run.history)}

    def responses(self) -> np.ndarray:
        """The responses of the record's trials, NaN where none is known yet, shape (n,)."""
        run, common = self.run, self.run.common
        found = np.full(len(run.numbers), np.nan)
        for number, response in zip(common.numbers, common.responses, strict=True):
            row = run.row_of.get(number)
            if row is not None and np.isfinite(run.scores[row]):
                found[row] = response
        return found

    def datasets_used(self) -> list[dict[str, Any]]:
        """The datasets that decide now, nearest first."""
        common = self.run.common
        return datasets_used(self.run.history, common) if common.neighbours else []

    def whose(self) -> str:
        """From how many trials of how many datasets the surface comes."""
        trials, others = self.run.common.trials, len(self.datasets_used())
        if not others:
            words = "The history is empty: this comes from this dataset's {} trials."
            return words.format(trials)
        words = "From {} trials of this dataset and {} of {} earlier ones."
        counted = sum(map(len, self.run.common.past_responses))
        return words.format(trials, counted, others)
