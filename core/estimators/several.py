"""Several models as one: a setting says which model it is of, and what that model's setting is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from core.estimators.facts import Facts, Suggestion
from core.estimators.model import Model
from core.estimators.optional_parts import is_installed
from core.space import Axis, Setting, default_setting

SEVERAL = "auto"  # on the command line
MODEL = "model"  # the key of a setting that says which model it is of
TABLES = ("regression", "binary", "multiclass")
_TOO_FEW = 20  # rows: a choice between models would be chance


def of_model(name: str, setting: Mapping[str, Any]) -> Setting:
    """A setting of several models, from one of a single model."""
    return {MODEL: name, **setting}


def divided(setting: Mapping[str, Any]) -> tuple[str, Setting]:
    """The model that a setting of several models is of, and that model's own setting."""
    own = {name: value for name, value in setting.items() if name != MODEL}
    return str(setting[MODEL]), own


def choosable(models: Mapping[str, Model], task: str) -> tuple[str, ...]:
    """The models that are tuned together: those for rows of tables whose packages are there."""
    return tuple(
        name
        for name, model in models.items()
        if name != SEVERAL
        and model.competes
        and task in model.tasks
        and (not model.extra or is_installed(model.extra))
    )


def several(models: Callable[[], Mapping[str, Model]]) -> Model:
    """The model that stands for all others.

    Args:
        models: gives the registry that it is part of.
    """

    def space(task: str) -> tuple[Axis, ...]:
        names = choosable(models(), task)
        return (Axis(MODEL, "Model", "choice", choices=names, default=names[0]),)

    def whole(task: str, setting: Setting) -> tuple[Model, Setting]:
        name, own = divided(setting)
        model = models()[name]
        return model, {**default_setting(model.space(task)), **own}

    def build(task: str, setting: Setting, seed: int) -> Any:
        model, own = whole(task, setting)
        return model.build(task, own, seed)

    def build_probabilistic(task: str, setting: Setting, seed: int) -> Any:
        model, own = whole(task, setting)
        return (model.probabilistic or model).build(task, own, seed)

    def script(task: str, setting: Setting, seed: int) -> tuple[str, str]:
        model, own = whole(task, setting)
        return model.script(task, own, seed)

    def script_probabilistic(task: str, setting: Setting, seed: int) -> tuple[str, str]:
        model, own = whole(task, setting)
        return (model.probabilistic or model).script(task, own, seed)

    plain = Model(
        name=SEVERAL,
        title="Find the best model",
        noun="the best of several models",
        good_for="Tunes every model that suits the table, within the minutes you give, and spends "
        "them where the best score may still improve.",
        cost="As many minutes as you give; more of them find a better model.",
        tasks=TABLES,
        space=space,
        build=build,
        loss={},
        takes_sparse=True,
        scaled=True,
        script=script,
        suggests=_suggests,
        competes=False,
    )
    own_form = replace(plain, build=build_probabilistic, script=script_probabilistic)
    return replace(plain, probabilistic=own_form)


def _suggests(facts: Facts) -> Suggestion | None:
    if facts.rows < _TOO_FEW:
        return None
    why = "which model suits them best shows only when several are tried."
    return Suggestion(10, f"{facts.sentence}: {why}")
