"""Columns of texts whose buffers are asked read as those whose every text is looked at."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets import raw_table
from core.datasets.dataset import DataSource
from core.datasets.files.csv_table import _joined_chunks
from core.datasets.raw_table import DataOptions, FormatOptions, RawTable, with_formats
from core.datasets.reading import read_dataset

pytest.importorskip("pyarrow")
ROWS = 60_000  # beyond which many levels are counted in some of the rows


@cache
def _cells(kind: str) -> list[str | None]:
    rng = np.random.default_rng(0)
    many = [f"item {number} of the shop" for number in rng.integers(0, 10**6, ROWS)]
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, ROWS)
    texts = {
        "few": rng.choice(["red", "green", "dark grey"], ROWS).tolist(),
        "many": many,
        "dates": days.astype(str).tolist(),
        "times": [f"{day}T10:00:00" for day in days.astype(str)],
        "answers": rng.choice(["no", "yes"], ROWS).tolist(),
        "rare answer": [*rng.choice(["no", "yes"], ROWS - 2).tolist(), "perhaps", "no"],
        "other case": rng.choice(["Red", "red"], ROWS).tolist(),
        "codes": [f"{number:06d}" for number in rng.integers(0, 10**5, ROWS)],
        "amounts": [f"${number / 100:.2f}" for number in rng.integers(0, 10**6, ROWS)],
        "whole": rng.choice(["3.0", "4.0", "x"], ROWS).tolist(),
        "sentences": [f"{text} was sold again and again." for text in many],
    }
    last = {"blank": "red ", "nothing": "N/A", "letter": "rosé", "gap": None, "first day": "0000"}
    return texts[kind] if kind in texts else [*many[:-1], last[kind]]


KINDS = (
    *(
        "few",
        "many",
        "dates",
        "times",
        "answers",
        "rare answer",
        "other case",
        "codes",
        "amounts",
        "whole",
    ),
    *("sentences", "blank", "nothing", "letter", "gap", "first day"),
)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [(kind, 40) for kind in KINDS]
    + [(kind, ROWS) for kind in ("few", "many", "times", "rare answer")]
    + [(kind, ROWS) for kind in ("nothing", "letter", "gap", "first day")],
)
def test_a_column_reads_the_same_with_and_without_a_look_at_every_text(kind, rows, monkeypatch):
    column = pd.Series(_cells(kind)[-rows:], dtype="str", name=kind)
    raw = RawTable("t.csv", column.to_frame(), DataSource("t.csv", "csv", {}, {}, ""), int)
    quick = with_formats(raw, FormatOptions())
    monkeypatch.setattr(raw_table, "plain_texts", lambda values: None)
    slow = with_formats(raw, FormatOptions())
    pd.testing.assert_frame_equal(quick.table, slow.table)
    assert quick.source.formats == slow.source.formats
    assert quick.readings == slow.readings
    assert quick.findings == slow.findings
    quick_count, slow_count = quick.counts.get(kind), slow.counts.get(kind)
    assert (quick_count and quick_count.missing) == (slow_count and slow_count.missing)
    assert (quick_count and quick_count.is_long) == (slow_count and slow_count.is_long)
    if kind in ("few", "dates", "answers") or rows < ROWS:
        assert quick_count == slow_count


@pytest.mark.parametrize("has_gaps", [False, True])
def test_rows_of_texts_are_equal_whether_or_not_their_codes_are_known(
    tmp_path: Path, has_gaps, monkeypatch
):
    rng, rows = np.random.default_rng(1), 600
    table = pd.DataFrame({f"c{i}": rng.choice(["a", "b", "dark grey"], rows) for i in range(6)})
    table["y"] = rng.choice(["yes", "no"], rows)
    table["n"] = rng.integers(0, 3, rows)
    table.iloc[rows // 2 :: 10] = table.iloc[: rows // 2 : 10].to_numpy()
    if has_gaps:
        table.loc[::7, "c1"] = None
        table.loc[::9, "y"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    quick = read_dataset(str(tmp_path / "t.csv"), DataOptions(target="y"))
    monkeypatch.setattr(raw_table, "plain_texts", lambda values: None)
    slow = read_dataset(str(tmp_path / "t.csv"), DataOptions(target="y"))
    assert quick.units is not None
    np.testing.assert_array_equal(quick.units, slow.units)
    assert quick.findings == slow.findings


@pytest.mark.parametrize("estimated_rows", [10, 6000])
def test_chunks_are_joined_as_one_call_reads_them(tmp_path: Path, estimated_rows):
    rows = 5000
    table = pd.DataFrame(
        {
            "whole, then not": [*range(rows - 1), 0.5],
            "gaps": [None, *range(rows - 1)],
            "word": ["a", "b"] * (rows // 2),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    with pd.read_csv(tmp_path / "t.csv", chunksize=700) as chunks:
        joined = _joined_chunks(chunks, ["word"], estimated_rows)
    pd.testing.assert_frame_equal(joined, pd.read_csv(tmp_path / "t.csv"))


@pytest.mark.parametrize("last", ["7", "x", "TRUE"])
def test_chunks_of_other_types_than_the_first_are_not_joined(tmp_path: Path, last):
    lines = ["word,number", *["a,1"] * 2000, f"7,{last}", *[f"7,{last}"] * 2000]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pd.read_csv(tmp_path / "t.csv", chunksize=1000) as chunks:
        assert _joined_chunks(chunks, ["word"], 2000) is None
