"""The average while it forms: its members and weights after every trial, and what it is worth.

Members are the T = max(1, ⌊S/10⌋) best of S trials by f (McInerney 2017, §3.2). Whether their
average is better than the single best is told by rows that chose neither: the held-out rows lie in
G lots (the folds of cross-validation, or five parts of what is held out once); for each lot members
and weights are chosen by the other lots alone, and what they say about the lot is scored. No model
is fitted for that.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| S, T | | | finished trials, members |
| G | | | lots of held-out rows |
| f | ``scores`` | | scores of trials |
| w | ``weights`` | (T,) | of members |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.samplers.averaging import effective_members, member_count, ranking, weights
from core.samplers.kept_models import KeptModels
from core.space import Setting
from core.tuning.averaging.averaged_said import (
    averaged_said,
    can_be_averaged,
    joined,
    log_densities,
)
from core.tuning.averaging.disagreement import members_disagree
from core.tuning.events import EnsembleUpdated, Event, TrialExcluded, TrialFinished
from core.tuning.payloads import LeftOut
from core.tuning.problem import Problem
from core.tuning.scores.metric import Said
from core.tuning.scores.metrics import targets_of
from core.tuning.scores.scoring import Outcome

LOTS = 5  # of rows that are held out once
GREEDY_ROWS = 5000  # at most; more tell nothing new and cost seconds


@dataclass(frozen=True)
class LotPredictions:
    """What one trial's models say about every lot, and how well.

    Attributes:
        lots: what is said of each lot, G of them.
        scores: the metric of each.
    """

    lots: tuple[Said, ...]
    scores: np.ndarray


class Ensemble:
    """Which trials make the average, by what they scored and said.

    It holds what the models of the best trials say about held-out rows, and in runs with one fit a
    trial also the fitted models of the T best and one spare; both go the moment a trial leaves.
    """

    def __init__(self, problem: Problem, planned: int) -> None:
        self._problem = problem
        self._kind = str(problem.options["weights"])
        self._maximize = problem.scored_by.maximize
        self.models: KeptModels[Any] = KeptModels(maximize=self._maximize, planned=planned)
        self._told: dict[int, LotPredictions] = {}
        self._left_out: dict[int, str] = {}
        self._latest: EnsembleUpdated | None = None
        self._known: dict[tuple[int, ...], float] = {}  # (lot, members): score of their average
        self._lots, self._y = lots_of(problem)

    def replay(self, past: Sequence[Event]) -> dict[int, Setting]:
        """Trials of this run that ended before it was interrupted, without what they said.

        Returns:
            {trial: setting} of those that have to say it again (`repeat`), so that the average can
            be compared with the single best.
        """
        finished = {event.number: event for event in past if isinstance(event, TrialFinished)}
        for event in past:
            match event:
                case TrialFinished():
                    self.models.add(event.number, event.score, None)
                case EnsembleUpdated():
                    new = [one for one in event.left_out if one.number not in self._left_out]
                    self._left_out |= {one.number: one.reason for one in new}
                    for one in new:
                        self.models.exclude(one.number)
                case TrialExcluded():
                    self.exclude(event)
        return {number: finished[number].setting for number in self._lacking(finished)}

    def _lacking(self, finished: Mapping[int, TrialFinished]) -> list[int]:
        """The trials of whom `_let_go` would have kept what they said."""
        if len(self._lots) < 2:
            return []
        most, excluded = self.models.capacity, self.models.excluded
        scores = {n: one.score for n, one in finished.items() if n in self.models.scores}
        in_lots = {n: np.array(finished[n].fold_scores) for n in scores}
        scores = {n: score for n, score in scores.items() if n not in excluded}
        by_lot = [scores]
        if all(len(of_lots) == len(self._lots) for of_lots in in_lots.values()):
            by_lot += [
                {n: float(np.delete(in_lots[n], lot).mean()) for n in scores}
                for lot in range(len(self._lots))
            ]
        else:  # held out once: what was scored in each lot is not recorded, but close to the whole
            most *= 2
        ranked = [ranking(found, maximize=self._maximize)[:most] for found in by_lot]
        return sorted({number for chosen in ranked for number in chosen})

    def repeat(self, outcome: Outcome) -> None:
        """A remembered trial says again what it said; its score stays as it was recorded."""
        if outcome.said and all(can_be_averaged(said) for said in outcome.said):
            score = self.models.scores[outcome.number]
            self.models.add(outcome.number, score, outcome.fitted)
            self._told[outcome.number] = self._of_lots(outcome)
            self._let_go()

    def add(self, outcome: Outcome) -> None:
        """A trial that ended with a score."""
        self.models.add(outcome.number, outcome.score, outcome.fitted)
        if not outcome.said:
            return
        if all(can_be_averaged(said) for said in outcome.said):
            self._told[outcome.number] = self._of_lots(outcome)
        else:
            self._left_out[outcome.number] = (
                f"Trial {outcome.number} is left out of the average: its predictions are not all "
                "numbers."
            )
            self.models.exclude(outcome.number)
        self._let_go()

    def exclude(self, event: TrialExcluded) -> None:
        """A person takes a trial out, or back in."""
        if event.excluded or event.number in self._left_out:
            self.models.exclude(event.number)
        else:
            self.models.include(event.number)

    def updates(self) -> Iterator[Event]:
        """The members and weights now; where they disagree, if they are others than before."""
        members = self.models.members
        if not members:
            return
        w = self._weights(members)
        average, single = self._held_out()
        update = EnsembleUpdated(
            finished=len(self.models.scores),
            members=members,
            weights=[float(weight) for weight in w],
            scores=[self.models.scores[number] for number in members],
            effective=effective_members(w),
            average=average,
            single=single,
            left_out=[LeftOut(n, why) for n, why in self._left_out.items()],
        )
        before, self._latest = self._latest, update
        yield update
        others = before is None or (before.members, before.weights) != (members, update.weights)
        if others and len(members) > 1 and all(number in self._told for number in members):
            whole = [joined(self._told[number].lots) for number in members]
            yield members_disagree(self._problem, self._rows, members, w, whole)

    @property
    def _rows(self) -> np.ndarray:
        """The dataset's rows that are held out, in the order of the lots."""
        return np.concatenate(self._lots)

    def _weights(self, members: list[int]) -> np.ndarray:
        latest = self._latest
        if self._kind == "greedy" and latest is not None and latest.members == members:
            return np.array(latest.weights)
        told = [self._told.get(number) for number in members]
        logs = None
        several = len(members) > 1
        if several and self._kind == "greedy" and all(one is not None for one in told):
            said = [joined(one.lots) for one in told if one is not None]
            logs = log_densities(np.concatenate(self._y), said)
        return weigh(self._kind, self.models.scores, members, self._maximize, logs)

    def _held_out(self) -> tuple[float | None, float | None]:
        """The metric of the average and of the single best, both chosen by the other lots."""
        if len(self._lots) < 2 or any(n not in self._told for n in self.models.members):
            return None, None
        averages, singles = [], []
        for lot in range(len(self._lots)):
            found = self._without(lot)
            chosen = ranking(found, maximize=self._maximize)[
                : member_count(len(self.models.scores))
            ]
            averages.append(self._average_on(lot, found, chosen))
            singles.append(self._told[chosen[0]].scores[lot])
        return _mean(averages), _mean(singles)

    def _average_on(self, lot: int, found: dict[int, float], chosen: list[int]) -> float:
        """The score of the average of `chosen` on a lot; the same members are not asked twice."""
        key = (lot, *chosen)
        if self._kind != "tempered" and key in self._known:
            return self._known[key]
        said = [self._told[number].lots[lot] for number in chosen]
        w = weigh(self._kind, found, chosen, self._maximize, self._logs_without(lot, chosen))
        score = self._score(lot, averaged_said(said, w))
        self._known = {other: at for other, at in self._known.items() if other[0] != lot}
        self._known[key] = score
        return score

    def _without(self, lot: int) -> dict[int, float]:
        """{trial: mean score of the other lots}, of the trials that are at hand."""
        return {
            number: float(np.delete(told.scores, lot).mean())
            for number, told in self._told.items()
            if number not in self.models.excluded
        }

    def _logs_without(self, lot: int, chosen: list[int]) -> np.ndarray | None:
        if self._kind != "greedy" or len(chosen) == 1:
            return None
        others = [at for at in range(len(self._lots)) if at != lot]
        y = np.concatenate([self._y[at] for at in others])
        said = [joined([self._told[n].lots[at] for at in others]) for n in chosen]
        return log_densities(y, said)

    def _score(self, lot: int, said: Said) -> float:
        metric = self._problem.metric
        if getattr(said, metric.needs) is None:
            return math.nan  # base pairs of an average are known only once it is one model
        return metric.score(self._y[lot], said)

    def _of_lots(self, outcome: Outcome) -> LotPredictions:
        lots = parts_of(self._problem, outcome, self._lots)
        if len(outcome.said) > 1:
            return LotPredictions(lots, np.array(outcome.fold_scores))
        return LotPredictions(
            lots, np.array([self._score(at, said) for at, said in enumerate(lots)])
        )

    def _let_go(self) -> None:
        """Keep what was said by trials that are, or without one lot would be, among the best."""
        most = self.models.capacity
        wanted = set(self.models.kept[:most]) | set(self.models.members)
        for lot in range(len(self._lots)):
            wanted |= set(ranking(self._without(lot), maximize=self._maximize)[:most])
        self._told = {number: told for number, told in self._told.items() if number in wanted}


