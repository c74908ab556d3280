"""An ONNX graph that grows node by node, in double precision."""

from collections.abc import Sequence
from typing import Any

import numpy as np

OUTPUTS = ("prediction", "probabilities", "scores")
OPSETS = {"": 18, "ai.onnx.ml": 3}  # of operators; every runtime of the last years has them
DOUBLE = 11  # ONNX's number of the type double
IR_VERSION = 8  # of the file's form, that of these operators


class OnnxGraph:
    """Nodes in order, constants, inputs and outputs; `columns` are the names of all inputs."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.inputs: dict[str, str] = {}  # {input: column}, in order
        self._columns = frozenset(columns)
        self._prefix = "tunescope:"
        # Inputs are named like the columns, so that no other name may begin as one of these.
        while any(column.startswith(self._prefix) for column in columns):
            self._prefix = "_" + self._prefix
        self._count = 0
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._graph_inputs: list[Any] = []
        self._graph_outputs: list[Any] = []

    def _next_name(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def add_node(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output; its name. Inputs are names, or values of constants."""
        return self.add_multi_output_node(kind, 1, *inputs, domain=domain, **attributes)[0]

    def add_multi_output_node(
        self, kind: str, results: int, *inputs: Any, domain: str = "", **attributes: Any
    ) -> list[str]:
        from onnx import helper

        names = [self._next_name() for _ in range(results)]
        attributes |= {"name": names[0], "domain": domain}
        sources = [x if isinstance(x, str) else self.add_constant(x) for x in inputs]
        self._nodes.append(helper.make_node(kind, sources, names, **attributes))
        return names

    def add_constant(self, value: Any) -> str:
        """Add a constant array, numbers double unless they are integers; its name."""
        from onnx import numpy_helper

        array = np.asarray(value, order="C")
        # ONNX takes texts as objects alone.
        if array.dtype.kind == "U":
            array = array.astype(object)
        name = self._next_name()
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def add_affine(self, X: str, weights: np.ndarray, constant: Any) -> str:
        """X W + b."""
        W, b = (np.asarray(array, dtype=np.float64) for array in (weights, constant))
        return self.add_node("Add", self.add_node("MatMul", X, W), b)

    def add_input(self, column: str, *, text: bool, width: int = 1) -> str:
        """Add an input of the shape (N, width); its name, the column's own where that is free."""
        from onnx import TensorProto, helper

        name = column
        # An input may not be called like an output, nor like another column.
        while name in ("", *OUTPUTS) or (name != column and name in self._columns):
            name = f"column {name}"
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self._graph_inputs.append(helper.make_tensor_value_info(name, kind, ["N", width]))
        self.inputs[name] = column
        return name

    def add_output(self, name: str, result: str, kind: np.dtype, width: int = 0) -> None:
        """Add a result as an output of `OUTPUTS`, of the shape (N,), or (N, width)."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [result], [name]))
        number = helper.np_dtype_to_tensor_dtype(kind)
        shape: list[str | int | None] = ["N", width] if width else ["N"]
        self._graph_outputs.append(helper.make_tensor_value_info(name, number, shape))

    def model_proto(self) -> Any:
        """The graph as an ONNX model, checked."""
        from onnx import checker, helper

        graph = helper.make_graph(
            self._nodes,
            "tunescope",
            self._graph_inputs,
            self._graph_outputs,
            initializer=self._constants,
        )
        opsets = [helper.make_opsetid(*pair) for pair in OPSETS.items()]
        model_proto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        checker.check_model(model_proto)
        return model_proto
