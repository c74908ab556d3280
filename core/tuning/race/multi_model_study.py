"""The choice of the model and the setting of the next trial, for several models."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.estimators.multi_model import combined_setting, split_model_setting
from core.samplers.transfer.history import TuningHistory
from core.space import Setting
from core.tuning import events as run_events
from core.tuning.history.run_history import history_of, settings_in, warm_start_history
from core.tuning.problem import Problem
from core.tuning.race import allocation
from core.tuning.race.model_arm import ModelArm, ScoredTrial
from core.tuning.runs.trial_table import fold_error
from core.tuning.scores.scoring import Incumbent, TrialResult

LARGE_FACTOR = 10  # of the usual rows of a screening, in tables of very many
_MIN_GAPS = 3  # trials on all folds, from which the spread of folds is estimated
_NO_SCORE = "None of its trials gave a score"


@dataclass(frozen=True)
class ScreeningTask:
    """A screening to be done: a setting of a model, and the event's reason."""

    model: str
    setting: Setting
    reason: str
    rows: int  # that it is fitted on, at most


class MultiModelStudy:
    """A sampler for every model, and the choice between them."""

    def __init__(
        self,
        problem: Problem,
        problem_by_model: Mapping[str, Problem],
        history_by_model: Mapping[str, run_events.HistoryRead] | None = None,
    ) -> None:
        self._problem = problem
        self._sign = 1.0 if problem.scored_by.maximize else -1.0
        self._fit_rows = len(problem.splits[0][0])
        self._folds = len(problem.splits)
        self.arms = {
            name: _make_arm(name, arm_problem, self._sign, (history_by_model or {}).get(name))
            for name, arm_problem in problem_by_model.items()
        }
        self._model_by_trial: dict[int, str] = {}
        self._choice = allocation.ArmChoice("", "")
        # The models when the last choice was made, the best first, and that choice.
        self.compared = run_events.ModelsCompared()
        self.exhausted_reason = ""
        self.expected_seconds = 0.0  # of the trial that was asked for last
        self.has_requests = False  # settings entered by hand are of one model

    # The screening -------------------------------------------------------------------------------

    def pending_screenings(self, max_rows: int) -> list[ScreeningTask]:
        """Those of every default setting, then of warm starts; none once trials have started."""
        if self._model_by_trial:
            return []
        arms = self.arms.values()
        # Two sizes tell how a model's time grows. Of very many rows the larger one is needed: by a
        # thousand alone, boosting was taken for too dear and slow neighbours for cheap.
        sizes = [max_rows // 3, max_rows] if self._fit_rows > max_rows else [max_rows]
        if self._fit_rows > 2 * LARGE_FACTOR * max_rows:
            sizes = [max_rows, LARGE_FACTOR * max_rows]
        default = [
            (arm, arm.problem.default, rows)
            for rows in sizes
            for arm in arms
            if min(rows, self._fit_rows) > arm.screening_rows
        ]
        past = [(arm, setting, max_rows) for arm in arms for setting in arm.unscreened_settings]
        return [
            ScreeningTask(arm.name, combined_setting(arm.name, setting), reason, rows)
            for reason, settings in (("default", default), ("past", past))
            for arm, setting, rows in settings
        ]

    def add_screening(self, event: run_events.ModelScreened) -> None:
        if event.model in self.arms:
            arm_setting = split_model_setting(event.setting)[1]
            self.arms[event.model].add_screening(replace(event, setting=arm_setting))

    def screening_limit(self, task: ScreeningTask, limit: float) -> float:
        """Seconds that a screening may take; 0 to skip it."""
        # All screenings of a model share one limit; another starts if it is expected to fit.
        arm = self.arms[task.model]
        seconds_left = round(limit - arm.screening_seconds, 2)
        rows = min(task.rows, self._fit_rows)
        expected = arm.fold_seconds(rows) if arm.screening_times else 0.0
        # By one small size the seconds of many rows are overestimated, as part of them is constant.
        is_guess = len(arm.screening_times) == 1 and rows > arm.screening_rows
        return seconds_left if seconds_left > expected / (4 if is_guess else 1) else 0.0

    # Trials --------------------------------------------------------------------------------------

    def ask(self, seconds_left: float = math.inf, share: float = 1.0) -> run_events.TrialStarted:
        """The next setting of the most promising model; a `share` of the run is left."""
        estimates = self._arm_estimates()
        budget = allocation.RemainingBudget(seconds_left, share, len(self._model_by_trial))
        self._choice = allocation.next_model(estimates, self._score_scale, budget)
        # Before the proposal is taken: the leaderboard would ask for the next one too early.
        self.compared = self._leaderboard()
        number = len(self._model_by_trial)
        self._model_by_trial[number] = self._choice.model
        arm = self.arms[self._choice.model]
        self.expected_seconds = self._expected_seconds(arm)
        started = arm.take_proposal(number)
        return started.with_fields(setting=combined_setting(arm.name, started.setting))

    def tell(self, outcome: TrialResult) -> None:
        name, arm_setting = split_model_setting(outcome.setting)
        self.arms[name].tell(replace(outcome, setting=arm_setting))
        if not self._usable_arms:
            self.exhausted_reason = "no model could be fitted"
        elif all(arm.exhausted_reason for arm in self._usable_arms):
            self.exhausted_reason = "no model has a setting left to try"

    @property
    def has_untried_models(self) -> bool:
        return any(arm.started_count == 0 for arm in self._usable_arms)

    def incumbent_of(self, started: run_events.TrialStarted, seconds: float) -> Incumbent | None:
        """What a trial is ended early against; None for a model's first ones of so few seconds."""
        # An average gains by members that are worse alone, and knows trials on all folds alone.
        arm = self.arms[split_model_setting(started.setting)[0]]
        is_first = arm.started_count <= allocation.MIN_TRIALS and self.expected_seconds <= seconds
        best, spread = self.best_trial, self._fold_spread
        if is_first or best is None or spread is None:
            return None
        return Incumbent(tuple(self._sign * score for score in best.folds), spread, self._sign)

    @property
    def best_trial(self) -> ScoredTrial | None:
        best_trials = [arm.best_trial for arm in self.arms.values()]
        return max((b for b in best_trials if b is not None), key=lambda b: b.score, default=None)

    def surrogate(self) -> run_events.SurrogateFitted | None:
        """The Gaussian process behind the last proposal, of the scores of its model alone."""
        arm = self.arms.get(self._choice.model)
        return None if arm is None else arm.surrogate()

    def replay_trials(self, past: Sequence[run_events.Event]) -> None:
        events_by_model: dict[str, list[run_events.Event]] = {name: [] for name in self.arms}
        for event in past:
            if isinstance(event, run_events.ModelScreened):
                self.add_screening(event)
            if isinstance(
                event, (run_events.TrialStarted, run_events.TrialFinished, run_events.TrialFailed)
            ):
                name, setting = split_model_setting(event.setting)
                # A model may be gone since, as an optional part that is no longer installed.
                if name in events_by_model:
                    events_by_model[name].append(event.with_fields(setting=setting))
                self._model_by_trial[event.number] = name
        for name, events in events_by_model.items():
            self.arms[name].replay_trials(events)

    # Estimates -----------------------------------------------------------------------------------

    @property
    def _usable_arms(self) -> list[ModelArm]:
        return [arm for arm in self.arms.values() if not arm.failed]

    def _arm_estimates(self) -> list[allocation.ArmEstimate]:
        best, scale = self.best_trial, self._score_scale
        return [
            allocation.ArmEstimate(
                arm.name,
                arm.started_count,
                arm.screening_score,
                self._expected_seconds(arm),
                arm.seconds,
                self._gain_of(arm, best, scale),
                self._lag_of(arm, best, scale),
            )
            for arm in self._usable_arms
            if not arm.exhausted_reason
        ]

    def _gain_of(self, arm: ModelArm, best: ScoredTrial | None, scale: float) -> float:
        if best is None:
            return scale
        leader = next(a for a in self.arms.values() if best in a.scored_trials)
        return arm.expected_gain(best.score, scale, leader.screening_score)

    @staticmethod
    def _lag_of(arm: ModelArm, best: ScoredTrial | None, scale: float) -> float:
        trial = arm.best_trial
        return math.inf if best is None or trial is None else (best.score - trial.score) / scale

    def _expected_seconds(self, arm: ModelArm) -> float:
        setting = arm.proposal.setting if arm.started_count else arm.problem.default
        return arm.expected_seconds(setting, self._fit_rows, self._folds)

    @property
    def _score_scale(self) -> float:
        arms = self.arms.values()
        scores = [arm.best_trial.score if arm.best_trial else arm.screening_score for arm in arms]
        return allocation.scale_of_scores(scores, self._score_noise)

    @property
    def _score_noise(self) -> float:
        return self._error_of(self.best_trial) or 0.0

    def _error_of(self, trial: ScoredTrial | None) -> float | None:
        """None where one fold tells nothing of it."""
        if trial is None or len(trial.folds) < 2:
            return None
        return fold_error(trial.folds, self._problem.fold_repeats)

    @property
    def _fold_spread(self) -> float | None:
        """Standard deviation of a fold's part in the difference of two settings."""
        best = self.best_trial
        if best is None or len(best.folds) < 2:
            return None
        gaps = [
            np.std(np.subtract(trial.folds, best.folds), ddof=1)
            for arm in self.arms.values()
            for trial in arm.scored_trials
            if trial.number != best.number and len(trial.folds) == len(best.folds)
        ]
        # The median: settings that fail in one fold must not make all differences uncertain.
        return float(np.median(gaps)) if len(gaps) >= _MIN_GAPS else None

    def _leaderboard(self) -> run_events.ModelsCompared:
        standings = [self._leaderboard_entry(arm) for arm in self.arms.values()]
        standings.sort(key=lambda s: (s.best is None, -self._sign * (s.best or 0.0), s.model))
        return run_events.ModelsCompared(
            models=standings, next=self._choice.model, why=self._choice.why
        )

    def _leaderboard_entry(self, arm: ModelArm) -> run_events.LeaderboardEntry:
        best = arm.best_trial
        error = self._error_of(best) if best else self._screening_error(arm.screening_rows)
        fold_counts = [len(trial.folds) for trial in arm.scored_trials]
        return run_events.LeaderboardEntry(
            model=arm.name,
            trials=sum(not trial.behind for trial in arm.scored_trials),
            best=None if best is None else self._sign * best.score,
            error=error,
            look=None if arm.screening_score == -math.inf else self._sign * arm.screening_score,
            seconds=round(arm.seconds, 4),
            gain=self._expected_gain(arm),
            takes=round(self._expected_seconds(arm), 4),
            state=self._arm_state(arm),
            why=f"{_NO_SCORE}: {arm.failed}" if arm.failed else "",
            rows=self._fit_rows if fold_counts else min(arm.screening_rows, self._fit_rows),
            folds=max(fold_counts, default=int(arm.screening_rows > 0)),
        )

    def _screening_error(self, rows: int) -> float | None:
        best = self.best_trial
        if best is None or len(best.folds) < 2 or rows == 0:
            return None
        fold_rows = len(self._problem.splits[0][1])
        return float(np.std(best.folds, ddof=1) * math.sqrt(fold_rows / min(rows, fold_rows)))

    def _expected_gain(self, arm: ModelArm) -> float:
        best = self.best_trial
        if best is None or arm.failed or arm.exhausted_reason or arm.screening_rows == 0:
            return 0.0
        return self._gain_of(arm, best, self._score_scale)

    def _arm_state(self, arm: ModelArm) -> str:
        if arm.failed:
            return "failed"
        best, arm_best = self.best_trial, arm.best_trial
        if best is None or arm_best is None:
            return "waiting"
        # Two standard errors; equal scores of all folds leave an error of 0.
        clear = 2.0 * max(self._score_noise, 1e-12)
        return "behind" if arm_best.score < best.score - clear else "tuned"


def _make_arm(
    name: str, problem: Problem, sign: float, history_read: run_events.HistoryRead | None
) -> ModelArm:
    if history_read is None:
        return ModelArm(name, problem, sign)
    # A strategy that learns from earlier datasets gets all of them, the others two settings.
    learns = problem.strategy.uses_history
    history = history_of(history_read, problem.model.simplex) if learns else TuningHistory()
    warm_starts = settings_in(warm_start_history(history_read, problem))
    return ModelArm(name, problem, sign, history, warm_starts)
