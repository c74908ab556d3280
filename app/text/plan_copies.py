"""A plan as a line `tunescope tune …` and as a snippet of Python."""

import json
import math
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from core.datasets.task import Task
from core.estimators.registry import MODELS
from core.options import Option
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES

_ALWAYS = ("data", "model", "strategy", "groups", "options")  # written in any case


def non_default_fields(plan: Plan | DataPlan) -> dict[str, Any]:
    """{field: value} of the fields with another value than the default."""
    return {
        field.name: getattr(plan, field.name)
        for field in fields(plan)
        if field.name not in _ALWAYS and getattr(plan, field.name) != _default(field)
    }


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def options_of(plan: Plan) -> dict[str, Any]:
    """The strategy's options that differ from its defaults."""
    described = own_options(plan)
    values = {
        # As the parser would read it: 2 and 2.0 are the same option.
        name: described[name].parse_value(value) if name in described else value
        for name, value in plan.options.items()
    }
    defaults = {name: option.default for name, option in described.items()}
    return {k: value for k, value in values.items() if k not in defaults or value != defaults[k]}


def own_options(plan: Plan) -> dict[str, Option]:
    """The options of the plan's strategy."""
    strategy = STRATEGIES.get(plan.strategy)
    return {} if strategy is None else {option.name: option for option in strategy.options}


def names_groups(plan: Plan) -> bool:
    """Whether they must be written: the default depends on the task."""
    model = MODELS.get(plan.model)
    is_structured = model is not None and any(Task(task).is_structured for task in model.tasks)
    # Structured models have groups of their own by default, tables have none.
    return plan.groups != "single" or is_structured


def has_words(plan: Plan) -> bool:
    """Whether the plan's model counts words of texts."""
    model = MODELS.get(plan.model)
    return model is None or Task.TOPICS in model.tasks


def says_topics(plan: Plan) -> bool:
    """Whether the task follows from the model alone."""
    model = MODELS.get(plan.model)
    return not plan.data.task and model is not None and model.tasks == (Task.TOPICS,)


_OF_RUN = ("metric", "folds", "time_limit", "standardize", "decoding")  # each as --option


def as_command(plan: Plan) -> str:
    """The line for a shell: PowerShell on Windows, POSIX elsewhere."""
    words = ["tunescope", "tune", *arguments(plan)]
    # shlex quotes for POSIX alone.
    if sys.platform == "win32":
        return " ".join(map(_for_powershell, words))
    return shlex.join(words)


def arguments(plan: Plan) -> list[str]:
    """Those that differ from the defaults and have an effect."""
    words = [portable_path(plan.data.file)]
    for name, value in _named_arguments(plan):
        if not name:
            words.append(value)
        # argparse would take it for an option.
        elif not value or value.startswith("-"):
            words.append(f"{name}={value}")
        else:
            words += [name, value]
    return words


def portable_path(file: str) -> str:
    """The absolute path of a file; samples as they are."""
    return file if file.startswith("sample:") else os.path.abspath(file)


def _named_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    """("--name", value) of every argument; ("", "--name") of a flag."""
    yield from _data_arguments(plan)
    yield "--model", plan.model
    yield "--strategy", plan.strategy
    for name, value in options_of(plan).items():
        yield "--option", f"{name}={_value_text(value)}"
    if names_groups(plan):
        groups = plan.groups
        yield "--groups", groups if isinstance(groups, str) else _json_text(groups)
    yield from _plan_arguments(plan)


def _data_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    data, differences = plan.data, non_default_fields(plan.data)
    if data.target:
        yield "--target", data.target
    if data.task or says_topics(plan):
        yield "--task", data.task
    yield from _pair_arguments("--role", data.roles)
    yield from _pair_arguments("--kind", data.kinds)
    yield from _pair_arguments("--reading", data.readings)
    if data.test_file:
        yield "--test", portable_path(data.test_file)
    elif "test_size" in differences:
        yield "--test-size", _value_text(data.test_size)
    yield from _row_arguments(plan)
    if not data.together:
        yield "", "--no-together"
    if data.leaks:
        yield "", "--leaks"
    if data.other_letters:
        yield "", "--other-letters"
    if data.latest:
        yield "--test-latest", data.latest
    for name in ("vocabulary", "stop_words"):
        if name in differences and has_words(plan):
            yield "--option", f"{name}={_value_text(differences[name])}"


def _row_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    data = plan.data
    if data.rows is not None:
        yield "--rows", str(data.rows or "all")
    # Without a second file the test rows are a share of those that were drawn.
    if data.test_file and data.test_rows not in (None, data.rows):
        yield "--test-rows", str(data.test_rows or "all")
    # Where no rows are drawn, the seed of the draw has no effect.
    if (data.rows or data.test_rows) and data.rows_seed != plan.seed:
        yield "--rows-seed", str(data.rows_seed)


def _plan_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    differences = non_default_fields(plan)
    for name in ("trials", "minutes", "patience", "seed", "workers", "memory", "evaluation"):
        if name in differences:
            yield f"--{name}", _value_text(differences[name])
    strategy_options = own_options(plan)
    for name in _OF_RUN:
        # A strategy may have an option of the same name, which is written with its options.
        if name in differences and name not in strategy_options:
            yield "--option", f"{name}={_value_text(differences[name])}"
    for name, ends in plan.ranges.items():
        yield "--range", f"{name}={':'.join(map(_value_text, ends))}"
    for name, value in plan.fixed.items():
        # The parser compares it with the model's choices: True, not yes.
        yield "--fix", f"{name}={value if isinstance(value, bool) else _value_text(value)}"
    yield from _pair_arguments("--mistake-costs", plan.costs)
    if gamma := _gamma_text(plan):
        yield "--gamma", gamma
    if not plan.refit:
        yield "", "--no-refit"


def _gamma_text(plan: Plan) -> str:
    differences = non_default_fields(plan)
    match plan.gamma_by:
        case "f1":
            return "best"
        case "sensitivity":
            return f"sensitivity={_value_text(plan.sensitivity)}"
    return _value_text(plan.gamma) if "gamma" in differences else ""


def _pair_arguments(option: str, entries: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """NAME=VALUE of each, or JSON for names that this cannot express."""
    plain = {name: value for name, value in entries.items() if _is_plain(name)}
    for name, value in plain.items():
        yield option, f"{name}={_value_text(value)}"
    if json_entries := {name: value for name, value in entries.items() if name not in plain}:
        yield option, _json_text(json_entries)


def _is_plain(name: str) -> bool:
    return bool(name) and name == name.strip() and "," not in name and not name.startswith("{")


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        # The shortest text that is read as the same number.
        return short if float(short) == value else repr(value)
    return str(value)


def _for_powershell(word: str) -> str:
    plain = word.replace("-", "").replace("_", "").replace("=", "").replace(":", "")
    if word and plain.isalnum() and plain.isascii():
        return word
    # Single quotes: PowerShell replaces nothing in them.
    return "'" + word.replace("'", "''") + "'"


_TOLD_BY_NAME = ("file", "target", "test_file")


def as_python(plan: Plan) -> str:
    """The snippet: arguments of `tunescope.tune` that differ from the defaults."""
    arguments = [_literal(portable_path(plan.data.file))]
    arguments += [f"{name}={_literal(value)}" for name, value in settings(plan).items()]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"import tunescope\n\ndone = tunescope.tune(\n{lines})\n"


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
    # repr would write a name that Python does not know.
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return repr(value)
