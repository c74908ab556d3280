"""The average over models and settings while it forms, and whether it beats the single best.

Two averages are compared: greedy selection with replacement over the best trials of every model
(Caruana and others 2004), and equal weights of the best tenth of all trials (McInerney 2017, §3.2).
Both are judged by rows that chose neither: for each fold members and weights are chosen by the
other folds alone, and what they say about the fold is scored. No model is fitted for that.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| S, T | | | finished trials, members |
| G | | | lots of held-out rows: the folds, or parts of the one that is held out |
| w | ``weights`` | (T,) | of members |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.estimators.several import divided
from core.samplers.averaging import effective_members, greedy_mean_weights, member_count
from core.space import Setting
from core.tuning.averaging.averaged_said import (
    averaged_said,
    can_be_averaged,
    log_densities,
)
from core.tuning.averaging.ensemble import lots_of, parts_of, weigh
from core.tuning.events import EnsembleUpdated, Event, TrialExcluded, TrialFinished
from core.tuning.problem import Problem
from core.tuning.scores.metric import Said
from core.tuning.scores.scoring import Outcome

OF_EACH, OF_ALL = 3, 20  # the best trials that may be members: of each model, and of all
RARELY = 100.0  # an update comes after so many times the seconds that the last one took: 1 %


@dataclass(frozen=True)
class _Told:
    """A whole trial: its model, its score (larger is better), and what it says about every lot."""

    model: str
    score: float
    lots: tuple[Said, ...]
    logs: tuple[np.ndarray, ...]  # log densities of the lots' rows


class _NoModels:
    """The members are fitted at the end; no fitted model is kept."""

    def models(self) -> dict[int, Any]:
        """No model."""
        return {}


class Blend:
    """Which trials make the average, by what they scored and said about held-out rows."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sign = 1.0 if problem.scored_by.maximize else -1.0
        self._lots, self._y = lots_of(problem)
        self._told: dict[int, _Told] = {}
        self._excluded: set[int] = set()
        self._finished = 0
        self._due, self._new = 0.0, False
        self.models = _NoModels()

    def replay(self, past: Sequence[Event]) -> dict[int, Setting]:
        """Trials of this run that ended before it was interrupted, without what they said.

        Returns:
            {trial: setting} of those that have to say it again (`repeat`): the members of the last
            average, and without one the best trials.
        """
        whole = {e.number: e for e in past if isinstance(e, TrialFinished) and not e.behind}
        self._finished = sum(isinstance(event, TrialFinished) for event in past)
        for event in past:
            if isinstance(event, TrialExcluded):
                self.exclude(event)
        latest = next((e for e in reversed(past) if isinstance(e, EnsembleUpdated)), None)
        ranked = sorted(whole, key=lambda n: -self._sign * whole[n].score)
        chosen = latest.members if latest is not None else ranked[: OF_ALL // 2]
        return {n: whole[n].setting for n in (*chosen, *ranked[:OF_EACH]) if n in whole}

    def repeat(self, outcome: Outcome) -> None:
        """A remembered trial says again what it said."""
        self._finished -= 1
        self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """A trial that ended with a score."""
        self._finished += 1
        if outcome.estimate is not None or not outcome.said:
            return
        if not all(can_be_averaged(said) for said in outcome.said):
            return
        name, _ = divided(outcome.setting)
        lots = parts_of(self._problem, outcome, self._lots)
        logs = tuple(log_densities(y, [said])[:, 0] for y, said in zip(self._y, lots, strict=True))
        self._told[outcome.number] = _Told(name, self._sign * outcome.score, lots, logs)
        self._let_go()
        self._new = self._new or outcome.number in self._told

    def exclude(self, event: TrialExcluded) -> None:
        """A person takes a trial out, or back in."""
        (self._excluded.add if event.excluded else self._excluded.discard)(event.number)
        self._due, self._new = 0.0, True

    def updates(self, *, last: bool = False) -> Iterator[Event]:
        """The members and weights now, where it is time for them; at the end in any case."""
        begun = time.monotonic()
        if not self._new or (begun < self._due and not last):
            return
        self._new = False
        candidates = self._candidates()
        if len(candidates) < 2 or len(self._lots) < 2:
            return
        kind, average, single = self._compared(candidates)
        chosen = self._weights(kind, candidates, range(len(self._lots)))
        members = sorted(chosen, key=lambda n: (-chosen[n], -self._told[n].score))
        weights = np.array([chosen[n] for n in members])
        self._due = time.monotonic() + RARELY * (time.monotonic() - begun)
        yield EnsembleUpdated(
            finished=self._finished,
            members=members,
            weights=weights.tolist(),
            scores=[self._sign * self._told[n].score for n in members],
            effective=effective_members(weights),
            average=average,
            single=single,
            kind=kind,
        )

    # Members and weights -------------------------------------------------------------------------

    def _candidates(self) -> list[int]:
        """The best trials of every model and of all, the best first."""
        there = [n for n in self._told if n not in self._excluded]
        return _best_of(self._told, there)

    def _let_go(self) -> None:
        kept = set(self._candidates()) | self._excluded
        self._told = {n: told for n, told in self._told.items() if n in kept}

    def _weights(
        self, kind: str, candidates: Sequence[int], lots: Sequence[int] | range
    ) -> dict[int, float]:
        """{trial: weight above 0}, chosen by some lots alone."""
        by_lots = {n: self._score_on(n, lots) for n in candidates}
        ranked = sorted(candidates, key=lambda n: -by_lots[n])
        if kind == "uniform":
            ranked = ranked[: member_count(self._finished)]
            return dict.fromkeys(ranked, 1.0 / len(ranked))
        if self._problem.dataset.task == "regression":
            said = [np.concatenate([self._told[n].lots[a].labels for a in lots]) for n in ranked]
            y = np.concatenate([self._y[at] for at in lots])
            found = greedy_mean_weights(np.stack(said, axis=1), y)
        else:
            logs = [np.concatenate([self._told[n].logs[at] for at in lots]) for n in ranked]
            found = weigh("greedy", by_lots, ranked, True, np.stack(logs, axis=1))
        return {n: float(w) for n, w in zip(ranked, found, strict=True) if w > 0}

    def _compared(self, candidates: Sequence[int]) -> tuple[str, float, float]:
        """The better kind of average, its score, and that of the single best; lot by lot."""
        found: dict[str, list[float]] = {"greedy": [], "uniform": [], "single": []}
        for lot in range(len(self._lots)):
            others = [at for at in range(len(self._lots)) if at != lot]
            best = max(candidates, key=lambda n: self._score_on(n, others))
            found["single"].append(self._score(lot, self._told[best].lots[lot]))
            for kind in ("greedy", "uniform"):
                chosen = self._weights(kind, candidates, others)
                said = [self._told[n].lots[lot] for n in chosen]
                mean = averaged_said(said, np.array(list(chosen.values())))
                found[kind].append(self._score(lot, mean))
        means = {kind: float(np.mean(scores)) for kind, scores in found.items()}
        kinds = ("greedy", "uniform")
        better = max(kinds, key=lambda kind: (self._sign * means[kind], kind == "greedy"))
        return better, means[better], means["single"]

    def _score_on(self, number: int, lots: Sequence[int] | range) -> float:
        """The mean score of a trial on some lots; larger is better."""
        known = self._told[number]
        return float(np.mean([self._sign * self._score(at, known.lots[at]) for at in lots]))

    def _score(self, lot: int, said: Said) -> float:
        return float(self._problem.metric.score(self._y[lot], said))


def _best_of(told: Mapping[int, _Told], numbers: Sequence[int]) -> list[int]:
    ranked = sorted(numbers, key=lambda n: (-told[n].score, n))
    of_model: dict[str, int] = {}
    found = []
    for place, number in enumerate(ranked):
        name = told[number].model
        of_model[name] = of_model.get(name, 0) + 1
        if place < OF_ALL or of_model[name] <= OF_EACH:
            found.append(number)
    return found
