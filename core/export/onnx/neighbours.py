"""The nearest training rows of a row in an ONNX graph, and how much each counts.

Distances are sums over columns, Σ_j |x_j − s_j|^p with p of 1 or 2, and not products of matrices:
from these a row that equals a training row would be some 1e-8 away from it.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| N, S, k | | | rows, training rows, neighbours |
| s | ``_fit_X`` | (S, columns) | the training rows |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.onnx.graph import OnnxGraph

MAX_COLUMNS = 500  # each is a node of its own


def neighbours(graph: OnnxGraph, X: str, model: Any) -> tuple[str, str]:
    """The places of the k nearest training rows, (N, k), and their weights, (N, k).

    Raises:
        UnusableError: there are too many columns.
    """
    training_rows = model._fit_X.toarray() if hasattr(model._fit_X, "toarray") else model._fit_X
    if training_rows.shape[1] > MAX_COLUMNS:
        raise UnusableError(
            f"ONNX would take too long to compare {training_rows.shape[1]:,} columns",
            cure="export it as skops",
        )
    powers = _distance_powers(graph, X, np.asarray(training_rows, dtype=np.float64), model.p)
    count = graph.add_constant(np.array([int(model.n_neighbors)]))
    nearest, row_indices = graph.add_multi_output_node("TopK", 2, powers, count, axis=1, largest=0)
    distances = nearest if model.p == 1 else graph.add_node("Sqrt", nearest)
    ones, zeros = graph.add_constant(np.ones((1, 1))), graph.add_constant(np.zeros((1, 1)))
    if model.weights == "uniform":
        return row_indices, graph.add_node("Add", graph.add_node("Mul", distances, zeros), ones)
    # Where training rows are the same as the row, these alone count.
    is_same = graph.add_node("Where", graph.add_node("Equal", distances, zeros), ones, zeros)
    has_same = graph.add_node("ReduceMax", is_same, graph.add_constant(np.array([1])), keepdims=1)
    inverse = graph.add_node("Div", ones, distances)
    return row_indices, graph.add_node(
        "Where", graph.add_node("Greater", has_same, zeros), is_same, inverse
    )


def _distance_powers(graph: OnnxGraph, X: str, training_rows: np.ndarray, p: int) -> str:
    """Σ_j |x_j − s_j|^p of every row and training row, (N, S)."""
    total = ""
    for column in range(training_rows.shape[1]):
        row_column = graph.add_node("Gather", X, graph.add_constant(np.array([column])), axis=1)
        difference = graph.add_node(
            "Sub", row_column, graph.add_constant(training_rows[None, :, column])
        )
        power = (
            graph.add_node("Abs", difference)
            if p == 1
            else graph.add_node("Mul", difference, difference)
        )
        total = graph.add_node("Add", total, power) if total else power
    return total
