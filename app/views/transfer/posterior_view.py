"""What views of the common response surface share: whose runs they show, and what they ask."""

from __future__ import annotations

import numpy as np

from app.text.past.earlier_dataset_text import datasets_used
from app.text.strategy_text import surrogate_of
from app.views.surrogate.surrogate_view import RANKING, WITH_HISTORY, SurrogateView
from core.tuning.events import (
    HistoryRead,
    JointSurfaceFitted,
    RunFinished,
    RunStopped,
    TrialExcluded,
)
from core.tuning.payloads import HistoryDataset


class PosteriorView(SurrogateView):
    """A view of the surface that the strategy fits to this dataset and to earlier ones.

    Heights are responses: how many of its dataset's standard deviations a score is better than
    its dataset's mean, or how high a setting ranks.
    """

    listens = (JointSurfaceFitted, HistoryRead, TrialExcluded, RunFinished, RunStopped)
    surrogates = WITH_HISTORY

    @property
    def common(self) -> JointSurfaceFitted:
        """The surface, once it was fitted."""
        assert self.run.common is not None
        return self.run.common

    def waiting_reason(self) -> str:
        """What will appear, or that the history is empty."""
        history = self.run.history
        if history is None or history.datasets or self.latest_fit() is not None:
            return super().waiting_reason()
        return (
            "The history holds no other dataset with this model yet. This dataset's own "
            "trials appear here after the first one."
        )

    def response_text(self) -> str:
        """What a response is, on an axis; whatever the metric, higher is better."""
        ranks = surrogate_of(self.run.started) == RANKING
        return "rank" if ranks else "better than the mean"

    def latest_fit(self) -> JointSurfaceFitted | None:
        """The common surface, once it and the history are there."""
        return self.run.common if self.run.history is not None else None

    def responses(self) -> np.ndarray:
        """The responses of the record's trials, NaN where none is known yet, shape (n,)."""
        run, common = self.run, self.common
        responses = np.full(len(run.numbers), np.nan)
        for number, response in zip(common.numbers, common.responses, strict=True):
            row = run.row_of.get(number)
            if row is not None and np.isfinite(run.scores[row]):
                responses[row] = response
        return responses

    def datasets_used(self) -> list[HistoryDataset]:
        """The datasets that decide now, nearest first."""
        return datasets_used(self.run.history, self.common) if self.common.neighbours else []

    def origin_text(self) -> str:
        """From how many trials of how many datasets the surface comes."""
        trials, dataset_count = self.common.trials, len(self.datasets_used())
        if not dataset_count:
            words = "The history is empty: this comes from this dataset's {} trials."
            return words.format(trials)
        words = "From {} trials of this dataset and {} of {} earlier ones."
        counted = sum(len(responses) for responses in self.common.past_responses)
        return words.format(trials, counted, dataset_count)
