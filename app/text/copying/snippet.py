"""A plan as a snippet of Python with `import tunescope`."""

from __future__ import annotations

import math
from typing import Any

from app.text.copying.command import portable_path
from app.text.copying.differences import names_groups, non_default_fields, options_of
from core.tuning.plan import Plan

_MAIN = (
    "# In a script, with several trials at once, this belongs under if __name__ == '__main__':\n"
)
_TOLD_BY_NAME = ("file", "target", "test_file")


def as_python(plan: Plan) -> str:
    """The snippet: arguments of `tunescope.tune` that differ from the defaults."""
    arguments = [_literal(portable_path(plan.data.file))]
    arguments += [f"{name}={_literal(value)}" for name, value in settings(plan).items()]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    before = _MAIN if plan.workers > 1 else ""
    return f"import tunescope\n\n{before}done = tunescope.tune(\n{lines})\n"


def settings(plan: Plan) -> dict[str, Any]:
    """The keyword arguments of the snippet."""
    data = plan.data
    arguments: dict[str, Any] = {}
    if data.target:
        arguments["target"] = data.target
    if data.test_file:
        arguments["test"] = portable_path(data.test_file)
    arguments |= {k: v for k, v in non_default_fields(data).items() if k not in _TOLD_BY_NAME}
    arguments |= {"model": plan.model, "strategy": plan.strategy}
    if options := options_of(plan):
        arguments["options"] = options
    if names_groups(plan):
        arguments["groups"] = plan.groups
    return arguments | non_default_fields(plan)


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)
