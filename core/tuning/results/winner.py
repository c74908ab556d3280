"""The winner of a run: the tuned model fitted on the training rows, and again on all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.fitting import fit
from core.estimators.registry import MODELS
from core.estimators.settings import own_setting
from core.space import Setting
from core.tuning.averaging.averaged_model import averaged_model, refitted_average
from core.tuning.learning.pair_tradeoff import choose_gamma, with_gamma
from core.tuning.learning.run import Learned, recorded, relearned
from core.tuning.problem import Problem
from core.tuning.results.candidates import AVERAGE, BEST, Candidate, best_whole, picked
from core.tuning.results.parts import learns_in_parts, taught
from core.tuning.results.threshold import Threshold, choose_threshold, with_threshold
from core.tuning.runs.state import RunState
from core.tuning.scores.scoring import in_a_sentence


@dataclass(frozen=True)
class Winner:
    """The tuned model: a fitted pipeline, and how it came about.

    Attributes:
        learned: a penalty learner's own state.
        ensemble: what is told of an average.
        threshold: between two classes, where mistakes have costs.
        gamma: of a folding model, where it was chosen on training molecules.
        kind: which candidate it is (core.tuning.results.candidates); "" for a learner's model.
        taught: rows of the file that it learned from in parts, beyond those that were drawn.
    """

    pipeline: Pipeline
    setting: Setting
    validation: dict[str, float]
    remarks: tuple[str, ...] = ()
    learned: Learned | None = None
    ensemble: dict[str, Any] | None = None
    threshold: Threshold | None = None
    gamma: float | None = None
    kind: str = ""
    taught: int = 0

    def without_rows(self) -> Winner:
        """The same, without the memory of the rows that a learner fitted it to."""
        if self.learned is None:
            return self
        return replace(self, learned=self.learned.without_rows())

    @property
    def members(self) -> tuple[int, ...]:
        """The trials of an average of tables, in the order of its fitted models."""
        return tuple(self.ensemble["members"]) if self.ensemble else ()


def winner_of(
    problem: Problem,
    state: RunState,
    learned: Learned | None,
    kept: Mapping[int, Any],
) -> Winner:
    """What tuning found, fitted on the training rows of the problem, with its threshold.

    Args:
        problem: the run's problem, or that of an outer fold.
        state: how the run stands; at least one trial or step has ended.
        learned: the penalty learner's own state, where it is at hand (saves a fit).
        kept: {trial: fitted estimator} of the members of an average, likewise.
    """
    chosen_one = picked(problem, state)
    if chosen_one is not None and chosen_one.kind != AVERAGE:
        found = _of_candidate(problem, chosen_one)
    elif problem.averages and (chosen_one is not None or _average_wins(problem, state)):
        found = _average(problem, state, kept)
    elif problem.strategy.kind == "trials":
        found = _best_trial(problem, state)
    else:
        found = _of_learner(learned if learned is not None else recorded(problem, state))
    threshold = choose_threshold(problem, found.pipeline, found.learned)
    found = replace(found, threshold=threshold)
    chosen = choose_gamma(problem, found.pipeline, found.learned)
    if chosen is not None:
        remarks = (*found.remarks, chosen.said) if chosen.said else found.remarks
        found = replace(found, gamma=chosen.gamma, remarks=remarks)
    return _decided(problem, found)


def _decided(problem: Problem, winner: Winner) -> Winner:
    """The same, its pipeline with the threshold between two classes, or γ, that was chosen."""
    if winner.gamma is not None:
        return replace(winner, pipeline=with_gamma(winner.pipeline, winner.gamma))
    if winner.threshold is None:
        return winner
    classes = problem.dataset.classes
    return replace(winner, pipeline=with_threshold(winner.pipeline, winner.threshold, classes))


def _best_trial(problem: Problem, state: RunState) -> Winner:
    best = best_whole(state) if problem.strategy.several else state.best
    assert best is not None  # callers have checked that a trial has ended
    return _of_candidate(problem, Candidate(BEST, best.number, best.setting, best.score))


def _of_candidate(problem: Problem, one: Candidate) -> Winner:
    pipeline = problem.pipeline(one.setting)
    remarks = fit(pipeline, *problem.train)
    validation = {} if one.score is None else {problem.metric.name: one.score}
    return Winner(pipeline, one.setting, validation, remarks, kind=one.kind)


def _average(problem: Problem, state: RunState, kept: Mapping[int, Any]) -> Winner:
    average = averaged_model(problem, state, kept)
    best = state.trials[state.row_of[average.best]]
    # Rows that had a part in the choice would give an optimistic score.
    validation = average.told["held_out"]
    if not validation and problem.judged != "training":
        validation = {problem.metric.name: best.score}
    return Winner(
        average.pipeline,
        best.setting,
        validation,
        tuple(average.remarks),
        ensemble=average.told,
        kind=AVERAGE,
    )


def _average_wins(problem: Problem, state: RunState) -> bool:
    """Whether the average is taken: always where it was asked for.

    Of several models where the single best is not clearly ahead, by a standard error: what is best
    on the rows that chose it owes more to chance than an average does.
    """
    if not problem.strategy.several:
        return True
    told = state.ensemble
    if told is None or told.average is None or told.single is None:
        return False
    sign = 1.0 if problem.scored_by.maximize else -1.0
    best = best_whole(state)
    ahead = sign * (told.single - told.average)
    return len(told.members) > 1 and ahead <= (best.error if best is not None else 0.0)


def _of_learner(learned: Learned) -> Winner:
    validation = {} if learned.holdout_loss is None else {"holdout_loss": learned.holdout_loss}
    return Winner(learned.pipeline(), {}, validation, learned.remarks, learned)


def taken_away(problem: Problem, judged: Winner) -> tuple[Winner, tuple[str, ...]]:
    """The model that is kept: the judged one fitted again on all rows of the file.

    The setting, the penalties and the weights of an average stay. Nothing is done where a person
    wants the judged model itself, or where that was fitted on all rows already.

    Returns:
        The winner, and sentences where it could not be fitted again; `judged` itself then.
    """
    rows = problem.fitted_rows
    part = problem.keeps and problem.judged == "validation"  # of the training rows, so far
    sampled = problem.dataset.sampled is not None
    if not problem.plan.refit or (len(rows) == len(problem.train_rows) and not part):
        if sampled and problem.plan.refit and _goes_on(judged):
            return _with_the_rest(problem, judged)
        return judged, (_on_drawn_rows(problem, judged),) if sampled else ()
    if judged.ensemble is not None and problem.model.costly:
        said = "The members of the average are not fitted again on all rows: of this kind of model"
        return judged, (f"{said} that would take as long as their trials.",)
    if sampled:
        return _with_the_rest(problem, judged)
    try:
        return _decided(problem, _fitted_again(problem.on(rows, rows[:0]), judged)), ()
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError) as error:
        said = "The model could not be fitted on all rows; the tested one is kept."
        return judged, (f"{said} {in_a_sentence(error)}",)


def _with_the_rest(problem: Problem, judged: Winner) -> tuple[Winner, tuple[str, ...]]:
    """The model fitted on all rows that were drawn, and taught the others where it can be."""
    rows = problem.fitted_rows
    try:
        again = _fitted_again(problem.on(rows, rows[:0]), judged)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError) as error:
        said = "The model could not be fitted on all rows; the tested one is kept."
        return judged, (f"{said} {in_a_sentence(error)}",)
    if not _goes_on(again):
        return _decided(problem, again), (_on_drawn_rows(problem, again),)
    try:
        more = taught(again.pipeline, problem.dataset)
    except (ValueError, ArithmeticError, OSError, UnusableError) as error:
        said = "The model that is kept was fitted on the drawn rows alone: the others could not be"
        return _decided(problem, again), (f"{said} learned. {in_a_sentence(error)}",)
    said = (
        f"Once fitted on the {problem.dataset.rows:,} drawn rows, the model that is kept learned "
        f"from {more.rows:,} others of the file too, in parts and from each once; columns are "
        "prepared as in the drawn rows."
    )
    if more.strange:
        said += f" {more.strange:,} rows of classes that the drawn rows lack were left out."
    winner = replace(again, pipeline=more.pipeline, taught=more.rows)
    return _decided(problem, winner), (said,)


def _goes_on(winner: Winner) -> bool:
    """Whether its model can learn more rows without those that it knows."""
    whole = winner.learned is None and winner.ensemble is None
    model = winner.pipeline[-1]
    return whole and learns_in_parts(getattr(model, "estimator_", model))  # behind a threshold


def _on_drawn_rows(problem: Problem, winner: Winner) -> str:
    """Why the model that is kept knows the drawn rows alone."""
    said = "The model that is kept was fitted on the drawn rows alone"
    if not problem.plan.refit:
        return f"{said}: it is the one that was tested."
    if winner.ensemble is not None:
        return f"{said}: an average cannot learn the others in parts."
    name = own_setting(problem.plan.model, winner.setting)[0]
    return f"{said}: {MODELS[name].noun} cannot learn the others in parts."


def _fitted_again(whole: Problem, judged: Winner) -> Winner:
    if judged.learned is not None:
        again = relearned(whole, judged.learned)
        return replace(judged, pipeline=again.pipeline(), learned=again)
    if judged.ensemble is not None:
        return replace(judged, pipeline=refitted_average(whole, judged.ensemble))
    pipeline = whole.pipeline(judged.setting)
    fit(pipeline, *whole.train)
    return replace(judged, pipeline=pipeline)
