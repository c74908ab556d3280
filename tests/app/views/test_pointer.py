"""What holds for every view: words for the pointer and for all ears, a table, files, the dark."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import QGuiApplication, QHelpEvent, QImage, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QComboBox, QScrollBar, QToolTip

from app.session.shown_run import ShownRun
from app.views.plot.canvas import Canvas, nearest_mark
from app.views.plot.data_table import as_text
from app.views.plot.items import Dots, HorizontalBars, Lines
from app.views.registry import VIEWS
from app.views.result_views import RESULT_VIEWS
from app.worker.evaluator_process import evaluate_request
from core.figures.scales import Scale
from core.tuning.events import TrialFinished, TrialStarted
from core.tuning.run_results import Results
from core.tuning.runs.state import state_from_events
from resources.theme import DARK


@pytest.fixture
def runs(streams, structured, ensemble, history, generative, race):
    """Runs of every kind, so that together they have every view."""

    def predicted():
        yield from streams.trials()
        yield streams.surrogate()
        setting = streams.setting(8)
        yield TrialStarted(number=8, setting=setting, expected=0.8, uncertainty=0.1)
        yield TrialFinished(number=8, setting=setting, score=0.79)

    return {
        "gp": predicted,
        "random": lambda: streams.trials(strategy="random"),
        "one setting": lambda: streams.trials(space=streams.space[:1]),
        "eb-hyp": ensemble.run,
        "transfer": history.run,
        "scot": lambda: history.run(strategy="scot"),
        "mm": streams.penalties,
        "one penalty": lambda: streams.penalties(["all"], off=()),
        "gradient": streams.gradient,
        "sequence": lambda: structured.structured_run("sequence"),
        "structure": lambda: structured.structured_run("structure"),
        "topics": generative.run,
        "pictures": lambda: generative.run(generative.images()),
        "best model": race.run,
    }


PAPER = DARK.paper.lower()
# The views of every run, in their order.
VIEWS_OF = {
    "gp": "slice best surface parallel trials ranks predicted timeline",
    "random": "best parallel trials ranks timeline",
    "one setting": "slice best trials predicted timeline",
    "eb-hyp": "slice members average best surface disagreement focus parallel trials ranks"
    " predicted timeline",
    "transfer": "common_slice best nearest standardizing common_surface parallel trials ranks"
    " predicted timeline",
    "scot": "common_slice best nearest common_surface parallel trials ranks predicted timeline",
    "mm": "trajectory penalties objective",
    "one penalty": "trajectory objective",
    "gradient": "path penalties holdout",
    "sequence": "trajectory sequence penalties objective",
    "structure": "trajectory arcs dots penalties objective",
    "topics": "best topics trials timeline",
    "pictures": "best pictures trials timeline",
    "best model": "models members average best trials timeline",
}
VIEWS_OF = {
    run: [view.replace("_", " ") for view in views.split()] for run, views in VIEWS_OF.items()
}


def test_together_the_runs_have_every_view():
    assert {view for views in VIEWS_OF.values() for view in views} == set(VIEWS)


@pytest.mark.parametrize("kind", VIEWS_OF)
def test_a_replay_shows_the_past_alone_and_its_number(runs, kind, board, feed, qapp):
    run = ShownRun([e.with_fields(seconds=float(at)) for at, e in enumerate(runs[kind]())], None)
    position = (len(run.stops) + 1) // 2
    stop, requests = run.stops[position - 1], []
    board.evaluation_wanted.connect(requests.append)

    def tables(state, late=()):
        board.show_run(state)
        feed([])
        # What was asked of a later moment is answered only now.
        for request in (*late, *requests):
            board.take_evaluation(evaluate_request(request))
        feed([])
        return {n: repr(v.table_data()) for n, v in board.views.items() if v.has_content()}

    past = tables(state_from_events(run.events[:stop]))
    requests.clear()
    board.show_run(run.state)
    feed([])
    late = list(requests)
    requests.clear()
    assert tables(run.state_after(stop), late) == past
    moment = position - run.state.learns_penalties
    for view in map(board.views.get, past):
        assert view.shown_moment == moment
        assert re.search(rf" After {moment} (trial|step)s?\.$", view._caption.text())


def told_everywhere(view, size):
    """All that the pointer is told on a grid of places of the view's content."""
    across = np.linspace(0.02, 0.98, 15) * size.width()
    down = np.linspace(0.02, 0.98, 15) * size.height()
    said = (view.tooltip_at(QPointF(x, y)) for y in down for x in across)
    return {words for words in said if words}


