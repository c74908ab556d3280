"""A model of some of the prepared columns, where the others are those of other kinds of models.

Several models that are tuned together share one preparation. Where a category has many levels, it
has the means of the target in them and a column for each, of which every model takes one.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline


def with_own_columns(estimator: Any, columns: slice) -> Pipeline:
    """An unfitted estimator that takes only these of the prepared columns."""
    own = ColumnTransformer([("own", "passthrough", columns)], sparse_threshold=1.0)
    return Pipeline([("columns", own), ("model", estimator)])


def without_own_columns(model: Any) -> tuple[Any, slice]:
    """The estimator inside, and its columns: all for one that takes all."""
    if not isinstance(model, Pipeline) or list(model.named_steps) != ["columns", "model"]:
        return model, slice(None)
    return model[-1], model[0].transformers[0][2]
