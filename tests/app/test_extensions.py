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

from app.cli import main
from app.pages.model_page import ModelPage
from app.pages.strategy_page import StrategyPage
from app.session.session import Session
from app.text.narration import narration
from app.text.rail_text import run_strategy_title
from app.views.board import Board
from app.window import open_window
from app.window.open_window import Preparation
from app.window.window import Window
from app.worker.engine import Engine
from core.errors import UnusableError
from core.estimators.model_settings import noun_of
from core.estimators.registry import MODELS
from core.export.prediction import predict_file
from core.tuning.events import DatasetFacts, RunStarted, TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.state import state_from_events

ROOT = Path(__file__).parent.parent.parent


def told(capsys, *arguments):
    """What a command says: its output, and the lines of its errors."""
    assert main(list(arguments)) == 0
    out, err = capsys.readouterr()
    return out, err.splitlines()


def test_lists_name_what_comes_from_outside(installed, example, capsys):
    installed(example)
    for command, name in (("models", "stumps"), ("strategies", "genetic")):
        out, errors = told(capsys, command, "--json")
        assert name in {entry["name"] for entry in json.loads(out)}
        assert errors == []


@pytest.mark.slow
def test_a_run_from_outside_is_tuned_and_exported(installed, example, tmp_path):
    names = ("model.joblib", "model.skops", "run.json", "again.py", "page.html", "setting.txt")
    exports = [part for name in names for part in ("--export", tmp_path / name)]
    asked = ("--model", "stumps", "--strategy", "genetic", "--trials", "2", "--workers", "2")
    command = ("-m", "app", "tune", "sample:iris", *asked, "--option", "folds=2", "--json")
    ran = run_python(*command, *exports, "--run-dir", tmp_path / "runs", path=(example, ROOT))
    result = json.loads(ran.stdout.splitlines()[-1])
    stumps = result["params"]["n_estimators"]
    assert (result["model"], result["strategy"], result["trials"]) == ("stumps", "genetic", 2)
    assert (
        "stumps on iris (150 rows, 4 columns), predicting “target”, strategy genetic" in ran.stderr
    )
    assert json.loads((tmp_path / "run.json").read_text())["parameters"] == result["params"]
    assert (tmp_path / "setting.txt").read_text().split("\n")[0] == "Boosted stumps"
    assert "Boosted stumps · Genetic search (Optuna)" in (tmp_path / "page.html").read_text()
    again = run_python(tmp_path / "again.py")
    score = f"accuracy on test rows, tuned: {result['test']['accuracy']:.6f}"
    assert score in again.stdout
    rows = load_iris(as_frame=True)
    rows.frame.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(UnusableError, match="AdaBoostClassifier"):  # without the extension
        predict_file(tmp_path / "model.skops", tmp_path / "new.csv")
    installed(example)
    model = joblib.load(tmp_path / "model.joblib")
    assert model[-1].get_params()["n_estimators"] == stumps
    predictions = predict_file(tmp_path / "model.skops", tmp_path / "new.csv")["prediction"]
    assert [*map(str, predictions)] == [*map(str, model.predict(rows.data))]


def run_python(*command, path=(ROOT,)):
    ran = subprocess.run(
        [sys.executable, *map(str, command)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))},
        cwd=path[0],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran


def test_what_is_broken_is_told_on_the_command_line(installed, broken, capsys):
    installed(broken)
    out, errors = told(capsys, "models")
    assert "forest: Random forest" in out
    assert len(errors) == 5
    assert all(line.startswith("tunescope: The extension “") for line in errors)


@pytest.fixture
def chosen(installed, example, still):
    """A session with iris, whose plan has the model and the strategy from outside."""
    installed(example)
    still.open_sample("iris")
    still.worker.answer(Engine().answer(still.worker.asked[-1]))
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


def test_pages_that_are_made_ahead_run_no_code_from_outside(installed, example, still, qtbot):
    installed(example)
    window = Window(still)
    qtbot.addWidget(window)
    preparation = Preparation(window)
    open_window._prepare(still, open_window.AHEAD, lambda: True)
    assert (
        run_strategy_title(RunSummary("run", "run", model="stumps", strategy="genetic"))
        == "genetic"
    )
    assert len(list(preparation._make_widgets())) > len(open_window.AHEAD)
    assert not [name for name in sys.modules if name.partition(".")[0] == "example"]
    assert "stumps" in MODELS  # the first look


def begun():
    plan = Plan(DataPlan("sample:iris"), "stumps", "genetic").as_dict()
    return RunStarted(
        plan=plan, kind="trials", dataset=DatasetFacts(test_rows=45), metric="accuracy"
    )


def test_the_run_is_told_in_the_words_of_the_extension_where_there_is_one(installed, example):
    assert noun_of("stumps") == "stumps"
    assert narration(state_from_events([begun()]))
    installed(example)
    assert noun_of("stumps") == "boosted stumps"
    said = " ".join(narration(state_from_events([begun()])))
    assert "The best settings of each generation are crossed to make the next one." in said
    trial = TrialStarted(number=0, setting={"n_estimators": 3}, reason="genetic")
    said = " ".join(narration(state_from_events([begun(), trial])))
    assert "it comes from two good settings" in said


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


@pytest.mark.slow
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
