"""How the models of a run of several stand: by their trials, before these by a first look."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from core.estimators.several import MODEL
from core.tuning.payloads import ModelStanding
from core.tuning.runs.one_model import models_of
from core.tuning.runs.state import RunState

STATES = {
    "waiting": "not tried yet",
    "tuned": "tuned",
    "behind": "clearly behind",
    "slow": "too slow",
    "failed": "failed",
}


@dataclass(frozen=True)
class Standing(ModelStanding):
    """How a model stands, its trials that were ended early among what is known.

    Attributes:
        early: how many these are.
        estimate: the best of their estimated scores; None where there is none.
    """

    early: int = 0
    estimate: float | None = None

    @property
    def known(self) -> float | None:
        """The best score that is known: of a whole trial, else an estimate, else the first look."""
        found = (self.best, self.estimate, self.look)
        return next((score for score in found if score is not None), None)


def standings(run: RunState) -> list[Standing]:
    """Every model, the best first; those without a whole trial last, by what else is known of them.

    Args:
        run: of several models.
    """
    told = run.compared.models if run.compared is not None else []
    found = [Standing(**asdict(one)) for one in told]
    found = found or [_looked(run, name) for name in models_of(run.started)]
    early = _early(run)
    found = [_with_early(one, early.get(one.model, [])) for one in found]
    sign = 1.0 if run.started.maximize else -1.0

    def rank(one: Standing) -> tuple[int, float]:
        told = (one.best, one.estimate, one.look)
        surest = next((at for at, score in enumerate(told) if score is not None), len(told))
        return surest, -sign * (one.known or 0.0)

    return sorted(found, key=rank)


def _early(run: RunState) -> dict[str, list[float]]:
    """{model: the estimated scores of its trials that were ended early}, the best first."""
    found: dict[str, list[float]] = {}
    for row in np.flatnonzero(run.early & run.scored_rows):
        trial = run.trials[row]
        found.setdefault(str(trial.setting.get(MODEL, "")), []).append(trial.score)
    return {name: sorted(s, reverse=run.started.maximize) for name, s in found.items()}


def _with_early(one: Standing, scores: list[float]) -> Standing:
    if not scores:
        return one
    behind = "behind" if one.state == "waiting" else one.state
    return replace(one, early=len(scores), estimate=scores[0], state=behind)


def _looked(run: RunState, name: str) -> Standing:
    """What is known of a model before the first trial."""
    look = run.looks.get(name)
    if look is None:
        return Standing(name, 0, None, None, None, 0.0, 0.0, 0.0, "waiting")
    why = f"The first look at it failed: {look.failure}" if look.failure else ""
    return Standing(name, 0, None, None, look.score, 0.0, 0.0, 0.0, "waiting", why)


def state_in_words(one: ModelStanding) -> str:
    """How a model stands, in a few words; a sentence where it cannot be used."""
    return one.why if one.why else STATES.get(one.state, one.state)
