"""What the arguments of `tunescope tune` ask for: which data, and the plan of a run on them."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.cli.parsing.columns import json_object, of_columns
from core.errors import UnusableError
from core.options import Option

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.plan import DataPlan, Plan

PLAN_OPTIONS = {
    "metric": str,
    "folds": int,
    "time_limit": float,
    "standardize": Option("standardize", "", "bool", True, "").read,
    "decoding": str,
}
DATA_OPTIONS = {"vocabulary": int, "stop_words": str}


def data_of(given: argparse.Namespace) -> DataPlan:
    """The data that the arguments name."""
    from core.tuning.plan import DataPlan

    return DataPlan(
        given.file,
        target=given.target,
        task=_task_of(given.model) if given.task is None else given.task,
        roles=of_columns(given.role, "--role"),
        kinds=of_columns(given.kind, "--kind"),
        test_file=given.test,
        test_size=given.test_size,
        together=given.together,
        leaks=given.leaks,
        other_letters=given.other_letters,
        latest=given.test_latest,
        rows=given.rows,
        test_rows=given.rows if given.test_rows is None else given.test_rows,
        rows_seed=given.seed if given.rows_seed is None else given.rows_seed,
        **_options_of_data(given),
    )


def _options_of_data(given: argparse.Namespace) -> dict[str, Any]:
    """The options that say which words of texts count."""
    options = dict(_pair(text) for text in given.option)
    return {name: _read(name, options[name]) for name in DATA_OPTIONS if name in options}


def _refuse_word_options(options: dict[str, str], task: str) -> None:
    named = [name for name in DATA_OPTIONS if name in options]
    if named and task != "topics":
        raise UnusableError(
            "only texts whose topics are found have words that count",
            where=f"option {named[0]}",
            cure="leave it out, or choose topics as the task",
        )


def _task_of(model: str) -> str:
    """The task that the model alone says: whoever wants this one looks for topics."""
    from core.estimators.registry import MODELS

    only = MODELS[model].tasks if model in MODELS else ()
    return "topics" if only == ("topics",) else ""


def wherever_from(data: DataPlan) -> DataPlan:
    """The same files by paths that a later resume finds from any folder."""
    file = data.file if data.file.startswith("sample:") else os.path.abspath(data.file)
    return replace(data, file=file, test_file=data.test_file and os.path.abspath(data.test_file))


def plan_of(given: argparse.Namespace, data: Any, dataset: Dataset) -> Plan:
    """The plan that the arguments ask for; the guidance fills what they leave open."""
    from core.tuning.guidance.choosing import chosen_or_recommended
    from core.tuning.plan import Plan
    from core.tuning.strategies.registry import STRATEGIES

    options = dict(_pair(text) for text in given.option)
    _refuse_word_options(options, dataset.task)
    options = {name: text for name, text in options.items() if name not in DATA_OPTIONS}
    model, strategy, groups = chosen_or_recommended(dataset, given.model, given.strategy)
    of_strategy = {o.name for o in STRATEGIES[strategy].options} if strategy in STRATEGIES else ()
    of_plan = {
        name: _read(name, options.pop(name))
        for name in PLAN_OPTIONS
        if name in options and name not in of_strategy
    }
    return Plan(
        data=data,
        model=model,
        strategy=strategy,
        options=options,
        groups=_groups(given.groups or groups),
        trials=given.trials,
        minutes=given.minutes,
        seed=given.seed,
        workers=1 if given.workers is None else given.workers,
        costs=_costs(given.mistake_costs),
        evaluation="" if given.evaluation == "auto" else given.evaluation,
        refit=given.refit,
        ranges=_ranges(given.range),
        fixed=_fixed(given.fix),
        patience=given.patience,
        **_gamma(given.gamma),
        **of_plan,
    )


def _groups(text: str) -> str | dict[str, list[str]]:
    """A usual way to group the columns, or groups of one's own: as JSON here, or in a file."""
    from core.datasets.groups import SPECS, groups_from_file, groups_from_text

    if text in SPECS:
        return text
    if text.lstrip().startswith("{"):
        return groups_from_text(text, "--groups")
    return groups_from_file(text)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UnusableError(
            f"“{text}” is not KEY=VALUE", where="--option", cure="write for example tau=0.8"
        )
    return key.strip(), value.strip()


def _ranges(given: Sequence[str]) -> dict[str, list[float]]:
    """{setting: [from, to]} of every SETTING=FROM:TO."""
    ranges: dict[str, list[float]] = {}
    for text in given:
        name, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        if not (name.strip() and equals and colon):
            raise UnusableError(
                f"“{text}” is not SETTING=FROM:TO",
                where="--range",
                cure="write for example C=0.01:100",
            )
        try:
            ranges[name.strip()] = [float(low), float(high)]
        except ValueError:
            raise UnusableError(
                f"“{ends}” is not a range of numbers",
                where=f"range of {name.strip()}",
                cure="write for example 0.01:100",
            ) from None
    return ranges


def _fixed(given: Sequence[str]) -> dict[str, Any]:
    """{setting: value} of every SETTING=VALUE; numbers as such."""
    fixed: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise UnusableError(
                f"“{text}” is not SETTING=VALUE", where="--fix", cure="write for example gamma=0.1"
            )
        fixed[name.strip()] = _plain(value.strip())
    return fixed


def _plain(text: str) -> Any:
    """A whole number or a number where the text is one, otherwise the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _gamma(text: str) -> dict[str, Any]:
    """The fields of the plan that say γ."""
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
        raise UnusableError(
            f"“{text}” is no γ",
            where="--gamma",
            cure="give a number such as 4, best, or sensitivity=0.8",
        ) from None


def _costs(given: Sequence[str]) -> dict[str, float]:
    """{class: cost} of every CLASS=COST, or of JSON; a comma may also be part of a class."""
    costs: dict[str, float] = {}
    parts = []
    for text in given:
        if read := json_object(text, int, float):
            costs |= {name: float(cost) for name, cost in read.items()}
        else:
            parts += text.split(",")
    label = ""
    for part in parts:
        label += part
        name, equals, cost = label.rpartition("=")
        try:
            costs[name.strip()] = float(cost if equals and name.strip() else "")
        except ValueError:
            label += ","
        else:
            label = ""
    if label:
        raise UnusableError(
            f"“{label.rstrip(',')}” is not CLASS=COST",
            where="--mistake-costs",
            cure="write for example healthy=1,sick=5",
        )
    return costs


def _read(name: str, text: str) -> Any:
    try:
        return (PLAN_OPTIONS | DATA_OPTIONS)[name](text)
    except ValueError:
        raise UnusableError(
            f"“{text}” is not a number", where=f"option {name}", cure="give a number"
        ) from None
