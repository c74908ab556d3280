"""A model's page: what the registry says of it, and its settings with their ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.estimators.optional_parts import OPTIONAL_PARTS

if TYPE_CHECKING:
    from core.estimators.model import Model
    from core.space import Axis

TASKS = {
    "regression": "a number",
    "binary": "one of two classes",
    "multiclass": "one of several classes",
    "sequence": "a label for every token of a sequence",
    "structure": "which letters of a molecule pair",
    "topics": "topics of texts",
}


def model_page(model: Model) -> str:
    """The page as Markdown."""
    parts = [f"# {model.title}", model.good_for, f"**What it costs.** {model.cost}"]
    predicted = ", ".join(TASKS.get(task, task) for task in model.tasks)
    parts.append(f"**What it predicts.** {predicted[:1].upper()}{predicted[1:]}.")
    if model.extra:
        part = OPTIONAL_PARTS[model.extra]
        parts.append(f"**What it needs.** {part.modules[0]}; install it with `{part.command}`.")
    if model.loss:
        parts.append(
            "**Its penalties can be learned** without trials: see [Strategies](#strategy)."
        )
    parts += _settings(model)
    parts.append(f"On the command line: `--model {model.name}`.")
    return "\n\n".join(parts) + "\n"


def _settings(model: Model) -> list[str]:
    """The table of what is tuned; ranges that differ by task are given for each."""
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for task in model.tasks:
        for axis in model.space(task):
            said = rows.setdefault((axis.label, axis.name), {})
            said.setdefault(f"{_range(axis)} | {_value(axis.default)}", []).append(task)
    if not rows or model.name == "auto":
        return []
    lines = ["| Setting | Range | Default |", "| --- | --- | --- |"]
    for (label, name), said in rows.items():
        for words, tasks in said.items():
            of = "" if len(tasks) == len(model.tasks) else f" ({', '.join(tasks)})"
            lines.append(f"| {label} (`{name}`){of} | {words} |")
    return ["## What is tuned", "\n".join(lines)]


def _range(axis: Axis) -> str:
    if axis.kind == "choice":
        return ", ".join(map(_value, axis.choices))
    return f"{axis.low:g} to {axis.high:g}{', by factors' if axis.log else ''}"


def _value(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
