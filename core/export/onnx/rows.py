"""The preparation of raw rows as an ONNX graph: one input a column, double numbers or text.

N rows become p prepared columns.
"""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from core.datasets.preparation import date_parts, encoder_of
from core.errors import UnusableError
from core.export.bundle.column_transforms import level_keys, text_table
from core.export.onnx.graph import DOUBLE, OnnxGraph

MATRIX = "rows"  # name of the input where the rows are a matrix


def rows_graph(prepare: Pipeline) -> tuple[OnnxGraph, str]:
    """The graph of a fitted preparation (core.datasets.preparation), and its result, (N, p)."""
    encode = prepare.named_steps["columns"]
    if isinstance(encode, ColumnTransformer) and hasattr(encode, "feature_names_in_"):
        _refuse_texts(encode)
        columns = [str(name) for name in encode.feature_names_in_]
        graph = OnnxGraph(columns)
        inputs = {name: graph.add_input(name, text=_is_text(encode, name)) for name in columns}
        steps = (_transformed_columns(graph, inputs, *step) for step in encode.transformers_)
        last = graph.add_node("Concat", *itertools.chain.from_iterable(steps), axis=1)
    else:
        graph = OnnxGraph([MATRIX])
        last = graph.add_input(MATRIX, text=False, width=int(encode.n_features_in_))
    if "scale" in prepare.named_steps:
        last = _scale_numbers(graph, last, prepare.named_steps["scale"])
    return graph, last


def _refuse_texts(encode: ColumnTransformer) -> None:
    # ONNX splits texts into words by other rules, and not into parts of words at all.
    for step_name, _, names in encode.transformers_:
        if step_name.startswith("text "):
            problem = f"ONNX has no counterpart of texts as words and parts of words (“{names[0]}”)"
            raise UnusableError(problem, cure="export it as skops")


def date_formats(prepare: Pipeline) -> dict[str, str]:
    """{date column: its format}; its input takes seconds since 1970."""
    encode = prepare.named_steps["columns"]
    if not hasattr(encode, "transformers_"):
        return {}
    return {
        str(name): str(step.named_steps["read"].kw_args["format"])
        for step_name, step, name in encode.transformers_
        if step_name.startswith("date ")
    }


def _is_text(encode: ColumnTransformer, name: str) -> bool:
    return any(
        step_name.startswith(("yes/no", "category")) and name in np.atleast_1d(names).tolist()
        for step_name, _, names in encode.transformers_
    )


def _transformed_columns(
    graph: OnnxGraph, inputs: dict[str, str], step_name: str, step: Any, names: Any
) -> Iterator[str]:
    if step_name == "remainder":
        return
    if step_name.startswith("date "):
        for part, inner in date_parts(step):
            yield _date_numbers(graph, part, inner, inputs[str(names)])
    elif step_name.startswith(("yes/no", "category")):
        for position, name in enumerate(names):
            yield _encoded_column(graph, step, [str(n) for n in names], position, inputs[str(name)])
    else:
        matrix = graph.add_node("Concat", *(inputs[str(name)] for name in names), axis=1)
        if isinstance(step, MissingIndicator):
            yield _is_missing(graph, matrix)
        else:
            yield _filled_and_scaled(graph, matrix, step)


def _is_missing(graph: OnnxGraph, numbers: str) -> str:
    return graph.add_node("Cast", graph.add_node("IsNaN", numbers), to=DOUBLE)


def _filled_and_scaled(graph: OnnxGraph, numbers: str, step: Any) -> str:
    numbers = _fill_missing(graph, numbers, encoder_of(step, SimpleImputer).statistics_)
    scaler = encoder_of(step, StandardScaler)
    return numbers if scaler is None else _scale_numbers(graph, numbers, scaler)


def _fill_missing(graph: OnnxGraph, numbers: str, values: np.ndarray) -> str:
    fill = np.nan_to_num(np.asarray(values, dtype=np.float64))
    return graph.add_node("Where", graph.add_node("IsNaN", numbers), fill, numbers)


