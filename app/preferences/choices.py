"""What a person chose before and is offered again: options, budget, and the test set's share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.preferences import preferences as settings
from core.errors import UnusableError
from core.options import option_from_dict
from core.tuning.plan import Plan

# Of every strategy: what it is for, and what a remembered value may be. Score, seed,
# ranges, decoding and γ belong to one run and are not kept.
_OF_EVERY = {
    "minutes": (float, int, type(None)),
    "patience": (int, type(None)),
    "folds": (int,),
    "workers": (int,),
    "time_limit": (float, int, type(None)),
    "standardize": (bool,),
    "refit": (bool,),
}
_GAMMA = ("gamma", "gamma_by", "sensitivity")
_OF_A_RUN = ("metric", "seed", "decoding", "evaluation", "ranges", "fixed", *_GAMMA)
_CHOSEN = ("options", "trials", *_OF_A_RUN, *_OF_EVERY)
_SHARE = "data/test_size"
_EVERY = "choices/every strategy"


def keep(plan: Plan) -> None:
    """Remember what was chosen in a plan, part of it for its strategy only."""
    own = {"options": plan.options, "trials": plan.trials}
    settings.remember(_key(plan.strategy), json.dumps(own))
    every = {name: getattr(plan, name) for name in _OF_EVERY}
    settings.remember(_EVERY, json.dumps(every))


def recalled(plan: Plan, strategy: Mapping[str, Any]) -> Plan:
    """A new plan with everything that was chosen before.

    Args:
        plan: with the values that nobody chose yet.
        strategy: the advice's entry of its strategy.
    """
    kept = _read(_EVERY)
    fields = {
        name: kept[name]
        for name, types in _OF_EVERY.items()
        if name in kept and isinstance(kept[name], types)
    }
    return with_own(plan.changed(**fields), strategy)


def with_own(plan: Plan, strategy: Mapping[str, Any]) -> Plan:
    """A plan with the options and trials that were chosen before for its strategy.

    What does not fit the strategy (any more) counts as forgotten.
    """
    kept = _read(_key(plan.strategy))
    trials = kept.get("trials")
    given = kept.get("options")
    return plan.changed(
        options=_fitting(given, strategy["options"]) if isinstance(given, dict) else {},
        trials=trials if isinstance(trials, int) and trials > 0 else None,
    )


def usual(plan: Plan) -> dict[str, Any]:
    """The usual values of everything that can be chosen beside model, strategy and groups."""
    fresh = Plan(plan.data, plan.model, plan.strategy)
    return {name: getattr(fresh, name) for name in _CHOSEN}


def is_usual(plan: Plan, strategy: Mapping[str, Any]) -> bool:
    """Whether a plan does what it would do had nobody chosen anything but model and strategy."""
    defaults = {option["name"]: option["default"] for option in strategy["options"]}
    options = {name: v for name, v in plan.options.items() if v != defaults.get(name)}
    trials = None if plan.trials == strategy["default_trials"] else plan.trials
    settled = plan.changed(options=options, trials=trials)
    return all(getattr(settled, name) == value for name, value in usual(plan).items())


def test_size() -> float | None:
    """The share of rows to test on, as it was chosen last; None for the usual one."""
    share = settings.number(_SHARE, 0.0)
    return share if 0 < share < 1 else None


def keep_test_size(share: float | None) -> None:
    """Remember the share of rows to test on; None for the usual one."""
    settings.remember(_SHARE, share or 0.0)


def _key(strategy: str) -> str:
    return f"choices/{strategy}"


def _read(key: str) -> dict[str, Any]:
    try:
        kept = json.loads(settings.text(key, "{}"))
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def _fitting(given: Mapping[str, Any], described: list[Mapping[str, Any]]) -> dict[str, Any]:
    options = {plain["name"]: option_from_dict(plain) for plain in described}
    fitting = {}
    for name, value in given.items():
        try:
            fitting[name] = options[name].read(value)
        except (KeyError, UnusableError):
            continue
    return fitting
