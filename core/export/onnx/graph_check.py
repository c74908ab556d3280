"""What of a stranger's ONNX file reaches the runtime: plain graphs of the operators of our exports.

What another graph could ask for is not run: other files' bytes, loops, functions, libraries' own
operators, and results of a size of its choosing.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

OPERATORS = {
    "": "Abs Add ArgMax Cast Clip Concat Div Equal Exp Expand Floor Gather Greater GreaterOrEqual"
    " Identity IsNaN MatMul Max Mul ReduceMax ReduceSum ReduceSumSquare Relu Reshape Shape Sigmoid"
    " Slice Softmax Sqrt Sub Sum Tanh TopK Unsqueeze Where",
    "ai.onnx.ml": "LabelEncoder OneHotEncoder TreeEnsembleRegressor",
}


def graph_fault(content: bytes) -> str:
    """Why the file of a graph is not opened, a clause, or ""; protobuf raises for no ONNX file."""
    from onnx import ModelProto

    model = ModelProto.FromString(content)
    graph = model.graph
    for node in graph.node:
        if node.op_type not in OPERATORS.get(node.domain, "").split():
            name = f"{node.domain}.{node.op_type}".strip(".")[:60]
            return f"it asks for “{name}”, which no model of Tunescope has"
        if not all([*node.input, *node.output]):  # the runtime would follow it nowhere
            return "a value without a name goes into a node"
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    if any(attribute.HasField("g") or attribute.graphs for attribute in attributes):
        return "a graph is inside of another"
    if model.functions or model.training_info or graph.sparse_initializer:
        return "it holds functions or sparse constants"
    tensors = [tensor for item in attributes for tensor in (item.t, *item.tensors)]
    tensors += graph.initializer
    if any(tensor.external_data or tensor.data_location for tensor in tensors):
        return "it takes constants from another file"
    # A value takes a byte at least, and the runtime makes room for what is stated.
    if any(min(t.dims, default=0) < 0 or math.prod(t.dims) > len(content) for t in tensors):
        return "a constant is larger than the file"
    return "" if all(_expands_to_rows(graph)) else "a result has a size that the file chooses"


def _expands_to_rows(graph: Any) -> Iterator[bool]:
    """Of every Expand, whether its shape is one row's for every row."""
    from onnx import numpy_helper

    node_of = {name: node for node in graph.node for name in node.output}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Expand":
            sizes = node_of.get(node.input[1]) if len(node.input) == 2 else None
            yield sizes is not None and sizes.op_type == "Concat"
            for name in sizes.input if sizes else ():
                if name in constants:
                    yield bool(np.all(numpy_helper.to_array(constants[name]) == 1))
                else:
                    yield name in node_of and node_of[name].op_type == "Shape"
