"""The ONNX export: preparation and model in one file for any ONNX runtime.

Inputs have the columns' names, (N, 1) each, and take what `INPUTS` says; LIBSVM rows are one input,
(N, features). Outputs are "prediction" (N) and, for classes, "probabilities" (N, K) in the order of
the classes, or "scores" (N, K) where there are none. The metadata hold the model's card.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import moments
from core.datasets.column_format import seconds_since_1970
from core.errors import UnusableError
from core.estimators.optional_parts import optional_module
from core.export.files.model_file import with_card
from core.export.finished_run import FinishedRun
from core.export.onnx.graph_check import graph_fault
from core.export.onnx.onnx_nodes import add_model
from core.export.onnx.rows import MATRIX, date_formats, rows_graph
from core.export.raw_rows import ATTRIBUTE, ModelCard
from core.json_reading import read_as
from core.ordinary_files import read_ordinary

KEY = "tunescope"  # of the metadata
# In the file, for whoever feeds it; "formats" of the metadata says how cells are written.
INPUTS = (
    "Inputs take values as they are read, not as files write them: numbers without units and signs "
    "between thousands (NaN where missing), dates as seconds since 1970 in UTC, texts in the "
    'spelling of the training rows ("" where missing).'
)
CHUNK_ROWS = 1000  # rows that are predicted together: kernels of all rows would fill the memory


def write(run: FinishedRun, path: Path) -> None:
    """Write the model."""
    path.write_bytes(onnx_model(with_card(run)).SerializeToString())


def onnx_model(pipeline: Any) -> Any:
    """The ONNX model of a fitted pipeline in scikit-learn's own classes, with its card."""
    helper = optional_module("onnx", "onnx").helper
    prepare, model = pipeline.named_steps["prepare"], pipeline[-1]
    graph, X = rows_graph(prepare)
    labels = np.asarray(getattr(model, "classes_", []))
    if labels.size:
        outputs = add_model(graph, X, model)
        prediction = graph.add_node("Gather", labels, outputs.class_index)
        scores_name = "probabilities" if outputs.has_probabilities else "scores"
        # Text has no length in the file.
        label_type = np.dtype(object) if labels.dtype.kind == "U" else labels.dtype
        graph.add_output("prediction", prediction, label_type)
        graph.add_output(scores_name, outputs.scores, np.dtype(float), len(labels))
    else:
        number = graph.add_node("Reshape", add_model(graph, X, model), [-1])
        graph.add_output("prediction", number, np.dtype(float))
    model_proto = graph.model_proto()
    model_proto.doc_string = INPUTS
    card = getattr(pipeline, ATTRIBUTE, {})
    card = {**card, "dates": date_formats(prepare), "inputs": graph.inputs}
    card["classes"] = labels.tolist()
    helper.set_model_props(model_proto, {KEY: json.dumps(card, ensure_ascii=False)})
    return model_proto


class OnnxModel:
    """An open ONNX file of this program, which predicts raw rows as its pipeline does."""

    def __init__(self, path: Path) -> None:
        runtime = optional_module("onnx", "onnxruntime")
        optional_module("onnx", "onnx")
        fault = "this is no ONNX model, or it is damaged"
        try:
            content = read_ordinary(path)
            if strange := graph_fault(content):
                fault = f"this ONNX model is not opened: {strange}"
                raise ValueError(fault)
            options = runtime.SessionOptions()
            # It would write warnings to standard error, past every handler.
            options.log_severity_level = 4
            # A second attempt would be announced on standard output.
            self._session = runtime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
            card_text = self._session.get_modelmeta().custom_metadata_map.get(KEY, "{}")
            self.card = read_as(ModelCard, json.loads(card_text))
        except Exception as error:
            # The runtime raises exceptions of its own for damaged bytes.
            raise UnusableError(fault, where=str(path), cure="export the model again") from error
        self.classes_: list[Any] = self.card.classes or []  # empty for regression

    def outputs(self, rows: Any) -> dict[str, np.ndarray]:
        """Predictions (N,) and, for classes, "probabilities" or "scores", (N, K).

        A ValueError where the graph cannot take these rows.
        """
        names = [str(session_output.name) for session_output in self._session.get_outputs()]
        try:
            chunks = [
                self._session.run(names, self._session_inputs(rows[start : start + CHUNK_ROWS]))
                for start in range(0, max(rows.shape[0], 1), CHUNK_ROWS)
            ]
        except (MemoryError, LookupError):
            raise
        except Exception as error:  # the runtime's own have no common class
            raise ValueError(str(error)) from error
        joined = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
        return dict(zip(names, joined, strict=True))

    def _session_inputs(self, rows: Any) -> dict[str, np.ndarray]:
        if not isinstance(rows, pd.DataFrame):
            return {MATRIX: rows.toarray()}
        dates, columns = self.card.dates or {}, {}
        for session_input in self._session.get_inputs():
            # Files of earlier versions call every input by its column's name.
            source = (self.card.inputs or {}).get(session_input.name, session_input.name)
            values = rows[source]
            if session_input.type == "tensor(string)":
                column = values.astype(object).where(values.notna(), "").astype(str).to_numpy()
            elif source in dates:
                column = seconds_since_1970(moments(values, dates[source]))
            else:
                column = values.to_numpy(dtype=np.float64, na_value=np.nan)
            columns[session_input.name] = column.reshape(-1, 1)
        return columns
