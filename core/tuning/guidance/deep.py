"""Advice on deep latent Gaussian models: rows that are few for them, and trials that take long."""

from __future__ import annotations

ENOUGH_ROWS = 300  # to learn what rows look like, beside their classes
MOST_MINUTES = 2.0  # of a trial
_FOLDS, _EPOCHS, _ROWS_A_STEP = 5, 50, 64  # what a run and the model have by default
_SECONDS_A_STEP, _SECONDS_A_COLUMN = 4e-3, 4e-6  # measured on one core: 61 and 1,850 columns


def warning_of_deep(rows: int, training: int, inputs: int) -> str:
    """What speaks against such a model; "" if nothing does.

    Args:
        rows: of the dataset.
        training: of them, those that tuning will see.
        inputs: columns after categories are spread over one column a value.
    """
    if rows < ENOUGH_ROWS:
        return f"{rows:,} rows are few for it: it also learns what rows look like."
    fitted = training * (_FOLDS - 1) / _FOLDS
    steps = _FOLDS * _EPOCHS * fitted / _ROWS_A_STEP
    minutes = steps * (_SECONDS_A_STEP + _SECONDS_A_COLUMN * inputs) / 60
    if minutes < MOST_MINUTES:
        return ""
    return (
        f"{rows:,} rows of {inputs:,} columns are many for it: a trial of {_FOLDS} folds takes "
        f"some {minutes:,.0f} minutes."
    )
