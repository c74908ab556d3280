"""One small table in every format, and what the same table is as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.errors import UnusableError


@pytest.fixture(scope="session")
def small_table() -> pd.DataFrame:
    """Sixty rows of numbers, categories, dates and truth values, some missing."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=60).round(3),
            "colour": rng.choice(["red", "green", "blue"], 60),
            "count": rng.integers(0, 50, 60),
            "paid": rng.random(60) > 0.5,
            "when": pd.date_range("2024-01-01", periods=60, freq="D"),
            "y": rng.choice(["a", "b"], 60),
        }
    )
    table.loc[3, "size"] = np.nan
    table.loc[5, "colour"] = None
    return table


@pytest.fixture(scope="session")
def refusal():
    """Says the one sentence that a file is refused with."""

    def said(file: Path | str) -> str:
        with pytest.raises(UnusableError) as caught:
            read_dataset(str(file))
        assert caught.value.where, caught.value.sentence
        assert caught.value.cure, caught.value.sentence
        return caught.value.sentence

    return said
