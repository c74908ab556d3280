"""What an exported model says of itself, carried inside its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.datasets.dataset import SampleFacts
from core.json_reading import read_as
from core.records import Record, optional
from core.tuning.run_results import EvaluationFacts, Scores

ATTRIBUTE = "tunescope_"


@dataclass(frozen=True, kw_only=True)
class ModelCard(Record):
    """The run of a model, and how new rows are read for it.

    Attributes:
        exported: which of the run's models it is (core.export.exportable_models).
        models: the names of the models that it is or averages, where several were tuned.
        features: the columns that it takes, in its order; text: those that it takes as text.
        columns: all of the training file.
        format, read_csv, libsvm, fingerprint: of that file, as in its DataSource.
        fitted_rows: how many rows it was fitted on.
        training: what these were like (core.tuning.results.training_columns.TrainingRows), a text.
        interval: the PredictionInterval around predicted numbers.
        versions: {library: version} that fitted it.
        dates, inputs, classes: of ONNX: {column: format of its dates}, {input: column}, labels.
    """

    run: str = ""
    model: str = ""
    exported: str = ""
    models: list[str] | None = optional()
    strategy: str = ""
    task: str = ""
    target: str
    features: list[str]
    text: list[str]
    columns: list[str]
    format: str
    read_csv: dict[str, Any]
    libsvm: dict[str, Any]
    fingerprint: str = ""
    validation: Scores = field(default_factory=dict)
    test: Scores = field(default_factory=dict)
    fitted_rows: int = 0
    sampled: SampleFacts | None = optional()
    training: Any = optional()  # strangers may have written anything
    interval: Any = optional()
    evaluation: EvaluationFacts | None = None
    versions: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] | None = optional()
    inputs: dict[str, str] | None = optional()
    classes: list[Any] | None = optional()


def card_of(pipeline: Any) -> ModelCard | None:
    """The card of an exported pipeline; None for one from elsewhere."""
    try:
        return read_as(ModelCard, getattr(pipeline, ATTRIBUTE, None))
    except ValueError:
        return None
