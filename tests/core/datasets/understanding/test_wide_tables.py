"""A wide table is understood as its columns one by one are, though many are looked at together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.datasets.columns import describe_column, describe_columns
from core.datasets.dataset import DataSource
from core.datasets.raw_table import NO_CHOICES, RawTable
from core.datasets.understanding import findings, target_leakage
from core.datasets.understanding.feature_table import from_table

ROWS, COLUMNS = 160, 400


@pytest.fixture
def wide() -> pd.DataFrame:
    """Noise, with odd columns among it."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(ROWS, COLUMNS))).add_prefix("x")
    table["few"] = rng.integers(0, 4, ROWS)
    table["flag"] = rng.integers(0, 2, ROWS)
    table["gaps"] = np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS))
    table["same"] = 2.5
    table["empty"] = np.nan
    table["key id"] = 2**60 + np.arange(ROWS)  # one float for many of them
    table["zeros"] = np.where(np.arange(ROWS) % 2, -0.0, 0.0)
    table["colour"] = rng.choice(["red", "green"], ROWS)
    return table


def test_columns_are_described_as_they_are_one_by_one(wide: pd.DataFrame) -> None:
    wide["y"] = np.arange(ROWS) % 3
    together = describe_columns(wide, "y", {}, {}, {})
    for at, column in enumerate(together[:-1]):
        alone = describe_column(wide[column.name], first=at == 0)
        assert column == alone, column.name
    assert {c.name: c.distinct for c in together}["key id"] == ROWS


def told(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The columns left out for giving the target away, and those that tell it without error."""
    read = RawTable("made", table, DataSource("", "sample"), line_of=int)
    dataset = from_table(read, NO_CHOICES)
    left = [c.name for c in dataset.columns if c.note == findings.GIVES_AWAY]
    telling = [f.column for f in dataset.findings if "alone tells" in f.sentence]
    return left, telling


@pytest.mark.parametrize("task", ["classes", "amounts"])
def test_leaks_are_found_as_by_a_look_at_each(
    wide: pd.DataFrame, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    target = rng.integers(0, 3, ROWS) if task == "classes" else rng.normal(size=ROWS) * 40
    wide["in stretches"] = target + 0.1 * rng.random(ROWS) if task == "classes" else 3 * target + 1
    wide["nearly"] = target + rng.normal(size=ROWS) * (0.2 if task == "classes" else 1.0)
    wide["code"] = 7 - target
    wide["y"] = target
    together = told(wide)
    names = property(lambda check: check._dataset.feature_names)
    monkeypatch.setattr(target_leakage.LeakageCheck, "candidates", names)
    assert together == told(wide)
    assert {*together[0], *together[1]} >= {"in stretches", "code"}


def test_noise_is_passed_over_and_what_is_unclear_is_not(wide: pd.DataFrame) -> None:
    wide["y"] = np.arange(ROWS) % 3
    read = RawTable("made", wide, DataSource("", "sample"), line_of=int)
    dataset = from_table(read, NO_CHOICES)
    looked = set(target_leakage.LeakageCheck(dataset).candidates)
    assert not looked & {f"x{at}" for at in range(COLUMNS)}
    assert looked >= {"gaps", "colour"}
