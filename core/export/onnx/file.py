"""The ONNX export: preparation and model in one file that runs wherever an ONNX runtime is.

Inputs have the columns' names, (N, 1) each: double for numbers (NaN where missing) and dates
(seconds since 1970), text for the others ("" where missing). A column called like an output, or not
at all, has "column " before its name; "inputs" in the metadata says which column each input takes.
A LIBSVM file's rows are one input of the shape (N, features).

Outputs are "prediction" (N) and, for classes, "probabilities" (N, K) in the order of the classes,
or "scores" (N, K) where the model has no probabilities. Numbers are calculated in double precision.
What `tunescope predict` must know lies in the file's metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import UnusableError
from core.estimators.optional_parts import optional_module
from core.export.files.model_card import card_of, with_card
from core.export.finished_run import FinishedRun
from core.export.onnx.model import classes, numbers
from core.export.onnx.rows import MATRIX, date_formats, rows_graph

KEY = "tunescope"  # of the metadata
AT_ONCE = 1000  # rows that are predicted together: kernels of all rows would fill the memory


def write(run: FinishedRun, path: Path) -> None:
    """Write the model.

    Raises:
        UnusableError: the optional part is missing, or ONNX has no counterpart of a part of it.
    """
    path.write_bytes(onnx_model(with_card(run)).SerializeToString())


def onnx_model(pipeline: Any) -> Any:
    """The ONNX model of a fitted pipeline in scikit-learn's own classes, with its card.

    Raises:
        UnusableError: as `write`.
    """
    helper = optional_module("onnx", "onnx").helper
    prepare, model = pipeline.named_steps["prepare"], pipeline[-1]
    graph, X = rows_graph(prepare)
    labels = np.asarray(getattr(model, "classes_", []))
    if labels.size:
        said = classes(graph, X, model)
        named = graph.node("Gather", graph.constant(labels), said.place)
        degrees = "probabilities" if said.probable else "scores"
        graph.output("prediction", named, _kept(labels))
        graph.output(degrees, said.degrees, np.dtype(float), len(labels))
    else:
        flat = graph.constant(np.array([-1]))
        number = graph.node("Reshape", numbers(graph, X, model), flat)
        graph.output("prediction", number, np.dtype(float))
    made = graph.model()
    card = {**card_of(pipeline), "dates": date_formats(prepare), "inputs": graph.inputs}
    card["classes"] = labels.tolist()
    helper.set_model_props(made, {KEY: json.dumps(card, ensure_ascii=False)})
    return made


def _kept(labels: np.ndarray) -> np.dtype:
    """The type of labels in the file, where text has no length."""
    return np.dtype(object) if labels.dtype.kind == "U" else labels.dtype


class OnnxModel:
    """An ONNX file of this program, open: it predicts raw rows as its pipeline does.

    Attributes:
        card: what it says about itself (core.export.files.model_card).
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

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs, in order."""
        return [str(taken.name) for taken in self._session.get_inputs()]

    def outputs(self, rows: Any) -> dict[str, np.ndarray]:
        """Predictions (N,), and where there are classes "probabilities" or "scores", (N, K).

        Args:
            rows: as `core.export.raw_rows.read_rows` gives them for the card.
        """
        names = [str(given.name) for given in self._session.get_outputs()]
        parts = [
            self._session.run(names, self._taken(rows[start : start + AT_ONCE]))
            for start in range(0, max(rows.shape[0], 1), AT_ONCE)
        ]
        joined = (np.concatenate(part) for part in zip(*parts, strict=True))
        return dict(zip(names, joined, strict=True))

    def _taken(self, rows: Any) -> dict[str, np.ndarray]:
        """Some rows as the inputs take them."""
        if not isinstance(rows, pd.DataFrame):
            return {MATRIX: rows.toarray()}
        dates, columns = self.card["dates"], {}
        for taken in self._session.get_inputs():
            # Files of earlier versions call every input by its column's name.
            source = self.card.get("inputs", {}).get(taken.name, taken.name)
            values = rows[source]
            if taken.type == "tensor(string)":
                column = values.astype(object).where(values.notna(), "").astype(str).to_numpy()
            elif source in dates:
                column = seconds(values, dates[source])
            else:
                column = values.to_numpy(dtype=np.float64, na_value=np.nan)
            columns[taken.name] = column.reshape(-1, 1)
        return columns


def seconds(values: pd.Series, form: str) -> np.ndarray:
    """Dates as text to seconds since 1970, NaN for what is none."""
    read = pd.to_datetime(values, errors="coerce", format=form, utc=True)
    found = read.to_numpy(dtype="datetime64[s]")
    return np.where(np.isnat(found), np.nan, found.astype(np.int64).astype(np.float64))
