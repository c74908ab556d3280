"""`tunescope models | strategies | … | install | help`: what there is, and what is installed."""

import argparse
import importlib
import json
import math
import shlex
import subprocess
import sys
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from app.cli.parser import did_you_mean
from app.help.help_pages import (
    axis_range_text,
    option_default_text,
    option_values_text,
    page_of,
    pages_by_key,
)
from app.help.html_folder import write_help
from core.errors import UnusableError, nearest_names_cure
from core.estimators.model import Model
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, is_installed
from core.estimators.package_installation import (
    installation_refusal,
    installing_command,
    is_there,
    package_environment,
    purpose_and_modules,
)
from core.estimators.registry import MODELS
from core.extras import EXTRAS
from core.options import Option
from core.tuning.patience import stop_rule_text
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES


def add_lists(commands: Any) -> None:
    """Add the commands."""
    for name, description, run in (
        ("models", "the models and what each is good for", _list_models),
        ("strategies", "the strategies, what they cost and their options", _list_strategies),
        ("samples", "the datasets that are shipped with the program", _list_samples),
    ):
        command = commands.add_parser(name, help=f"list {description}")
        command.add_argument("--json", action="store_true", help="print as JSON")
        command.set_defaults(run=run)


def _list_models(arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps([_model_as_json(model) for model in MODELS.values()]))
        return 0
    for model in MODELS.values():
        _print_entry(model.name, model.title, model.good_for, model.cost)
        if needs := _missing(model.extra):
            print(f"    {needs}")
        print(f"    Tasks: {', '.join(model.tasks)}")
        for line in _settings(model):
            print(f"    {line}")
    return 0


def _model_as_json(model: Model) -> dict[str, object]:
    spaces = {task: [axis.as_dict() for axis in model.space(task)] for task in model.tasks}
    return {
        "name": model.name,
        "title": model.title,
        "good_for": model.good_for,
        "cost": model.cost,
        "tasks": list(model.tasks),
        "space": spaces[model.tasks[0]],
        "spaces": spaces,
        "needs": _missing(model.extra),
    }


def _settings(model: Model) -> list[str]:
    tasks_of: dict[str, dict[str, list[str]]] = {}  # by name, then by range
    for task in model.tasks:
        data_defaults = model.defaults(task, np.eye(3)) if model.defaults else {}
        for axis in model.space(task):
            default = "from the data" if axis.name in data_defaults else axis.default
            values = " | ".join(map(str, axis.choices)) or axis_range_text(axis)  # as typed
            range_text = f"{values} (default {default}"
            tasks_of.setdefault(axis.name, {}).setdefault(range_text, []).append(task)
    return [
        f"{name}: {range_text})"
        if len(tasks) == len(model.tasks)
        else f"{name}: {range_text}; {', '.join(tasks)})"
        for name, tasks_by_range in tasks_of.items()
        for range_text, tasks in tasks_by_range.items()
    ]


def _missing(extra: str) -> str:
    if not extra or is_installed(extra):
        return ""
    dependency = OPTIONAL_DEPENDENCIES[extra]
    return f"Needs {dependency.modules[0]}: {dependency.command}"


def _list_strategies(arguments: argparse.Namespace) -> int:
    if arguments.json:
        field_names: tuple[str, ...] = ("name", "title", "kind", "does", "costs", "shows", "source")
        field_names += ("default_trials", "patience")
        entries = [
            {name: getattr(strategy, name) for name in field_names}
            | {"options": [_option_as_json(option) for option in strategy.options]}
            for strategy in STRATEGIES.values()
        ]
        print(json.dumps(entries))
        return 0
    for strategy in STRATEGIES.values():
        source = f" ({strategy.source})" if strategy.source else ""
        _print_entry(strategy.name, strategy.title + source, strategy.does, strategy.costs)
        if strategy.kind == "trials" and not strategy.several:
            print(f"    Trials where none are given: {strategy.default_trials}")
        if strategy.kind == "trials":
            print(f"    {stop_rule_text(Plan(DataPlan(''), '', strategy.name))}")
        for option in strategy.options:
            values = f"{option_values_text(option)}; default {option_default_text(option)}"
            _print_paragraph(f"{option.name} ({values}): {option.help}", hanging=4)
    return 0


