"""The first half of an exported script: reading the raw file, and the same split of its rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from core.datasets.dataset import DataSource
from core.errors import UnusableError
from core.export.finished_run import FinishedRun, file_name_of
from core.export.script.constructor import CodeWriter, list_code, wrapped_list
from core.export.script.reading_code import (
    missing_words,
    parameter_name,
    read_lines,
    reading_functions,
    unpacked_code,
    value_code,
)
from core.export.script.sample_code import sample_lines
from core.export.script.sampling_code import sampled_text_code, sampling_functions
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


def _check_lines(sources: Sequence[DataSource]) -> list[str]:
    hash_line = next(line for line in _CHECK.splitlines() if "read_bytes" in line)
    is_large = any(source.sampled for source in sources)
    return (_CHECK.replace(hash_line, _STREAMED) if is_large else _CHECK).splitlines()


def data_block(run: FinishedRun, code: CodeWriter) -> str:
    """Lines that give X and y of every row with a target (and X_test, y_test of a second file)."""
    takeaway = run.takeaway
    if takeaway.source.format == "sample":
        lines = [*_table_constants(run, code), *sample_lines(run, code)]
        return "\n".join([*lines, *_feature_target_lines(run)])
    code.modules |= {"import hashlib", "import sys", "from pathlib import Path"}
    file = value_code(file_name_of(takeaway.source))
    lines = [f"DATA = sys.argv[1] if len(sys.argv) > 1 else {file}"]
    if takeaway.test_source:
        test_file = value_code(file_name_of(takeaway.test_source))
        lines.append(f"TEST = sys.argv[2] if len(sys.argv) > 2 else {test_file}")
    reading = _libsvm_lines if takeaway.source.format == "libsvm" else _table_lines
    return "\n".join([*lines, *reading(run, code)])


def _table_constants(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    code.names[list_code(takeaway.feature_names)] = "FEATURES"
    features = wrapped_list(takeaway.feature_names)
    return [f"TARGET = {value_code(takeaway.target)}", f"FEATURES = {features}"]


def _target_type(run: FinishedRun) -> str:
    classes = run.takeaway.classes
    if run.takeaway.task.has_numbers:
        return ".to_numpy(float)"
    if all(isinstance(label, str) for label in classes):
        return ".to_numpy(str)"
    return ".to_numpy(int)" if all(isinstance(v, int) for v in classes) else ".to_numpy()"


def _feature_target_lines(run: FinishedRun) -> list[str]:
    return [
        "table = table[table[TARGET].notna()]  # rows without a target teach nothing",
        f"X, y = table[FEATURES].reset_index(drop=True), table[TARGET]{_target_type(run)}",
    ]


def _table_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    sources = [source for source in (run.takeaway.source, run.takeaway.test_source) if source]
    return [
        *_table_constants(run, code),
        *missing_words(sources),
        "",
        *_check_lines(sources),
        *sampling_functions(sources, code),
        *reading_functions(sources, _target_type(run), code),
        *read_lines("X, y", "DATA", sources[0], sources, code),
        *(read_lines("X_test, y_test", "TEST", sources[1], sources, code) if sources[1:] else ()),
    ]


def _libsvm_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    code.imports.setdefault("sklearn.datasets", set()).add("load_svmlight_file")
    sources = [source for source in (takeaway.source, takeaway.test_source) if source]
    lines = ["", *_check_lines(sources), *(sampling_functions(sources, code) or ["", ""])]
    lines += _loading_lines("X, y", "DATA", takeaway.source, code)
    if takeaway.set_aside:
        lines.append("X, y = X[np.isfinite(y)], y[np.isfinite(y)]  # a target is needed")
    if takeaway.test_source:
        lines += _loading_lines("X_test, y_test", "TEST", takeaway.test_source, code)
    return lines


def _loading_lines(names: str, path: str, source: DataSource, code: CodeWriter) -> list[str]:
    file_code = f"checked({path}, {value_code(source.fingerprint)})"
    if source.compression or source.sampled:
        file_code = unpacked_code(file_code, source, code)
    if source.sampled:
        file_code = sampled_text_code(file_code, source.sampled)
    arguments = {parameter_name(n): v for n, v in source.libsvm.items() if v is not False}
    argument_lines = "".join(f"    {n}={value_code(v)},\n" for n, v in arguments.items())
    if source.libsvm.get("zero_based") is False:
        argument_lines += "    zero_based=False,\n"
    return [f"{names} = load_svmlight_file(\n    {file_code},\n{argument_lines})[:2]"]


def split_block(run: FinishedRun, code: CodeWriter) -> str:
    """Lines that hold out the same rows; empty where a second file or every row is tested."""
    takeaway = run.takeaway
    if takeaway.test_source or run.is_nested:
        return ""
    rows = ".iloc" if takeaway.source.format != "libsvm" else ""
    lines = [f"X_{part}, y_{part} = X{rows}[{part}], y[{part}]" for part in ("train", "test")]
    return "\n".join([*_split_lines(run, code), *lines])


def _split_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    calls = _same_calls(run)
    if calls:
        code.imports.setdefault("sklearn.model_selection", set()).add("train_test_split")
        return ["# The rows that tuning never saw.", *calls]
    lines = [
        "# The rows that tuning never saw, counted from 0.",
        f"test = np.array({wrapped_list(takeaway.test_rows)})",
    ]
    if np.setdiff1d(np.arange(takeaway.rows), takeaway.test_rows).tolist() == takeaway.train_rows:
        return [*lines, "train = np.setdiff1d(np.arange(len(y)), test)"]
    return [*lines, f"train = np.array({wrapped_list(takeaway.train_rows)})"]


def _same_calls(run: FinishedRun) -> list[str]:
    """Lines whose ``train_test_split`` gives exactly the run's own split; empty if none does."""
    takeaway, plan = run.takeaway, run.plan
    try:
        target = read_data(plan.data).target
    except UnusableError:  # the file is gone or has changed: the row numbers themselves will do
        return []
    share = plan.data.share_tested(len(target))
    split_rows = takeaway.train_rows, takeaway.test_rows
    for size, stratify in itertools.product((share, len(takeaway.test_rows)), (target, None)):
        options: dict[str, Any] = {"test_size": size, "random_state": plan.seed}
        try:
            train, test = train_test_split(np.arange(len(target)), stratify=stratify, **options)
        except ValueError:
            continue
        is_same = (train.tolist(), test.tolist()) == split_rows
        if is_same or (np.sort(train).tolist(), np.sort(test).tolist()) == split_rows:
            arguments = "".join(f", {name}={value!r}" for name, value in options.items())
            arguments += ", stratify=y" if stratify is not None else ""
            call = f"train, test = train_test_split(np.arange(len(y)){arguments})"
            return [call] if is_same else [call, "train, test = np.sort(train), np.sort(test)"]
    return []
