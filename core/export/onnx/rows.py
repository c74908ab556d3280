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
from core.export.onnx.graph import OnnxGraph
from core.export.text_tables import text_table

MATRIX = "rows"  # name of the input where the rows are a matrix


def rows_graph(prepare: Pipeline) -> tuple[OnnxGraph, str]:
    """The graph of a fitted preparation (core.datasets.preparation), and its result, (N, p).

    Raises:
        UnusableError: a column holds texts.
    """
    encode = prepare.named_steps["columns"]
    if isinstance(encode, ColumnTransformer) and hasattr(encode, "feature_names_in_"):
        _refuse_texts(encode)
        columns = [str(name) for name in encode.feature_names_in_]
        graph = OnnxGraph(columns)
        inputs = {name: graph.add_input(name, text=_is_text(encode, name)) for name in columns}
        column_nodes = [
            column_node
            for step in encode.transformers_
            for column_node in _transformed_columns(graph, inputs, *step)
        ]
        last = graph.add_node("Concat", *column_nodes, axis=1)
    else:
        graph = OnnxGraph([MATRIX])
        last = graph.add_input(MATRIX, text=False, width=int(encode.n_features_in_))
    if "scale" in prepare.named_steps:
        last = _scale_numbers(graph, last, prepare.named_steps["scale"])
    return graph, last


def _refuse_texts(encode: ColumnTransformer) -> None:
    """ONNX takes texts apart into words by other rules, and not into parts of words at all."""
    for step_name, _, names in encode.transformers_:
        if step_name.startswith("text "):
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
        for step_name, step, name in encode.transformers_
        if step_name.startswith("date ")
    }


def _is_text(encode: ColumnTransformer, name: str) -> bool:
    step_names = [
        step_name
        for step_name, _, names in encode.transformers_
        if name in np.atleast_1d(names).tolist()
    ]
    return any(step_name.startswith(("yes/no", "category")) for step_name in step_names)


def _transformed_columns(
    graph: OnnxGraph, inputs: dict[str, str], step_name: str, step: Any, names: Any
) -> Iterator[str]:
    """The prepared columns of one transformer; `inputs` has the input of every column."""
    if step_name == "remainder":
        return
    if step_name.startswith("date "):
        yield _date_numbers(graph, step, inputs[str(names)])
    elif step_name.startswith(("yes/no", "category")):
        for position, name in enumerate(names):
            yield _encoded_column(graph, step, [str(n) for n in names], position, inputs[str(name)])
    else:
        matrix = graph.add_node("Concat", *(inputs[str(name)] for name in names), axis=1)
        yield _fill_missing(graph, matrix, step.statistics_)


def _fill_missing(graph: OnnxGraph, numbers: str, values: np.ndarray) -> str:
    fill = graph.add_constant(np.nan_to_num(np.asarray(values, dtype=np.float64)))
    return graph.add_node("Where", graph.add_node("IsNaN", numbers), fill, numbers)


def _scale_numbers(graph: OnnxGraph, numbers: str, scaler: StandardScaler) -> str:
    if scaler.with_mean:
        numbers = graph.add_node("Sub", numbers, graph.add_constant(scaler.mean_))
    return graph.add_node("Div", numbers, graph.add_constant(scaler.scale_))


def _date_numbers(graph: OnnxGraph, step: Pipeline, raw_seconds: str) -> str:
    seconds = _fill_missing(graph, raw_seconds, step.named_steps["fill"].statistics_)
    return _scale_numbers(graph, seconds, step.named_steps["scale"])


def _encoded_column(
    graph: OnnxGraph, step: Any, names: list[str], position: int, texts: str
) -> str:
    """One column of text as what the fitted step makes of each text that it knows."""
    keys, table = text_table(step, names, position)
    numbers = graph.add_node(
        "LabelEncoder",
        texts,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )
    flat = graph.add_node("Reshape", numbers, graph.add_constant(np.array([-1], dtype=np.int64)))
    return graph.add_node("Gather", graph.add_constant(table), flat, axis=0)
