"""Graphs that no export writes are refused before the runtime sees them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import UnusableError
from core.export.onnx.graph import OnnxGraph
from core.export.onnx.graph_check import graph_fault
from core.export.prediction import predict_file

pytest.importorskip("onnx.helper")  # a folder of tests has the name of the library
onnx = pytest.importorskip("onnx")


@pytest.fixture
def model() -> Any:
    """The same row for every row, times a constant."""
    graph = OnnxGraph(["a"])
    x = graph.add_input("a", text=False)
    shape = graph.add_node("Concat", graph.add_node("Shape", x, start=0, end=1), [1], axis=0)
    rows = graph.add_node("Expand", np.array([[2.0]]), shape)
    result = graph.add_node("Reshape", graph.add_node("Mul", rows, x), [-1])
    graph.add_output("prediction", result, np.dtype(float))
    return graph.model_proto()


def node(model: Any, kind: str) -> Any:
    return next(node for node in model.graph.node if node.op_type == kind)


def constant(model: Any, kind: str) -> Any:
    """The last constant that a node takes."""
    names = list(node(model, kind).input)
    return [tensor for tensor in model.graph.initializer if tensor.name in names][-1]


def add_outer_file(model: Any) -> None:
    tensor = constant(model, "Expand")
    tensor.data_location = 1
    tensor.external_data.add(key="location", value="../key")


def add_inner_graph(model: Any) -> None:
    body = onnx.helper.make_graph([], "body", [], [])
    node(model, "Mul").attribute.append(onnx.helper.make_attribute("body", body))


def add_outer_file_as_attribute(model: Any) -> None:
    tensor = onnx.TensorProto(data_type=1, dims=[1], data_location=1)
    node(model, "Mul").attribute.append(onnx.helper.make_attribute("value", tensor))


def choose_size(model: Any) -> None:
    constant(model, "Concat").CopyFrom(
        onnx.numpy_helper.from_array(np.array([2**40]), constant(model, "Concat").name)
    )


def choose_whole_shape(model: Any) -> None:
    node(model, "Expand").input[1] = constant(model, "Concat").name


HOSTILE: list[tuple[Callable[[Any], object], str]] = [
    (lambda m: node(m, "Mul").__setattr__("op_type", "Loop"), "it asks for “Loop”"),
    (lambda m: node(m, "Mul").__setattr__("op_type", "ConstantOfShape"), "“ConstantOfShape”"),
    (lambda m: node(m, "Mul").__setattr__("domain", "com.microsoft"), "“com.microsoft.Mul”"),
    (lambda m: node(m, "Mul").input.append(""), "a value without a name"),
    (lambda m: m.functions.add(name="f"), "functions"),
    (lambda m: m.graph.sparse_initializer.add(), "sparse constants"),
    (lambda m: constant(m, "Expand").dims.append(2**40), "a constant is larger than the file"),
    (lambda m: constant(m, "Expand").dims.append(-1), "a constant is larger than the file"),
    (add_outer_file, "constants from another file"),
    (add_outer_file_as_attribute, "constants from another file"),
    (add_inner_graph, "a graph is inside of another"),
    (choose_size, "a size that the file chooses"),
    (choose_whole_shape, "a size that the file chooses"),
]


def test_what_an_export_writes_is_let_in(model: Any) -> None:
    assert graph_fault(model.SerializeToString()) == ""


@pytest.mark.parametrize(("change", "sentence"), HOSTILE)
def test_what_no_export_writes_is_refused(
    model: Any, tmp_path: Path, change: Callable[[Any], object], sentence: str
) -> None:
    change(model)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(UnusableError, match=sentence):
        predict_file(path, tmp_path / "rows.csv")
