"""The JSON export: strict JSON, both scales of a penalty, coefficients that predict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.export.exporters import export_from_folder
from core.tuning.runs.best import best_of


def exported(made: Any, path: Path) -> dict[str, Any]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(export_from_folder(made.folder, path).read_text(), parse_constant=refuse)


def test_has_what_is_needed_to_get_the_same_again(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    made = make_run("binary", "logistic", {"C": 0.3})
    numbers = exported(made, tmp_path / "numbers.json")
    assert numbers["parameters"] == {"C": 0.3}
    assert numbers["default_parameters"] == {"C": 1.0}
    assert numbers["scores"]["test"] == {"accuracy": made.score}
    assert numbers["seed"] == 4
    assert "average" not in numbers
    assert numbers["data"]["fingerprint_sha256"] == made.dataset.source.fingerprint
    assert numbers["versions"]["scikit-learn"]
    assert [trial["number"] for trial in numbers["trials"]] == list(range(10))
    assert numbers["trials"][4]["failed"] == "There was not enough memory."


def test_penalties_on_both_scales(make_run: Callable[..., Any], tmp_path: Path) -> None:
    numbers = exported(make_run("binary", "logistic", learned=True), tmp_path / "numbers.json")
    groups = numbers["penalties"]["groups"]
    assert list(groups) == ["age", "colour", "noise", "shop", "size"]
    assert groups["noise"]["columns"] == ["noise_a", "noise_b"]
    for group in groups.values():
        assert group["C_sklearn"] == pytest.approx(1 / group["C"])
    assert [name for name in groups if groups[name]["switched_off"]] == ["size"]
    numbers = exported(make_run("regression", "linear", learned=True), tmp_path / "numbers.json")
    for group in numbers["penalties"]["groups"].values():  # which carry the noise variance
        assert group["ridge_alpha"] == pytest.approx(0.25 * group["C"])


def test_the_weights_are_in_favour_of_the_second_class(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    made = make_run("binary", "logistic")
    numbers = exported(made, tmp_path / "numbers.json")["coefficients"]
    prepare = best_of(made.folder).named_steps["prepare"]
    matrix = prepare.transform(made.dataset.table.iloc[made.test_rows])
    sums = numbers["intercept"] + matrix @ np.array(list(numbers["weights"].values()))
    assert numbers["in_favour_of"] == "yes"
    assert np.where(sums > 0, "yes", "no").tolist() == made.said.tolist()


def test_models_without_weights_have_none(make_run: Callable[..., Any], tmp_path: Path) -> None:
    assert "coefficients" not in exported(make_run("binary", "forest"), tmp_path / "numbers.json")
