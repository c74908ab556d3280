"""What export and prediction must know about the fitted best, beside the model."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from core.datasets.dataset import Column, Dataset, DataSource, SampleFacts
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.json_reading import read_as
from core.records import Record, to_plain
from core.tuning.results.training_columns import TrainingRows
from core.tuning.results.training_rows import read_training_rows

_OF_COLUMN = tuple(f.name for f in fields(Column))
FILE_NAME = "best.json"


@dataclass(frozen=True)
class ModelMetadata:
    """What lies beside the fitted pipeline in the run folder, as JSON.

    Attributes:
        dataset: the dataset's name.
        source: the data file.
        test_source: the second file; None where rows were held out.
        columns: every column of the file.
        feature_names: the columns the pipeline takes, in its order.
        target: the target column's name.
        task: as of the dataset.
        classes: the sorted class labels as in the file; empty for regression.
        rows: rows with a known target in the first file.
        train_rows: which of them the model that was tested was fitted on, counted from 0, in order;
            all, as test_rows, where every row was tested by models of outer folds.
        refitted: whether the pipeline that is kept was fitted again, on all rows.
        test_rows: which of them (or of the second file) gave the test score.
        fitted_rows: the training rows that the members of an average were fitted on, where the
            others were held out to judge them; empty where all were.
        penalties: {group: C} of a penalty learner, on the scale of ½ Σ_j C_j ‖w_j‖² beside the
            loss; empty otherwise.
        group_names: the groups in order.
        group_of_output: for every column of the prepared matrix, the index of its group.
        output_names: the names of those columns.
        noise_variance: σ² of a linear model whose penalties were learned (its ridge penalties are
            σ² C_j), in the unit in which the penalties were learned; None otherwise.
        judged: the penalties of the model that was tested, where the one that is kept is another
            with learned penalties.
        standardize: whether a linear model sees standardized columns.
        threshold: the probability from which on a row is called the second of two classes; None
            where the likelier one is.
        findings: what a person should know about the data, sentences.
        set_aside: rows without a target, left out.
        versions: {library: version} that fitted the model.
        sampled: where rows of a larger file were drawn: which.
        taught: other rows of the file that the pipeline that is kept learned from, in parts.
        training: what the rows it was fitted on were like; None where that is not told.
    """

    dataset: str
    source: DataSource
    target: str
    task: Task
    columns: list[Column]
    feature_names: list[str]
    rows: int
    train_rows: list[int]
    test_rows: list[int]
    classes: list[Any] = field(default_factory=list)
    test_source: DataSource | None = None
    fitted_rows: list[int] = field(default_factory=list)
    penalties: dict[str, float] = field(default_factory=dict)
    group_names: list[str] = field(default_factory=list)
    group_of_output: list[int] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)
    noise_variance: float | None = None
    refitted: bool = False
    judged: LearnedPenalties | None = None
    standardize: bool = True
    threshold: float | None = None
    findings: list[str] = field(default_factory=list)
    set_aside: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    sampled: SampleFacts | None = None
    taught: int = 0
    training: TrainingRows | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # JSON gives its name

    @property
    def kept_rows(self) -> int:
        """How many rows the pipeline that is kept was fitted on."""
        fitted = self.rows if self.refitted else len(self.fitted_rows or self.train_rows)
        return fitted + self.taught

    @property
    def learned_penalties(self) -> LearnedPenalties:
        """Those of the model that is kept."""
        return LearnedPenalties(self.penalties, self.group_of_output, self.noise_variance)

    def as_json(self) -> str:
        """One JSON document, with {} for an object that is None; `read_metadata` reads it."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        objects = ("source", "test_source", "judged", "sampled")
        plain |= {name: _to_json(to_plain(plain[name])) or {} for name in objects}
        plain["columns"] = [_column_fields(column) for column in self.columns]
        plain["training"] = self.training.as_dict() if self.training else {}
        return json.dumps(plain, ensure_ascii=False)


@dataclass(frozen=True)
class LearnedPenalties(Record):
    """What a penalty learner found.

    Attributes:
        penalties: {group: C} in the order of the groups.
        group_of_output: the index of every prepared column's group.
        noise_variance: σ² of a linear model.
    """

    penalties: dict[str, float]
    group_of_output: list[int] = field(default_factory=list)
    noise_variance: float | None = None


NO_PENALTIES = LearnedPenalties({})


def model_metadata(
    dataset: Dataset,
    train_rows: Iterable[int],
    test_rows: Iterable[int],
    *,
    fitted_rows: Iterable[int] = (),
    output_names: Iterable[str] = (),
    penalties: LearnedPenalties = NO_PENALTIES,
) -> ModelMetadata:
    """The takeaway of a pipeline fitted on rows of a dataset and not refitted on others.

    Args:
        dataset: the data.
        train_rows: the rows it was fitted on.
        test_rows: the rows that gave the test score, of ``dataset.test`` if there is one.
        fitted_rows: of train_rows those that it was fitted on; none for all.
        output_names: the names of the prepared columns.
        penalties: those that were learned.
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
        classes=_to_json(list(dataset.classes)),
        test_source=dataset.test.source if dataset.test is not None else None,
        group_names=list(penalties.penalties),
        output_names=list(output_names),
        penalties=_to_json(penalties.penalties),
        group_of_output=_to_json(list(penalties.group_of_output)),
        noise_variance=_to_json(penalties.noise_variance),
        findings=[finding.sentence for finding in dataset.findings],
        set_aside=dataset.set_aside,
        versions=versions(),
    )


def read_metadata(folder: Path) -> ModelMetadata:
    """The takeaway in a run folder. Fields of newer versions are passed over.

    Raises:
        FileNotFoundError: the run has no fitted best yet.
        UnusableError: it is damaged.
    """
    path = folder / FILE_NAME
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(plain, dict):
            raise ValueError("it is no object")
        training = plain.pop("training", None)
        metadata = read_as(
            ModelMetadata, {name: value for name, value in plain.items() if value != {}}
        )
        return replace(metadata, training=read_training_rows(training, metadata.feature_names))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableError(
            "the description of the fitted model is empty, cut off or damaged",
            where=str(path),
            cure="continue the run (resume --trials 1), which writes it anew",
        ) from error


def versions(extra: str = "") -> dict[str, str]:
    """The versions of Python and of the libraries that fitted a model.

    Args:
        extra: the optional part that the model needs.
    """
    optional_modules = OPTIONAL_DEPENDENCIES[extra].modules if extra else ()
    libraries = ("scikit-learn", *optional_modules, "numpy", "scipy", "pandas", "tunescope")
    version_by_library = {"python": platform.python_version()}
    for library in libraries:
        try:
            version_by_library[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue  # run from a checkout: the program itself is not installed
    return version_by_library


def _column_fields(column: Column) -> dict[str, Any]:
    # Not asdict: a sparse file may have millions of columns, and its deep copies take minutes.
    column_fields = {name: getattr(column, name) for name in _OF_COLUMN}
    counts = {"missing": int(column.missing), "distinct": int(column.distinct)}
    return {**column_fields, **counts, "categories": list(column.categories)}


def _to_json(value: Any) -> Any:
    """The same with numpy's numbers and tuples as JSON's own."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(inner) for inner in value]
    return value.item() if hasattr(value, "item") else value
