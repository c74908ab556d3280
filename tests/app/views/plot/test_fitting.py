"""What has to fit: columns, long names, words beside a star, and boards in narrow windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt

from app.views import parallel_coordinates
from app.views.board import NARROW, grid_positions
from app.views.plot.axes import ScaleAxis
from app.views.plot.labels import LONGEST
from app.views.plot.scrolled_views import NAMES
from app.views.result_views import ConfusionMatrix
from app.widgets.plain_table import fitted_widths
from core.figures.scales import Scale
from core.space import Axis
from core.tuning.events import TrialFinished
from core.tuning.run_results import ConfusionCounts, Results


@pytest.mark.parametrize(
    ("room", "widths"),
    [
        (400, [150, 60, 190]),  # the spare goes to words
        (300, [100, 60, 140]),
        (250, [95, 60, 95]),  # the widest gives way first
        (90, [40, 60, 40]),  # numbers are whole: this scrolls sideways
    ],
)
def test_columns_share_the_width_of_their_table(room, widths):
    assert fitted_widths([100, 60, 140], [40, 60, 40], room) == widths


def test_no_column_of_the_trials_is_cut_at_the_right(feed, board, streams, qapp):
    board.resize(760, 640)
    view = feed(streams.trials(strategy="random")).views["trials"]
    qapp.processEvents()
    table, room = view.table, view.table.viewport().width()
    shown = [c for c in range(view.model.columnCount()) if table.columnViewportPosition(c) < room]
    last = shown[-1]
    assert len(shown) >= 3
    assert table.columnViewportPosition(last) + table.columnWidth(last) <= room + 1 or last == 0


def test_a_heading_too_long_for_its_column_ends_in_dots(feed, board, streams, qapp):
    board.resize(640, 640)
    long = Axis("a_setting_with_a_long_name", "Something", "float", 0.0, 1.0, default=0.5)
    view = feed([streams.begun("random", space=(long,))]).views["trials"]
    feed([TrialFinished(number=0, setting={long.name: 0.5}, score=0.5)])
    header = view.table.horizontalHeader()
    assert header.textElideMode() == Qt.TextElideMode.ElideMiddle
    assert long.name in view.model.headerData(2, header.orientation())
    assert long.name in view.model.headerData(2, header.orientation(), 3)
    assert view.table.horizontalScrollBar().maximum() == 0  # it is cut, not out of sight


def test_long_names_are_cut_in_their_middle(feed, streams):
    groups = [f"a very long name of a group of columns that somebody has made, {n}" for n in "abc"]
    view = feed(streams.penalties(groups, off=())).views["trajectory"]
    view.grab()
    assert all(rect.width() <= LONGEST + 4 for rect in view.marks["names"].rects)
    assert [text[-1] for _, _, text in view.marks["names"]._ends] == ["a", "b", "c"]
    groups = [f"blood_measurement of a quantity in a unit that is long, number {n}" for n in "12"]
    view = feed(streams.penalties(groups, off=())).views["penalties"]
    one, other = view.plot.left.position_scale.choices
    assert "…" in one
    assert (one[-1], other[-1]) == ("2", "1")  # the smaller penalty first
    assert view.plot.left.needed_thickness() <= NAMES * view.canvas.width() + 20


def test_names_of_motifs_are_whole_in_a_small_window(feed, board, structured):
    board.resize(760, 620)
    views = feed(structured.structured_run("structure")).views
    assert set(views["penalties"].plot.left.position_scale.choices) == set(structured.GROUPS)
    named = [text for _, _, text in views["trajectory"].marks["names"]._ends]
    assert set(named) == set(structured.GROUPS)


def test_every_answer_is_seen_beside_long_class_names(qtbot, qapp):
    labels = [f"congestive heart failure of a certain kind, number {n}" for n in range(5)]
    counts = np.full((5, 5), 3).tolist()
    view = ConfusionMatrix()
    qtbot.addWidget(view)
    view.resize(440, 320)
    view.show()
    view.show_results(Results(confusion=ConfusionCounts(labels, counts, counts)))
    qapp.processEvents()
    assert view.table.columnViewportPosition(2) < view.table.viewport().width()
    assert view.model.headerData(1, view.table.horizontalHeader().orientation(), 3).endswith("0")


@pytest.mark.parametrize("width", [300, 700])
def test_a_title_has_room_beside_choosers_or_above_them(qtbot, qapp, width):
    view = ConfusionMatrix()
    qtbot.addWidget(view)
    view.resize(width, 320)
    view.show()
    qapp.processEvents()
    assert (view.which.y() > view._title.geometry().bottom()) == (width < 400)
    assert view._title.width() >= 150
    assert view.which.width() < 200  # as wide as its words, not as the card
    assert view._title.height() <= 2 * view._title.fontMetrics().height() + 4


@pytest.mark.parametrize("width", [400, 700, 120])
def test_all_names_below_an_axis_are_seen_and_none_meets_the_next(qtbot, width):
    species = tuple(f"{name} penguin (Pygoscelis {name})" for name in ("adeliae", "papua", "ant"))
    axis = ScaleAxis("bottom", Scale("choice", species))
    axis.resize(width, 30)
    axis.setRange(-0.5, 2.5)
    texts = [text for _, text in axis.shown_ticks()]
    if width == 120:  # there is room for one alone
        assert set(texts) == set(species)
        return
    assert [text[:3] for text in texts] == ["ade", "pap", "ant"]
    assert all(axis.metrics.horizontalAdvance(text) < width / 3 - 4 for text in texts)


def test_the_words_of_the_next_trial_keep_off_the_star(feed, streams, qtbot):
    view = feed(streams.trials(strategy="gp")).views["slice"]
    plot, marker = view.plot, view.next
    plot.hold_x(0, 10, exact=True)
    plot.hold_y(0, 1, exact=True)
    view._stack.setCurrentWidget(view.content)
    top = QRectF()
    for avoided in (None, (5.2, 0.99)):
        marker.set_value(5.0, "next trial", avoided)
        view.canvas.grab()
        top = top if not top.isNull() else QRectF(marker.label)
    assert marker.label.top() > top.bottom()


def test_a_narrow_board_has_one_column(feed, board, streams):
    feed(streams.trials(strategy="gp"))
    board.resize(NARROW - 40, 700)
    feed([])
    left = {view.x() for view in board.views.values()}
    assert left == {0}
    board.resize(NARROW + 200, 700)
    feed([])
    assert len({view.x() for view in board.views.values()}) == 2
    assert grid_positions(list(board.views.values()), single=True)[1] == (1, 0, 2)


def test_thirty_settings_leave_room_for_upright_names_and_the_scores_numbers(feed, streams):
    def below_and_right(view, axes):
        (left, right), (low, high) = view.plot.vb.viewRange()
        below = -low / (high - low) * view.canvas.height()
        return below, (right - (axes - 1)) / (right - left) * view.canvas.width()

    few, _ = below_and_right(feed(streams.trials((0.7, 0.8))).views["parallel"], 4)
    many_axes = tuple(replace(streams.space[0], name=f"C{at}") for at in range(30))
    events = [streams.begun("random", space=many_axes)]
    for number, score in enumerate((0.7, 0.8)):
        setting = {axis.name: 1.0 + number for axis in many_axes}
        events.append(TrialFinished(number=number, setting=setting, score=score))
    view = feed(events).views["parallel"]
    below, beside = below_and_right(view, 31)
    # As much as upright names want, or a third of a low plot.
    assert below >= 0.99 * min(parallel_coordinates.NAMES, view.canvas.height() / 3) > 1.5 * few
    assert beside > 0.8 * parallel_coordinates.NARROW
