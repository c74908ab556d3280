"""What a model is given of the columns of a table: a few words each, and the report with them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Categories, Column, ReadingReport, reading_report
from core.datasets.preparation import (
    EVERY_LEVEL,
    date_parts,
    encoder_of,
    is_known_level,
    listed_steps,
    merged_levels,
    preparation,
)
from core.datasets.summary import rewritten_cells, summarize
from core.datasets.texts.tfidf import TextTfidf
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.tuning.candidate_models import shares_levels
from core.tuning.guidance.advice import chosen_or_recommended
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data

TELLS = " and a column that says so"
MAX_CELLS = 5_000_000  # of the columns that are encoded; more would take seconds


def report_on(data: DataPlan) -> ReadingReport:
    """How a file is read, and what the model that suits it is given."""
    dataset = read_data(data)
    model = chosen_or_recommended(dataset, "", "")[0]
    summary = replace(
        summarize(dataset),
        encodings=column_encodings(dataset, model),
        rewritten=rewritten_cells(dataset),
    )
    return reading_report(summary)


def column_encodings(dataset: Dataset, model: str = "") -> dict[str, str]:
    """{column: words} of the columns that are encoded or filled for a model, "" for several."""
    if dataset.table is None or not dataset.task.is_table:
        return {}
    columns = [column for column in dataset.columns if column.may_be_encoded]
    names = [column.name for column in columns]
    # More cells would take seconds; the page then shows the plain columns.
    if not names or len(names) * dataset.rows > MAX_CELLS:
        return {}
    # The other columns are passed on as they are; to prepare them would only take time.
    encoded_dataset = replace(dataset, columns=columns, table=dataset.table[names], test=None)
    categories: Categories = "both" if shares_levels(dataset) else "means"
    if model in MODELS and model != SEVERAL:
        categories = MODELS[model].categories
    prepare = preparation(encoded_dataset, scale=False, sparse_ok=True, categories=categories)
    prepare.fit(encoded_dataset.features, encoded_dataset.target)
    sentences = encoding_sentences(prepare, dataset.columns, dataset.rows + dataset.set_aside)
    return {name: text.removeprefix(f"“{name}”: ") for name, text in sentences.items()}


def encoding_sentences(fitted: Pipeline, columns: Sequence[Column], rows: int) -> dict[str, str]:
    """What a fitted preparation does to the columns of so many rows, {column: a sentence}."""
    described = {column.name: column for column in columns}
    steps = list(listed_steps(getattr(fitted.named_steps["columns"], "transformers_", ())))
    telling = {n for _, step, names in steps if isinstance(step, MissingIndicator) for n in names}
    sentences: dict[str, str] = {}
    for step_name, step, names in steps:
        if isinstance(step, (MissingIndicator, TextTfidf)):
            continue
        for index, name in enumerate(names):
            column = described.get(name)
            share = column.missing / rows if column is not None and rows else 0.0
            # The means of the target have said the column's name before.
            if step_name == EVERY_LEVEL:
                sentences[name] += "; for linear models a column each"
            elif encoder := encoder_of(step, OneHotEncoder, TargetEncoder):
                words = _level_words(encoder, index, share, column.distinct if column else 0)
                sentences[name] = f"“{name}”: {words}"
            elif words := _words_of(step, index, share, tells=name in telling):
                sentences[name] = f"“{name}”: {words}"
    return {name: sentences[name] for name in described if name in sentences}


def _words_of(step: Any, index: int, share: float, *, tells: bool) -> str:
    """What became of a number, yes/no or date, or ""; `share` of its values are missing."""
    if isinstance(step, Pipeline) and "read" in step.named_steps:
        return _date_words(step, share)
    fill = encoder_of(step, SimpleImputer)
    if fill is None or not share:
        return ""
    number = float(np.nan_to_num(fill.statistics_[index]))
    value = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    steps = getattr(step, "named_steps", {})
    if fill.strategy == "most_frequent" and "encode" in steps:
        value = str(steps["encode"].categories_[index][int(number)])
    filled = {"median": "the median", "mean": "the mean"}.get(fill.strategy, "the most frequent,")
    return f"{_share_text(share)} missing: {filled} {value}{TELLS if tells else ''}"


def _level_words(
    encoder: OneHotEncoder | TargetEncoder, index: int, share: float, distinct: int
) -> str:
    levels = sum(is_known_level(level) for level in encoder.categories_[index])
    missing = f"; {_share_text(share)} missing" if share else ""
    if share and levels < len(encoder.categories_[index]):
        missing += ", a value of their own"
    if isinstance(encoder, TargetEncoder):
        return f"{levels:,} values, each by {_mean_words(encoder)} among its rows{missing}"
    if rare := len(merged_levels(encoder, index)):
        return f"{levels - rare:,} values have a column each, {rare:,} rare ones share one"
    if distinct > levels:
        return f"{levels:,} of {distinct:,} values have a column each, the others none{missing}"
    every = {1: "the one value has a column", 2: "both values have a column each"}
    return every.get(levels, f"all {levels:,} values have a column each") + missing


def _mean_words(encoder: TargetEncoder) -> str:
    kinds: Mapping[str, str] = {
        "continuous": "the mean of the target",
        "multiclass": "the share of every class",
    }
    return kinds.get(encoder.target_type_) or f"the share of {encoder.classes_[1]}"


def _date_words(step: Pipeline, share: float) -> str:
    names = [name for name, _ in date_parts(step)]
    columns = ["a number", *(name for name in names if name not in ("seconds", "missing"))]
    text = " and ".join([", ".join(columns[:-1]), columns[-1]]) if len(columns) > 1 else columns[0]
    if not share:
        return f"as {text}"
    tells = TELLS if "missing" in names else ""
    return f"as {text}; {_share_text(share)} missing: the middle date{tells}"


def _share_text(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
