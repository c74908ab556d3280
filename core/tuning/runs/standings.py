"""How the models of a run of several stand: by their trials, before these by a first look."""

from __future__ import annotations

from core.tuning.payloads import ModelStanding
from core.tuning.runs.one_model import models_of
from core.tuning.runs.state import RunState

STATES = {
    "waiting": "not tried yet",
    "tuned": "in the running",
    "behind": "clearly behind",
    "slow": "too slow",
    "failed": "failed",
}


def standings(run: RunState) -> list[ModelStanding]:
    """Every model, the best first; those without a score last, in the order of the run's axis.

    Args:
        run: of several models.
    """
    if run.compared is not None and run.compared.models:
        return run.compared.models
    found = [_looked(run, name) for name in models_of(run.started)]
    sign = 1.0 if run.started.maximize else -1.0
    return sorted(found, key=lambda one: (one.look is None, -sign * (one.look or 0.0)))


def _looked(run: RunState, name: str) -> ModelStanding:
    """What is known of a model before the first trial."""
    look = run.looks.get(name)
    if look is None:
        return ModelStanding(name, 0, None, None, None, 0.0, 0.0, 0.0, "waiting")
    why = f"The first look at it failed: {look.failure}" if look.failure else ""
    return ModelStanding(name, 0, None, None, look.score, 0.0, 0.0, 0.0, "waiting", why)


def state_in_words(one: ModelStanding) -> str:
    """How a model stands, in a few words; a sentence where it cannot be used."""
    return one.why if one.why else STATES.get(one.state, one.state)
