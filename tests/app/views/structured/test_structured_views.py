from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from app.session.shown_run import ShownRun
from app.views.registry import VIEWS
from app.views.structured.token_grid import Geometry
from core.datasets.task import Task
from core.tuning.events import RunStarted
from core.tuning.payloads import DatasetFacts


def test_which_runs_want_them():
    for task, wanted in (("sequence", {"sequence"}), ("structure", {"arcs", "dots"})):
        for kind in ("penalties", "trials"):
            begun = RunStarted(
                kind=kind, plan={"strategy": "mm"}, dataset=DatasetFacts(task=Task(task))
            )
            names = {n for n in ("sequence", "arcs", "dots") if VIEWS[n].wants(begun)}
            assert names == (wanted if kind == "penalties" else set())


def test_they_stand_after_the_trajectory(feed, structured):
    board = feed(structured.structured_run("structure"))
    assert list(board.views) == ["trajectory", "arcs", "dots", "penalties", "objective"]
    board = feed(structured.structured_run("sequence", strategy="gradient"))
    assert list(board.views) == ["path", "sequence", "penalties", "holdout"]


# -- a sequence ----------------------------------------------------------------------------------


def test_marks_stand_on_the_labels_of_the_event(feed, structured):
    view = feed(structured.structured_run("sequence")).views["sequence"]
    example, shown = structured.labelled(5).sequences[0], view.grid.shown
    assert shown.labels == structured.TAGS
    assert [shown.labels[at] for at in shown.true] == example.truth
    assert [shown.labels[at] for at in shown.predictions] == example.labels
    assert np.allclose(shown.probabilities, example.marginals)
    wrong = [a != b for a, b in zip(example.truth, example.labels, strict=True)]
    assert shown.is_wrong == wrong
    assert any(wrong)


def test_wrong_tokens_are_said_in_words(feed, structured):
    view = feed(structured.structured_run("sequence", steps=2)).views["sequence"]
    example = structured.labelled(1).sequences[0]
    right = sum(a == b for a, b in zip(example.truth, example.labels, strict=True))
    assert view.describe().startswith(f"Step 1, sequence 12: {right} of 25 tokens right. Wrong:")
    first = next(
        at for at in range(25) if example.truth[at] != example.labels[at]
    )  # the first wrong token is named
    words = f"“{example.tokens[first]}” is {example.truth[first]}"
    assert words in view.describe()
    assert words.split("”")[0].strip("“") in view._token_text(first)


def test_its_table_has_every_label(feed, structured):
    headers, rows = feed(structured.structured_run("sequence")).views["sequence"].table_data()
    example = structured.labelled(5).sequences[0]
    assert headers[4:] == list(structured.TAGS)
    assert len(rows) == 25
    assert rows[3][0] == example.tokens[3]
    assert rows[3][4:] == example.marginals[3]


def test_the_chooser_shows_another_sequence(feed, board, structured):
    view = feed(structured.structured_run("sequence")).views["sequence"]
    assert view.which.count() == 3
    assert view.which.itemText(1) == "13 (7 tokens)"
    view.which.setCurrentIndex(2)
    view.which.activated.emit(2)
    feed([structured.labelled(6)])
    assert len(view.grid.shown.tokens) == 40
    assert view.describe().startswith("Step 6, sequence 14:")


def test_forty_tokens_scroll_and_stay_whole(feed, board, structured, qapp):
    board.resize(760, 620)
    view = feed(structured.structured_run("sequence")).views["sequence"]
    board.show_example(2)
    feed([])
    bar, grid = view.grid.horizontalScrollBar(), view.grid
    assert bar.maximum() > 0
    assert grid.verticalScrollBar().maximum() == 0
    assert grid.token_at(grid.viewport().width() - 20) < 39
    bar.setValue(bar.maximum())
    assert grid.token_at(grid.viewport().width() - 20) == 39
    whole = grid.full_picture()
    assert whole.width() > grid.viewport().width()


def test_rows_have_room_for_their_words(feed, board, structured):
    board.resize(760, 620)
    grid = feed(structured.structured_run("sequence")).views["sequence"].grid
    size = grid.viewport().size()
    place = Geometry(grid.shown, size.width(), size.height(), grid.entries)
    assert place.row >= place.metrics.height()
    assert place.down <= size.height() + 1
    for at, token in enumerate(grid.shown.tokens[:5]):
        assert place.edges[at + 1] - place.edges[at] >= min(
            120, place.metrics.horizontalAdvance(token)
        )


def test_two_labels_fill_the_width(feed, structured):
    run = structured.structured_run("sequence", classes=("coin", "dice"), lengths=(10,))
    view = feed(run).views["sequence"]
    grid = view.grid
    assert grid.shown.labels == ("coin", "dice")
    assert grid.horizontalScrollBar().maximum() == 0
    assert not view.which.isVisible()


def test_of_very_many_labels_the_likely_ones_are_shown(feed, structured):
    many = tuple(f"label {n}" for n in range(60))
    view = feed(structured.structured_run("sequence", classes=many, lengths=(6,))).views["sequence"]
    example, shown = structured.labelled(5, (6,), many).sequences[0], view.grid.shown
    assert len(shown.labels) < 60
    assert {*example.truth, *example.labels} <= set(shown.labels)
    assert [shown.labels[at] for at in shown.true] == example.truth


