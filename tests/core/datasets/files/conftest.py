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


@pytest.fixture(scope="session")
def same_as_csv(tmp_path_factory: pytest.TempPathFactory):
    """Compares what a file is read as with what the same table is as CSV, dates apart."""
    folder = tmp_path_factory.mktemp("csv")

    def compare(file: Path | str, table: pd.DataFrame) -> None:
        path = folder / "same.csv"
        table.to_csv(path, index=False)
        ours, expected = read_dataset(str(file)), read_dataset(str(path))
        assert [(c.name, c.role, c.kind, c.missing) for c in ours.columns] == [
            (c.name, c.role, c.kind, c.missing) for c in expected.columns
        ]
        assert ours.classes == expected.classes
        np.testing.assert_array_equal(ours.target, expected.target)
        dates = [column.name for column in ours.columns if column.kind == "date"]
        pd.testing.assert_frame_equal(
            ours.table.drop(columns=dates), expected.table.drop(columns=dates)
        )
        for name in dates:
            pd.testing.assert_series_equal(
                pd.to_datetime(ours.table[name], format="ISO8601"),
                pd.to_datetime(expected.table[name], format="ISO8601"),
            )

    return compare
