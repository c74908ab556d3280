"""The pointer is told in every view what it is at, in plain words, wherever there is something."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip

from app.views.plot.hover_text import nearest_mark
from app.views.plot.items import Dots, HorizontalBars, Lines
from app.views.plot.plot import Plot
from app.views.plot.scales import Scale
from app.views.registry import VIEWS
from app.worker.evaluator_process import evaluate_request
from core.datasets.task import Task
from core.json_reading import read_as
from core.tuning.events import ImagesDrawn, RunStarted, TopicsFound, TrialFinished, TrialStarted
from core.tuning.payloads import DatasetFacts, Topic
from core.tuning.run_results import Results

HERE = Path(__file__).parent


@pytest.fixture
def runs(monkeypatch, streams, structured, race):
    """Runs of every kind, so that together they have every view."""
    for folder in ("ensemble", "transfer"):
        monkeypatch.syspath_prepend(str(HERE / folder))
    ensemble = importlib.import_module("ensemble_streams")
    history = importlib.import_module("history_streams")
    picture = [0.0, 1.0, 0.5, 0.2]
    images = ImagesDrawn(number=0, height=2, width=2, originals=[picture], labels=["1"],
                         reconstructions=[picture], samples=[picture])  # fmt: skip
    topics = TopicsFound(number=0, count=1, documents=9,
                         topics=[Topic(share=0.5, words=["word"], weights=[0.2])])  # fmt: skip

    def generative(name, task, event, **told):
        dataset = DatasetFacts(task=Task(task), **told)
        yield RunStarted(run=name, plan={"strategy": "random"}, dataset=dataset)
        yield TrialFinished(number=0, score=0.5)
        yield event

    def predicted():
        yield from streams.trials()
        yield streams.surrogate()
        setting = streams.setting(8)
        yield TrialStarted(number=8, setting=setting, expected=0.8, uncertainty=0.1)
        yield TrialFinished(number=8, setting=setting, score=0.79)

    return {
        "gp": predicted,
        "eb-hyp": ensemble.run,
        "transfer": history.run,
        "mm": streams.penalties,
        "gradient": streams.gradient,
        "sequence": lambda: structured.structured_run("sequence"),
        "structure": lambda: structured.structured_run("structure"),
        "topics": lambda: generative("t", "topics", topics),
        "pictures": lambda: generative("p", "multiclass", images, pictures=True),
        "best model": race.run,
    }


def told_everywhere(view, size):
    """All that the pointer is told on a grid of places of the view's content."""
    across = np.linspace(0.02, 0.98, 25) * size.width()
    down = np.linspace(0.02, 0.98, 25) * size.height()
    said = (view.tooltip_at(QPointF(x, y)) for y in down for x in across)
    return {words for words in said if words}


def test_every_view_of_the_registry_answers_the_pointer(runs, feed, board):
    board.resize(1300, 1000)
    board.evaluation_wanted.connect(
        lambda request: board.take_evaluation(evaluate_request(request))
    )
    seen = set()
    for name, make in runs.items():
        feed(list(make()))
        feed([])
        for view in board.shown_views():
            if not view.has_content():
                continue
            said = told_everywhere(view, view.content.size())
            assert said, f"{view.name} of {name} says nothing to the pointer"
            assert any(any(c.isdigit() for c in words) for words in said), (view.name, said)
            assert not any("nan" in words.split() for words in said), (view.name, said)
            seen.add(view.name)
    assert seen == set(VIEWS)


def plotted(canvas_of, *items, bottom=None, left=None):
    plot = Plot(bottom, left)
    for item in items:
        plot.addItem(item)
    plot.hold_x(0.0, 10.0, exact=True)
    plot.hold_y(0.0, 1.0, exact=True)
    canvas_of.addItem(plot)
    return plot


