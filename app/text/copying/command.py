"""A plan as the line ``tunescope tune …`` that carries it out, quoted for a shell."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from app.text.copying.differences import (
    has_words,
    names_groups,
    non_default_fields,
    options_of,
    own_options,
    says_topics,
)
from core.tuning.plan import Plan

_OF_RUN = ("metric", "folds", "time_limit", "standardize", "decoding")  # each as --option


def as_command(plan: Plan) -> str:
    """The line for a shell: for PowerShell on Windows, for POSIX shells elsewhere."""
    words = ["tunescope", "tune", *arguments(plan)]
    if sys.platform == "win32":
        return " ".join(map(_for_powershell, words))
    return shlex.join(words)


def arguments(plan: Plan) -> list[str]:
    """What follows ``tunescope tune``: all that differs from the defaults.

    What cannot matter is left out where the command line has no word for it: the share of rows
    held out beside a second file to test on, γ beside another way to choose it, and folds of
    trials where the strategy makes none and calls an option of its own so.
    """
    words = [portable_path(plan.data.file)]
    for name, value in _named_arguments(plan):
        if not name:
            words.append(value)
        elif not value or value.startswith("-"):  # alone it would be taken for an option
            words.append(f"{name}={value}")
        else:
            words += [name, value]
    return words


def portable_path(file: str) -> str:
    """A file by a name that means the same from any folder, and never looks like an option."""
    return file if file.startswith("sample:") else os.path.abspath(file)


def _named_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    """("--name", value) of every argument; ("", "--name") of one without a value."""
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
    """How many rows are read, and by which seed they are drawn where that is not the run's."""
    data = plan.data
    if data.rows is not None:
        yield "--rows", str(data.rows or "all")
    if data.test_file and data.test_rows not in (None, data.rows):
        yield "--test-rows", str(data.test_rows or "all")
    if (data.rows or data.test_rows) and data.rows_seed != plan.seed:
        yield "--rows-seed", str(data.rows_seed)


def _plan_arguments(plan: Plan) -> Iterator[tuple[str, str]]:
    differences = non_default_fields(plan)
    for name in ("trials", "minutes", "patience", "seed", "workers", "evaluation"):
        if name in differences:
            yield f"--{name}", _value_text(differences[name])
    strategy_options = own_options(plan)
    for name in _OF_RUN:
        if name in differences and name not in strategy_options:
            yield "--option", f"{name}={_value_text(differences[name])}"
    for name, ends in plan.ranges.items():
        yield "--range", f"{name}={':'.join(map(_value_text, ends))}"
    for name, value in plan.fixed.items():
        yield "--fix", f"{name}={_word_of_value(value)}"
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
    """NAME=VALUE of each; names that this form cannot hold together in one JSON object."""
    plain = {name: value for name, value in entries.items() if _is_plain(name)}
    for name, value in plain.items():
        yield option, f"{name}={_value_text(value)}"
    if json_entries := {name: value for name, value in entries.items() if name not in plain}:
        yield option, _json_text(json_entries)


def _is_plain(name: str) -> bool:
    """Whether NAME=VALUE is read as it was meant: blanks at the ends and a comma are not kept."""
    return bool(name) and name == name.strip() and "," not in name and not name.startswith("{")


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _word_of_value(value: Any) -> str:
    """A value of a setting, which the model's own choices are compared with."""
    return str(value) if isinstance(value, bool) else _value_text(value)


def _for_powershell(word: str) -> str:
    """In single quotes, in which nothing is replaced."""
    plain = word.replace("-", "").replace("_", "").replace("=", "").replace(":", "")
    if word and plain.isalnum() and plain.isascii():
        return word
    return "'" + word.replace("'", "''") + "'"
