"""An ONNX graph that grows node by node, in double precision.

The inputs have a name space of their own: they are called like the columns, and every other name
begins with a prefix that no column has. A column called like an output, or not at all, is told in
`Graph.inputs` by which name it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

OUTPUTS = ("prediction", "probabilities", "scores")
OPSETS = {"": 18, "ai.onnx.ml": 3}  # of operators; every runtime of the last years has them
IR_VERSION = 8  # of the file's form, that of these operators


class Graph:
    """Nodes in order, constants, inputs and outputs.

    Args:
        columns: the names of all inputs, which nothing else may have.

    Attributes:
        inputs: {input: column}, in order.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.inputs: dict[str, str] = {}
        self._columns = frozenset(columns)
        self._prefix = "tunescope:"
        while any(column.startswith(self._prefix) for column in columns):
            self._prefix = "_" + self._prefix
        self._count = 0
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._taken: list[Any] = []
        self._given: list[Any] = []

    def _name(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def node(self, kind: str, *taken: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one result; its name."""
        return self.nodes(kind, 1, *taken, domain=domain, **attributes)[0]

    def nodes(
        self, kind: str, results: int, *taken: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node with several results; their names."""
        from onnx import helper

        names = [self._name() for _ in range(results)]
        made = helper.make_node(
            kind, list(taken), names, name=names[0], domain=domain, **attributes
        )
        self._nodes.append(made)
        return names

    def constant(self, value: Any) -> str:
        """Add a constant array, numbers double unless they are whole; its name."""
        from onnx import numpy_helper

        array = np.asarray(value, order="C")
        if array.dtype.kind == "U":
            array = array.astype(object)
        name = self._name()
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def sum(self, parts: Sequence[str]) -> str:
        """The sum of several results."""
        return parts[0] if len(parts) == 1 else self.node("Sum", *parts)

    def affine(self, X: str, weights: np.ndarray, constant: Any) -> str:
        """X W + b."""
        product = self.node("MatMul", X, self.constant(np.asarray(weights, dtype=np.float64)))
        return self.node("Add", product, self.constant(np.asarray(constant, dtype=np.float64)))

    def input(self, column: str, *, text: bool, width: int = 1) -> str:
        """Add an input of the shape (N, width); its name, the column's own where that is free."""
        from onnx import TensorProto, helper

        name = column
        while name in ("", *OUTPUTS) or (name != column and name in self._columns):
            name = f"column {name}"
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self._taken.append(helper.make_tensor_value_info(name, kind, ["N", width]))
        self.inputs[name] = column
        return name

    def output(self, name: str, result: str, kind: np.dtype, width: int = 0) -> None:
        """Promise a result under a name of `OUTPUTS`, of the shape (N,), or (N, width)."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [result], [name]))
        number = helper.np_dtype_to_tensor_dtype(kind)
        shape: list[str | int | None] = ["N", width] if width else ["N"]
        self._given.append(helper.make_tensor_value_info(name, number, shape))

    def model(self) -> Any:
        """The whole as an ONNX model, checked."""
        from onnx import checker, helper

        graph = helper.make_graph(
            self._nodes, "tunescope", self._taken, self._given, initializer=self._constants
        )
        opsets = [helper.make_opsetid(*pair) for pair in OPSETS.items()]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        checker.check_model(made)
        return made
