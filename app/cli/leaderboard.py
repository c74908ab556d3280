"""How the models of a run of several stood at its end, for the terminal and for `--json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.tuning.events import Event


def leaderboard_of(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The models of a run, the best first; empty where one was tuned.

    Returns:
        ``model``, ``validation`` ({metric: best score}, empty without a whole trial),
        ``standard_error``, ``estimate`` ({metric: the best that trials which were ended early would
        have scored}, empty without any), ``trials``, ``ended_early``, ``seconds``, ``state`` and
        ``why`` (a sentence for models that failed).
    """
    from core.tuning.runs.standings import standings  # brings numpy
    from core.tuning.runs.state import folded

    run = folded(events)
    if not run.several:
        return []
    return [
        {
            "model": one.model,
            "validation": {} if one.best is None else {run.started.metric: one.best},
            "standard_error": one.error,
            "estimate": {} if one.estimate is None else {run.started.metric: one.estimate},
            "trials": one.trials,
            "ended_early": one.early,
            "seconds": one.seconds,
            "state": one.state,
            "why": one.why,
        }
        for one in standings(run)
    ]
