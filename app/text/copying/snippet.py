"""A plan as a snippet of Python with ``import tunescope`` that carries it out."""

from __future__ import annotations

import math
from typing import Any

from app.text.copying.command import anywhere
from app.text.copying.differences import differing, names_groups, options_of
from core.tuning.plan import Plan

_MAIN = (
    "# In a script, with several trials at once, this belongs under if __name__ == '__main__':\n"
)
_TOLD_BY_NAME = ("file", "target", "test_file")


def as_python(plan: Plan) -> str:
    """The snippet: all that differs from the defaults, as arguments of ``tunescope.tune``."""
    given = [_literal(anywhere(plan.data.file))]
    given += [f"{name}={_literal(value)}" for name, value in settings(plan).items()]
    lines = "".join(f"    {one},\n" for one in given)
    before = _MAIN if plan.workers > 1 else ""
    return f"import tunescope\n\n{before}done = tunescope.tune(\n{lines})\n"


def settings(plan: Plan) -> dict[str, Any]:
    """The arguments by name."""
    data = plan.data
    said: dict[str, Any] = {}
    if data.target:
        said["target"] = data.target
    if data.test_file:
        said["test"] = anywhere(data.test_file)
    said |= {k: v for k, v in differing(data).items() if k not in _TOLD_BY_NAME}
    said |= {"model": plan.model, "strategy": plan.strategy}
    if options := options_of(plan):
        said["options"] = options
    if names_groups(plan):
        said["groups"] = plan.groups
    return said | differing(plan)


def _literal(value: Any) -> str:
    """A value as Python writes it; numbers that have no literal by their name."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)