def check_pointer(view):
    said = told_everywhere(view, view.content.size())
    assert any(any(c.isdigit() for c in words) for words in said), (view.name, said)
    assert not any("nan" in words.split() for words in said), (view.name, said)


def check_names(view):
    """It is named, described and reached by keys, as are its controls, which are large enough."""
    assert view.content.accessibleName()
    assert view.content.accessibleDescription().startswith(view.describe())
    assert view.accessibleDescription().startswith(view.question)
    kinds = (QAbstractButton, QAbstractScrollArea, QComboBox, QScrollBar)
    controls = [c for kind in kinds for c in view.findChildren(kind) if c.isVisible()]
    focused = [c for c in controls if c.focusPolicy().value]
    assert not [c for c in focused if not c.accessibleName()], view.name
    buttons = [c for c in controls if isinstance(c, QAbstractButton) and c.accessibleName()]
    assert all(min(button.width(), button.height()) >= 24 for button in buttons)


def check_table(view):
    headers, rows = view.table_data()
    assert rows
    assert {len(row) for row in rows} == {len(headers)}, view.name
    if view._table_button.isVisible():
        view._table_button.setChecked(True)
        assert view._data_table.model().rowCount() == len(rows)
        view._table_button.setChecked(False)


def check_files(view, folder):
    for ending in ("png", "svg", "csv"):
        path = folder / f"{view.name}.{ending}"
        view.save_file(str(path))
        assert path.stat().st_size > 50, path
    assert not QImage(str(folder / f"{view.name}.png")).isNull()
    assert (folder / f"{view.name}.csv").read_bytes().decode() == as_text(view.table_data(), ",")


@pytest.mark.parametrize("name", VIEWS_OF)
def test_every_view_is_said_named_tabled_saved_and_dark(runs, feed, board, dark, tmp_path, name):
    board.resize(1300, 1000)
    board.evaluation_wanted.connect(
        lambda request: board.take_evaluation(evaluate_request(request))
    )
    first, *events = runs[name]()
    feed([first])
    assert list(board.views) == VIEWS_OF[name]
    for view in board.views.values():
        if not view.has_content():
            assert len(view._empty.text()) > 20
            assert view.content.accessibleDescription() == view._empty.text()
    feed(events)
    feed([])
    earlier = itertools.takewhile(lambda run: run != name, VIEWS_OF)
    checked = {view for run in earlier for view in VIEWS_OF[run]}
    for view in board.views.values():
        assert view.has_content() or view.name in checked, view.name
        for axis in view._plot_axes():
            if board.record.whole_run.started.metric.replace("_", " ") in axis.title:
                assert axis.maximize is board.record.whole_run.started.maximize, view.name
        if view.name not in checked and view in board.shown_views():
            check_pointer(view)
            check_names(view)
            check_table(view)
            check_files(view, tmp_path)
    dark()
    feed([])
    for view in board.views.values():
        if (content := getattr(view, "canvas", getattr(view, "page", None))) is not None:
            assert content.grab().toImage().pixelColor(2, 2).name() == PAPER, view.name


@pytest.fixture
def plotted(qtbot, qapp):
    """Shows items in a plot, from 0 to 10 along the bottom and 0 to 1 along the left."""

    canvas = Canvas()  # must outlive what is shown

    def show(*items, bottom=None, left=None):
        qtbot.addWidget(canvas)
        canvas.resize(500, 400)
        canvas.show()
        plot = canvas.add_plot(bottom, left)
        plot.add_marks(*items)
        plot.hold_x(0.0, 10.0, exact=True)
        plot.hold_y(0.0, 1.0, exact=True)
        qapp.processEvents()
        return plot

    return show


def test_the_nearest_point_is_said_with_what_it_is_of(plotted):
    dots, line = Dots(named="trial"), Lines("best so far")
    dots.set_data([1.0, 5.0, 9.0], [0.2, 0.5, 0.9])
    line.set_data([0.0, 3.0], [0.75, 0.75])
    plot = plotted(dots, line, bottom=Scale("whole"))
    plot.bottom.set_title("step")
    plot.left.set_title("accuracy", maximize=True)
    rng = np.random.default_rng(0)
    wide, tall = plot.vb.viewPixelSize()
    points = [("trial", 1, 0.2), ("trial", 5, 0.5), ("trial", 9, 0.9),
              ("best so far", 0, 0.75), ("best so far", 3, 0.75)]  # fmt: skip
    for x, y in rng.random((40, 2)) * (10.0, 1.0):
        name, at, height = min(points, key=lambda p: np.hypot((p[1] - x) / wide, (p[2] - y) / tall))
        found = nearest_mark(plot, x, y)
        assert (found.x, found.y) == (at, height)
        assert found.text == f"{name}\nstep {at}\naccuracy {height}"


