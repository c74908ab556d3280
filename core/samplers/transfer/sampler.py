"""Tuning with the history of earlier datasets: deviations from each dataset's own mean.

Yogatama & Mann 2014, Algorithm 2. At every trial μ and σ of the present dataset are computed anew
and with them its responses, O(T); those of the earlier trials stay as they are.
"""

from __future__ import annotations

import math

import numpy as np

from core.samplers.observations import Observations
from core.samplers.responses import ResponseScale, pooled_deviation, scale_of
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.history import EarlierDataset
from core.samplers.transfer.joint_surrogate import JointSurrogateSampler, Responses


class TransferSampler(JointSurrogateSampler):
    """Maximizes expected improvement on the responses of this dataset and of its neighbours.

    Kernels: mkl, the paper's over twenty nearest datasets, made positive definite; printed, as
    printed; sqe, a squared exponential over settings and statistics of all datasets.
    """

    method = "transfer"

    def respond(self, observed: Observations) -> Responses:
        """Present responses by the mean and deviation so far; earlier ones keep theirs."""
        scale = scale_of(observed.scores, observed.maximize, self._pooled)
        return Responses(self._earlier_responses, scale.to_response(observed.scores), scale)

    def _prepare_space(self, space: SearchSpace) -> None:
        super()._prepare_space(space)
        datasets = self.history.datasets
        scales = [own_scale(dataset) for dataset in datasets]
        self._pooled = pooled_deviation(scales, [len(dataset.scores) for dataset in datasets])
        responses = [np.zeros(0)]
        for index, trials in zip(self.earlier.datasets, self.earlier.used_trials, strict=True):
            scores = np.array(datasets[index].scores)[list(trials)]
            responses.append(scales[index].to_response(scores))
        self._earlier_responses = np.concatenate(responses)


def own_scale(dataset: EarlierDataset) -> ResponseScale:
    """μ and σ of all finite scores of an earlier dataset."""
    return scale_of([s for s in dataset.scores if math.isfinite(s)], dataset.maximize)
