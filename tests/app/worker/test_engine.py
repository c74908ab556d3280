"""What the worker does with the real core: from the file to the export, in one process."""

from __future__ import annotations

import json
import shutil
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest

from app.worker import messages as m
from app.worker.engine import HANDLERS, Engine
from core.errors import UnusableError
from core.export import finished_run
from core.tuning.events import ModelSelected, RunFinished, TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan

PLAN = Plan(DataPlan("sample:iris"), "logistic", "random", trials=3, evaluation="test")


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a finished run, and its events; made once, tests change copies."""
    engine, asked = Engine(), m.Tune(PLAN, root=str(tmp_path_factory.mktemp("runs")))
    folder = engine.folder(asked)
    return Path(folder), list(engine.tune(asked, folder, deque()))


@pytest.fixture
def run(finished, tmp_path):
    folder, events = finished
    return shutil.copytree(folder, tmp_path / folder.name), events


def test_what_can_be_exported_is_known_once_it_is_warm(engine):
    offered = engine.warm_up()
    assert {"skops", "json", "report"} <= {entry["name"] for entry in offered}
    assert all(entry["title"] and entry["ending"].startswith(".") for entry in offered)


def test_the_data_are_read_once_for_all_requests(engine, monkeypatch):
    opened = engine.answer(m.OpenData(PLAN.data))
    assert (opened.data, opened.summary["rows"]) == (replace(PLAN.data, rows=0), 150)
    assert any(model["recommended"] for model in opened.advice["models"])
    monkeypatch.setattr("app.worker.engine.read_data", lambda data: pytest.fail("read again"))
    estimated = engine.answer(m.Estimate(PLAN)).estimate
    assert estimated["trials"] == 3
    engine.answer(m.Estimate(PLAN.changed(data=opened.data)))
    assert estimated["seconds"] > 0


def test_an_unusable_file_leaves_the_data_as_they_were(engine):
    engine.answer(m.OpenData(PLAN.data))
    with pytest.raises(UnusableError):
        engine.answer(m.OpenData(DataPlan("/no/such/file.csv")))
    assert engine._dataset.rows == 150


def test_a_run_goes_on_in_its_folder(engine, run):
    folder, events = run
    assert isinstance(events[-1], RunFinished)
    again = m.Tune(PLAN, folder=str(folder), more_trials=1)
    assert engine.folder(again) == str(folder)
    more = list(engine.tune(again, str(folder), deque()))
    assert [e.number for e in more if isinstance(e, TrialFinished)] == [3]


def test_the_results_without_a_trial_are_those_of_a_run_that_ended(engine, run):
    folder, events = run
    best = max((e for e in events if isinstance(e, TrialFinished)), key=lambda e: e.score)
    changed, last = engine.conclude(m.Conclude(str(folder), m.Exclude(best.number)))
    assert changed == TrialExcluded(number=best.number)
    assert isinstance(last, RunFinished)
    assert last.because == events[-1].because
    assert last.results["setting"] != best.setting


def test_another_model_is_taken_away(engine, run):
    folder, events = run
    picked, last = engine.conclude(
        m.Conclude(str(folder), pick=ModelSelected(kind="trial", number=1))
    )
    assert picked == ModelSelected(kind="trial", number=1)
    tried = next(e for e in events if isinstance(e, TrialFinished) and e.number == 1)
    assert last.results["setting"] == tried.setting
    assert "picked by hand" in " ".join(last.results["remarks"])
    with pytest.raises(UnusableError, match="no trial 99"):
        list(engine.conclude(m.Conclude(str(folder), pick=ModelSelected(kind="trial", number=99))))


def test_another_model_is_fitted_once_for_several_files(engine, run, tmp_path, monkeypatch):
    folder, _ = run
    written = engine.answer(m.Export(str(folder), "json", str(tmp_path / "tuned.json")))
    assert json.loads((tmp_path / "tuned.json").read_text())
    assert written.path == str(tmp_path / "tuned.json")
    fits, usual = [], finished_run.with_selected_model
    monkeypatch.setattr(
        finished_run, "with_selected_model", lambda *given: fits.append(given) or usual(*given)
    )
    for name in ("a.json", "b.json"):
        engine.answer(m.Export(str(folder), "json", str(tmp_path / name), "default"))
    assert len(fits) == 1


@pytest.mark.parametrize(
    ("format", "name", "why"),
    [("report", "run.html", "whole run"), ("json", "nowhere/a.json", "no such folder")],
)
def test_an_export_that_must_fail_is_refused_before_a_model_is_fitted(
    engine, run, tmp_path, monkeypatch, format, name, why
):
    monkeypatch.setattr(finished_run, "with_selected_model", lambda *given: pytest.fail("fitted"))
    with pytest.raises(UnusableError, match=why):
        engine.answer(m.Export(str(run[0]), format, str(tmp_path / name), "default"))


def test_every_kind_of_request_has_a_handler_or_streams_its_answers():
    streamed = {m.Tune, m.Conclude, m.Explain, m.PredictRows}
    assert set(m.Work.__subclasses__()) == set(HANDLERS) | streamed
