"""The ONNX export: preparation and model in one file that runs wherever an ONNX runtime is.

Inputs have the columns' names, (N, 1) each: double for numbers (NaN where missing) and dates
(seconds since 1970), text for the others ("" where missing). A LIBSVM file's rows are one input of
the shape (N, features). Outputs are "prediction" (N) and, for classes, "probabilities" (N, K) in
the order of the classes. What `tunescope predict` must know lies in the file's metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.estimators.optional_parts import optional_module
from core.export.finished_run import FinishedRun
from core.export.model_card import card_of, with_card
from core.export.onnx_model import OPSETS, converted
from core.export.onnx_rows import MATRIX, date_formats, rows_graph

KEY = "tunescope"  # of the metadata
AT_ONCE = 10_000  # rows of a sparse file that are made dense together


def write(run: FinishedRun, path: Path) -> None:
    """Write the model.

    Raises:
        UnusableError: the optional part is missing, or ONNX has no counterpart of a part of it.
    """
    path.write_bytes(onnx_model(with_card(run)).SerializeToString())


def onnx_model(pipeline: Any) -> Any:
    """The ONNX model of a fitted pipeline in scikit-learn's own classes, with its card."""
    prepare, model = pipeline.named_steps["prepare"], pipeline[-1]
    made = converted(model, int(model.n_features_in_))
    from onnx import checker, compose, helper

    # Its names must not meet those of columns and of what is promised.
    made = compose.add_prefix(made, "model_", rename_inputs=False)
    rows = rows_graph(prepare)
    del made.graph.input[:]
    made.graph.input.extend(rows.inputs)
    made.graph.initializer.extend(rows.constants)
    behind = list(made.graph.node)
    del made.graph.node[:]
    made.graph.node.extend([*rows.nodes, *behind, *_named_outputs(made.graph, model)])
    del made.opset_import[:]
    made.opset_import.extend(helper.make_opsetid(*pair) for pair in OPSETS.items())
    card = {**card_of(pipeline), "dates": date_formats(prepare)}
    card["classes"] = np.asarray(getattr(model, "classes_", [])).tolist()
    helper.set_model_props(made, {KEY: json.dumps(card, ensure_ascii=False)})
    checker.check_model(made)
    return made


def _named_outputs(graph: Any, model: Any) -> list[Any]:
    """Nodes that give the outputs the names that are promised; the graph's own are replaced."""
    from onnx import TensorProto, helper

    found = [output.name for output in graph.output]
    kinds = [output.type.tensor_type.elem_type for output in graph.output]
    del graph.output[:]
    nodes = []
    shapes: dict[str, list[Any]] = {"prediction": ["N"]}
    if hasattr(model, "predict_proba"):
        shapes["probabilities"] = ["N", len(model.classes_)]
        kinds[1] = TensorProto.FLOAT
    flat = helper.make_node("Constant", [], ["flat"], value_ints=[-1])
    for old, kind, (new, shape) in zip(found, kinds, shapes.items(), strict=True):
        graph.output.append(helper.make_tensor_value_info(new, kind, shape))
        if new == "prediction":  # regressors give (N, 1)
            nodes += [flat, helper.make_node("Reshape", [old, "flat"], [new])]
        else:
            nodes.append(helper.make_node("Identity", [old], [new]))
    return nodes


class OnnxModel:
    """An ONNX file of this program, open: it predicts raw rows as its pipeline does.

    Attributes:
        card: what it says about itself (core.export.model_card).
        classes_: the labels; empty for regression.
    """

    def __init__(self, path: Path) -> None:
        runtime = optional_module("onnx", "onnxruntime")
        try:
            how = runtime.SessionOptions()
            how.log_severity_level = 4
            self._session = runtime.InferenceSession(
                str(path), how, providers=["CPUExecutionProvider"]
            )
            said = self._session.get_modelmeta().custom_metadata_map.get(KEY, "{}")
            self.card: dict[str, Any] = json.loads(said)
        except Exception as error:
            # The runtime raises kinds of its own for damaged bytes; each means the same here.
            raise UnusableError(
                "this is no ONNX model, or it is damaged",
                where=str(path),
                cure="export the model again",
            ) from error
        self.classes_: list[Any] = self.card.get("classes", [])

    def outputs(self, rows: Any) -> list[np.ndarray]:
        """Predictions (N,), and probabilities (N, K) where there are classes.

        Args:
            rows: as `core.export.raw_rows.read_rows` gives them for the card.
        """
        if isinstance(rows, pd.DataFrame):
            return list(self._session.run(None, self._columns(rows)))
        parts = [
            self._session.run(None, {MATRIX: rows[start : start + AT_ONCE].toarray()})
            for start in range(0, max(rows.shape[0], 1), AT_ONCE)
        ]
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def _columns(self, rows: pd.DataFrame) -> dict[str, np.ndarray]:
        dates, columns = self.card["dates"], {}
        for taken in self._session.get_inputs():
            values = rows[taken.name]
            if taken.type == "tensor(string)":
                column = values.astype(object).where(values.notna(), "").astype(str).to_numpy()
            elif taken.name in dates:
                column = seconds(values, dates[taken.name])
            else:
                column = values.to_numpy(dtype=np.float64, na_value=np.nan)
            columns[taken.name] = column.reshape(-1, 1)
        return columns


def seconds(values: pd.Series, form: str) -> np.ndarray:
    """Dates as text to seconds since 1970, NaN for what is none."""
    read = pd.to_datetime(values, errors="coerce", format=form, utc=True)
    found = read.to_numpy(dtype="datetime64[s]")
    return np.where(np.isnat(found), np.nan, found.astype(np.int64).astype(np.float64))
