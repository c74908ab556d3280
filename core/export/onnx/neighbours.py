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
from core.export.onnx.graph import Graph

MOST_COLUMNS = 500  # each is a node of its own


def neighbours(graph: Graph, X: str, model: Any) -> tuple[str, str]:
    """The places of the k nearest training rows, (N, k), and their weights, (N, k).

    Raises:
        UnusableError: there are too many columns.
    """
    known = model._fit_X.toarray() if hasattr(model._fit_X, "toarray") else model._fit_X
    if known.shape[1] > MOST_COLUMNS:
        raise UnusableError(
            f"ONNX would take too long to compare {known.shape[1]:,} columns",
            cure="export it as skops",
        )
    apart = _powers(graph, X, np.asarray(known, dtype=np.float64), model.p)
    count = graph.constant(np.array([int(model.n_neighbors)]))
    nearest, places = graph.nodes("TopK", 2, apart, count, axis=1, largest=0)
    far = nearest if model.p == 1 else graph.node("Sqrt", nearest)
    one, zero = graph.constant(np.ones((1, 1))), graph.constant(np.zeros((1, 1)))
    if model.weights == "uniform":
        return places, graph.node("Add", graph.node("Mul", far, zero), one)
    # Where training rows are the same as the row, these alone count.
    same = graph.node("Where", graph.node("Equal", far, zero), one, zero)
    some = graph.node("ReduceMax", same, graph.constant(np.array([1])), keepdims=1)
    inverse = graph.node("Div", one, far)
    return places, graph.node("Where", graph.node("Greater", some, zero), same, inverse)


def _powers(graph: Graph, X: str, known: np.ndarray, p: int) -> str:
    """Σ_j |x_j − s_j|^p of every row and training row, (N, S)."""
    total = ""
    for column in range(known.shape[1]):
        own = graph.node("Gather", X, graph.constant(np.array([column])), axis=1)
        apart = graph.node("Sub", own, graph.constant(known[None, :, column]))
        power = graph.node("Abs", apart) if p == 1 else graph.node("Mul", apart, apart)
        total = graph.node("Add", total, power) if total else power
    return total
