"""`tunescope models | strategies | samples`: what there is to choose from."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.estimators.model import Model
    from core.options import Option


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    for name, what, run in (
        ("models", "the models and what each is good for", _models),
        ("strategies", "the strategies, what they cost and their options", _strategies),
        ("samples", "the datasets that are shipped with the program", _samples),
    ):
        command = commands.add_parser(name, help=f"list {what}")
        command.add_argument("--json", action="store_true", help="print as JSON")
        command.set_defaults(run=run)


def _models(given: argparse.Namespace) -> int:
    from core.estimators.registry import MODELS

    entries = [
        {
            "name": model.name,
            "title": model.title,
            "good_for": model.good_for,
            "cost": model.cost,
            "tasks": list(model.tasks),
            "space": [axis.as_dict() for axis in model.space(model.tasks[0])],
            "spaces": {
                task: [axis.as_dict() for axis in model.space(task)] for task in model.tasks
            },
            "needs": _missing(model.extra),
        }
        for model in MODELS.values()
    ]
    if given.json:
        print(json.dumps(entries))
        return 0
    for entry in entries:
        _entry(entry["name"], entry["title"], entry["good_for"], entry["cost"])
        if entry["needs"]:
            print(f"    {entry['needs']}")
        print(f"    Tasks: {', '.join(entry['tasks'])}")
        for line in _settings(MODELS[entry["name"]], entry["spaces"]):
            print(f"    {line}")
    return 0


def _settings(model: Model, spaces: dict[str, list[dict[str, Any]]]) -> list[str]:
    """A line for each setting, with its tasks where another task has it otherwise or not at all."""
    import numpy as np

    tasks_of: dict[str, dict[str, list[str]]] = {}  # by name, then by what is said of it
    for task, space in spaces.items():
        settled = model.defaults(task, np.eye(3)) if model.defaults else {}
        for axis in space:
            default = "from the data" if axis["name"] in settled else axis["default"]
            said = f"{_range(axis)} (default {default}"
            tasks_of.setdefault(axis["name"], {}).setdefault(said, []).append(task)
    return [
        f"{name}: {said})" if len(tasks) == len(spaces) else f"{name}: {said}; {', '.join(tasks)})"
        for name, saying in tasks_of.items()
        for said, tasks in saying.items()
    ]


def _missing(extra: str) -> str:
    """What to install before a model can be used; "" where nothing is missing."""
    from core.estimators.optional_parts import OPTIONAL_PARTS, is_installed

    if not extra or is_installed(extra):
        return ""
    part = OPTIONAL_PARTS[extra]
    return f"Needs {part.modules[0]}: {part.command}"


def _range(axis: dict[str, Any]) -> str:
    if axis["kind"] == "choice":
        return " | ".join(str(choice) for choice in axis["choices"])
    return f"{axis['low']:g} to {axis['high']:g}{', logarithmic' if axis['log'] else ''}"


def _strategies(given: argparse.Namespace) -> int:
    from dataclasses import asdict

    from core.tuning.patience import in_words
    from core.tuning.plan import DataPlan, Plan
    from core.tuning.strategies.registry import STRATEGIES

    if given.json:
        kept = ("name", "title", "kind", "does", "costs", "shows", "source")
        kept += ("default_trials", "patience")
        entries = [
            {name: getattr(strategy, name) for name in kept}
            | {"options": [_finite(asdict(option)) for option in strategy.options]}
            for strategy in STRATEGIES.values()
        ]
        print(json.dumps(entries))
        return 0
    for strategy in STRATEGIES.values():
        source = f" ({strategy.source})" if strategy.source else ""
        _entry(strategy.name, strategy.title + source, strategy.does, strategy.costs)
        if strategy.kind == "trials" and not strategy.several:
            print(f"    Trials where none are given: {strategy.default_trials}")
        if strategy.kind == "trials":
            print(f"    {in_words(Plan(DataPlan(''), '', strategy.name))}")
        for option in strategy.options:
            choices = " | ".join(option.choices) or option.range_in_words()
            choices = "yes | no" if option.kind == "bool" else choices
            _line(f"{option.name} ({choices}; default {_default(option)}): {option.help}")
    return 0


def _default(option: Option) -> str:
    if option.kind == "bool":
        return "yes" if option.default else "no"
    return f"{option.default:g}" if option.kind == "float" else str(option.default)


def _line(text: str) -> None:
    print(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="        "))


def _finite(option: dict[str, Any]) -> dict[str, Any]:
    bounds = {key: option[key] for key in ("low", "high")}
    return option | {key: None if abs(b) == float("inf") else b for key, b in bounds.items()}


def _samples(given: argparse.Namespace) -> int:
    from core.datasets.samples.registry import SAMPLES

    if given.json:
        print(
            json.dumps(
                [
                    {"name": s.name, "title": s.title, "sentence": s.sentence, "task": s.task}
                    for s in SAMPLES.values()
                ]
            )
        )
        return 0
    for sample in SAMPLES.values():
        _entry(f"sample:{sample.name}", sample.title, sample.sentence)
    return 0


def _entry(name: str, title: str, *sentences: str) -> None:
    print(f"{name}: {title}")
    print(textwrap.fill(" ".join(sentences), 100, initial_indent="    ", subsequent_indent="    "))
