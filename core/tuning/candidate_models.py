"""The models that are tuned together on a dataset: which fit it, and for how long."""

from __future__ import annotations

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.estimators.facts import ENOUGH_ROWS
from core.estimators.multi_model import selectable_models
from core.estimators.registry import MODELS

MAX_MINUTES = 10.0
_MINUTES = ((3e4, 1.0), (3e5, 2.0), (3e6, 5.0))  # of tables with so many values at most
_REPEATS = ((500, 3), (1500, 2))  # of so many rows at most
MAX_REPEATED_VALUES = (
    1e5  # values, times the classes: of more a second division would cost too much
)
SPREAD_TRIALS = 2  # trials of a model that are spread evenly, after its default and known starts
TEXT_WIDTH = 300  # columns that a column of texts is as dear as: so many values a text has, about
MAX_DENSE_BYTES = 4e8  # bytes of a sparse table that is filled in, so that every model takes it


def stays_sparse(dataset: Dataset) -> bool:
    """Whether the columns become or stay a sparse matrix, which not every model takes."""
    if dataset.matrix is None:
        return dataset.has_texts
    rows, columns = dataset.matrix.shape
    return 8.0 * rows * columns > MAX_DENSE_BYTES


def feature_count(dataset: Dataset) -> int:
    """How many columns a table has, as far as its models' time goes by them."""
    columns = int(dataset.features.shape[1])
    if not dataset.has_texts:
        return columns
    texts = sum((c.role, c.kind) == ("feature", "text") for c in dataset.columns)
    return columns + TEXT_WIDTH * texts


def usual_minutes(dataset: Dataset) -> float:
    """How long several models are tuned where nobody said: 1 to 10 minutes, by the table's size."""
    return minutes_for(dataset.features.shape[0], feature_count(dataset), len(dataset.classes))


def minutes_for(rows: int, columns: int, classes: int) -> float:
    """The same for a table of so many rows, columns and classes (0 where a number is predicted)."""
    size = rows * columns * max(1, classes - 1)
    return next((minutes for max_size, minutes in _MINUTES if size <= max_size), MAX_MINUTES)


def usual_repeats(rows: int, columns: int, classes: int) -> int:
    """How often few rows are divided into folds, so that scores tell good from lucky settings.

    Args:
        rows: to divide.
        columns: of the table.
        classes: 0 where a number is predicted.
    """
    if rows * columns * max(1, classes - 1) > MAX_REPEATED_VALUES:
        return 1
    return next((repeat_count for max_rows, repeat_count in _REPEATS if rows <= max_rows), 1)


def candidate_models(dataset: Dataset) -> tuple[str, ...]:
    """The names of the models that are tuned together, in the order of the registry.

    Raises:
        UnusableError: no model fits the data.
    """
    sparse = stays_sparse(dataset)
    names = tuple(
        name
        for name in selectable_models(MODELS, dataset.task)
        if MODELS[name].takes_sparse or not sparse
    )
    if not names:
        raise UnusableError(
            f"there is no model for this task ({dataset.task})", where="option model"
        )
    return names


def default_model(dataset: Dataset, training_rows: int) -> str:
    """The one that would be taken without a look at any score.

    Args:
        dataset: the data.
        training_rows: how many rows train.
    """
    names = candidate_models(dataset)
    linear = ("logistic", "linear")
    order = ("boosting", "forest", *linear) if training_rows >= ENOUGH_ROWS else linear
    return next((name for name in order if name in names), names[0])
