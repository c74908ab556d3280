"""A model's prediction for one row that a person fills in, beside the typical row."""

from __future__ import annotations

from core.datasets.finding import column_title
from core.datasets.task import Task
from core.errors import UnusableError
from core.evaluation.conformal import MIN_ERRORS
from core.export.using.input_checks import far_dates, no_dates
from core.export.using.loaded_model import LoadedModel, compared_columns, make_raw_row
from core.export.using.out_of_distribution import unlike_reasons
from core.export.using.row_answers import CellValue, ModelForm, RowPrediction
from core.tuning.results.training_columns import NUMBER, TEXT, TrainingColumn

MAX_FIELDS = 300  # columns of a form; the others keep their typical values
NO_DATE = "is no date like {}, so it counts as missing"


def form_of_model(model: LoadedModel) -> ModelForm:
    """The fields of a model's form."""
    training, card = model.training, model.card
    target_format = (card.formats or {}).get(card.target)
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
        target=column_title(card.target, target_format.unit if target_format else ""),
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
    """The typical value of every column; empty where unknown."""
    columns = model.training.columns if model.training else ()
    return {column.name: column.typical for column in columns}


def predict_row(model: LoadedModel, values: dict[str, CellValue]) -> RowPrediction:
    """The prediction for one row, empty columns typical; UnusableError where it cannot be."""
    unknown_names = [name for name in values if name not in model.features]
    if unknown_names:
        raise UnusableError(f"the model has no column “{unknown_names[0]}”", cure="leave it out")
    row = make_raw_row({**typical_row(model), **values}, model)
    table = model.predict(row)
    prefix = "probability of "
    cells = ((str(name), cell) for name, cell in table.iloc[0].items())
    shares = [(n.removeprefix(prefix), float(cell)) for n, cell in cells if n.startswith(prefix)]
    shares.sort(key=lambda pair: -pair[1])
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
    odd, far = no_dates(row, model), far_dates(row, model)
    date_texts = [f"{name} {NO_DATE.format(typical)}" for name, typical in odd.items()]
    date_texts += [sentences[0] for sentences in far.values()]
    words = "; ".join([*([words] if words else []), *date_texts])
    return RowPrediction(
        prediction=float(prediction) if number else str(prediction),
        shares=shares,
        low=None if half_width is None else float(prediction) - half_width,
        high=None if half_width is None else float(prediction) + half_width,
        unlike=words,
        outside=[*outside, *odd, *far],
    )
