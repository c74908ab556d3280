"""The takeaway: written as JSON beside the model and read back equal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.tuning.results.model_metadata import (
    FILE_NAME,
    LearnedPenalties,
    model_metadata,
    read_metadata,
)


def test_survives_the_disk(tmp_path: Path) -> None:
    dataset = read_dataset("sample:clinic")
    takeaway = model_metadata(
        dataset,
        np.arange(10),
        np.arange(10, 15),
        output_names=["age", "ward=a"],
        penalties=LearnedPenalties(
            {"age": np.float64(0.5), "ward": float("inf")}, np.array([0, 1]), np.float64(2.0)
        ),
    )
    (tmp_path / FILE_NAME).write_text(takeaway.as_json(), encoding="utf-8")
    again = read_metadata(tmp_path)
    assert again == takeaway
    assert again.target == "came_back"
    assert again.group_names == ["age", "ward"]
    assert again.test_rows == [10, 11, 12, 13, 14]
    assert again.versions["numpy"] == np.__version__


def test_fields_of_newer_versions_are_passed_over(tmp_path: Path) -> None:
    takeaway = model_metadata(read_dataset("sample:iris"), [0, 1], [2])
    plain = {**json.loads(takeaway.as_json()), "of_tomorrow": 1}
    (tmp_path / FILE_NAME).write_text(json.dumps(plain), encoding="utf-8")
    assert read_metadata(tmp_path) == takeaway


def test_a_run_without_a_model_has_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_metadata(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b'{"dataset": "iris", "sour',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"dataset": 3}',
        b"1" * 10_000,
    ],
)
def test_a_damaged_file_is_one_sentence_that_names_it(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(damage)
    with pytest.raises(UnusableError) as refusal:
        read_metadata(tmp_path)
    assert refusal.value.where == str(tmp_path / FILE_NAME)


def test_a_type_that_no_takeaway_has_is_refused(tmp_path: Path) -> None:
    takeaway = model_metadata(read_dataset("sample:iris"), [0, 1], [2])
    plain = {**json.loads(takeaway.as_json()), "train_rows": "all"}
    (tmp_path / FILE_NAME).write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(UnusableError, match="empty, cut off or damaged"):
        read_metadata(tmp_path)
