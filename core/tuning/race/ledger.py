"""The seconds of a run of several models: what its end will take, and how busy the machine is."""

from core.estimators.multi_model import split_model_setting
from core.estimators.registry import MODELS
from core.tuning.problem import Problem
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.scoring import TrialResult

MAX_ENDING_SHARE = 0.4  # of the run's seconds, that its end may take
MAX_STRETCH = 3.0  # how many times as long a run may take on a busy machine
QUIET = 1.3  # seconds by the clock for one of the processor, on a machine that is not busy
_MARGIN, _SAVING_SECONDS = 1.2, 1.0


class MachineLoad:
    """How many seconds by the clock one of the processor takes, by the fits of a run."""

    def __init__(self) -> None:
        self._took = self._cpu = 0.0

    def add(self, outcome: TrialResult) -> None:
        # Without a measured use of the processor, a fit says nothing about other programs.
        if outcome.cpu > 0:
            self._took, self._cpu = self._took + outcome.took, self._cpu + outcome.cpu

    @property
    def stretch(self) -> float:
        """How much longer fits take than on a quiet machine, from 1 to `MAX_STRETCH`."""
        ratio = self._took / self._cpu if self._cpu > 0 else 1.0
        return min(MAX_STRETCH, ratio) if ratio > QUIET else 1.0


def refit_seconds(problem: Problem, trial: Trial) -> float:
    """To fit a trial's setting on the training rows and, at the end, on all rows."""
    # By one fit, whatever the folds and their repeats were.
    fold_rows = max(1, len(problem.splits[0][0]))
    model = MODELS[split_model_setting(trial.setting)[0]]
    sizes = [len(problem.train_rows)]
    sizes += [len(problem.fitted_rows)] if problem.plan.refit else []
    growth = sum(float((size / fold_rows) ** model.growth) for size in sizes)
    return growth * trial.took / max(1, trial.fits)


def ending_seconds(problem: Problem, state: RunState) -> float:
    """From the last trial to the result: every refit, tests and saving."""
    members = state.ensemble.members if state.ensemble is not None else []
    trials = [state.find_trial(number) for number in members] or [state.best_trial]
    refits = {t.number: t for t in (*trials, state.default_trial) if t is not None and t.took}
    seconds = [refit_seconds(problem, trial) for trial in refits.values()]
    # Several are fitted at a time, and the end waits for the longest one.
    at_once = max(sum(seconds) / problem.refits_at_once, max(seconds, default=0.0))
    return _SAVING_SECONDS + _MARGIN * at_once
