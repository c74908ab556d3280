"""What a model is given of a category: a column for each level, or means of the target in them."""

from __future__ import annotations

from typing import Literal

# levels: a column each; means: above a few levels, the mean of the target in each, cross-fitted
# (Micci-Barreca 2001); both: for several models, of which each takes its own.
Categories = Literal["levels", "means", "both"]

FEW_LEVELS = 10  # that have a column each for every model (tests/benchmarks/bench_encodings.py)
