"""Optuna's own TPE and CMA-ES, for comparison; they note on a trial why it was chosen."""

from __future__ import annotations

from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import CmaEsSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from core.samplers.proposing_sampler import note_reason


def _finished(study: Study) -> int:
    return len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))


class AnnotatedTpeSampler(TPESampler):
    """The tree-structured Parzen estimator (Bergstra et al. 2011), as Optuna has it."""

    def __init__(self, *, seed: int = 0, start_trials: int = 10) -> None:
        super().__init__(seed=seed, n_startup_trials=start_trials)
        self.start_trials = start_trials

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Notes the reason: random until there are enough finished trials, then tpe."""
        super().before_trial(study, trial)
        note_reason(study, trial, "random" if _finished(study) < self.start_trials else "tpe")


class AnnotatedCmaEsSampler(CmaEsSampler):
    """CMA-ES (Hansen 2016), as Optuna has it: two numbers or more; the others at random."""

    def __init__(self, *, seed: int = 0) -> None:
        # It would warn of every choice, which CMA-ES leaves to chance.
        super().__init__(seed=seed, warn_independent_sampling=False)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Optuna's proposal, and its reason: random where CMA-ES has none."""
        proposed = super().sample_relative(study, trial, search_space)
        note_reason(study, trial, "cma-es" if proposed else "random")
        return proposed
