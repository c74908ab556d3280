"""What export and prediction need beside the fitted best."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from core.datasets.dataset import Dataset, DataSource, SampleFacts
from core.datasets.dataset_summary import Column
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.json_reading import read_as
from core.ordinary_files import read_ordinary
from core.records import Record, to_plain
from core.tuning.results.training_rows import TrainingRows, read_training_rows

_OF_COLUMN = tuple(f.name for f in fields(Column))
FILE_NAME = "best.json"


@dataclass(frozen=True)
class ModelMetadata:
    """The JSON file beside the fitted pipeline in the run folder."""

    dataset: str
    source: DataSource  # the data file
    target: str
    task: Task
    columns: list[Column]  # every column of the file
    feature_names: list[str]  # the columns the pipeline takes, in its order
    rows: int  # rows with a known target in the first file
    train_rows: list[int]  # indices; all, as test_rows, with outer folds
    test_rows: list[int]  # indices, in the second file if there is one
    classes: list[Any] = field(default_factory=list)  # sorted labels; empty for regression
    test_source: DataSource | None = None  # the second file; None where rows were held out
    # Training rows of an average's members, where others were held out.
    fitted_rows: list[int] = field(default_factory=list)
    # {group: C} that were learned, on the scale of ½ Σ_j C_j ‖w_j‖² beside the loss.
    penalties: dict[str, float] = field(default_factory=dict)
    group_names: list[str] = field(default_factory=list)
    group_of_output: list[int] = field(default_factory=list)  # group index of prepared columns
    output_names: list[str] = field(default_factory=list)  # the names of those columns
    # σ² of a linear model, in the unit of learning, where its ridge penalties σ² C_j were learned.
    noise_variance: float | None = None
    refitted: bool = False  # whether the final pipeline was fitted again, on all rows
    judged: LearnedPenalties | None = None  # the tested model's, where the final one's differ
    standardize: bool = True  # whether a linear model sees standardized columns
    threshold: float | None = None  # least probability for calling a row the second class
    findings: list[str] = field(default_factory=list)  # about the data, sentences
    readings: list[str] = field(default_factory=list)  # what columns were taken for, sentences
    encodings: list[str] = field(default_factory=list)  # what was encoded or filled, sentences
    set_aside: int = 0  # rows without a target, left out
    versions: dict[str, str] = field(default_factory=dict)  # of the libraries that fitted it
    sampled: SampleFacts | None = None  # which rows of a larger file were drawn
    taught: int = 0  # undrawn rows of the file that the final pipeline learned from in parts
    training: TrainingRows | None = None  # a summary of the rows it was fitted on, if there is one

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # JSON gives its name

    @property
    def kept_rows(self) -> int:
        fitted = self.rows if self.refitted else len(self.fitted_rows or self.train_rows)
        return fitted + self.taught

    @property
    def learned_penalties(self) -> LearnedPenalties:
        return LearnedPenalties(self.penalties, self.group_of_output, self.noise_variance)

    def as_json(self) -> str:
        """JSON for `read_metadata`, with {} for an object that is None."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        objects = ("source", "test_source", "judged", "sampled")
        plain |= {name: to_plain(plain[name]) or {} for name in objects}
        plain["columns"] = [_column_fields(column) for column in self.columns]
        plain["training"] = self.training.as_dict() if self.training else {}
        return json.dumps(plain, ensure_ascii=False)


@dataclass(frozen=True)
class LearnedPenalties(Record):
    """The result of a penalty learner."""

    penalties: dict[str, float]  # {group: C} in the order of the groups
    group_of_output: list[int] = field(default_factory=list)  # group index of prepared columns
    noise_variance: float | None = None  # σ² of a linear model


NO_PENALTIES = LearnedPenalties({})


def model_metadata(
    dataset: Dataset,
    train_rows: Iterable[int],
    test_rows: Iterable[int],
    *,
    fitted_rows: Iterable[int] = (),
    output_names: Iterable[str] = (),
    encodings: Iterable[str] = (),
    penalties: LearnedPenalties = NO_PENALTIES,
) -> ModelMetadata:
    """The metadata of a pipeline fitted on rows of a dataset and not refitted.

    `test_rows` are of ``dataset.test`` if there is one; `fitted_rows` none for all of train_rows.
    """
    return ModelMetadata(
        dataset=dataset.name,
        source=dataset.source,
        target=dataset.target_name,
        task=dataset.task,
        columns=list(dataset.columns),
        feature_names=dataset.feature_names,
        rows=dataset.rows,
        train_rows=[int(row) for row in train_rows],
        test_rows=[int(row) for row in test_rows],
        fitted_rows=[int(row) for row in fitted_rows],
        classes=to_plain(list(dataset.classes)),
        test_source=dataset.test.source if dataset.test is not None else None,
        group_names=list(penalties.penalties),
        output_names=list(output_names),
        penalties=to_plain(penalties.penalties),
        group_of_output=to_plain(list(penalties.group_of_output)),
        noise_variance=to_plain(penalties.noise_variance),
        findings=[finding.sentence for finding in dataset.findings],
        readings=[reading.full_sentence for reading in dataset.readings],
        encodings=list(encodings),
        set_aside=dataset.set_aside,
        versions=versions(),
    )


def read_metadata(folder: Path) -> ModelMetadata:
    """The metadata in a run folder, without fields of newer versions.

    A FileNotFoundError where the run has no fitted best yet, an UnusableError where it is damaged.
    """
    path = folder / FILE_NAME
    try:
        plain = json.loads(read_ordinary(path))
        if not isinstance(plain, dict):
            raise ValueError("it is no object")
        training = plain.pop("training", None)
        # An object that is not there is written as {}.
        present = {name: value for name, value in plain.items() if value != {}}
        metadata = read_as(ModelMetadata, present)
        return replace(metadata, training=read_training_rows(training, metadata.feature_names))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        problem = "the description of the fitted model is empty, cut off or damaged"
        cure = "continue the run (resume --trials 1), which writes it anew"
        raise UnusableError(problem, where=str(path), cure=cure) from error


def versions(extra: str = "") -> dict[str, str]:
    """Of Python and the libraries that fitted a model, of an `extra` too."""
    optional_modules = OPTIONAL_DEPENDENCIES[extra].modules if extra else ()
    libraries = ("scikit-learn", *optional_modules, "numpy", "scipy", "pandas", "tunescope")
    version_by_library = {"python": platform.python_version()}
    for library in libraries:
        try:
            version_by_library[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue  # run from a checkout: the program itself is not installed
    return version_by_library


def version_note(fitted: Mapping[str, str]) -> str:
    """Of a model that these `versions` fitted; "" where this scikit-learn is alike."""
    used, fitter = metadata.version("scikit-learn"), fitted.get("scikit-learn", "")[:20]
    if not fitter or fitter.split(".")[:2] == used.split(".")[:2]:
        return ""
    return (
        f"The model was fitted with scikit-learn {fitter} and is used with {used}: predictions may"
        " differ from those that were tested."
    )


def _column_fields(column: Column) -> dict[str, Any]:
    # Not asdict: a sparse file may have millions of columns, and its deep copies take minutes.
    column_fields = {name: getattr(column, name) for name in _OF_COLUMN}
    counts = {"missing": int(column.missing), "distinct": int(column.distinct)}
    return {**column_fields, **counts, "categories": list(column.categories)}