def test_a_bar_is_said_along_its_whole_row(plotted):
    bars = HorizontalBars()
    bars.set_data([(0.0, 0.0, 2.0), (1.0, 0.0, 0.0)], ["#000000"] * 2, [False] * 2, "#000000")
    plot = plotted(bars, bottom=Scale("log"), left=Scale("choice", ("a", "b\u2060")))
    plot.bottom.set_title("penalty (λ)")
    assert nearest_mark(plot, 9.0, 0.4).text == "a: penalty (λ) 100"
    assert nearest_mark(plot, 0.1, 1.2).text == "b: penalty (λ) 1"


def test_the_crosshair_follows_the_pointer_and_leaves_with_it(feed, streams, qapp):
    view = feed(streams.penalties()).views["objective"]
    canvas = view.canvas
    area = canvas.mapFromScene(view.plot.vb.sceneBoundingRect()).boundingRect()
    QTest.mouseMove(canvas.viewport(), area.center())
    qapp.processEvents()
    assert all(line.isVisible() for line in canvas.crosshair.lines)
    assert "objective" in QToolTip.text()
    assert "step" in QToolTip.text()
    canvas.leaveEvent(QEvent(QEvent.Type.Leave))
    assert not any(line.isVisible() for line in canvas.crosshair.lines)


@pytest.mark.parametrize("run", ["gp", "eb-hyp", "mm", "gradient", "transfer"])
def test_what_a_resting_pointer_is_told_stays(runs, feed, board, run):
    board.evaluation_wanted.connect(lambda asked: board.take_evaluation(evaluate_request(asked)))
    feed(runs[run]())
    feed([])
    zoomable = [view for view in board.shown_views() if view.zooms and view.has_content()]
    assert zoomable
    for view in zoomable:
        board.ensureWidgetVisible(view)
        feed([])
        plot, port = view.canvas.plots[0], view.canvas.viewport()
        place = view.canvas.mapFromScene(plot.vb.sceneBoundingRect().center())
        QTest.mouseMove(port, place)
        told = view.tooltip_at(QPointF(place))
        assert QToolTip.text() == told, view.name
        # What Qt sends to a widget on which the pointer has rested for 0.7 seconds.
        rest = QHelpEvent(QEvent.Type.ToolTip, place, port.mapToGlobal(place))
        QGuiApplication.sendEvent(port, rest)
        assert QToolTip.text() == told, view.name


def test_a_picture_is_copied_by_key_and_from_its_menu(feed, streams):
    view = feed(streams.trials()).views["best"]
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    keys = view.canvas.findChild(QShortcut)
    assert keys.key() == QKeySequence("Ctrl+C")
    keys.activated.emit()
    assert not clipboard.image().isNull()
    assert clipboard.image().width() >= 2 * view.canvas.width()
    clipboard.clear()
    view.canvas.customContextMenuRequested.emit(view.canvas.rect().center())
    menu = view.save_button.menu()
    assert menu.isVisible()
    menu.actions()[0].trigger()
    menu.hide()
    assert not clipboard.image().isNull()


def test_an_arrow_points_to_better_along_the_text(feed, streams):
    for maximize, arrow, word in ((True, "→", "higher"), (False, "←", "lower")):
        view = feed(streams.trials(maximize=maximize)).views["best"]
        axis = view.plot.left
        assert axis.elided_title(500).endswith(f"{arrow} better")
        assert axis.elided_title(60).endswith(arrow)
        assert f"{word} is better" in view.content.accessibleDescription()


@pytest.mark.parametrize("maximize", [True, False])
def test_scores_on_the_results_page_say_which_way_is_better(qtbot, maximize):
    view = RESULT_VIEWS[0]()
    qtbot.addWidget(view)
    view.show_results(Results(metric="auc", maximize=maximize, test={"auc": 0.9}))
    assert view.plot.bottom.elided_title(500).endswith("→ better" if maximize else "← better")
