"""`tunescope work`: a run without a coordinator goes on, one that has ended is left alone."""

from __future__ import annotations

import pytest

from app.cli import main
from core.tuning.cluster import shared_folder, shared_worker
from core.tuning.events import RunFinished, TrialFinished
from core.tuning.runs.run_folder import RunFolder

TUNE = "tune sample:iris --model logistic --strategy random --trials 4 --option folds=2 --later"


@pytest.fixture
def run(own_settings, tmp_path):
    """A run that was made for later."""
    assert main([*TUNE.split(), "--run-dir", str(tmp_path / "run")]) == 0
    folder = RunFolder.open(tmp_path / "run")
    assert folder.all_events() == []
    return folder


def test_who_joins_a_run_that_nobody_coordinates_ends_it(run, capsys, monkeypatch):
    for module in (shared_folder, shared_worker):
        monkeypatch.setattr(module, "GONE_SECONDS", 0.0)
        monkeypatch.setattr(module, "BEAT_SECONDS", 0.05)
    best = run.path / "best.json"
    assert main(["work", str(run.path), "--export", str(run.path / "model.json")]) == 0
    assert "from now on this one does" in capsys.readouterr().err
    events = run.all_events()
    assert [e.number for e in events if isinstance(e, TrialFinished)] == [0, 1, 2, 3]
    assert isinstance(events[-1], RunFinished)
    assert best.exists()
    assert (run.path / "model.json").exists()
    assert main(["work", str(run.path)]) == 0
    assert "The trials of this run have ended; 0 were made here." in capsys.readouterr().err
    assert run.all_events() == events


@pytest.mark.parametrize("words", [["--workers", "0"], ["--wait", "-1"], ["--wait", "nan"]])
def test_a_number_out_of_range_is_refused(run, capsys, words):
    assert main(["work", str(run.path), *words]) == 2
    assert "is out of range; give at least" in capsys.readouterr().err


def test_without_a_run_there_is_nothing_to_join(own_settings, capsys):
    assert main(["work", "nowhere"]) == 2
    assert "there is no run here" in capsys.readouterr().err