def _scale_numbers(graph: OnnxGraph, numbers: str, scaler: StandardScaler) -> str:
    if scaler.with_mean:
        numbers = graph.add_node("Sub", numbers, scaler.mean_)
    return graph.add_node("Div", numbers, scaler.scale_)


def _date_numbers(graph: OnnxGraph, part: str, step: Pipeline, seconds: str) -> str:
    if part == "missing":
        return _is_missing(graph, seconds)
    values = seconds if part == "seconds" else date_part(graph, part, seconds)
    if (one_hot := encoder_of(step, OneHotEncoder)) is None:
        return _filled_and_scaled(graph, values, Pipeline([*step.steps[-2:]]))
    values = _fill_missing(graph, values, step.named_steps["fill"].statistics_)
    levels = np.asarray(one_hot.categories_, dtype=np.float64)
    return graph.add_node("Cast", graph.add_node("Equal", values, levels), to=DOUBLE)


def _encoded_column(
    graph: OnnxGraph, step: Any, names: list[str], position: int, texts: str
) -> str:
    levels = level_keys(step, position)
    if levels is not None:  # without a square table of many levels
        is_level = graph.add_node(
            "OneHotEncoder", texts, domain="ai.onnx.ml", cats_strings=levels, zeros=1
        )
        flat = graph.add_node("Reshape", is_level, [-1, len(levels)])
        return graph.add_node("Cast", flat, to=DOUBLE)
    keys, table = text_table(step, names, position)
    numbers = graph.add_node(
        "LabelEncoder",
        texts,
        domain="ai.onnx.ml",
        keys_strings=keys,
        values_int64s=list(range(len(keys))),
        default_int64=len(keys),
    )
    flat = graph.add_node("Reshape", numbers, [-1])
    return graph.add_node("Gather", table, flat, axis=0)


def date_part(graph: OnnxGraph, part: str, seconds: str) -> str:
    """The year (since 1970), month (from 1), weekday (Monday is 1) or hour, (N, 1)."""
    if part == "hour":
        # Division downwards, so that moments before 1970 come out right.
        number = _remainder(graph, _quotient(graph, seconds, 3600), 24)
    elif part == "weekday":
        days = _quotient(graph, seconds, 86_400)  # 1970 began on a Thursday
        weekday = _remainder(graph, graph.add_node("Add", days, 3.0), 7)
        number = graph.add_node("Add", weekday, 1.0)
    else:
        year, month = _year_and_month(graph, _quotient(graph, seconds, 86_400))
        number = month if part == "month" else graph.add_node("Sub", year, 1970.0)
    # What is no number goes on as none.
    return graph.add_node("Where", graph.add_node("IsNaN", seconds), seconds, number)


def _quotient(graph: OnnxGraph, number: str, divisor: float) -> str:
    """A whole number in double precision, divided downwards."""
    return graph.add_node("Floor", graph.add_node("Div", number, float(divisor)))


def _remainder(graph: OnnxGraph, number: str, divisor: float) -> str:
    multiple = graph.add_node("Mul", _quotient(graph, number, divisor), float(divisor))
    return graph.add_node("Sub", number, multiple)


def _year_and_month(graph: OnnxGraph, days: str) -> tuple[str, str]:
    plus, minus, times = (partial(graph.add_node, kind) for kind in ("Add", "Sub", "Mul"))
    quotient = partial(_quotient, graph)
    days = plus(days, 719_468.0)  # since March 1 of the year 0
    day = _remainder(graph, days, 146_097)  # of the era of 400 years
    leap_days = minus(plus(quotient(day, 1460), quotient(day, 146_096)), quotient(day, 36_524))
    year = quotient(minus(day, leap_days), 365)  # of the era
    years_days = minus(plus(times(year, 365.0), quotient(year, 4)), quotient(year, 100))
    month = quotient(plus(times(minus(day, years_days), 5.0), 2.0), 153)  # March is 0
    is_next_year = graph.add_node("GreaterOrEqual", month, 10.0)
    month = graph.add_node("Where", is_next_year, minus(month, 9.0), plus(month, 3.0))
    year = plus(year, times(quotient(days, 146_097), 400.0))
    return graph.add_node("Where", is_next_year, plus(year, 1.0), year), month
