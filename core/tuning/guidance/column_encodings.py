"""What a model is given of the columns of a table: a few words each, and the report with them."""

from __future__ import annotations

from dataclasses import replace

from core.datasets.categories import Categories
from core.datasets.dataset import Column, Dataset
from core.datasets.preparation import preparation
from core.datasets.prepared_columns import encoding_sentences
from core.datasets.reading_report import ReadingReport, reading_report
from core.estimators.registry import MODELS
from core.tuning.candidate_models import shares_levels
from core.tuning.guidance.choosing import chosen_or_recommended
from core.tuning.plan import DataPlan
from core.tuning.problem import read_data

MAX_CELLS = 5_000_000  # of the columns that are encoded; more would take seconds


def report_on(data: DataPlan) -> ReadingReport:
    """How a file is read, and what the model that suits it is given.

    Raises:
        UnusableError: the data are unusable, as in `core.tuning.problem.read_data`.
    """
    dataset = read_data(data)
    model = chosen_or_recommended(dataset, "", "")[0]
    return reading_report(dataset, column_encodings(dataset, model))


def column_encodings(dataset: Dataset, model: str = "") -> dict[str, str]:
    """{column: words} of the columns that are encoded or filled for a model of this name.

    For several models together where there is no such name. {} where the model takes rows as they
    are, and of tables with more than `MAX_CELLS` cells in such columns.
    """
    if dataset.table is None or not dataset.task.is_table:
        return {}
    columns = [c for c in dataset.columns if c.role == "feature" and _may_change(c)]
    names = [column.name for column in columns]
    if not names or len(names) * dataset.rows > MAX_CELLS:
        return {}
    part = replace(dataset, columns=columns, table=dataset.table[names], test=None)
    shared: Categories = "both" if shares_levels(dataset) else "means"
    categories = MODELS[model].categories if model in MODELS else shared
    prepare = preparation(part, scale=False, sparse_ok=True, categories=categories)
    prepare.fit(part.features, part.target)
    sentences = encoding_sentences(prepare, dataset.columns, dataset.rows + dataset.set_aside)
    return {name: text.removeprefix(f"“{name}”: ") for name, text in sentences.items()}


def _may_change(column: Column) -> bool:
    is_encoded = column.kind in ("category", "yes/no", "date")
    return is_encoded or (column.kind == "number" and column.missing > 0)
