"""What installed packages add, in the window and on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import joblib
import pytest
from sklearn.datasets import load_iris

from app.pages.model_page import ModelPage
from app.pages.strategy_page import StrategyPage
from app.session.session import Session
from app.text.narration import narration
from app.text.run_head import model_text
from app.views.board import Board
from app.window.window import Window
from app.worker.messages import Message, Opened
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.tuning.events import DatasetFacts, RunStarted, TrialFinished, TrialStarted
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.state import state_from_events

ROOT = Path(__file__).parent.parent.parent


def tunescope(folder, *arguments):
    """A command with the packages of a folder."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "app", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("command", "name"), [("models", "stumps"), ("strategies", "genetic")])
def test_lists_name_what_comes_from_outside(example, command, name):
    ran = tunescope(example, command, "--json")
    assert name in {entry["name"] for entry in json.loads(ran.stdout)}
    assert ran.stderr == ""


def test_a_run_from_outside_is_tuned_and_exported(example, tmp_path):
    names = ("model.joblib", "model.skops", "run.json", "again.py", "page.html", "setting.txt")
    exports = [part for name in names for part in ("--export", tmp_path / name)]
    asked = ("--model", "stumps", "--strategy", "genetic", "--trials", "4", "--workers", "2")
    ran = tunescope(
        example, "tune", "sample:iris", *asked, "--option", "folds=3", "--json", *exports,
        "--run-dir", tmp_path / "runs",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout.splitlines()[-1])
    stumps = result["params"]["n_estimators"]
    assert (result["model"], result["strategy"], result["trials"]) == ("stumps", "genetic", 4)
    assert "stumps on iris (150 rows, 4 columns), strategy genetic" in ran.stderr
    model = joblib.load(tmp_path / "model.joblib")
    assert model[-1].get_params()["n_estimators"] == stumps
    assert json.loads((tmp_path / "run.json").read_text())["parameters"] == result["params"]
    (tmp_path / "new.csv").write_text(load_iris(as_frame=True).frame.to_csv(index=False))
    given = ("predict", tmp_path / "model.skops", tmp_path / "new.csv", "--only")
    said = tunescope(example, *given)
    assert said.returncode == 0, said.stderr
    expected = [str(label) for label in model.predict(load_iris(as_frame=True).data)]
    assert [line.split(",")[0] for line in said.stdout.splitlines()[1:]] == expected
    refused = tunescope(tmp_path, *given)  # where the extension is not installed
    assert refused.returncode == 2
    assert "AdaBoostClassifier" in refused.stderr
    assert (tmp_path / "setting.txt").read_text().split("\n")[0] == "Boosted stumps"
    assert "Boosted stumps · Genetic search (Optuna)" in (tmp_path / "page.html").read_text()
    again = subprocess.run(
        [sys.executable, tmp_path / "again.py"], capture_output=True, text=True, check=True
    )
    score = f"accuracy on test rows, tuned: {result['test']['accuracy']:.6f}"
    assert score in again.stdout


def test_what_is_broken_is_told_on_the_command_line(broken):
    ran = tunescope(broken, "models")
    assert ran.returncode == 0
    assert "forest: Random forest" in ran.stdout
    lines = ran.stderr.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("tunescope: The extension “") for line in lines)


@pytest.fixture
def chosen(installed, example, still):
    """A session with iris, whose plan has the model and the strategy from outside."""
    installed(example)
    summary = summarize(read_dataset("sample:iris"))
    still.open_sample("iris")
    opened = Opened(DataPlan(file="sample:iris"), summary, advise(summary))
    still.worker.arrived.emit([Message(1, opened)])
    still.choose_model("stumps")
    still.choose_strategy("genetic")
    return still


def test_pages_offer_what_comes_from_outside(chosen, qtbot):
    models, strategies = ModelPage(chosen), StrategyPage(chosen)
    for page in (models, strategies):
        qtbot.addWidget(page)
    assert models.cards.cards["stumps"].button.isChecked()
    assert strategies.cards.cards["genetic"].button.isChecked()
    assert "Boosted stumps is tuned on" in " ".join(strategies.words[1])


def begun():
    plan = Plan(DataPlan("sample:iris"), "stumps", "genetic").as_dict()
    return RunStarted(
        plan=plan, kind="trials", dataset=DatasetFacts(test_rows=45), metric="accuracy"
    )


def test_the_run_is_told_in_the_words_of_the_extension(installed, example):
    installed(example)
    assert model_text("stumps") == "boosted stumps"
    said = " ".join(narration(state_from_events([begun()])))
    assert "The best settings of each generation are crossed to make the next one." in said
    trial = TrialStarted(number=0, setting={"n_estimators": 3}, reason="genetic")
    said = " ".join(narration(state_from_events([begun(), trial])))
    assert "it comes from two good settings" in said


def test_without_the_extension_its_run_is_still_told():
    assert model_text("stumps") == "stumps"
    assert narration(state_from_events([begun()]))


def test_the_board_shows_a_view_from_outside(installed, example, look, qtbot):
    installed(example)
    board = Board()
    qtbot.addWidget(board)
    board.consume(begun())
    board.consume(TrialFinished(number=0, setting={"n_estimators": 3}, score=0.9, took=2.0))
    board.redraw_now()
    view = board.views["durations"]
    assert view.describe() == "The longest trial took 2.0 seconds."
    assert (list(view.dots.x), list(view.dots.y)) == ([0.0], [2.0])


def test_the_window_names_what_is_broken(installed, broken, look, qtbot, tmp_path):
    installed(broken)
    session = Session(runs_root=tmp_path / "runs")
    window = Window(session)
    qtbot.addWidget(window)
    with qtbot.waitSignal(session.problem, timeout=120_000) as told:
        pass
    assert "“absent” (broken.no_such_module:X) is left out" in told.args[0]
    assert "“file” (broken.rest:taken) is left out" in told.args[0]
    assert window.notice.sentence == told.args[0]
    session.shutdown()


def test_the_board_names_a_view_that_is_broken(installed, broken, look, qtbot):
    installed(broken)
    board = Board()
    qtbot.addWidget(board)
    with qtbot.waitSignal(board.problem) as told:
        board.consume(begun())
    assert "it is no View" in told.args[0]
