"""Tuning with the history of earlier datasets: deviations from each dataset's own mean.

Yogatama & Mann 2014, Algorithm 2. At every trial μ and σ of the present dataset are computed anew
and with them its responses, O(T); those of the earlier trials stay as they are.
"""

from __future__ import annotations

import math

import numpy as np

from core.samplers.observations import Observations
from core.samplers.responses import Scale, pooled_deviation, scale_of
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.history import EarlierDataset
from core.samplers.transfer.joint_surrogate import JointSurrogateSampler, Responses


class TransferSampler(JointSurrogateSampler):
    """Maximizes expected improvement on the responses of this dataset and of its neighbours.

    Its kernels are mkl, the paper's multiple kernel over the twenty nearest datasets, made positive
    definite (core.gp.transfer.kernel); sqe, a squared exponential over settings and statistics of
    all datasets; and printed, the multiple kernel as printed.
    """

    method = "transfer"

    def respond(self, observed: Observations) -> Responses:
        """Present responses by the mean and deviation so far; earlier ones keep theirs."""
        scale = scale_of(observed.scores, observed.maximize, self._pooled)
        return Responses(self._earlier_responses, scale.response(observed.scores), scale)

    def _begin(self, space: SearchSpace) -> None:
        super()._begin(space)
        scales = [own_scale(one) for one in self.history.datasets]
        self._pooled = pooled_deviation(scales, [len(one.scores) for one in self.history.datasets])
        self._earlier_responses = np.concatenate(
            [
                scales[index].response(np.array(self.history.datasets[index].scores)[list(kept)])
                for index, kept in zip(self.earlier.datasets, self.earlier.kept, strict=True)
            ]
            or [np.zeros(0)]
        )


def own_scale(one: EarlierDataset) -> Scale:
    """μ and σ of all finite scores of an earlier dataset."""
    return scale_of([s for s in one.scores if math.isfinite(s)], one.maximize)
