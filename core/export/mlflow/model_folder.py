"""MLflow model folders, whose flavour `python_function` predicts without this program.

MLmodel, conda.yaml, python_env.yaml, requirements.txt, input_example.json, README.md (the card),
model.skops or model.npz, and code/tunescope_model_DIGEST.py, which opens it. All are plain files:
MLflow itself is not needed to write them.
"""

import hashlib
import io
import json
import re
import zipfile
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from core.datasets.dataset_summary import Column
from core.estimators.stored import archive
from core.export.bundle.carrier import MODEL, arrays_of, carrier_of, npz_bytes
from core.export.bundle.modules import program_text
from core.export.files.model_file import with_card
from core.export.finished_run import FinishedRun
from core.export.markup import yaml_text
from core.export.model_card import FOLDER_NAME, card_text
from core.export.raw_rows import card_of, formats_of_card
from core.export.script.constructor import wrapped_list
from core.export.script.data_code import format_lines
from core.records import JsonObject
from core.tuning.results.training_columns import CHOICE, DATE, TrainingColumn, category_text

_CHANGING = re.compile(r"-?(0|[1-9]\d*)|true|false", re.IGNORECASE)
_TYPES = {str: "string", bool: "boolean", int: "long", float: "double"}


def write(run: FinishedRun, folder: Path) -> None:
    """Fill a new folder."""
    is_table = carrier_of(run.plan.model) is None
    name, content, code = _table_model(run) if is_table else _array_model(run)
    digest = hashlib.sha256(content).hexdigest()
    # A name of its own: a process may load several models, and Python keeps modules by name.
    module = f"tunescope_model_{digest[:16]}"
    files = {
        name: content,
        f"code/{module}.py": code.encode(),
        FOLDER_NAME: card_text(run, "mlflow").encode(),
        **_environment_files(run, is_table),
    }
    flavour = {
        "code": "code",
        "data": name,
        "env": {"conda": "conda.yaml", "virtualenv": "python_env.yaml"},
        "loader_module": module,
        "python_version": run.takeaway.versions["python"],
    }
    model: JsonObject = {
        "flavors": {"python_function": flavour},
        "model_uuid": digest[:32],
        "signature": {name: text and json.dumps(text) for name, text in _signature(run).items()},
        "utc_time_created": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}",
    }
    if (example := _input_example(run)) is not None:
        model["saved_input_example_info"] = {
            "artifact_path": "input_example.json",
            "pandas_orient": "split",
            "serving_input_path": "serving_input_example.json",
            "type": "dataframe",
        }
        files["input_example.json"] = json.dumps(example).encode()
        files["serving_input_example.json"] = json.dumps({"dataframe_split": example}).encode()
    files["MLmodel"] = yaml_text(model).encode()
    (folder / "code").mkdir()
    for file_name, file_content in files.items():
        (folder / file_name).write_bytes(file_content)


def _table_model(run: FinishedRun) -> tuple[str, bytes, str]:
    pipeline, stream = with_card(run), io.BytesIO()
    types = archive.dump_model(pipeline, stream, zipfile.ZIP_DEFLATED)
    card = card_of(pipeline)
    assert card is not None  # the one that was just made
    formats = {} if card.format == "libsvm" else formats_of_card(card)
    blocks = [
        f"TYPES = {wrapped_list(sorted(types))}  # that are in the file",
        "\n".join(format_lines(formats)),
        "def _load_pyfunc(path):\n    return TableModel(path, TYPES, FORMATS)\n",
    ]
    modules = ("core.datasets.cell_values", "core.export.table_model")
    code = program_text("Opens the model beside this folder for MLflow.", modules, blocks)
    return "model.skops", stream.getvalue(), code


def _array_model(run: FinishedRun) -> tuple[str, bytes, str]:
    carrier = carrier_of(run.plan.model)
    assert carrier is not None
    blocks = ["def _load_pyfunc(path):\n    return ArrayModel(path, predict_table)\n"]
    modules = [*carrier.modules, "core.export.array_model"]
    return MODEL, npz_bytes(arrays_of(run)), program_text(carrier.does, modules, blocks)


def _environment_files(run: FinishedRun, is_table: bool) -> dict[str, bytes]:
    versions = run.takeaway.versions | {"skops": metadata.version("skops")}
    names = ["numpy", "scipy", "pandas", *(["scikit-learn", "skops"] if is_table else ["numba"])]
    requirements = ["mlflow", *(f"{name}=={versions[name]}" for name in names if name in versions)]
    python, build = versions["python"], ["pip", "setuptools", "wheel"]
    conda = {
        "name": "mlflow-env",
        "channels": ["conda-forge"],
        "dependencies": [f"python={python}", "pip", {"pip": requirements}],
    }
    environment = {
        "python": python,
        "build_dependencies": build,
        "dependencies": ["-r requirements.txt"],
    }
    return {
        "requirements.txt": "".join(f"{line}\n" for line in requirements).encode(),
        "conda.yaml": yaml_text(conda).encode(),
        "python_env.yaml": yaml_text(environment).encode(),
    }


def _signature(run: FinishedRun) -> JsonObject:
    takeaway, outputs = run.takeaway, None
    if carrier_of(run.plan.model) is None:
        labels = list(map(str, getattr(run.pipeline, "classes_", ())))
        predicted = labels if hasattr(run.pipeline, "predict_proba") else []
        outputs = [_field("prediction", _TYPES[type(takeaway.classes[0])] if labels else "double")]
        outputs += [_field(f"probability of {label}", "double") for label in predicted]
    if takeaway.source.format == "libsvm":
        shape = [-1, len(takeaway.feature_names)]
        inputs = [{"type": "tensor", "tensor-spec": {"dtype": "float64", "shape": shape}}]
    else:
        training = {c.name: c for c in takeaway.training.columns} if takeaway.training else {}
        names = {*takeaway.feature_names}
        columns = {c.name: c for c in takeaway.columns if c.name in names or c.role == "sequence"}
        inputs = [_field(n, _input_type(c, training.get(n))) for n, c in columns.items()]
    return {"inputs": inputs, "outputs": outputs, "params": None}


def _field(name: str, kind: str) -> JsonObject:
    return {"type": kind, "name": name, "required": True}


def _input_type(column: Column, training: TrainingColumn | None) -> str:
    if training is None:
        return "string" if column.kind in ("category", "text") else "any"
    texts = list(map(category_text, training.choices))
    # pandas has integers as floats and truth values as objects where some are missing, and dates
    # as texts or as times. MLflow takes one of these alone, and a missing truth value for false.
    is_changing = training.whole or (bool(texts) and all(map(_CHANGING.fullmatch, texts)))
    if is_changing or training.kind == DATE:
        return "any"
    return "double" if training.numeric else "string"


def _input_example(run: FinishedRun) -> JsonObject | None:
    """One row that is nobody's: of every column what is typical, missing where that is rare."""
    training = run.takeaway.training
    if training is None or not run.allows_examples or run.takeaway.source.format == "libsvm":
        return None
    names = [column.name for column in training.columns]
    return {"columns": names, "data": [list(map(_example_value, training.columns))]}


def _example_value(column: TrainingColumn) -> Any:
    value = column.typical
    if column.kind == DATE:  # not that of a row
        if column.low is None or column.high is None:
            return None
        form = "%Y-%m-%d" if column.format == "ISO8601" else column.format
        return datetime.fromtimestamp((column.low + column.high) / 2, UTC).strftime(form)
    if column.kind == CHOICE and not column.common:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value
