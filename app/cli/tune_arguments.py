"""The arguments of `tunescope tune`, and the plan that they make."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from app.cli.tune_choices import choices_text
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.options import Option
from core.records import JsonObject
from core.space import Setting
from core.tuning.patience import DEFAULT_PATIENCE
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.cluster.connection import ClusterConnection
    from core.tuning.problem import Problem


def add_tune_arguments(commands: Any) -> argparse.ArgumentParser:
    """Add the command; the caller sets `run`."""
    tune = commands.add_parser("tune", help="tune a model on a file", closing=choices_text)
    add = tune.add_argument
    named: dict[str, Any] = {"default": "", "metavar": "NAME"}
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add_columns(tune)
    add("--model", **named)
    add("--strategy", **named)
    add("--option", **repeated, metavar="KEY=VALUE")
    add("--groups", default="", metavar="prefix|each|column|single|FILE.json|JSON")
    add("--trials", type=int, metavar="N")
    add("--minutes", type=float, metavar="M")
    add(
        "--patience",
        type=int,
        metavar="N",
        help="stop when N trials in a row improve nothing; 0 for never (default: what suits the"
        f" strategy, for most of them {DEFAULT_PATIENCE})",
    )
    add("--range", **repeated, metavar="SETTING=FROM:TO")
    add("--fix", **repeated, metavar="SETTING=VALUE")
    add("--seed", type=int, default=0, metavar="K")
    add("--rows", type=_parse_row_count, metavar="N|all")
    add("--rows-seed", type=int, metavar="K")
    add("--test-rows", type=_parse_row_count, metavar="N|all")
    testing = tune.add_mutually_exclusive_group()
    testing.add_argument("--test", dest="test_file", default="", metavar="FILE")
    testing.add_argument("--test-size", type=float, metavar="SHARE")
    add("--evaluation", choices=("auto", "test", "nested"), default="auto")
    add("--no-refit", dest="refit", action="store_false")
    add("--mistake-costs", **repeated, metavar="CLASS=COST,CLASS=COST")
    add("--test-latest", dest="latest", default="", metavar="COLUMN")
    add("--together", action=argparse.BooleanOptionalAction, default=True)
    add("--leaks", action=argparse.BooleanOptionalAction, default=False)
    add("--other-letters", action="store_true")
    add("--gamma", dest="gamma_choice", default="", metavar="NUMBER|best|sensitivity=SHARE")
    add("--workers", type=int, metavar="N")
    add("--memory", default="", metavar="SIZE")
    add_cluster(tune)
    add("--events", metavar="FILE.jsonl")
    add("--run-dir", metavar="DIR")
    add("--later", action="store_true")
    add_ending(tune)
    return tune


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the file and what a person says of its columns."""
    add = parser.add_argument
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add("file", metavar="FILE")
    add("--target", default="", metavar="COL")
    add("--task", metavar="NAME")
    add("--role", **repeated, metavar="COLUMN=ROLE")
    add("--kind", **repeated, metavar="COLUMN=KIND")
    add("--reading", **repeated, metavar="COLUMN=WORD")


def _parse_row_count(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"“{text}” is neither a number of rows nor all")
    return int(text)


def add_ending(parser: argparse.ArgumentParser) -> None:
    """Add the options about the result."""
    parser.add_argument("--export", action="append", default=[], metavar="PATH")
    add_examples(parser)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.set_defaults(leaves=False)  # whether an interrupt leaves the run to other processes


