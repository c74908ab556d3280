"""Stored choices: options, budget, test size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from app.preferences import preferences as settings
from core.errors import UnusableError
from core.tuning.plan import Plan

if TYPE_CHECKING:
    from core.options import Option
    from core.tuning.guidance.guidance_records import StrategyAdvice

# {field: types}, stored for all strategies; fields in _OF_A_RUN are not stored
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


def remember_plan(plan: Plan) -> None:
    """Store the choices of a plan."""
    strategy_values = {"options": plan.options, "trials": plan.trials}
    settings.remember(_settings_key(plan.strategy), json.dumps(strategy_values))
    settings.remember(_EVERY, json.dumps({name: getattr(plan, name) for name in _OF_EVERY}))


def recalled_plan(plan: Plan, strategy: StrategyAdvice) -> Plan:
    """A new plan with the stored choices."""
    stored_values = _read_values(_EVERY)
    fields = {
        name: stored_values[name]
        for name, types in _OF_EVERY.items()
        if name in stored_values and isinstance(stored_values[name], types)
    }
    return with_strategy_choices(plan.changed(**fields), strategy)


def with_strategy_choices(plan: Plan, strategy: StrategyAdvice) -> Plan:
    """A plan with the stored options and trials that fit its strategy."""
    stored_values = _read_values(_settings_key(plan.strategy))
    trials = stored_values.get("trials")
    stored_options = stored_values.get("options")
    options = {}
    if isinstance(stored_options, dict):
        options = _usable_options(stored_options, strategy.options)
    trials = trials if isinstance(trials, int) and trials > 0 else None
    return plan.changed(options=options, trials=trials)


def usual_values(plan: Plan) -> dict[str, Any]:
    """The defaults of choices beside model, strategy and groups."""
    new_plan = Plan(plan.data, plan.model, plan.strategy)
    return {name: getattr(new_plan, name) for name in _CHOSEN}


def is_usual(plan: Plan, strategy: StrategyAdvice) -> bool:
    """Whether a plan equals the default plan of its model and strategy."""
    defaults = {option.name: option.default for option in strategy.options}
    # An option that was set to its default says nothing.
    options = {name: v for name, v in plan.options.items() if v != defaults.get(name)}
    trials = None if plan.trials == strategy.default_trials else plan.trials
    settled = plan.changed(options=options, trials=trials)
    return all(getattr(settled, name) == value for name, value in usual_values(plan).items())


def test_size() -> float | None:
    """The stored test size; None for the default."""
    # A share of 0 stands for none: the file may come from elsewhere, and only (0, 1) is one.
    share = settings.stored_number(_SHARE, 0.0)
    return share if 0 < share < 1 else None


def remember_test_size(share: float | None) -> None:
    """Store the test size; None for the default."""
    settings.remember(_SHARE, share or 0.0)


def _settings_key(strategy: str) -> str:
    return f"choices/{strategy}"


def _read_values(key: str) -> dict[str, Any]:
    try:
        stored_values = json.loads(settings.stored_text(key, "{}"))
    except ValueError:
        return {}
    return stored_values if isinstance(stored_values, dict) else {}


def _usable_options(values: Mapping[str, Any], options: Iterable[Option]) -> dict[str, Any]:
    options_by_name = {option.name: option for option in options}
    usable_values = {}
    for name, value in values.items():
        try:
            usable_values[name] = options_by_name[name].parse_value(value)
        # An option of another version, or with another range there.
        except (KeyError, UnusableError):
            continue
    return usable_values
