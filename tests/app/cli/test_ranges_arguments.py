"""`tunescope tune --range --fix --patience`: as they are read, carried out, kept and refused."""

import json

import pytest

from app.cli import main
from app.cli.plan_from_arguments import _parse_fixed_values, _parse_ranges
from core.errors import UnusableError
from core.tuning.runs.run_folder import RunFolder

QUICK = ["tune", "sample:iris", "--model", "logistic", "--strategy", "random", "--option"]
QUICK += ["folds=2", "--trials", "6"]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))


def test_they_are_read_by_setting():
    assert _parse_ranges(["C=0.01:100", " gamma = 1e-4 : 1 "]) == {
        "C": [0.01, 100],
        "gamma": [1e-4, 1],
    }
    assert _parse_fixed_values(["p=2", "gamma=0.1", "weights=uniform", "x=True"]) == {
        "p": 2, "gamma": 0.1, "weights": "uniform", "x": "True"
    }  # fmt: skip
    assert isinstance(_parse_fixed_values(["p=2"])["p"], int)


@pytest.mark.parametrize(
    ("given", "says"),
    [("C", "is not SETTING=FROM:TO"), ("C=5", "is not SETTING=FROM:TO"),
     ("=1:2", "is not SETTING=FROM:TO"), ("C=a:b", "“a:b” is not a range of numbers"),
     ("C=1:2:3", "“1:2:3” is not a range of numbers"), ("C=:3", "is not a range of numbers")],
)  # fmt: skip
def test_what_is_no_range_is_refused(given, says):
    with pytest.raises(UnusableError, match=says):
        _parse_ranges([given])


@pytest.mark.parametrize("given", ["C", "=3", "C=", "C= "])
def test_what_is_no_value_is_refused(given):
    with pytest.raises(UnusableError, match="is not SETTING=VALUE"):
        _parse_fixed_values([given])


def test_a_run_keeps_to_them_and_its_folder_has_them(tmp_path, capsys):
    folder = tmp_path / "run"
    asked = [*QUICK, "--range", "C=0.5:2", "--patience", "3", "--run-dir", str(folder), "--json"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert "It stops when 3 trials in a row improve nothing." in err
    told = json.loads(out.splitlines()[-1])
    assert 0.5 <= told["params"]["C"] <= 2
    run = RunFolder.open(folder)
    assert (run.plan.ranges, run.plan.patience) == ({"C": [0.5, 2.0]}, 3)
    tried = [
        event.setting["C"] for event in run.all_events() if type(event).__name__ == "TrialStarted"
    ]
    assert all(0.5 <= value <= 2 for value in tried)
    assert len(tried) >= 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--range", "C=3:1"], "range of C: it begins at 3, above its end at 1; give the smaller"),
        (["--range", "C=1:1"], "range of C: from 1 to 1 is one value; fix it to that"),
        (["--range", "C=0:1"], "range of C: 0 is not above 0"),
        (["--range", "C=1:nan"], "range of C: nan has no end"),
        (["--range", "C=1:1e200"], "range of C: 1e+200 is too far from 0"),
        (["--range", "D=1:2"], "range of D: the model has no setting “D” that is searched"),
        (["--fix", "C=much"], "fixed value of C: “much” is not a number"),
        (["--fix", "C=1"], "ranges: every setting is fixed"),
        (["--range", "C=1:2", "--fix", "C=1"], "range of C: it has both a range and a fixed value"),
        (["--patience", "-1"], "patience: “-1” is out of range; give at least 0"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_no_run(given, says, tmp_path, capsys):
    assert main([*QUICK, *given]) == 2
    err = capsys.readouterr().err.strip()
    assert says in err
    assert len(err.splitlines()[-1].split(". ")) == 1
    assert "Traceback" not in err
    assert not list((tmp_path / "runs").glob("*/events.jsonl"))


def test_a_learner_of_penalties_says_that_it_searches_none(capsys):
    asked = ["tune", "sample:iris", "--model", "logistic", "--strategy", "mm"]
    assert main([*asked, "--range", "C=0.5:2", "--patience", "3"]) == 0
    err = capsys.readouterr().err
    assert "mm learns the penalty and searches no ranges" in err


def test_several_models_refuse_ranges_in_a_sentence(capsys):
    assert main(["tune", "sample:iris", "--range", "C=0.5:2"]) == 2
    assert "choose one model to change its ranges" in capsys.readouterr().err
