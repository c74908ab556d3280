"""The lines of an exported script that draw the same rows from a file as the program did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from types import ModuleType

from core.datasets.dataset import DataSource, SampleFacts
from core.datasets.files import quotes
from core.datasets.sampling import row_sampling
from core.export.bundle.modules import bundle_modules
from core.export.script.constructor import CodeWriter

_FORM = tuple(field.name for field in fields(row_sampling.RowFormat))
_TEXT = '''

def sampled(opened, rows, seed, **form):
    """The rows of a text that Tunescope drew at random, as a file."""
    into = io.BytesIO()
    sample_lines(opened, RowFormat(**form), rows, seed, into)
    into.seek(0)
    return into
'''
_COLUMNS = '''

def sampled_table(path, kind, rows, seed, stratified, columns=None):
    """The rows of a table that Tunescope drew at random."""
    data = dataset(path, format=kind)
    target = next(name for name in data.schema.names if name.strip() == TARGET)
    labels = data.to_table(columns=[target]).column(0).to_pylist()
    codes = pd.factorize(pd.Series(labels, dtype=object).map(str))[0] if stratified else None
    return data.take(draw_rows(len(labels), rows, seed, codes), columns=columns).to_pandas()
'''


def sampling_functions(sources: Sequence[DataSource], code: CodeWriter) -> list[str]:
    """The functions that draw rows of the data and test files; none where all rows were read."""
    samples = [source.sampled for source in sources if source.sampled]
    if not samples:
        return []
    lines = ["", "", *carried_lines([quotes, row_sampling], code), ""]
    code.modules.discard("import numpy as np")  # which every script imports
    if any(sample.form for sample in samples):
        code.modules.add("import io")
        lines += _TEXT.splitlines()
    if any(not sample.form for sample in samples):
        code.imports.setdefault("pyarrow.dataset", set()).add("dataset")
        lines += _COLUMNS.splitlines()
    return [*lines, "", ""]


def carried_lines(modules: Sequence[ModuleType], code: CodeWriter) -> list[str]:
    """The lines of modules without their docstrings; `code` gets their imports."""
    source_bundle = bundle_modules(modules)
    code.modules |= {f"import {name}" for name in source_bundle.modules}
    for name, imported_names in source_bundle.names.items():
        code.modules.add(f"from {name} import {', '.join(sorted(imported_names))}")
    lines: list[str] = []
    for text in source_bundle.sources:
        _, _, functions = text.strip("\n").removeprefix('"""').partition('"""')
        lines += ["", "", *functions.strip("\n").splitlines()]
    return lines[2:]


def sampled_text_code(file_code: str, sample: SampleFacts) -> str:
    """Code for the drawn rows of a text; `file_code` is code for its unpacked bytes."""
    form = {
        name: value.encode("latin-1") if isinstance(value, str) else value
        for name, value in sample.form.items()
        if name in _FORM
    }
    arguments = "".join(f", {name}={value!r}" for name, value in form.items())
    return f"sampled(lambda: {file_code}, {sample.rows}, {sample.seed}{arguments})"


def sampled_table_code(path: str, source: DataSource, sample: SampleFacts) -> str:
    """Code for the drawn rows of a file of columns."""
    columns = source.reading.get("columns")
    columns_code = f", {list(map(str, columns))!r}" if columns else ""
    numbers = f"{sample.rows}, {sample.seed}, {sample.stratified}"
    return f"sampled_table({path}, {source.format!r}, {numbers}{columns_code})"
