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


def test_ridge_penalties_carry_the_noise_variance(
    make_run: Callable[..., Any], tmp_path: Path
) -> None:
    numbers = exported(make_run("regression", "linear", learned=True), tmp_path / "numbers.json")
    for group in numbers["penalties"]["groups"].values():
        assert group["ridge_alpha"] == pytest.approx(0.25 * group["C"])


@pytest.mark.parametrize(
    ("task", "model"),
    [
        ("regression", "linear"),
        ("regression", "elastic-net"),
        ("binary", "logistic"),
        ("multiclass", "logistic"),
    ],
)
def test_the_coefficients_predict(
    make_run: Callable[..., Any], tmp_path: Path, task: str, model: str
) -> None:
    made = make_run(task, model)
    numbers = exported(made, tmp_path / "numbers.json")["coefficients"]
    prepare = best_of(made.folder).named_steps["prepare"]
    matrix = prepare.transform(made.dataset.table.iloc[made.test_rows])
    weights = numbers["weights"]
    assert len(weights) == matrix.shape[1]
    if task == "multiclass":
        labels = list(numbers["intercept"])
        sums = np.array([numbers["intercept"][label] for label in labels]) + matrix @ np.array(
            [[weights[name][label] for label in labels] for name in weights]
        )
        assert np.array(labels)[sums.argmax(axis=1)].tolist() == made.said.tolist()
        return
    sums = numbers["intercept"] + matrix @ np.array(list(weights.values()))
    if task == "regression":
        np.testing.assert_allclose(sums, made.said)
    else:
        assert numbers["in_favour_of"] == "yes"
        assert np.where(sums > 0, "yes", "no").tolist() == made.said.tolist()


def test_models_without_weights_have_none(make_run: Callable[..., Any], tmp_path: Path) -> None:
    assert "coefficients" not in exported(make_run("binary", "forest"), tmp_path / "numbers.json")
