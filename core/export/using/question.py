"""What a model says of one row that a person fills in, beside the typical one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.errors import UnusableError
from core.evaluation.conformal import FEWEST
from core.export.using.checks import no_dates
from core.export.using.model import UsedModel, looked_at, row_of
from core.export.using.unlike import unlike
from core.tuning.results.training_rows import NUMBER

MOST_FIELDS = 300  # columns of a form; the others keep their typical values
NO_DATE = "is no date like {}, so it counts as missing"


def form_of_model(model: UsedModel) -> dict[str, Any]:
    """The fields of a form, in plain data.

    Returns:
        target, task, title: of the model; fields: a dict each with name, kind (number, choice,
        date, text), low, high, typical, whole, choices, more, numeric; known: whether ranges and
        typical values are known; left_out: how many columns have no field; interval: {half,
        coverage, rows} or None; fewest: how many test rows an interval needs; refitted.
    """
    training, card = model.training, model.card
    if training is not None:
        fields = [asdict(column) for column in training.columns]
    else:
        blank = {"low": None, "high": None, "typical": None, "whole": False, "choices": ()}
        fields = [
            {"name": name, "kind": "text" if name in card["text"] else NUMBER, **blank}
            | {"more": True, "numeric": name not in card["text"]}
            for name in model.features
        ]
    return {
        "name": model.name,
        "target": card["target"],
        "task": card.get("task", ""),
        "fields": fields[:MOST_FIELDS],
        "known": training is not None,
        "rows": training.rows if training is not None else 0,
        "left_out": max(0, len(fields) - MOST_FIELDS),
        "interval": asdict(model.interval) if model.interval else None,
        "fewest": FEWEST,
        "refitted": model.refitted,
    }


def typical_row(model: UsedModel) -> dict[str, Any]:
    """The typical value of every column; nothing where it is not known."""
    return {one.name: one.typical for one in model.training.columns} if model.training else {}


def answer(model: UsedModel, values: dict[str, Any]) -> dict[str, Any]:
    """What the model says of one row.

    Args:
        model: that is asked.
        values: {column: number, text or None}; columns that are not named keep their typical
            values.

    Returns:
        prediction: a number or the text of a class; shares: [[class, probability], …], likeliest
        first; low, high: ends of the interval, or None; unlike: what is unlike the training
        rows, a text, "" for nothing; outside: columns with a value that was never seen.

    Raises:
        UnusableError: a value is no number, or the model cannot predict the row.
    """
    strangers = [name for name in values if name not in model.features]
    if strangers:
        raise UnusableError(f"the model has no column “{strangers[0]}”", cure="leave it out")
    row = row_of({**typical_row(model), **values}, model)
    table = model.say(row)
    prefix = "probability of "
    shares = sorted(
        (
            (str(name).removeprefix(prefix), float(share))
            for name, share in table.iloc[0].items()
            if str(name).startswith(prefix)
        ),
        key=lambda pair: -pair[1],
    )
    prediction = table["prediction"].iloc[0]  # of a row as a whole, 8 would be 8.0
    number = model.card.get("task") == "regression"
    half = model.interval.half if number and model.interval else None
    compared = looked_at(row, model)
    words, outside = "", []
    if compared is not None and model.seen is not None:
        words = unlike(compared, model.seen)[0]
        outside = [
            str(name)
            for name in compared.columns
            if unlike(compared[[name]], model.seen.only(str(name)))[0]
        ]
    odd = no_dates(row, model)
    words = "; ".join(
        [*([words] if words else []), *(f"{name} {NO_DATE.format(odd[name])}" for name in odd)]
    )
    return {
        "prediction": float(prediction) if number else str(prediction),
        "shares": shares,
        "low": None if half is None else float(prediction) - half,
        "high": None if half is None else float(prediction) + half,
        "unlike": words,
        "outside": [*outside, *odd],
    }
