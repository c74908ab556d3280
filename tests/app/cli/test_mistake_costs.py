"""`tunescope tune --mistake-costs`: classes and costs as people write them, and what is printed."""

import json

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from app.cli.plan_from_arguments import _parse_costs
from core.errors import UnusableError


@pytest.fixture
def rare(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    random = np.random.default_rng(0)
    sick = np.arange(300) % 20 == 0
    table = pd.DataFrame(random.normal(size=(300, 2)) + 2 * sick[:, None], columns=["a", "b"])
    table["state"] = np.where(sick, "sick", "healthy")
    table.to_csv(tmp_path / "rare.csv", index=False)
    return str(tmp_path / "rare.csv")


@pytest.mark.parametrize(
    ("given", "costs"),
    [
        ([], {}),
        (["healthy=1,sick=5"], {"healthy": 1.0, "sick": 5.0}),
        (["healthy=1", "sick=2.5"], {"healthy": 1.0, "sick": 2.5}),
        (["0=1, 1=3"], {"0": 1.0, "1": 3.0}),
        (["a,b=2,c=3"], {"a,b": 2.0, "c": 3.0}),
        (["x=y=4"], {"x=y": 4.0}),
    ],
)
def test_costs_are_read_by_class(given, costs):
    assert _parse_costs(given) == costs


@pytest.mark.parametrize("given", ["sick", "sick=", "=3", "sick=much", "healthy=1,sick"])
def test_what_is_no_cost_is_refused(given):
    with pytest.raises(UnusableError, match="is not CLASS=COST"):
        _parse_costs([given])


def test_the_result_says_what_mistakes_cost(rare, capsys):
    asked = ["tune", rare, "--model", "logistic", "--strategy", "evidence"]
    assert main([*asked, "--mistake-costs", "sick=20", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["metric"] == "log_loss"
    assert "Only 5 % of the training rows are “sick”" in told["metric_reason"]
    assert told["metric_reason"] in err
    assert told["costs"]["costs"] == {"healthy": 1.0, "sick": 20.0}
    assert main([*asked, "--mistake-costs", "sick=20"]) == 0
    words = capsys.readouterr().out
    assert "Costs:   A row is called “sick” from a probability of" in words
    assert "Score:   Only 5 %" in words


def test_an_unknown_class_is_one_sentence(rare, capsys):
    assert main(["tune", rare, "--mistake-costs", "ill=2"]) != 0
    said = capsys.readouterr().err
    assert "there is no class “ill”; the classes are healthy and sick" in said
    assert "Traceback" not in said
