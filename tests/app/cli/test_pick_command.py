"""`tunescope pick` on a finished run."""

import json

import pytest

from app.cli.commands import main


@pytest.fixture
def ended(tmp_path, capsys):
    run = tmp_path / "run"
    given = ["--model", "logistic", "--strategy", "random", "--trials", "4", "--seed", "1"]
    assert main(["tune", "sample:iris", *given, "--run-dir", str(run), "--json"]) == 0
    return run, json.loads(capsys.readouterr().out)


def test_any_trial_and_the_default_can_be_taken_away(ended, tmp_path, capsys):
    run, _ = ended
    path = tmp_path / "model.json"
    assert main(["pick", str(run), "2", "--json", "--export", str(path)]) == 0
    picked = json.loads(capsys.readouterr().out)
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    second = next(e for e in events if e["event"] == "TrialFinished" and e["number"] == 2)
    assert picked["params"] == second["setting"]
    assert json.loads(path.read_text())["parameters"] == second["setting"]
    assert any("picked by hand" in remark for remark in picked["remarks"])
    assert main(["pick", str(run), "default", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["params"] == {"C": 1.0}


@pytest.mark.parametrize("which", ["fastest", "99", "average", "-1"])
def test_what_is_not_there_is_refused_in_a_sentence(ended, capsys, which):
    run, _ = ended
    before = (run / "events.jsonl").read_text()
    try:
        status = main(["pick", str(run), which])
    except SystemExit as end:  # “-1” looks like an option
        status = end.code
    assert status == 2
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert said.startswith("tunescope")
    assert (run / "events.jsonl").read_text() == before
