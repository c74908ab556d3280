"""Columns that real tables hold beside plain ones: marks, far dates, amounts with overflow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from core.datasets.reading import read_dataset
from core.export.spreadsheet_cells import is_formula


def test_a_date_beyond_the_years_of_nanoseconds_is_a_date(tmp_path: Path) -> None:
    days = ["9999-12-31" if i % 20 == 0 else f"2021-0{i % 9 + 1}-1{i % 10}" for i in range(60)]
    path = tmp_path / "far.csv"
    table = pd.DataFrame({"valid_to": days, "y": ["ab"[i * 7 % 3 % 2] for i in range(60)]})
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    assert dataset.columns[0].kind == "date"
    assert dataset.distributions["valid_to"].high == 253402214400  # the seconds since 1970


def test_a_mark_in_some_rows_is_a_feature(tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    marks = ["x" if i % 3 else "" for i in range(90)]
    table = pd.DataFrame({"newsletter": marks, "age": range(20, 110), "y": [0, 1] * 45})
    table.to_csv(path, index=False)
    column = read_dataset(str(path)).columns[0]
    assert (column.role, column.kind, column.missing) == ("feature", "category", 30)


def test_amounts_and_telephone_numbers_are_no_formulas() -> None:
    for text in ("-1,932.16 €", "-$27,635.59", "+49 170 1000", "-5 kg"):
        assert not is_formula(text)
    for text in ("=1+1", "+SUM(A1:A9)", "-2+3+cmd|' /C calc'!A0", "@SUM(1)"):
        assert is_formula(text)
