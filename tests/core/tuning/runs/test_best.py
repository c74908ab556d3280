"""The fitted best of a run folder: opened without running code, or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from run_events import tune_here as tune
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import RadiusNeighborsClassifier

from app.cli import main
from app.worker.engine import Engine
from app.worker.messages import Export
from core.errors import UnusableError
from core.estimators.stored.signed import sign_content
from core.export.finished_run import finished_run
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.results.conclude import fit_best_again
from core.tuning.runs.best import OLD, OPEN, SIGNED, best_of, has_best, keep_best, may_open_best
from core.tuning.runs.run_folder import RunFolder


class Executes:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: Any) -> RunFolder:
    """A finished run on a small file."""
    tmp_path = tmp_path_factory.mktemp("finished")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(90, 3)), columns=["a", "b", "c"])
    table["kind"] = np.where(table["a"] + 0.3 * random.normal(size=90) > 0, "yes", "no")
    table.to_csv(tmp_path / "data.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "data.csv")), "logistic", "random", trials=2, folds=2)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    list(tune(plan, read_data(plan.data), folder=folder))
    return folder


def chances(run: RunFolder) -> np.ndarray:
    return best_of(run).predict_proba(read_data(run.plan.data).features)


@pytest.fixture
def run(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    shutil.copytree(finished.path, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def poisoned(run: RunFolder) -> Path:
    """The run as an earlier version left it, its model exchanged; what appears if it is opened."""
    mark = run.path.parent / "executed"
    (run.path / OPEN).unlink()
    joblib.dump(Executes(mark), run.path / OLD)
    return mark


def test_a_draft_that_a_killed_process_left_goes_with_the_next_model(run: RunFolder) -> None:
    script = f"""
import os
from pathlib import Path
from core.writing import whole_file
with whole_file(Path({str(run.path / OPEN)!r})) as draft:
    draft.write_bytes(b"half of it")
    os._exit(1)
"""
    names = {path.name for path in run.path.iterdir()}
    subprocess.run([sys.executable, "-c", script], check=False)
    assert len(list(run.path.iterdir())) == len(names) + 1
    keep_best(run, best_of(run))
    assert {path.name for path in run.path.iterdir()} == names


def test_the_best_is_kept_in_a_file_that_executes_nothing(run: RunFolder) -> None:
    names = {path.name for path in run.path.iterdir()}
    assert names == {"plan.json", "events.jsonl", "best.json", OPEN}
    assert chances(run).shape == (90, 2)
    assert fit_best_again(run) == ""  # nothing to do


def test_an_old_file_is_refused_and_never_opened_under_whatever_name(run: RunFolder) -> None:
    mark = poisoned(run)
    assert has_best(run)
    assert not may_open_best(run)
    with pytest.raises(UnusableError, match=r"best\.joblib: .*could run code.*tunescope resume"):
        best_of(run)
    with pytest.raises(UnusableError, match="could run code"):
        _ = finished_run(run).pipeline  # the run itself opens
    for before, name, why in (
        (OLD, SIGNED, "not come from this computer"),
        (SIGNED, OPEN, "damaged"),
    ):
        (run.path / before).rename(run.path / name)
        with pytest.raises(UnusableError, match=why):
            best_of(run)
    assert not mark.exists()


@pytest.mark.parametrize(
    "command",
    [
        "report {run} --out {out}.html",
        "export {run} {out}.skops",
        "export {run} {out}.json",
        "export {run} {out}.skops --which default",
        "resume {run} --export {out}.py",
        "replay {run}",
        "resume {run} --trials 1",
    ],
)
def test_no_command_executes_a_run_folder(
    run: RunFolder, command: str, tmp_path: Path, capsys: Any
) -> None:
    mark = poisoned(run)
    given = [part.format(run=run.path, out=tmp_path / "out") for part in command.split()]
    assert main(given) == 0, capsys.readouterr().err
    assert not mark.exists()


def test_the_window_executes_no_run_folder(run: RunFolder, tmp_path: Path) -> None:
    before, results, mark = chances(run), finished_run(run).results, poisoned(run)
    asked = Export(str(run.path), "skops", str(tmp_path / "out.skops"))
    engine = Engine()
    assert "it stays closed, and the model was fitted again" in engine.answer(asked).remark
    assert engine.answer(asked).remark == ""
    assert not mark.exists()
    assert not (run.path / OLD).exists()
    np.testing.assert_allclose(chances(run), before)
    assert finished_run(run).results == results


def test_it_is_not_fitted_again_on_other_data(run: RunFolder) -> None:
    poisoned(run)
    file, other = run.plan.data.file, run.path.parent / "data.csv"
    other.write_text(Path(file).read_text() + "1,1,1,yes\n")
    plan = run.path / "plan.json"
    plan.write_text(plan.read_text().replace(file, str(other)))
    with pytest.raises(UnusableError, match="the data has changed"):
        fit_best_again(run)


def test_what_skops_does_not_hold_is_signed(run: RunFolder, monkeypatch: Any) -> None:
    """A model of an extension, whose classes are on no list of ours."""
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model = RadiusNeighborsClassifier(radius=9.0).fit(X, y)
    keep_best(run, model)
    assert (run.path / SIGNED).exists()
    assert not (run.path / OPEN).exists()
    assert best_of(run).predict(X).tolist() == model.predict(X).tolist()
    whole = (run.path / SIGNED).read_bytes()
    for content in (b"", b"no pickle", b"\x80\x04."):
        (run.path / SIGNED).write_bytes(sign_content(content))
        with pytest.raises(UnusableError, match="cannot be opened here"):
            best_of(run)
    (run.path / SIGNED).write_bytes(whole)
    monkeypatch.setenv("TUNESCOPE_KEY", str(run.path.parent / "other" / "key"))
    assert not may_open_best(run)
    with pytest.raises(UnusableError, match="does not come from this computer"):
        best_of(run)
    keep_best(run, LogisticRegression().fit(X, y))
    assert not (run.path / SIGNED).exists()
