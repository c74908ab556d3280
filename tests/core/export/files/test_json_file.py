"""The JSON export: strict JSON, both scales of a penalty, coefficients that predict."""

import json

import numpy as np
import pytest
from exported_files import exported

from core.tuning.runs.best import best_of


@pytest.fixture
def numbers_of(tmp_path):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    def numbers(made):
        path = exported(made.folder, tmp_path / "numbers.json")
        return json.loads(path.read_text(), parse_constant=refuse)

    return numbers


def test_has_what_is_needed_to_get_the_same_again(make_run, numbers_of):
    made = make_run("binary", "logistic", {"C": 0.3})
    numbers = numbers_of(made)
    assert numbers["parameters"] == {"C": 0.3}
    assert numbers["default_parameters"] == {"C": 1.0}
    assert numbers["scores"]["test"] == {"accuracy": made.score}
    assert numbers["seed"] == 4
    assert "average" not in numbers
    assert numbers["data"]["fingerprint_sha256"] == made.dataset.source.fingerprint
    assert numbers["versions"]["scikit-learn"]
    assert [trial["number"] for trial in numbers["trials"]] == list(range(10))
    assert numbers["trials"][4]["failed"] == "There was not enough memory."


def test_penalties_on_both_scales(make_run, numbers_of):
    groups = numbers_of(make_run("binary", "logistic", learned=True))["penalties"]["groups"]
    assert list(groups) == ["age", "colour", "noise", "shop", "size"]
    assert groups["noise"]["columns"] == ["noise_a", "noise_b"]
    for group in groups.values():
        assert group["C_sklearn"] == pytest.approx(1 / group["C"])
    assert [name for name in groups if groups[name]["switched_off"]] == ["size"]
    groups = numbers_of(make_run("regression", "linear", learned=True))["penalties"]["groups"]
    for group in groups.values():  # which carry the noise variance
        assert group["ridge_alpha"] == pytest.approx(0.25 * group["C"])


def test_the_weights_are_in_favour_of_the_second_class(make_run, numbers_of):
    made = make_run("binary", "logistic")
    numbers = numbers_of(made)["coefficients"]
    prepare = best_of(made.folder).named_steps["prepare"]
    matrix = prepare.transform(made.dataset.table.iloc[made.test_rows])
    sums = numbers["intercept"] + matrix @ np.array(list(numbers["weights"].values()))
    assert numbers["in_favour_of"] == "yes"
    assert np.where(sums > 0, "yes", "no").tolist() == made.said.tolist()