def _option_as_json(option: Option) -> dict[str, object]:
    bounds = {"low": option.low, "high": option.high}
    return asdict(option) | {key: b if math.isfinite(b) else None for key, b in bounds.items()}


def _list_samples(arguments: argparse.Namespace) -> int:
    from core.datasets.samples import SAMPLES

    if arguments.json:
        field_names = ("name", "title", "sentence", "task")
        print(json.dumps([{n: getattr(s, n) for n in field_names} for s in SAMPLES.values()]))
        return 0
    for sample in SAMPLES.values():
        _print_entry(f"sample:{sample.name}", sample.title, sample.sentence)
    return 0


def _print_entry(name: str, title: str, *sentences: str) -> None:
    print(f"{name}: {title}")
    _print_paragraph(" ".join(sentences))


def _print_paragraph(text: str, hanging: int = 0) -> None:
    following = " " * (4 + hanging)
    print(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent=following))


def add_install(commands: Any) -> None:
    """Add the command."""
    install = commands.add_parser(
        "install", help="install extras: further models, kinds of files, ONNX", closing=extras_text
    )
    add = install.add_argument
    add("names", nargs="*", metavar="NAME")
    add("--dry-run", action="store_true")
    add("--again", action="store_true")
    install.set_defaults(run=run_install)


def run_install(arguments: argparse.Namespace) -> int:
    """Install what is missing; 1 where that failed."""
    for name in arguments.names:
        if name not in EXTRAS:
            fault = f"there is no extra “{name}”"
            raise UnusableError(fault, cure=nearest_names_cure(EXTRAS, name))
    if not arguments.names:
        print(extras_text())
        return 0
    missing_names = [name for name in arguments.names if arguments.again or not is_there(name)]
    for name in arguments.names:
        if name not in missing_names:
            print(f"{name} is installed already.")
    if not missing_names:
        return 0
    command = installing_command(missing_names, reinstall=arguments.again)
    if arguments.dry_run:
        print(f"Would run: {shlex.join(command)}")
        if why := installation_refusal(command):
            print(f"tunescope: {why.sentence}", file=sys.stderr)
        return 0
    if why := installation_refusal(command):
        raise why
    return _install_packages(command, missing_names)


def _install_packages(command: list[str], names: list[str]) -> int:
    print(f"Running: {shlex.join(command)}", flush=True)
    if subprocess.run(command, env=package_environment(), check=False).returncode:
        print(
            "tunescope: it was not installed; the lines above say why. It needs a network"
            " connection, and continues when the command is run again.",
            file=sys.stderr,
        )
        return 1
    # Python remembers which folders lacked the package.
    importlib.invalidate_caches()
    if unusable := [name for name in names if not is_there(name)]:
        print(f"tunescope: {', '.join(unusable)} cannot be imported even so.", file=sys.stderr)
        return 1
    print(f"Installed: {', '.join(names)}. A window that is open takes it at its next start.")
    return 0


def extras_text() -> str:
    """Every extra with its purpose and state."""
    width = max(map(len, EXTRAS))
    lines = []
    for name in EXTRAS:
        state = "installed" if is_there(name) else ", ".join(EXTRAS[name])
        lines.append(f"  {name:{width}}  {purpose_and_modules(name)[0]} ({state})")
    return "\n".join(["The extras:", *lines])


def add_help(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("help", help="read the help, or write it as HTML pages")
    command.add_argument("page", nargs="?", default="", metavar="PAGE")
    command.add_argument("--html", default="", metavar="FOLDER")
    command.set_defaults(run=run_help)


def run_help(arguments: argparse.Namespace) -> int:
    """Write the folder, print a page, or list them."""
    if arguments.html:
        print(write_help(Path(arguments.html)))
        return 0
    if arguments.page:
        page = page_of(arguments.page)
        if page is None:
            suggestion = did_you_mean(arguments.page, pages_by_key()).removeprefix("; ").rstrip("?")
            fault = f"there is no page “{arguments.page}”"
            raise UnusableError(fault, where="help", cure=suggestion or "tunescope help lists them")
        print(page.text, end="")
        return 0
    for page in pages_by_key().values():
        print(f"{'    ' if page.parent else ''}{page.key}: {page.title}")
    return 0
