"""The first half of an exported script: reading the raw file, and the same split of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from core.errors import UnusableError
from core.export.finished_run import FinishedRun, file_of
from core.export.script.constructor import Code, list_code, wrapped_list
from core.export.script.drawn import drawing_functions, drawn_text
from core.export.script.reading import (
    missing_words,
    parameter,
    read_lines,
    reading_functions,
    unpacked,
)
from core.export.script.samples import sample_lines
from core.tuning.problem import read_data

_CHECK = '''
def checked(path, fingerprint):
    """The path, with a warning if its bytes are not those that the model was tuned on."""
    if not Path(path).is_file():
        sys.exit(f"{path} is not in this folder. Say where it is: python {sys.argv[0]} FILE")
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != fingerprint:
        print(f"{path} has changed since the tuning: scores will differ.", file=sys.stderr)
    return path
'''


_STREAMED = """    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(2**22):
            digest.update(chunk)
    if digest.hexdigest() != fingerprint:"""


def _check_lines(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """The function that looks whether a file is the same; a large one is not read at once."""
    whole = next(line for line in _CHECK.splitlines() if "read_bytes" in line)
    large = any(one.get("sampled") for one in sources)
    return (_CHECK.replace(whole, _STREAMED) if large else _CHECK).splitlines()


def data_block(run: FinishedRun, code: Code) -> str:
    """Lines that give X and y of every row with a target (and X_test, y_test of a second file)."""
    takeaway = run.takeaway
    if takeaway.source["format"] == "sample":
        return "\n".join(
            [*_table_constants(run, code), *sample_lines(run, code), *_table_parts(run)]
        )
    code.modules |= {"import hashlib", "import sys", "from pathlib import Path"}
    lines = [f"DATA = sys.argv[1] if len(sys.argv) > 1 else {_said(file_of(takeaway.source))}"]
    if takeaway.test_source:
        other = _said(file_of(takeaway.test_source))
        lines.append(f"TEST = sys.argv[2] if len(sys.argv) > 2 else {other}")
    reading = _libsvm if takeaway.source["format"] == "libsvm" else _table
    return "\n".join([*lines, *reading(run, code)])


def _said(value: Any) -> str:
    return Code().expression(value)


def _table_constants(run: FinishedRun, code: Code) -> list[str]:
    takeaway = run.takeaway
    code.names[list_code(takeaway.feature_names)] = "FEATURES"
    features = wrapped_list(takeaway.feature_names)
    return [f"TARGET = {_said(takeaway.target)}", f"FEATURES = {features}"]


def _target_type(run: FinishedRun) -> str:
    classes = run.takeaway.classes
    if run.takeaway.task == "regression":
        return ".to_numpy(float)"
    if all(isinstance(label, str) for label in classes):
        return ".to_numpy(str)"
    return ".to_numpy(int)" if all(isinstance(v, int) for v in classes) else ".to_numpy()"


def _table_parts(run: FinishedRun) -> list[str]:
    return [
        "table = table[table[TARGET].notna()]  # rows without a target teach nothing",
        f"X, y = table[FEATURES].reset_index(drop=True), table[TARGET]{_target_type(run)}",
    ]


def _table(run: FinishedRun, code: Code) -> list[str]:
    sources = [one for one in (run.takeaway.source, run.takeaway.test_source) if one]
    return [
        *_table_constants(run, code),
        *missing_words(sources),
        "",
        *_check_lines(sources),
        *drawing_functions(sources, code),
        *reading_functions(sources, _target_type(run), code),
        *read_lines("X, y", "DATA", sources[0], sources, code),
        *(read_lines("X_test, y_test", "TEST", sources[1], sources, code) if sources[1:] else ()),
    ]


def _libsvm(run: FinishedRun, code: Code) -> list[str]:
    takeaway = run.takeaway
    code.imports.setdefault("sklearn.datasets", set()).add("load_svmlight_file")
    sources = [one for one in (takeaway.source, takeaway.test_source) if one]
    lines = ["", *_check_lines(sources), *(drawing_functions(sources, code) or ["", ""])]
    lines += _loading("X, y", "DATA", takeaway.source, code)
    if takeaway.set_aside:
        lines.append("X, y = X[np.isfinite(y)], y[np.isfinite(y)]  # a target is needed")
    if takeaway.test_source:
        lines += _loading("X_test, y_test", "TEST", takeaway.test_source, code)
    return lines


def _loading(names: str, path: str, source: dict[str, Any], code: Code) -> list[str]:
    opened = f"checked({path}, {_said(source['fingerprint'])})"
    if source.get("compression") or source.get("sampled"):
        opened = unpacked(opened, source, code)
    if source.get("sampled"):
        opened = drawn_text(opened, source)
    told = {parameter(n): v for n, v in source["libsvm"].items() if v is not False}
    given = "".join(f"    {n}={_said(v)},\n" for n, v in told.items())
    if source["libsvm"].get("zero_based") is False:
        given += "    zero_based=False,\n"
    return [f"{names} = load_svmlight_file(\n    {opened},\n{given})[:2]"]


def split_block(run: FinishedRun, code: Code) -> str:
    """Lines that hold the same rows out; empty where a second file is the test, or all rows are."""
    takeaway = run.takeaway
    if takeaway.test_source or run.nested:
        return ""
    rows = ".iloc" if takeaway.source["format"] != "libsvm" else ""
    taken = [
        f"X_train, y_train = X{rows}[train], y[train]",
        f"X_test, y_test = X{rows}[test], y[test]",
    ]
    return "\n".join([*_split_lines(run, code), *taken])


def _split_lines(run: FinishedRun, code: Code) -> list[str]:
    takeaway = run.takeaway
    calls = _same_calls(run)
    if calls:
        code.imports.setdefault("sklearn.model_selection", set()).add("train_test_split")
        return ["# The rows that tuning never saw.", *calls]
    lines = [
        "# The rows that tuning never saw, counted from 0.",
        f"test = np.array({wrapped_list(takeaway.test_rows)})",
    ]
    others = np.setdiff1d(np.arange(takeaway.rows), takeaway.test_rows).tolist()
    if others == takeaway.train_rows:
        return [*lines, "train = np.setdiff1d(np.arange(len(y)), test)"]
    return [*lines, f"train = np.array({wrapped_list(takeaway.train_rows)})"]


def _same_calls(run: FinishedRun) -> list[str]:
    """Lines whose ``train_test_split`` gives the run's own split; empty if none does.

    The rows are compared one by one, so that the script never promises a split it does not make.
    """
    takeaway, plan = run.takeaway, run.plan
    try:
        target = read_data(plan.data).target
    except UnusableError:  # the file is gone or has changed: the row numbers themselves will do
        return []
    share = plan.data.share_tested(len(target))
    given: dict[str, Any] = {"test_size": share, "random_state": plan.seed}
    for size in (share, len(takeaway.test_rows)):
        given["test_size"] = size
        for stratify in (target, None):
            try:
                train, test = train_test_split(np.arange(len(target)), stratify=stratify, **given)
            except ValueError:
                continue
            same = test.tolist() == takeaway.test_rows and train.tolist() == takeaway.train_rows
            ordered = np.sort(test).tolist() == takeaway.test_rows
            ordered &= np.sort(train).tolist() == takeaway.train_rows
            if same or ordered:
                words = "".join(f", {name}={value!r}" for name, value in given.items())
                words += ", stratify=y" if stratify is not None else ""
                call = f"train, test = train_test_split(np.arange(len(y)){words})"
                return [call] if same else [call, "train, test = np.sort(train), np.sort(test)"]
    return []
