"""The nearest training rows of a row in an ONNX graph, and their weights.

N rows x, S training rows s (``_fit_X``), k neighbours. Distances are sums Σ_j |x_j − s_j|^p over
columns with p of 1 or 2; products of matrices would place equal rows some 1e-8 apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UnusableError
from core.export.onnx.graph import OnnxGraph

MAX_COLUMNS = 500  # each is a node of its own


def neighbours(graph: OnnxGraph, X: str, model: Any) -> tuple[str, str]:
    """The indices of the k nearest training rows, (N, k), and their weights, (N, k).

    Raises:
        UnusableError: there are too many columns.
    """
    s = model._fit_X.toarray() if hasattr(model._fit_X, "toarray") else model._fit_X
    if s.shape[1] > MAX_COLUMNS:
        problem = f"ONNX would take too long to compare {s.shape[1]:,} columns"
        raise UnusableError(problem, cure="export it as skops")
    powers = _distance_powers(graph, X, np.asarray(s, dtype=np.float64), model.p)
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
    has_same = graph.add_node("Greater", has_same, zeros)
    return row_indices, graph.add_node("Where", has_same, is_same, inverse)


def _distance_powers(graph: OnnxGraph, X: str, s: np.ndarray, p: int) -> str:
    """Σ_j |x_j − s_j|^p of every row and training row, (N, S)."""
    total = ""
    for column in range(s.shape[1]):
        x = graph.add_node("Gather", X, graph.add_constant(np.array([column])), axis=1)
        gap = graph.add_node("Sub", x, graph.add_constant(s[None, :, column]))
        power = graph.add_node("Abs", gap) if p == 1 else graph.add_node("Mul", gap, gap)
        total = graph.add_node("Add", total, power) if total else power
    return total