def weigh(
    kind: str,
    scores: dict[int, float],
    members: Sequence[int],
    maximize: bool,
    logs: np.ndarray | None,
) -> np.ndarray:
    """The weights of members, shape (T,); greedy without densities is uniform.

    Args:
        kind: uniform, tempered or greedy.
        scores: {trial: f}.
        members: the best first.
        maximize: whether larger scores are better.
        logs: for greedy, log densities of held-out rows under every member, shape (n, T).
    """
    if kind == "greedy" and logs is None:
        kind = "uniform"
    if logs is not None and len(logs) > GREEDY_ROWS:
        logs = logs[:: math.ceil(len(logs) / GREEDY_ROWS)]
    found = weights(kind, scores, members, maximize=maximize, log_densities=logs)
    return np.array([found[number] for number in members])


def lots_of(problem: Problem) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The dataset's rows of every lot, and their targets as metrics take them.

    Lots share no row. Where the rows were divided into folds several times, a lot is a fold of the
    first division, and its rows stand in it once for every division.
    """
    if problem.judged == "training":
        return [], []
    held = [rows for _, rows in problem.splits]
    held = [np.tile(rows, problem.repeats) for rows in held[: len(held) // problem.repeats]]
    if len(held) == 1:
        groups = problem.dataset.kept_together
        units = np.arange(len(held[0])) if groups is None else _numbered(groups[held[0]])
        held = [held[0][units % LOTS == lot] for lot in range(LOTS)]
        held = [rows for rows in held if len(rows)]
    task, classes, target = problem.dataset.task, problem.dataset.classes, problem.dataset.target
    return held, [targets_of(target[rows], task, classes) for rows in held]


def parts_of(problem: Problem, outcome: Outcome, lots: Sequence[np.ndarray]) -> tuple[Said, ...]:
    """What a trial says about every lot.

    Args:
        problem: the run's problem.
        outcome: of a trial on all folds.
        lots: the dataset's rows of every lot (`lots_of`).
    """
    if problem.repeats > 1:
        return _of_divisions(problem, outcome, lots)
    if len(outcome.said) > 1:
        return outcome.said
    places = _places(problem.splits[0][1], lots)
    return tuple(_rows_of(outcome.said[0], place) for place in places)


def _of_divisions(
    problem: Problem, outcome: Outcome, lots: Sequence[np.ndarray]
) -> tuple[Said, ...]:
    """What a trial says about every lot in every division into folds."""
    times, held = problem.repeats, [rows for _, rows in problem.splits]
    count = len(held) // times
    once = [lot[: len(lot) // times] for lot in lots]
    parts: list[list[Said]] = [[] for _ in lots]
    for at in range(0, len(held), count):
        whole = joined(outcome.said[at : at + count])
        places = _places(np.concatenate(held[at : at + count]), once)
        for part, place in zip(parts, places, strict=True):
            part.append(whole.rows(place))
    return tuple(joined(part) for part in parts)


def _places(rows: np.ndarray, lots: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Where the rows of every lot stand among others, each of which is there once."""
    order = np.argsort(rows)
    found = order[np.searchsorted(rows, np.concatenate(lots), sorter=order)]
    return np.split(found, np.cumsum([len(lot) for lot in lots])[:-1])


def _numbered(groups: np.ndarray) -> np.ndarray:
    return np.unique(groups, return_inverse=True)[1]


def _rows_of(said: Said, rows: np.ndarray) -> Said:
    part = said.rows(rows)
    if part.whole is None:
        return part
    return replace(part, whole=np.stack([part.whole[:, 0], _numbered(part.whole[:, 1])], axis=1))


def _mean(values: list[float]) -> float | None:
    value = float(np.mean(values))
    return value if math.isfinite(value) else None
