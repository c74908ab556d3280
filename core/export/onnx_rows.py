"""The preparation of raw rows as an ONNX graph: one input a column, double numbers or text.

skl2onnx has no rare categories, dates, or imputed text, and calculates in single precision. So the
graph is written here: numbers stay double until they are prepared; what a text becomes is looked up
in a table that the fitted preparation itself has filled.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| N | | | rows |
| p | | | prepared columns |
| C | ``keys`` | | texts of a column that the preparation knows, the missing one "" among them |
| | ``table`` | (C + 1, outputs) | what each becomes; the last line is for unknown ones |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from core.export.text_tables import text_table

PREPARED = "prepared"  # name of the result, single precision, (N, p)
MATRIX = "rows"  # name of the input where the rows are a matrix


@dataclass
class Graph:
    """Nodes in order, constants, and inputs of an ONNX graph that grows."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)

    def node(self, kind: str, *taken: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one result; its name."""
        from onnx import helper

        name = f"prepare_{len(self.nodes)}"
        made = helper.make_node(kind, list(taken), [name], name=name, domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def constant(self, value: np.ndarray) -> str:
        """Add a constant; its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def input(self, name: str, *, text: bool, width: int = 1) -> str:
        """Add an input of the shape (N, width); its name."""
        from onnx import TensorProto, helper

        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["N", width]))
        return name


def rows_graph(prepare: Pipeline) -> Graph:
    """The graph of a fitted preparation (core.datasets.preparation), ending in `PREPARED`."""
    from onnx import TensorProto

    graph, encode = Graph(), prepare.named_steps["columns"]
    if isinstance(encode, ColumnTransformer) and hasattr(encode, "feature_names_in_"):
        for name in encode.feature_names_in_:
            graph.input(str(name), text=_is_text(encode, str(name)))
        parts = [part for step in encode.transformers_ for part in _parts(graph, *step)]
        last = graph.node("Concat", *parts, axis=1)
    else:
        last = graph.input(MATRIX, text=False, width=int(encode.n_features_in_))
    if "scale" in prepare.named_steps:
        last = _scaled(graph, last, prepare.named_steps["scale"])
    graph.node("Cast", last, to=TensorProto.FLOAT)
    graph.nodes[-1].output[0] = PREPARED
    return graph


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


def _parts(graph: Graph, way: str, step: Any, names: Any) -> Iterator[str]:
    """The prepared columns of one transformer."""
    if way == "remainder":
        return
    if way.startswith("date "):
        yield _date(graph, step, str(names))
    elif way.startswith(("yes/no", "category")):
        for place, name in enumerate(names):
            yield _looked_up(graph, step, [str(n) for n in names], place, str(name))
    else:
        taken = graph.node("Concat", *map(str, names), axis=1)
        yield _filled(graph, taken, step.statistics_)


def _filled(graph: Graph, taken: str, values: np.ndarray) -> str:
    """Numbers with values in place of what is missing."""
    fill = graph.constant(np.nan_to_num(np.asarray(values, dtype=np.float64)))
    return graph.node("Where", graph.node("IsNaN", taken), fill, taken)


def _scaled(graph: Graph, taken: str, scaler: StandardScaler) -> str:
    if scaler.with_mean:
        taken = graph.node("Sub", taken, graph.constant(scaler.mean_))
    return graph.node("Div", taken, graph.constant(scaler.scale_))


def _date(graph: Graph, step: Pipeline, name: str) -> str:
    seconds = _filled(graph, name, step.named_steps["fill"].statistics_)
    return _scaled(graph, seconds, step.named_steps["scale"])


def _looked_up(graph: Graph, step: Any, names: list[str], place: int, name: str) -> str:
    """One column of text as what the fitted step makes of each text that it knows."""
    keys, table = text_table(step, names, place)
    numbers = graph.node(
        "LabelEncoder",
        name,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )
    flat = graph.node("Reshape", numbers, graph.constant(np.array([-1], dtype=np.int64)))
    return graph.node("Gather", graph.constant(table), flat, axis=0)
