"""One small table with every kind of column, in every format; and what a file is refused with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError


@pytest.fixture(scope="session")
def small_table() -> pd.DataFrame:
    """Numbers, categories, dates, truth values, codes, amounts and texts, some missing."""
    rng, rows = np.random.default_rng(0), 60
    table = pd.DataFrame(
        {
            "size": rng.normal(size=rows).round(3),
            "branch": rng.choice(["00421", "57310", "00007", "11200"], rows),
            "count": rng.integers(0, 40, rows),
            "town": rng.choice(["Zürich", "Bern", "Sankt Gallen"], rows),
            "country": rng.choice(["NA", "ZA", "BW"], rows),
            "garage": rng.choice(["None", "Attached"], rows),
            "paid": rng.random(rows) > 0.5,
            "gift": rng.choice(["ja", "nein"], rows),
            "when": pd.date_range("2024-01-01", periods=rows, freq="D"),
            "price": [f"${amount:,.2f}" for amount in rng.uniform(5, 5000, rows)],
            "load": [f"{amount:.1f} kg" for amount in rng.uniform(1, 9, rows)],
            "remark": rng.choice(["a, b", 'says "yes"', "it's 5 %", "x; y"], rows),
            "y": rng.choice(["a", "b"], rows),
        }
    )
    table.loc[3, "size"] = np.nan
    table.loc[5, "town"] = None
    return table


@pytest.fixture(scope="session")
def refusal():
    """Says the one sentence that a file is refused with, with its place and a cure."""

    def said(file: Path | str, test_file: Path | str = "", **choices: object) -> str:
        with pytest.raises(UnusableError) as caught:
            read_dataset(str(file), DataOptions(**choices), test_file=str(test_file))
        error = caught.value
        assert error.where, error.sentence
        assert error.cure, error.sentence
        assert "\n" not in error.sentence
        return error.sentence

    return said
