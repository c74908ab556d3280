"""The preparation of raw rows as an ONNX graph: one input a column, double numbers or text.

What a text becomes is looked up in a table that the fitted preparation itself has filled.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| N | | | rows |
| p | | | prepared columns |
| C | ``keys`` | | texts of a column that the preparation knows, the missing one "" among them |
| | ``table`` | (C + 1, outputs) | what each becomes; the last line is for unknown ones |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from core.errors import UnusableError
from core.export.onnx.graph import Graph
from core.export.text_tables import text_table

MATRIX = "rows"  # name of the input where the rows are a matrix


def rows_graph(prepare: Pipeline) -> tuple[Graph, str]:
    """The graph of a fitted preparation (core.datasets.preparation), and its result, (N, p).

    Raises:
        UnusableError: a column holds texts.
    """
    encode = prepare.named_steps["columns"]
    if isinstance(encode, ColumnTransformer) and hasattr(encode, "feature_names_in_"):
        _refuse_texts(encode)
        columns = [str(name) for name in encode.feature_names_in_]
        graph = Graph(columns)
        taken = {name: graph.input(name, text=_is_text(encode, name)) for name in columns}
        parts = [part for step in encode.transformers_ for part in _parts(graph, taken, *step)]
        last = graph.node("Concat", *parts, axis=1)
    else:
        graph = Graph([MATRIX])
        last = graph.input(MATRIX, text=False, width=int(encode.n_features_in_))
    if "scale" in prepare.named_steps:
        last = _scaled(graph, last, prepare.named_steps["scale"])
    return graph, last


def _refuse_texts(encode: ColumnTransformer) -> None:
    """ONNX takes texts apart into words by other rules, and not into parts of words at all."""
    for way, _, names in encode.transformers_:
        if way.startswith("text "):
            raise UnusableError(
                f"ONNX has no counterpart of texts as words and parts of words (“{names[0]}”)",
                cure="export it as skops",
            )


def date_formats(prepare: Pipeline) -> dict[str, str]:
    """{date column: how its text is written}; its input takes seconds since 1970."""
    encode = prepare.named_steps["columns"]
    if isinstance(encode, FunctionTransformer) or not hasattr(encode, "transformers_"):
        return {}
    return {
        str(name): str(step.named_steps["read"].kw_args["format"])
        for way, step, name in encode.transformers_
        if way.startswith("date ")
    }


def _is_text(encode: ColumnTransformer, name: str) -> bool:
    """Whether a column is taken as text."""
    ways = [way for way, _, names in encode.transformers_ if name in np.atleast_1d(names).tolist()]
    return any(way.startswith(("yes/no", "category")) for way in ways)


def _parts(graph: Graph, taken: dict[str, str], way: str, step: Any, names: Any) -> Iterator[str]:
    """The prepared columns of one transformer; `taken` has the input of every column."""
    if way == "remainder":
        return
    if way.startswith("date "):
        yield _date(graph, step, taken[str(names)])
    elif way.startswith(("yes/no", "category")):
        for place, name in enumerate(names):
            yield _looked_up(graph, step, [str(n) for n in names], place, taken[str(name)])
    else:
        together = graph.node("Concat", *(taken[str(name)] for name in names), axis=1)
        yield _filled(graph, together, step.statistics_)


def _filled(graph: Graph, taken: str, values: np.ndarray) -> str:
    """Numbers with values in place of what is missing."""
    fill = graph.constant(np.nan_to_num(np.asarray(values, dtype=np.float64)))
    return graph.node("Where", graph.node("IsNaN", taken), fill, taken)


def _scaled(graph: Graph, taken: str, scaler: StandardScaler) -> str:
    if scaler.with_mean:
        taken = graph.node("Sub", taken, graph.constant(scaler.mean_))
    return graph.node("Div", taken, graph.constant(scaler.scale_))


def _date(graph: Graph, step: Pipeline, taken: str) -> str:
    seconds = _filled(graph, taken, step.named_steps["fill"].statistics_)
    return _scaled(graph, seconds, step.named_steps["scale"])


def _looked_up(graph: Graph, step: Any, names: list[str], place: int, taken: str) -> str:
    """One column of text as what the fitted step makes of each text that it knows."""
    keys, table = text_table(step, names, place)
    numbers = graph.node(
        "LabelEncoder",
        taken,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )
    flat = graph.node("Reshape", numbers, graph.constant(np.array([-1], dtype=np.int64)))
    return graph.node("Gather", graph.constant(table), flat, axis=0)
