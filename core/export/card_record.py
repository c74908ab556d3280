"""The card of an exported model, carried inside its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.datasets.cell_values import ColumnFormat
from core.datasets.dataset import SampleFacts
from core.json_reading import read_as
from core.records import Record, optional
from core.tuning.run_results import EvaluationFacts, Scores

ATTRIBUTE = "tunescope_"


@dataclass(frozen=True, kw_only=True)
class ModelCard(Record):
    """The run of a model, and how new rows are read for it."""

    run: str = ""
    model: str = ""
    exported: str = ""  # which of the run's models (core.export.exportable_models)
    models: list[str] | None = optional()  # where several were tuned
    strategy: str = ""
    task: str = ""
    target: str
    features: list[str]  # in the model's order
    text: list[str]  # features taken as text
    columns: list[str]  # all of the training file
    format: str  # this and the next four as in the file's DataSource
    read_csv: dict[str, Any]
    libsvm: dict[str, Any]
    formats: dict[str, ColumnFormat] | None = optional()
    fingerprint: str = ""
    validation: Scores = field(default_factory=dict)
    test: Scores = field(default_factory=dict)
    fitted_rows: int = 0
    sampled: SampleFacts | None = optional()
    training: Any = optional()  # TrainingRows as text; strangers may have written anything
    interval: Any = optional()  # the PredictionInterval around predicted numbers
    evaluation: EvaluationFacts | None = None
    versions: dict[str, str] = field(default_factory=dict)  # {library: version}
    dates: dict[str, str] | None = optional()  # of ONNX: {column: format of its dates}
    inputs: dict[str, str] | None = optional()  # of ONNX: {input: column}
    classes: list[Any] | None = optional()


def card_of(pipeline: Any) -> ModelCard | None:
    """The card of an exported pipeline; None for a foreign one."""
    try:
        return read_as(ModelCard, getattr(pipeline, ATTRIBUTE, None))
    except ValueError:
        return None
