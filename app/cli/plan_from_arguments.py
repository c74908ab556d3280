"""The data and the plan of the arguments of `tunescope tune`."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.cli.parsing.column_options import json_object, parse_column_words
from core.datasets.task import Task
from core.errors import UnusableError
from core.options import Option
from core.space import Setting

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.plan import DataPlan, Plan

PLAN_OPTIONS: dict[str, Callable[[str], Any]] = {
    "metric": str,
    "folds": int,
    "time_limit": float,
    "standardize": Option("standardize", "", "bool", True, "").parse_value,
    "decoding": str,
}
DATA_OPTIONS: dict[str, Callable[[str], Any]] = {"vocabulary": int, "stop_words": str}


def columns_of(arguments: argparse.Namespace) -> DataPlan:
    """The file of the arguments and what they say of its columns."""
    from core.tuning.plan import DataPlan

    return DataPlan(
        arguments.file,
        target=arguments.target,
        task=arguments.task or "",
        roles=parse_column_words(arguments.role, "--role"),
        kinds=parse_column_words(arguments.kind, "--kind"),
        readings=parse_column_words(arguments.reading, "--reading"),
    )


def data_of(arguments: argparse.Namespace) -> DataPlan:
    """The data of the arguments."""
    data = columns_of(arguments)
    return replace(
        data,
        task=_task_of(arguments.model) if arguments.task is None else data.task,
        test_file=arguments.test,
        test_size=arguments.test_size,
        together=arguments.together,
        leaks=arguments.leaks,
        other_letters=arguments.other_letters,
        latest=arguments.test_latest,
        rows=arguments.rows,
        test_rows=arguments.rows if arguments.test_rows is None else arguments.test_rows,
        rows_seed=arguments.seed if arguments.rows_seed is None else arguments.rows_seed,
        **_options_of_data(arguments),
    )


def _options_of_data(arguments: argparse.Namespace) -> dict[str, Any]:
    options = dict(_key_and_value(text) for text in arguments.option)
    return {name: _read_option(name, options[name]) for name in DATA_OPTIONS if name in options}


def _refuse_word_options(options: dict[str, str], task: Task) -> None:
    word_options = [name for name in DATA_OPTIONS if name in options]
    if word_options and task.has_target:
        fault = "only texts whose topics are found have words that count"
        cure = "leave it out, or choose topics as the task"
        raise UnusableError(fault, where=f"option {word_options[0]}", cure=cure)


def _task_of(model: str) -> str:
    from core.estimators.registry import MODELS

    only = MODELS[model].tasks if model in MODELS else ()
    return Task.TOPICS if only == (Task.TOPICS,) else ""


def wherever_from(data: DataPlan) -> DataPlan:
    """The same data by absolute paths."""
    file = data.file if data.file.startswith("sample:") else os.path.abspath(data.file)
    return replace(data, file=file, test_file=data.test_file and os.path.abspath(data.test_file))


def plan_of(arguments: argparse.Namespace, data: DataPlan, dataset: Dataset) -> Plan:
    """The plan of the arguments, completed by recommendations."""
    from core.tuning.guidance.choosing import chosen_or_recommended
    from core.tuning.plan import Plan
    from core.tuning.strategies.registry import STRATEGIES

    options = dict(_key_and_value(text) for text in arguments.option)
    _refuse_word_options(options, dataset.task)
    options = {name: text for name, text in options.items() if name not in DATA_OPTIONS}
    model, strategy, groups = chosen_or_recommended(dataset, arguments.model, arguments.strategy)
    of_strategy = {o.name for o in STRATEGIES[strategy].options} if strategy in STRATEGIES else ()
    of_plan = {
        name: _read_option(name, options.pop(name))
        for name in PLAN_OPTIONS
        if name in options and name not in of_strategy
    }
    return Plan(
        data=data,
        model=model,
        strategy=strategy,
        options=options,
        groups=_parse_groups(arguments.groups or groups),
        trials=arguments.trials,
        minutes=arguments.minutes,
        seed=arguments.seed,
        workers=arguments.workers or 0,
        costs=_parse_costs(arguments.mistake_costs),
        evaluation="" if arguments.evaluation == "auto" else arguments.evaluation,
        refit=arguments.refit,
        ranges=_parse_ranges(arguments.range),
        fixed=_parse_fixed_values(arguments.fix),
        patience=arguments.patience,
        memory=arguments.memory,
        **_gamma_fields(arguments.gamma),
        **of_plan,
    )


def _parse_groups(text: str) -> str | dict[str, list[str]]:
    from core.datasets.groups import SPECS, groups_from_file, groups_from_text

    if text in SPECS:
        return text
    if text.lstrip().startswith("{"):
        return groups_from_text(text, "--groups")
    return groups_from_file(text)


def _key_and_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        fault = f"“{text}” is not KEY=VALUE"
        raise UnusableError(fault, where="--option", cure="write for example tau=0.8")
    return key.strip(), value.strip()


def _parse_ranges(texts: Sequence[str]) -> dict[str, list[float]]:
    """{setting: [from, to]} of every SETTING=FROM:TO."""
    ranges: dict[str, list[float]] = {}
    for text in texts:
        name, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        if not (name.strip() and equals and colon):
            fault = f"“{text}” is not SETTING=FROM:TO"
            raise UnusableError(fault, where="--range", cure="write for example C=0.01:100")
        try:
            ranges[name.strip()] = [float(low), float(high)]
        except ValueError:
            fault = f"“{ends}” is not a range of numbers"
            cure = "write for example 0.01:100"
            raise UnusableError(fault, where=f"range of {name.strip()}", cure=cure) from None
    return ranges


def _parse_fixed_values(texts: Sequence[str]) -> Setting:
    """{setting: value} of every SETTING=VALUE; numbers as such."""
    fixed: Setting = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            fault = f"“{text}” is not SETTING=VALUE"
            raise UnusableError(fault, where="--fix", cure="write for example gamma=0.1")
        fixed[name.strip()] = _parse_number(value.strip())
    return fixed


def _parse_number(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _gamma_fields(text: str) -> dict[str, Any]:
    if not text:
        return {}
    if text == "best":
        return {"gamma_by": "f1"}
    name, wants_share, share = text.partition("=")
    try:
        if wants_share and name == "sensitivity":
            return {"gamma_by": "sensitivity", "sensitivity": float(share)}
        return {"gamma": float(text)}
    except ValueError:
        cure = "give a number such as 4, best, or sensitivity=0.8"
        raise UnusableError(f"“{text}” is no γ", where="--gamma", cure=cure) from None


def _parse_costs(texts: Sequence[str]) -> dict[str, float]:
    """{class: cost} of CLASS=COST or JSON; a class may contain a comma."""
    costs: dict[str, float] = {}
    pieces = []
    for text in texts:
        if read := json_object(text, int, float):
            costs |= {name: float(cost) for name, cost in read.items()}
        else:
            pieces += text.split(",")
    label = ""
    for piece in pieces:
        label += piece
        name, equals, cost = label.rpartition("=")
        try:
            costs[name.strip()] = float(cost if equals and name.strip() else "")
        except ValueError:
            label += ","
        else:
            label = ""
    if label:
        fault = f"“{label.rstrip(',')}” is not CLASS=COST"
        cure = "write for example healthy=1,sick=5"
        raise UnusableError(fault, where="--mistake-costs", cure=cure)
    return costs


def _read_option(name: str, text: str) -> Any:
    try:
        return (PLAN_OPTIONS | DATA_OPTIONS)[name](text)
    except ValueError:
        fault = f"“{text}” is not a number"
        raise UnusableError(fault, where=f"option {name}", cure="give a number") from None