@pytest.fixture
def graphics(qtbot):
    import pyqtgraph as pg

    made = pg.GraphicsLayoutWidget()
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def test_the_nearest_point_is_said_with_what_it_is_of(graphics, qapp):
    dots, line = Dots(named="trial"), Lines("best so far")
    dots.set_data([1.0, 5.0, 9.0], [0.2, 0.5, 0.9])
    line.set_data([0.0, 3.0], [0.75, 0.75])
    plot = plotted(graphics, dots, line, bottom=Scale("whole"))
    plot.bottom.set_title("step")
    plot.left.set_title("accuracy", maximize=True)
    qapp.processEvents()
    rng = np.random.default_rng(0)
    wide, tall = plot.vb.viewPixelSize()
    points = [("trial", 1, 0.2), ("trial", 5, 0.5), ("trial", 9, 0.9),
              ("best so far", 0, 0.75), ("best so far", 3, 0.75)]  # fmt: skip
    for x, y in rng.random((40, 2)) * (10.0, 1.0):
        name, at, height = min(points, key=lambda p: np.hypot((p[1] - x) / wide, (p[2] - y) / tall))
        found = nearest_mark(plot, x, y)
        assert (found.x, found.y) == (at, height)
        assert found.text == f"{name}\nstep {at}\naccuracy {height}"


def test_a_bar_is_said_along_its_whole_row(graphics, qapp):
    bars = HorizontalBars()
    bars.set_data([(0.0, 0.0, 2.0), (1.0, 0.0, 0.0)], ["#000000"] * 2, [False] * 2, "#000000")
    plot = plotted(graphics, bars, bottom=Scale("log"), left=Scale("choice", ("a", "b\u2060")))
    plot.bottom.set_title("penalty (λ)")
    qapp.processEvents()
    assert nearest_mark(plot, 9.0, 0.4).text == "a: penalty (λ) 100"
    assert nearest_mark(plot, 0.1, 1.2).text == "b: penalty (λ) 1"


@pytest.mark.parametrize(
    ("scale", "place", "word"),
    [
        (Scale(), 0.25, "0.25"),
        (Scale("whole"), 2.6, "3"),
        (Scale("log"), -2.0, "0.01"),
        (Scale("choice", ("linear", "rbf")), 0.8, "rbf"),
        (Scale("choice", ("linear",)), 4.0, "–"),
        (Scale(), float("nan"), "–"),
    ],
)
def test_a_place_is_said_as_its_value(scale, place, word):
    assert scale.label_at(place) == word


def test_the_crosshair_follows_the_pointer_and_leaves_with_it(feed, streams, qapp):
    view = feed(streams.penalties()).views["objective"]
    canvas = view.canvas
    area = canvas.mapFromScene(view.plot.vb.sceneBoundingRect()).boundingRect()
    QTest.mouseMove(canvas.viewport(), area.center())
    qapp.processEvents()
    assert canvas.crosshair.is_shown
    assert "objective" in QToolTip.text()
    assert "step" in QToolTip.text()
    canvas.leaveEvent(QEvent(QEvent.Type.Leave))
    assert not canvas.crosshair.is_shown


def test_an_arrow_points_to_better_along_the_text(feed, streams):
    for maximize, arrow, word in ((True, "→", "higher"), (False, "←", "lower")):
        view = feed(streams.trials(maximize=maximize)).views["best"]
        axis = view.plot.left
        assert axis.elided_title(500).endswith(f"{arrow} better")
        assert axis.elided_title(60).endswith(arrow)
        assert f"{word} is better" in view.content.accessibleDescription()


def test_every_axis_of_scores_says_which_way_is_better(runs, feed, board):
    board.evaluation_wanted.connect(
        lambda request: board.take_evaluation(evaluate_request(request))
    )
    for name in ("gp", "eb-hyp", "best model"):
        feed(list(runs[name]()))
        feed([])
        metric = board.record.whole_run.started.metric.replace("_", " ")
        for view in board.shown_views():
            for axis in view._plot_axes():
                if metric in axis.title:
                    assert axis.maximize is board.record.whole_run.started.maximize, view.name


@pytest.mark.parametrize("maximize", [True, False])
def test_scores_on_the_results_page_say_which_way_is_better(qtbot, look, maximize):
    from app.views.results.results_views import ScoreComparison

    view = ScoreComparison()
    qtbot.addWidget(view)
    plain = {
        "metric": "accuracy" if maximize else "log_loss", "maximize": maximize,
        "test": {"accuracy": 0.9, "log_loss": 0.3},
        "default_test": {"accuracy": 0.8, "log_loss": 0.4},
        "test_interval": [0.8, 0.95], "default_interval": [0.7, 0.9],
    }  # fmt: skip
    view.show_results(read_as(Results, plain))
    assert view.plot.bottom.elided_title(500).endswith("→ better" if maximize else "← better")
