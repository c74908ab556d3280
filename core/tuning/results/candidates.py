"""What a person may take away from a run: the best, a simpler one, an average, any trial.

The simplest is the trial of the simplest model whose score is within one standard error of the
best's (the one-standard-error rule; Breiman and others 1984, §3.4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.fitting import fit
from core.estimators.registry import MODELS
from core.estimators.several import divided
from core.space import Setting
from core.tuning.events import ModelPicked
from core.tuning.problem import Problem
from core.tuning.results.comparison import Comparison, results_of
from core.tuning.runs.competition import Trial
from core.tuning.runs.state import RunState
from core.tuning.scores.metrics import say
from core.tuning.scores.predictions import Predictions
from core.tuning.scores.scoring import in_a_sentence

BEST, SIMPLEST, AVERAGE, DEFAULT, TRIAL = "best", "simplest", "average", "default", "trial"
_TOLD = ("test", "test_interval", "gain", "gain_over_baseline")


@dataclass(frozen=True)
class Candidate:
    """One that may be taken away.

    Attributes:
        kind: best, simplest, average, default or trial.
        number: of its trial; None for an average, and for a default that was not tried.
        setting: empty for an average.
        score: in validation; None where it had none.
    """

    kind: str
    number: int | None
    setting: Setting
    score: float | None


def picked(problem: Problem, state: RunState) -> Candidate | None:
    """What a person has picked; None where nobody has.

    Raises:
        UnusableError: it is not there.
    """
    pick = state.picked
    return None if pick is None else candidate(problem, state, pick)


def candidate(problem: Problem, state: RunState, pick: ModelPicked) -> Candidate:
    """The candidate that is meant.

    Raises:
        UnusableError: there is no such trial, it has no score, or nothing was averaged.
    """
    if pick.kind == DEFAULT:
        return _of_default(problem, state)
    if pick.kind == TRIAL:
        trial = None if pick.number is None else state.trial(pick.number)
        if trial is None or trial.failure:
            raise UnusableError(
                f"there is no trial {pick.number} with a score",
                where="run",
                cure="choose one from the table of trials",
            )
        return _of_trial(TRIAL, trial)
    there = {one.kind: one for one in candidates_of(problem, state)}
    if pick.kind == SIMPLEST and BEST in there:  # the best may be the simplest itself
        return replace(there.get(SIMPLEST, there[BEST]), kind=SIMPLEST)
    if pick.kind not in there:
        raise UnusableError(
            f"this run has nothing to take away called “{pick.kind}”",
            where="run",
            cure="choose one of " + ", ".join([*there, TRIAL]),
        )
    return there[pick.kind]


def candidates_of(problem: Problem, state: RunState) -> list[Candidate]:
    """What a run of several models offers, the best first; the default for every run of trials."""
    found = []
    if problem.strategy.several:
        best = best_whole(state)
        if best is not None:
            found.append(_of_trial(BEST, best))
            simplest = _simplest(state, best)
            if simplest.number != best.number:
                found.append(_of_trial(SIMPLEST, simplest))
        if (update := state.ensemble) is not None and len(update.members) > 1:
            found.append(Candidate(AVERAGE, None, {}, update.average))
    elif problem.strategy.kind == "trials" and state.best is not None:
        found.append(_of_trial(BEST, state.best))
    return [*found, _of_default(problem, state)]


def best_whole(state: RunState) -> Trial | None:
    """The best trial that was scored on all folds; the best of all where none was."""
    whole = [trial for trial in state.scored() if not trial.behind]
    sign = 1.0 if state.maximize else -1.0
    competing = [trial for trial in whole if trial.number not in state.excluded]
    return max(competing or whole, key=lambda t: (sign * t.score, -t.number), default=state.best)


def _simplest(state: RunState, best: Trial) -> Trial:
    sign, error = (1.0 if state.maximize else -1.0), best.error
    close = [
        trial
        for trial in state.scored()
        if not trial.behind
        and trial.number not in state.excluded
        and sign * trial.score >= sign * best.score - error
    ]
    return min(close or [best], key=lambda t: (_complexity(t.setting), -sign * t.score, t.number))


def _complexity(setting: Mapping[str, Any]) -> int:
    name, _ = divided(setting)
    return MODELS[name].complexity if name in MODELS else 9


def _of_trial(kind: str, trial: Trial) -> Candidate:
    return Candidate(kind, trial.number, dict(trial.setting), trial.score)


def _of_default(problem: Problem, state: RunState) -> Candidate:
    setting = problem.default
    tried = next((t for t in state.scored() if dict(t.setting) == setting and not t.behind), None)
    if tried is None:
        return Candidate(DEFAULT, None, setting, None)
    return _of_trial(DEFAULT, tried)


@dataclass(frozen=True)
class Taken:
    """The one that was taken, fitted on the training rows.

    Attributes:
        kind: as of a candidate.
        members: the trials of an average, in the order of its fitted models; empty for one model.
    """

    kind: str
    pipeline: Pipeline
    members: tuple[int, ...] = ()

    def member(self, number: int | None) -> Pipeline | None:
        """One of the average's models as a pipeline of its own; None where it is not among them."""
        fitted = getattr(self.pipeline.named_steps["model"], "estimators_", ())
        if number not in self.members or len(fitted) != len(self.members):
            return None
        estimator = fitted[self.members.index(number)]
        return Pipeline([("prepare", self.pipeline.named_steps["prepare"]), ("model", estimator)])


def judged_candidates(
    problem: Problem,
    state: RunState,
    taken: Taken,
    predictions: Predictions | None,
    comparison: Comparison,
) -> list[dict[str, Any]]:
    """The candidates of a run of several models as plain data.

    Args:
        problem: the run's problem.
        state: how the run stands.
        taken: the one that was taken.
        predictions: what the contestants say about the test rows, for the scores of the others
            there; None where nobody wants to wait for them.
        comparison: what they are compared for.
    """
    found = []
    for one in candidates_of(problem, state):
        told: dict[str, Any] = {
            "kind": one.kind,
            "trial": one.number,
            "setting": one.setting,
            "validation": one.score,
            "taken": one.kind == taken.kind,
        }
        if predictions is not None and one.kind not in (taken.kind, DEFAULT):
            told |= _tested(problem, state, one, taken, predictions, comparison)
        found.append(told)
    return found


def _tested(
    problem: Problem,
    state: RunState,
    one: Candidate,
    taken: Taken,
    predictions: Predictions,
    comparison: Comparison,
) -> dict[str, Any]:
    dataset = problem.dataset
    try:
        X, y = problem.test
        pipeline = _fitted(problem, state, one, taken)
        said = say(pipeline, X, dataset.classes, task=dataset.task, y=y)
    except Exception as error:  # one that cannot be fitted is no candidate any more
        return {"failure": in_a_sentence(error)}
    own = replace(comparison, setting=one.setting, validation={}, averaged=one.kind == AVERAGE)
    results = results_of(replace(predictions, tuned=said), own)
    return {name: results[name] for name in _TOLD}


def _fitted(problem: Problem, state: RunState, one: Candidate, taken: Taken) -> Pipeline:
    """The pipeline of a candidate, fitted on the training rows; by the average where it has it."""
    if one.kind == AVERAGE:
        from core.tuning.averaging.averaged_model import averaged_model

        return averaged_model(problem, state, {}).pipeline
    if (member := taken.member(one.number)) is not None:
        return member
    pipeline = problem.pipeline(one.setting)
    fit(pipeline, *problem.train)
    return pipeline
