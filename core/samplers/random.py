"""Random search: every setting drawn by itself, uniformly over the space."""

from __future__ import annotations

from optuna.study import Study
from optuna.trial import FrozenTrial

from core.samplers.proposing_sampler import ProposingSampler, note_reason, uniform_setting
from core.samplers.search_space import SearchSpace
from core.space import Setting


class RandomSampler(ProposingSampler):
    """Draws uniformly, logarithmic ranges by their logarithm (Bergstra & Bengio 2012)."""

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """A uniform draw that depends on the seed and the trial's number only."""
        note_reason(study, trial, "random")
        return uniform_setting(space, self.random_generator(trial, 0))
