"""The models that are tuned together on a dataset, and the default time for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.estimators.model import Model
from core.estimators.multi_model import selectable_models, split_model_setting
from core.estimators.registry import MODELS
from core.space import Setting

if TYPE_CHECKING:
    from core.datasets.preparation import OwnColumns

MAX_MINUTES = 10.0
_MINUTES = ((3e4, 1.0), (3e5, 2.0), (3e6, 5.0))  # of tables with so many values at most
_REPEATS = ((500, 3), (1500, 2))  # of so many rows at most
MAX_REPEATED_VALUES = 1e5  # times the classes; with more, a second division costs too much
SPREAD_TRIALS = 2  # trials of a model that are spread evenly, after its default and known starts
TEXT_WIDTH = 300  # columns that cost as much as one of texts: a text has about so many values
MAX_SHARED_BYTES = 2e8  # of a table with a column for every level of its categories
MAX_DENSE_BYTES = 4e8  # of a sparse table that is made dense, so that every model takes it


def stays_sparse(dataset: Dataset) -> bool:
    """Whether the columns become or stay a sparse matrix, which not every model takes."""
    if dataset.matrix is None:
        # Words become columns of their own, nearly all of them zeros.
        return dataset.has_texts
    rows, columns = dataset.matrix.shape
    # Float64; a table that is made dense is one that every model takes.
    return 8.0 * rows * columns > MAX_DENSE_BYTES


def shares_levels(dataset: Dataset) -> bool:
    """Whether the levels of a category with many fit beside their means, so that both are there."""
    if dataset.table is None or not dataset.task.is_table or dataset.has_texts:
        return False
    from core.datasets.preparation import ColumnEncoders  # imports scikit-learn

    encoders = ColumnEncoders(dataset, "both", scale=True, sparse_texts=False)
    return encoders.has_means and 8.0 * dataset.rows * encoders.width() <= MAX_SHARED_BYTES


def columns_of_setting(own: OwnColumns, setting: Setting) -> slice:
    """The prepared columns of the model of a combined setting."""
    name, _ = split_model_setting(setting)
    # Linear models see a column a level, the others means of the target, of one prepared matrix.
    return own.levels if MODELS[name].categories == "levels" else own.means


def feature_count(dataset: Dataset) -> int:
    """The number of columns, a text column counted as `TEXT_WIDTH`."""
    columns = int(dataset.features.shape[1])
    if not dataset.has_texts:
        return columns
    texts = sum((c.role, c.kind) == ("feature", "text") for c in dataset.columns)
    return columns + TEXT_WIDTH * texts


def usual_minutes(dataset: Dataset) -> float:
    """The default minutes for several models: 1 to 10, by the table's size."""
    return minutes_for(dataset.features.shape[0], feature_count(dataset), len(dataset.classes))


def minutes_for(rows: int, columns: int, classes: int) -> float:
    """The same for a table of so many rows, columns and classes (0 for regression)."""
    size = rows * columns * max(1, classes - 1)
    return next((minutes for max_size, minutes in _MINUTES if size <= max_size), MAX_MINUTES)


def usual_repeats(rows: int, columns: int, classes: int) -> int:
    """How often few rows are divided into folds; `classes` is 0 for regression."""
    if rows * columns * max(1, classes - 1) > MAX_REPEATED_VALUES:
        return 1
    # Scores of few rows differ by chance more than good settings do: repeats average that out.
    return next((repeat_count for max_rows, repeat_count in _REPEATS if rows <= max_rows), 1)


def candidate_models(dataset: Dataset) -> tuple[str, ...]:
    """The names of the models that are tuned together, in the order of the registry."""
    sparse = stays_sparse(dataset)
    task_models = selectable_models(MODELS, dataset.task)
    names = tuple(name for name in task_models if MODELS[name].takes_sparse or not sparse)
    if not names:
        raise UnusableError(
            f"there is no model for this task ({dataset.task})", where="option model"
        )
    return names


def default_model(dataset: Dataset, training_rows: int) -> str:
    """The candidate that is taken without any score."""

    def rank(name: str) -> int:
        model = MODELS[name]
        return model.default_rank if training_rows >= model.default_rows else Model.default_rank

    return min(candidate_models(dataset), key=rank)  # the registry's first where none has a rank
