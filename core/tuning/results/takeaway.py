"""The takeaway: what export and prediction must know about the fitted best, beside the model."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import Any

from core.datasets.dataset import Column, Dataset, Source
from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_PARTS
from core.tuning.typed_json import read_as

_OF_COLUMN = tuple(f.name for f in fields(Column))
FILE_NAME = "best.json"


@dataclass(frozen=True)
class Takeaway:
    """Plain data that JSON takes; it lies beside the fitted pipeline in the run folder.

    Attributes:
        dataset: the dataset's name.
        source: the data file as `Source` describes it, as a dict.
        test_source: the second file likewise; empty where rows were held out.
        columns: every column of the file as `Column` describes it, as dicts.
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
        judged: penalties, group_of_output and noise_variance of the model that was tested, where
            the one that is kept is another with learned penalties; empty otherwise.
        standardize: whether a linear model sees standardized columns.
        threshold: the probability from which on a row is called the second of two classes; None
            where the likelier one is.
        findings: what a person should know about the data, sentences.
        set_aside: rows without a target, left out.
        versions: {library: version} that fitted the model.
        sampled: where rows of a larger file were drawn: how many, of how many, with which seed, as
            of the dataset; empty otherwise.
        taught: other rows of the file that the pipeline that is kept learned from, in parts.
        training: what the rows it was fitted on were like (training_rows.TrainingRows); empty where
            that is not told, or was not yet.
    """

    dataset: str
    source: dict[str, Any]
    target: str
    task: str
    columns: list[dict[str, Any]]
    feature_names: list[str]
    rows: int
    train_rows: list[int]
    test_rows: list[int]
    classes: list[Any] = field(default_factory=list)
    test_source: dict[str, Any] = field(default_factory=dict)
    fitted_rows: list[int] = field(default_factory=list)
    penalties: dict[str, float] = field(default_factory=dict)
    group_names: list[str] = field(default_factory=list)
    group_of_output: list[int] = field(default_factory=list)
    output_names: list[str] = field(default_factory=list)
    noise_variance: float | None = None
    refitted: bool = False
    judged: dict[str, Any] = field(default_factory=dict)
    standardize: bool = True
    threshold: float | None = None
    findings: list[str] = field(default_factory=list)
    set_aside: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    sampled: dict[str, Any] = field(default_factory=dict)
    taught: int = 0
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def kept_rows(self) -> int:
        """How many rows the pipeline that is kept was fitted on."""
        fitted = self.rows if self.refitted else len(self.fitted_rows or self.train_rows)
        return fitted + self.taught

    def as_json(self) -> str:
        """One JSON document; `read_takeaway` reads it from the folder."""
        return json.dumps(vars(self), ensure_ascii=False)


@dataclass(frozen=True)
class Penalties:
    """What a penalty learner found.

    Attributes:
        penalties: {group: C} in the order of the groups.
        group_of_output: the index of every prepared column's group.
        noise_variance: σ² of a linear model.
    """

    penalties: Mapping[str, float]
    group_of_output: Iterable[int] = ()
    noise_variance: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same in plain numbers."""
        noise = self.noise_variance
        return {
            "penalties": {name: float(C) for name, C in self.penalties.items()},
            "group_of_output": [int(group) for group in self.group_of_output],
            "noise_variance": None if noise is None else float(noise),
        }


NO_PENALTIES = Penalties({})


def takeaway_of(
    dataset: Dataset,
    train_rows: Iterable[int],
    test_rows: Iterable[int],
    *,
    fitted_rows: Iterable[int] = (),
    output_names: Iterable[str] = (),
    penalties: Penalties = NO_PENALTIES,
) -> Takeaway:
    """The takeaway of a pipeline fitted on rows of a dataset and not refitted on others.

    Args:
        dataset: the data.
        train_rows: the rows it was fitted on.
        test_rows: the rows that gave the test score, of ``dataset.test`` if there is one.
        fitted_rows: of train_rows those that it was fitted on; none for all.
        output_names: the names of the prepared columns.
        penalties: those that were learned.
    """
    return Takeaway(
        dataset=dataset.name,
        source=_source(dataset.source),
        target=dataset.target_name,
        task=dataset.task,
        columns=[_described(column) for column in dataset.columns],
        feature_names=dataset.feature_names,
        rows=dataset.rows,
        train_rows=[int(row) for row in train_rows],
        test_rows=[int(row) for row in test_rows],
        fitted_rows=[int(row) for row in fitted_rows],
        classes=_plain(list(dataset.classes)),
        test_source=_source(dataset.test.source) if dataset.test is not None else {},
        group_names=list(penalties.penalties),
        output_names=list(output_names),
        **penalties.as_dict(),
        findings=[finding.sentence for finding in dataset.findings],
        set_aside=dataset.set_aside,
        versions=versions(),
    )


def read_takeaway(folder: Path) -> Takeaway:
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
        return read_as(Takeaway, plain)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableError(
            "the description of the fitted model is empty, cut off or damaged",
            where=str(path),
            cure="go on with the run (resume --trials 1), which writes it anew",
        ) from error


def versions(extra: str = "") -> dict[str, str]:
    """The versions of Python and of the libraries that fitted a model.

    Args:
        extra: the optional part that the model needs.
    """
    further = OPTIONAL_PARTS[extra].modules if extra else ()
    libraries = ("scikit-learn", *further, "numpy", "scipy", "pandas", "tunescope")
    found = {"python": platform.python_version()}
    for library in libraries:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue  # run from a checkout: the program itself is not installed
    return found


def _described(column: Column) -> dict[str, Any]:
    # Not asdict: a sparse file may have millions of columns, and its deep copies take minutes.
    said = {name: getattr(column, name) for name in _OF_COLUMN}
    counts = {"missing": int(column.missing), "distinct": int(column.distinct)}
    return {**said, **counts, "categories": list(column.categories)}


def _source(source: Source) -> dict[str, Any]:
    return _plain({f.name: getattr(source, f.name) for f in fields(Source)})


def _plain(value: Any) -> Any:
    """The same with numpy's numbers and tuples as JSON's own."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value
