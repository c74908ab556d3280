"""What a model says of one row that a person fills in, beside the typical one."""

from __future__ import annotations

from core.datasets.task import Task
from core.errors import UnusableError
from core.evaluation.conformal import MIN_ERRORS
from core.export.using.input_checks import no_dates
from core.export.using.loaded_model import LoadedModel, compared_columns, make_raw_row
from core.export.using.out_of_distribution import unlike_reasons
from core.export.using.row_answers import CellValue, ModelForm, RowPrediction
from core.tuning.results.training_columns import NUMBER, TEXT, TrainingColumn

MAX_FIELDS = 300  # columns of a form; the others keep their typical values
NO_DATE = "is no date like {}, so it counts as missing"


def form_of_model(model: LoadedModel) -> ModelForm:
    """The fields of a form."""
    training, card = model.training, model.card
    if training is not None:
        columns = training.columns
    else:
        columns = tuple(
            TrainingColumn(name, TEXT, numeric=False, more=True)
            if name in card.text
            else TrainingColumn(name, NUMBER, numeric=True, more=True)
            for name in model.features
        )
    return ModelForm(
        name=model.name,
        target=card.target,
        task=card.task,
        fields=columns[:MAX_FIELDS],
        known=training is not None,
        rows=training.rows if training is not None else 0,
        left_out=max(0, len(columns) - MAX_FIELDS),
        interval=model.interval,
        fewest=MIN_ERRORS,
        refitted=model.refitted,
    )


def typical_row(model: LoadedModel) -> dict[str, CellValue]:
    """The typical value of every column; nothing where it is not known."""
    return (
        {column.name: column.typical for column in model.training.columns} if model.training else {}
    )


def predict_row(model: LoadedModel, values: dict[str, CellValue]) -> RowPrediction:
    """What the model predicts for one row.

    Args:
        model: that is asked.
        values: by column; those that are not named keep their typical values.

    Raises:
        UnusableError: a value is no number, or the model cannot predict the row.
    """
    unknown_names = [name for name in values if name not in model.features]
    if unknown_names:
        raise UnusableError(f"the model has no column “{unknown_names[0]}”", cure="leave it out")
    row = make_raw_row({**typical_row(model), **values}, model)
    table = model.predict(row)
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
    number = model.card.task == Task.REGRESSION
    half_width = model.interval.half if number and model.interval else None
    compared_row = compared_columns(row, model)
    words, outside = "", []
    if compared_row is not None and model.profile is not None:
        words = unlike_reasons(compared_row, model.profile)[0]
        outside = [
            str(name)
            for name in compared_row.columns
            if unlike_reasons(compared_row[[name]], model.profile.for_column(str(name)))[0]
        ]
    odd = no_dates(row, model)
    words = "; ".join(
        [*([words] if words else []), *(f"{name} {NO_DATE.format(odd[name])}" for name in odd)]
    )
    return RowPrediction(
        prediction=float(prediction) if number else str(prediction),
        shares=shares,
        low=None if half_width is None else float(prediction) - half_width,
        high=None if half_width is None else float(prediction) + half_width,
        unlike=words,
        outside=[*outside, *odd],
    )
