"""A model's page in the help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES

if TYPE_CHECKING:
    from core.estimators.model import Model
    from core.space import Axis


def model_page(model: Model) -> str:
    """The page as Markdown."""
    paragraphs = [f"# {model.title}", model.good_for, f"**What it costs.** {model.cost}"]
    predicted = ", ".join(task.prediction_text for task in model.known_tasks)
    paragraphs.append(f"**What it predicts.** {predicted[:1].upper()}{predicted[1:]}.")
    if model.extra:
        dependency = OPTIONAL_DEPENDENCIES[model.extra]
        needs = f"{dependency.modules[0]}; install it with `{dependency.command}`."
        paragraphs.append(f"**What it needs.** {needs}")
    if model.loss:
        learned = "**Its penalties can be learned** without trials"
        paragraphs.append(f"{learned}: see [Strategies](#strategy).")
    paragraphs += _settings(model)
    paragraphs.append(f"On the command line: `--model {model.name}`.")
    return "\n\n".join(paragraphs) + "\n"


def _settings(model: Model) -> list[str]:
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for task in model.known_tasks:
        for axis in model.space(task):
            cells = f"{_range_text(axis)} | {_value_text(axis.default)}"
            rows.setdefault((axis.label, axis.name), {}).setdefault(cells, []).append(task)
    if not rows or model.name == "auto":
        return []
    lines = ["| Setting | Range | Default |", "| --- | --- | --- |"]
    for (label, name), tasks_by_range in rows.items():
        for words, tasks in tasks_by_range.items():
            task_list = "" if len(tasks) == len(model.known_tasks) else f" ({', '.join(tasks)})"
            lines.append(f"| {label} (`{name}`){task_list} | {words} |")
    return ["## What is tuned", "\n".join(lines)]


def _range_text(axis: Axis) -> str:
    if axis.kind == "choice":
        return ", ".join(map(_value_text, axis.choices))
    return f"{axis.low:g} to {axis.high:g}{', on a log scale' if axis.log else ''}"


def _value_text(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
