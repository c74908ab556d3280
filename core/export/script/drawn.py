"""The part of an exported script that draws the same rows from a file as the program did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from core.datasets.sampling import drawing
from core.export.bundle.modules import bundle
from core.export.script.constructor import Code

_FORM = tuple(one.name for one in fields(drawing.Form))
_TEXT = '''

def sampled(opened, rows, seed, **form):
    """The rows of a text that Tunescope drew at random, as a file."""
    into = io.BytesIO()
    sample_lines(opened, Form(**form), rows, seed, into)
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
    return data.take(drawn(len(labels), rows, seed, codes), columns=columns).to_pandas()
'''


def drawing_functions(sources: Sequence[Mapping[str, Any]], code: Code) -> list[str]:
    """The functions that draw rows; none where all rows were read.

    Args:
        sources: the data file, and the test file if there is one.
        code: is told what the functions import.
    """
    sampled = [one for one in sources if one.get("sampled")]
    if not sampled:
        return []
    found = bundle([drawing])
    code.modules |= {f"import {name}" for name in found.modules - {"numpy as np"}}
    for name, taken in found.names.items():
        code.modules.add(f"from {name} import {', '.join(sorted(taken))}")
    text = "\n".join(found.sources).strip("\n")
    _, _, below = text.removeprefix('"""').partition('"""')  # what the module is, is said there
    lines = ["", "", *below.strip("\n").splitlines(), ""]
    if any(one["sampled"]["form"] for one in sampled):
        code.modules.add("import io")
        lines += _TEXT.splitlines()
    if any(not one["sampled"]["form"] for one in sampled):
        code.imports.setdefault("pyarrow.dataset", set()).add("dataset")
        lines += _COLUMNS.splitlines()
    return [*lines, "", ""]


def drawn_text(opened: str, source: Mapping[str, Any]) -> str:
    """Code for the drawn rows of a text; `opened` is code for its unpacked bytes."""
    about = source["sampled"]
    form = {
        name: value.encode("latin-1") if isinstance(value, str) else value
        for name, value in about["form"].items()
        if name in _FORM
    }
    given = "".join(f", {name}={value!r}" for name, value in form.items())
    return f"sampled(lambda: {opened}, {int(about['rows'])}, {int(about['seed'])}{given})"


def drawn_table(path: str, source: Mapping[str, Any]) -> str:
    """Code for the drawn rows of a file of columns."""
    about, columns = source["sampled"], source.get("reading", {}).get("columns")
    more = f", {list(map(str, columns))!r}" if columns else ""
    numbers = f"{int(about['rows'])}, {int(about['seed'])}, {bool(about['stratified'])}"
    return f"sampled_table({path}, {source['format']!r}, {numbers}{more})"
