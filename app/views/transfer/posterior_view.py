"""What views of the joint surrogate share."""

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
    """A view of the surrogate of all datasets.

    Responses are scores in standard deviations above their dataset's mean, or ranks.
    """

    listens = (JointSurfaceFitted, HistoryRead, TrialExcluded, RunFinished, RunStopped)
    surrogates = WITH_HISTORY

    @property
    def common(self) -> JointSurfaceFitted:
        """The latest fit."""
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
        """The name of the response on an axis."""
        return "rank" if surrogate_of(self.run.started) == RANKING else "better than the mean"

    def latest_fit(self) -> JointSurfaceFitted | None:
        """The latest fit, once there is a history as well."""
        return self.run.common if self.run.history is not None else None

    def responses(self) -> np.ndarray:
        """The trials' responses, NaN where unknown, shape (n,)."""
        run, common = self.run, self.common
        responses = np.full(len(run.numbers), np.nan)
        for number, response in zip(common.numbers, common.responses, strict=True):
            row = run.row_of.get(number)
            if row is not None and np.isfinite(run.scores[row]):
                responses[row] = response
        return responses

    def datasets_used(self) -> list[HistoryDataset]:
        """The datasets in use, nearest first."""
        return datasets_used(self.run.history, self.common) if self.common.neighbours else []

    def origin_text(self) -> str:
        """The numbers of trials and datasets that were fitted."""
        trials, dataset_count = self.common.trials, len(self.datasets_used())
        if not dataset_count:
            return f"The history is empty: this comes from this dataset's {trials} trials."
        past = sum(len(responses) for responses in self.common.past_responses)
        return f"From {trials} trials of this dataset and {past} of {dataset_count} earlier ones."