def add_examples(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps data values out of exports."""
    parser.add_argument("--without-examples", dest="examples", action="store_false")


# {option: (form, example)} of those that take pairs
_PAIRS = {
    "--role": ("COLUMN=ROLE", "--role patient=group"),
    "--kind": ("COLUMN=KIND", "--kind code=category"),
    "--reading": ("COLUMN=READING", "--reading country=missing"),
    "--option": ("KEY=VALUE", "tau=0.8"),
    "--range": ("SETTING=FROM:TO", "C=0.01:100"),
    "--fix": ("SETTING=VALUE", "gamma=0.1"),
}


def parse_column_words(texts: Sequence[str], option: str) -> dict[str, str]:
    """{column: word} of every COLUMN=WORD, or of JSON objects; UnusableError: syntax, two words."""
    words: dict[str, str] = {}
    for text in texts:
        for column, word in (json_object(text, str) or dict([_pair_in(text, option)])).items():
            if words.get(column, word) != word:
                fault = f"“{column}” is there as {words[column]} and as {word}"
                raise UnusableError(fault, where=option, cure="give each column once")
            words[column] = word
    return words


def json_object(text: str, *kinds: type) -> JsonObject:
    """The object in a text, with values of these types, or {}."""
    # The names of columns may hold anything, an equals sign as well: JSON tells them apart.
    if not text.lstrip().startswith("{"):
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    is_valid = isinstance(read, dict) and all(type(value) in kinds for value in read.values())
    return read if is_valid else {}


def _pair_in(text: str, option: str) -> tuple[str, str]:
    """What stands before and behind the sign =, or UnusableError."""
    form, example = _PAIRS[option]
    # The last sign: a column's name may have others, a word has none.
    split = text.rpartition if form.startswith("COLUMN") else text.partition
    name, _, value = (piece.strip() for piece in split("="))
    if not (name and (value or (option == "--option" and "=" in text))):
        fault = f"“{text}” is not {form}"
        raise UnusableError(fault, where=option, cure=f"write for example {example}")
    return name, value


def refuse_role_of_target(roles: Mapping[str, str], target: str) -> None:
    """Raise UnusableError where the column to predict has another role."""
    if roles.get(target, "target") != "target":
        fault = f"“{target}” is what is predicted, so it cannot be given the role {roles[target]}"
        cure = "choose another column with --target, or leave this one alone"
        raise UnusableError(fault, where="--role", cure=cure)


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    # A run folder never names a cluster: a stranger's would lead this program to their machine.
    parser.add_argument("--cluster", default="", metavar="ADDRESS|local")
    for name in ("ca", "cert", "key"):
        parser.add_argument(f"--tls-{name}", default="", metavar="FILE.pem")


@contextlib.contextmanager
def cluster_connection(
    arguments: argparse.Namespace, max_trials: int | None = None
) -> Iterator[ClusterConnection | None]:
    """The cluster of the options until the block ends, or UnusableError; None without one."""
    if not arguments.cluster:
        for name in ("ca", "cert", "key"):
            if getattr(arguments, f"tls_{name}"):
                print(f"--tls-{name} has no effect: there is no --cluster.", file=sys.stderr)
        yield None
        return
    from core.tuning.cluster.connection import (
        ClusterConnection,
        data_transfer_warning,
        parse_cluster_address,
    )

    # Imported here: dask takes a second, and few runs are on a cluster.
    certificates = arguments.tls_ca, arguments.tls_cert, arguments.tls_key
    address = parse_cluster_address(arguments.cluster, *certificates)
    if message := data_transfer_warning(address):
        print(message, file=sys.stderr)
    with ClusterConnection(address, max_trials) as connection:
        yield connection


def executor_arguments(connection: ClusterConnection | None) -> dict[str, Any]:
    """Keyword arguments of `core.tuning.tune.tune` for trials on a cluster."""
    return {} if connection is None else {"executor": connection.executor}


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
    of_columns = {
        "task": arguments.task or "",
        "roles": parse_column_words(arguments.role, "--role"),
        "kinds": parse_column_words(arguments.kind, "--kind"),
        "readings": parse_column_words(arguments.reading, "--reading"),
    }
    return DataPlan(**_fields_of(DataPlan, arguments) | of_columns)


def data_of(arguments: argparse.Namespace) -> DataPlan:
    """The data of the arguments."""
    data = columns_of(arguments)
    options = dict(_pair_in(text, "--option") for text in arguments.option)
    return replace(
        data,
        task=_task_of(arguments.model) if arguments.task is None else data.task,
        test_rows=arguments.rows if arguments.test_rows is None else arguments.test_rows,
        rows_seed=arguments.seed if arguments.rows_seed is None else arguments.rows_seed,
        **{name: _read_option(name, options[name]) for name in DATA_OPTIONS if name in options},
    )


def _fields_of(plan_type: type, arguments: argparse.Namespace) -> JsonObject:
    # An argument of a field's name is that field as it stands.
    return {f.name: vars(arguments)[f.name] for f in fields(plan_type) if f.name in arguments}


def _task_of(model: str) -> str:
    only = MODELS[model].tasks if model in MODELS else ()
    return Task.TOPICS if only == (Task.TOPICS,) else ""


def wherever_from(data: DataPlan) -> DataPlan:
    """The same data by absolute paths."""
    # A run may be resumed from another folder.
    file = data.file if data.file.startswith("sample:") else os.path.abspath(data.file)
    return replace(data, file=file, test_file=data.test_file and os.path.abspath(data.test_file))


def plan_of(arguments: argparse.Namespace, data: DataPlan, dataset: Dataset) -> Plan:
    """The plan of the arguments, completed by recommendations."""
    from core.tuning.guidance.advice import chosen_or_recommended

    options = dict(_pair_in(text, "--option") for text in arguments.option)
    word_options = [name for name in DATA_OPTIONS if name in options]
    if word_options and dataset.task.has_target:
        fault = "only texts whose topics are found have words that count"
        cure = "leave it out, or choose topics as the task"
        raise UnusableError(fault, where=f"option {word_options[0]}", cure=cure)
    options = {name: text for name, text in options.items() if name not in DATA_OPTIONS}
    model, strategy, groups = chosen_or_recommended(dataset, arguments.model, arguments.strategy)
    of_strategy = {o.name for o in STRATEGIES[strategy].options} if strategy in STRATEGIES else ()
    # A strategy may have an option of the same name, which then is meant.
    of_plan = {
        name: _read_option(name, options.pop(name))
        for name in PLAN_OPTIONS
        if name in options and name not in of_strategy
    }
    converted = {
        "data": data,
        "model": model,
        "strategy": strategy,
        "options": options,
        "groups": _parse_groups(arguments.groups or groups),
        "workers": arguments.workers or 0,
        "costs": _parse_costs(arguments.mistake_costs),
        "evaluation": "" if arguments.evaluation == "auto" else arguments.evaluation,
        "ranges": _parse_ranges(arguments.range),
        "fixed": _parse_fixed_values(arguments.fix),
    }
    of_gamma = _gamma_fields(arguments.gamma_choice)
    return Plan(**_fields_of(Plan, arguments) | converted | of_gamma | of_plan)


def _parse_groups(text: str) -> str | dict[str, list[str]]:
    from core.datasets.groups import SPECS, groups_from_file, groups_from_text

    if text in SPECS:
        return text
    if text.lstrip().startswith("{"):
        return groups_from_text(text, "--groups")
    return groups_from_file(text)


def _parse_ranges(texts: Sequence[str]) -> dict[str, list[float]]:
    """{setting: [from, to]} of every SETTING=FROM:TO."""
    ranges: dict[str, list[float]] = {}
    for text in texts:
        name, ends = _pair_in(text, "--range")
        low, colon, high = ends.partition(":")
        try:
            ranges[name] = [float(low), float(high)]
        except ValueError:
            where, fault = f"range of {name}", f"“{ends}” is not a range of numbers"
            if not colon:
                where, fault = "--range", f"“{text}” is not SETTING=FROM:TO"
            raise UnusableError(fault, where=where, cure="write for example C=0.01:100") from None
    return ranges


def _parse_fixed_values(texts: Sequence[str]) -> Setting:
    """{setting: value} of every SETTING=VALUE; numbers as such."""
    pairs = (_pair_in(text, "--fix") for text in texts)
    return {name: _parse_number(value) for name, value in pairs}


def _parse_number(text: str) -> Any:
    # Whole numbers first, so that 2 stays one wherever the setting is shown.
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
            # No cost yet: the comma belongs to the class.
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


def unused_option_texts(arguments: argparse.Namespace, problem: Problem) -> list[str]:
    """A sentence for each argument without effect on this problem."""
    strategy, task = problem.strategy, problem.dataset.task
    strategy_options = {option.name for option in strategy.options}
    named_options = {text.partition("=")[0].strip() for text in arguments.option}
    general_options = named_options - strategy_options
    reasons = {}
    if strategy.kind == "penalties":
        bound = next((name for name in ("max_steps", "steps") if name in strategy_options), "")
        cure = f"; --option {bound}=N bounds its steps" if bound else ""
        why = f"{strategy.name} learns penalties and makes no trials"
        if arguments.trials is not None:
            reasons["--trials"] = why + cure
        learned = f"{strategy.name} learns the penalty and searches no ranges"
        reasons |= {f"--{name}": learned for name in ("range", "fix") if getattr(arguments, name)}
        if arguments.patience is not None:
            reasons["--patience"] = why
        if arguments.workers not in (None, 1):
            reasons["--workers"] = why
        if arguments.cluster:
            reasons["--cluster"] = f"{strategy.name} is one fit, which is made on this computer"
        without_effect = [name for name in ("folds", "time_limit") if name in general_options]
        reasons |= {f"--option {name}": why for name in without_effect}
        if "counts" in named_options & strategy_options and not task.is_structured:
            reasons["--option counts"] = "every weight of a table counts"
    elif arguments.groups:
        reasons["--groups"] = f"{strategy.name} tunes settings and learns no penalties of groups"
    if "standardize" in general_options and not (problem.model.scaled or strategy.several):
        reasons["--option standardize"] = f"{problem.model.name} takes columns as they are"
    if "decoding" in general_options and "decoding" not in task.parameters:
        reasons["--option decoding"] = "only sequences are decoded"
    if arguments.gamma_choice and "gamma" not in task.parameters:
        reasons["--gamma"] = "only molecules have base pairs to weigh"
    if arguments.test_size is not None and problem.outer:
        reasons["--test-size"] = "in nested cross-validation every row tests once"
    return [f"{option} has no effect: {why}." for option, why in reasons.items()]
