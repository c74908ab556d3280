"""The fitted models of the best trials of a run, and no others (McInerney 2017, §3.2).

How many models the average needs grows with every ten trials, and a dropped one may be needed then.
Where the number of trials is planned, so many are kept as the plan's end needs; otherwise one
spare, and `evicted_members` have to be fitted again.
"""

from __future__ import annotations

import math
from typing import Generic, TypeVar

from core.samplers.averaging import best_tenth, member_count, rank_trials

Model = TypeVar("Model")


class TopModels(Generic[Model]):
    """Holds the models of the best trials and drops a model the moment it leaves the top.

    Held are T and one spare: T = max(1, ⌊S/10⌋), S being the trials with a finite score so far,
    {trial: f} in `scores`, or those `planned` where these are more (0: open). `excluded`: trials
    that a person left out of the average; they count in S.
    """

    def __init__(self, *, maximize: bool, planned: int = 0) -> None:
        self.maximize, self.planned = maximize, planned
        self.scores: dict[int, float] = {}
        self.excluded: set[int] = set()
        self._models: dict[int, Model] = {}

    @property
    def capacity(self) -> int:
        """How many models are held at most."""
        return member_count(max(len(self.scores), self.planned, 1)) + 1

    @property
    def members(self) -> list[int]:
        """The trials whose models are averaged, the best first."""
        return best_tenth(self.scores, maximize=self.maximize, excluded=self.excluded)

    @property
    def evicted_members(self) -> list[int]:
        """Members whose models were dropped; once fitted again they go to `restore`."""
        return [number for number in self.members if number not in self._models]

    @property
    def trials_with_models(self) -> list[int]:
        """The trials whose models are held, the best first."""
        return [number for number in self._ranked_trials() if number in self._models]

    def member_models(self) -> dict[int, Model]:
        """{member: model}, the best first, without those that are missing."""
        return {n: self._models[n] for n in self.members if n in self._models}

    def would_keep(self, number: int, score: float) -> bool:
        """Whether a new trial with this score would be held."""
        if not math.isfinite(score):
            return False
        scores = {n: self.scores[n] for n in self._ranked_trials()} | {number: score}
        capacity = member_count(max(len(self.scores) + 1, self.planned)) + 1
        return number in rank_trials(scores, maximize=self.maximize)[:capacity]

    def add_model(self, number: int, score: float, model: Model) -> None:
        """A finished trial; one whose score is not finite counts as failed and is not held."""
        if math.isfinite(score):
            self.scores[number] = score
            self._models[number] = model
            self._evict()

    def exclude(self, number: int) -> None:
        """Leaves a trial out of the average; the next best moves up."""
        self.excluded.add(number)
        self._evict()

    def include(self, number: int) -> None:
        """Takes a trial back in; where it is among the best again, it is missing at first."""
        self.excluded.discard(number)
        self._evict()

    def restore(self, number: int, model: Model) -> None:
        """The model of a missing trial, fitted again; not held unless it is among the best."""
        if number in self.scores:
            self._models[number] = model
            self._evict()

    def _ranked_trials(self) -> list[int]:
        ranked = rank_trials(self.scores, maximize=self.maximize)
        return [n for n in ranked if n not in self.excluded]

    def _evict(self) -> None:
        numbers = set(self._ranked_trials()[: self.capacity])
        self._models = {n: model for n, model in self._models.items() if n in numbers}
