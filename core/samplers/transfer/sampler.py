"""Tuning with the history of earlier datasets: deviations from each dataset's own mean.

Yogatama & Mann 2014, Algorithm 2. At every trial μ and σ of the present dataset are computed anew
and with them its responses, O(T); the responses of the past stay as they are.
"""

from __future__ import annotations

import math

import numpy as np

from core.samplers.history import History
from core.samplers.responses import Scale, pooled_deviation, scale_of
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.common_surface import CommonSurfaceSampler, Responses
from core.samplers.transfer.past import PastDataset


class TransferSampler(CommonSurfaceSampler):
    """Maximizes expected improvement on the responses of this dataset and of its neighbours.

    Its kernels are mkl, the paper's multiple kernel over the twenty nearest datasets, made positive
    definite (core.gp.transfer.kernel); sqe, a squared exponential over settings and statistics of
    all datasets; and printed, the multiple kernel as printed.
    """

    method = "transfer"

    def respond(self, history: History) -> Responses:
        """Responses of the present with its running mean and deviation; the past keeps its own."""
        scale = scale_of(history.scores, history.maximize, self._pooled)
        return Responses(self._past_responses, scale.response(history.scores), scale)

    def _begin(self, space: SearchSpace) -> None:
        super()._begin(space)
        scales = [own_scale(one) for one in self.memory.past]
        self._pooled = pooled_deviation(scales, [len(one.scores) for one in self.memory.past])
        self._past_responses = np.concatenate(
            [
                scales[index].response(np.array(self.memory.past[index].scores)[list(kept)])
                for index, kept in zip(self.past.datasets, self.past.kept, strict=True)
            ]
            or [np.zeros(0)]
        )


def own_scale(one: PastDataset) -> Scale:
    """μ and σ of all finite scores of an earlier dataset."""
    return scale_of([s for s in one.scores if math.isfinite(s)], one.maximize)