def test_cells_darken_with_the_probability(feed, board, structured, qapp):
    view = feed(structured.structured_run("sequence", lengths=(6,))).views["sequence"]
    grid = view.grid
    place = Geometry(grid.shown, grid.viewport().width(), grid.viewport().height(), grid.entries)
    image = grid.viewport().grab().toImage()
    right = [t for t, wrong in enumerate(grid.shown.is_wrong) if not wrong]
    token = right[0]
    likely, unlikely = grid.shown.true[token], int(grid.shown.probabilities[token].argmin())
    dark, light = (_corner(image, place.cell_box(token, row)) for row in (likely, unlikely))
    assert dark < light


def _corner(image: QImage, cell: QRectF) -> int:
    at = cell.topLeft().toPoint()
    ratio = image.devicePixelRatio()
    return image.pixelColor(int((at.x() + 5) * ratio), int((at.y() + 5) * ratio)).lightness()


# -- molecules -----------------------------------------------------------------------------------


def test_arcs_are_right_wrong_found_or_missed(feed, structured):
    view = feed(structured.structured_run("structure", steps=3)).views["arcs"]
    example = structured.folded(2).molecules[0]
    called = {(i + 1, j + 1) for i, j in structured.pairs_in(example.predicted)}
    true = {(i + 1, j + 1) for i, j in structured.pairs_in(example.truth)}
    assert set(view.right.pairs) == set(view.found_arcs.pairs) == called & true
    assert set(view.wrong.pairs) == called - true
    assert set(view.missed.pairs) == true - called
    assert view.wrong.pairs
    assert view.missed.pairs
    styles = {tuple(item._pen.dashPattern()) for item in (view.right, view.wrong, view.missed)}
    assert len(styles) == 3
    said = [entry.words for entry in view.legend.entries]
    assert said[1] == f"{len(called - true)} wrongly paired"
    words = f"finds {len(called & true)} of {len(true)} true base pairs"
    assert words in view.describe()


def test_letters_stand_on_the_line_where_they_fit(feed, board, structured, qapp):
    view = feed(structured.structured_run("structure")).views["arcs"]
    board.show_example(1)
    feed([])
    view.canvas.grab()
    assert view.strand.letters == structured.folded(5).molecules[1].sequence
    assert view.strand.lettered
    board.show_example(0)
    feed([])
    view.canvas.grab()
    assert not view.strand.lettered
    view.plot.setXRange(1, 30, padding=0)
    qapp.processEvents()
    view.canvas.grab()
    assert view.strand.lettered


def test_both_views_show_the_same_molecule(feed, structured):
    board = feed(structured.structured_run("structure"))
    arcs, dots = board.views["arcs"], board.views["dots"]
    arcs.which.setCurrentIndex(2)
    arcs.which.activated.emit(2)
    feed([])
    name = structured.folded().molecules[2].name
    assert name in arcs.describe()
    assert name in dots.describe()
    assert dots.plot.bottom.title == f"base of {name}"
    assert dots.plot.vb.viewRange()[0] == [0.5, 72.5]


def test_dots_lie_above_the_line_and_frames_below(feed, structured):
    view = feed(structured.structured_run("structure")).views["dots"]
    example = structured.folded(5).molecules[0]
    assert (view.likely.x > view.likely.y).all()
    assert (view.true.x < view.true.y).all()
    assert view.likely.shares.tolist() == [p for _, _, p in example.pairs]
    assert len(view.true.x) == example.truth.count("(")
    rows = view.table_data()[1]
    assert rows[0][3] == example.pairs[0][2]
    assert {row[4] for row in rows} == {"yes", "no"}


def test_a_molecule_without_any_pair(feed, structured):
    event = structured.folded(0, (30,))
    bare = replace(event.molecules[0], truth="." * 30, predicted="." * 30, pairs=[])
    event = replace(event, molecules=[bare])
    begun = next(structured.structured_run("structure"))
    views = feed([begun, event]).views
    assert "finds 0 of 0" in views["arcs"].describe()
    assert "0 true base pairs" in views["dots"].describe()
    assert views["dots"].table_data()[1] == []


# -- both ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "names"), [("sequence", ["sequence"]),
                                             ("structure", ["arcs", "dots"])])  # fmt: skip
def test_they_are_saved(feed, structured, tmp_path, task, names):
    board = feed(structured.structured_run(task))
    for name in names:
        view = board.views[name]
        for ending in ("png", "svg", "csv"):
            path = tmp_path / f"{name}.{ending}"
            view.save_file(str(path))
            assert path.stat().st_size > 200
        assert not QImage(str(tmp_path / f"{name}.png")).isNull()


@pytest.mark.parametrize("task", ["sequence", "structure"])
def test_an_earlier_moment_is_shown_again(feed, board, structured, task):
    events = list(structured.structured_run(task))
    name = "sequence" if task == "sequence" else "arcs"
    run = ShownRun(events, None)
    board.show_run(run.state)
    board.show_example(1)
    board.show_run(run.state_after(3))
    feed([])
    assert board.views[name].describe().startswith("Step 0")
    assert board.views[name].which.currentIndex() == 1
    board.show_run(run.state_after(len(events)), onward=True)
    feed([])
    assert board.views[name].describe().startswith("Step 5")


@pytest.mark.parametrize("task", ["sequence", "structure"])
def test_choosers_and_pictures_have_names(feed, structured, task):
    for view in feed(structured.structured_run(task)).views.values():
        assert view.content.accessibleName()
        assert view.content.accessibleDescription().startswith(view.describe())
    chooser = view_with_chooser(feed([]).views.values()).which
    assert chooser.accessibleName().startswith("Which")


def view_with_chooser(views):
    return next(view for view in views if getattr(view, "choosing", ""))
