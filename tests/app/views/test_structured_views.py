from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage

from app.session.shown_run import ShownRun
from core.datasets.molecules import bracket_pairs


def test_a_sequence_is_drawn_said_tabled_and_chosen(feed, structured):
    view = feed(structured.structured_run("sequence")).views["sequence"]
    example, shown = structured.labelled(5).sequences[0], view.grid.shown
    assert shown.labels == structured.TAGS
    assert [shown.labels[at] for at in shown.true] == example.truth
    assert [shown.labels[at] for at in shown.predictions] == example.labels
    assert np.allclose(shown.probabilities, example.marginals)
    wrong = [at for at in range(25) if example.truth[at] != example.labels[at]]
    assert np.flatnonzero(shown.is_wrong).tolist() == wrong
    assert f"{25 - len(wrong)} of 25 tokens right. Wrong: " in view.describe()
    assert f"“{example.tokens[wrong[0]]}” is {example.truth[wrong[0]]}" in view.describe()
    assert example.tokens[wrong[0]] in view._token_text(wrong[0])
    headers, rows = view.table_data()
    assert headers[4:] == list(structured.TAGS)
    assert [rows[3][0], *rows[3][4:]] == [example.tokens[3], *example.marginals[3]]
    assert [view.which.itemText(at) for at in range(3)][1] == "13 (7 tokens)"
    view.which.setCurrentIndex(2)
    view.which.activated.emit(2)
    feed([structured.labelled(6)])
    assert len(view.grid.shown.tokens) == 40
    assert view.describe().startswith("Step 6, sequence 14:")


def test_words_have_room_and_forty_tokens_scroll(feed, board, structured, qapp):
    board.resize(760, 620)
    view = feed(structured.structured_run("sequence")).views["sequence"]
    grid, page = view.grid, view.page
    assert grid.row >= grid.metrics.height()
    assert page.needed_size.height() <= page.viewport().height() + 1
    words = [min(120, grid.metrics.horizontalAdvance(word)) for word in grid.shown.tokens]
    assert (np.diff(grid.edges) >= words).all()
    board.show_example(2)
    feed([])
    bar = page.horizontalScrollBar()
    assert bar.maximum() > 0
    assert page.verticalScrollBar().maximum() == 0
    near_the_right = QPointF(page.viewport().width() - 20, 50)
    assert "token 40" not in page.tooltip_at(near_the_right)
    bar.setValue(bar.maximum())
    assert "token 40\n" in page.tooltip_at(near_the_right)
    page.viewport().grab()
    assert page.tooltip_at(QPointF(5, 50)) == ""  # on the labels, which cover other tokens
    assert page.full_picture().width() > page.viewport().width()


def test_few_labels_fill_the_width_and_of_many_the_likely_are_shown(feed, structured):
    run = structured.structured_run("sequence", classes=("coin", "dice"), lengths=(10,))
    view = feed(run).views["sequence"]
    assert view.grid.shown.labels == ("coin", "dice")
    assert view.page.horizontalScrollBar().maximum() == 0
    assert not view.which.isVisible()
    many = tuple(f"label {n}" for n in range(60))
    view = feed(structured.structured_run("sequence", classes=many, lengths=(6,))).views["sequence"]
    example, shown = structured.labelled(5, (6,), many).sequences[0], view.grid.shown
    assert len(shown.labels) < 60
    assert {*example.truth, *example.labels} <= set(shown.labels)
    assert [shown.labels[at] for at in shown.true] == example.truth


def test_cells_darken_with_the_probability(feed, board, structured, qapp):
    view = feed(structured.structured_run("sequence", lengths=(6,))).views["sequence"]
    grid = view.grid
    image = view.page.viewport().grab().toImage()
    token = grid.shown.is_wrong.index(False)
    likely, unlikely = grid.shown.true[token], int(grid.shown.probabilities[token].argmin())
    dark, light = (_corner(image, grid.cell_box(token, row)) for row in (likely, unlikely))
    assert dark < light


def _corner(image: QImage, cell: QRectF) -> int:
    at = cell.topLeft().toPoint()
    ratio = image.devicePixelRatio()
    return image.pixelColor(int((at.x() + 5) * ratio), int((at.y() + 5) * ratio)).lightness()


def test_arcs_are_right_wrong_found_or_missed(feed, structured):
    view = feed(structured.structured_run("structure", steps=3)).views["arcs"]
    example = structured.folded(2).molecules[0]
    called = {(i + 1, j + 1) for i, j in bracket_pairs(example.predicted)}
    true = {(i + 1, j + 1) for i, j in bracket_pairs(example.truth)}
    assert set(view.right.pairs) == set(view.found_arcs.pairs) == called & true
    assert set(view.wrong.pairs) == called - true
    assert set(view.missed.pairs) == true - called
    assert min(len(true & called), len(called - true), len(true - called)) > 3
    styles = {tuple(item._pen.dashPattern()) for item in (view.right, view.wrong, view.missed)}
    assert len(styles) == 3
    said = [entry.words for entry in view.legend.entries]
    assert said[1] == f"{len(called - true)} wrongly paired"
    words = f"finds {len(called & true)} of {len(true)} true base pairs"
    assert words in view.describe()


def test_both_views_of_a_molecule(feed, structured, board, qapp):
    view = feed(structured.structured_run("structure")).views["dots"]
    example = structured.folded(5).molecules[0]
    assert (view.likely.x > view.likely.y).all()
    assert (view.true.x < view.true.y).all()
    assert view.likely.shares.tolist() == [row[3] for row in view.table_data()[1]]
    assert len(view.true.x) == example.truth.count("(")
    assert {row[4] for row in view.table_data()[1]} == {"yes", "no"}
    arcs, dots = board.views["arcs"], board.views["dots"]
    for example, has_room in ((1, True), (0, False)):
        board.show_example(example)
        feed([])
        arcs.canvas.grab()
        assert arcs.strand.letters == structured.folded().molecules[example].sequence
        assert arcs.strand.lettered is has_room
    arcs.plot.vb.setXRange(1, 30, padding=0)
    qapp.processEvents()
    arcs.canvas.grab()
    assert arcs.strand.lettered
    arcs.which.setCurrentIndex(2)
    arcs.which.activated.emit(2)
    feed([])
    name = structured.folded().molecules[2].name
    assert all(name in view.describe() for view in (arcs, dots))
    assert dots.plot.bottom.title == f"base of {name}"
    assert dots.plot.vb.viewRange()[0] == [0.5, 72.5]


def test_a_molecule_without_any_pair(feed, structured):
    event = structured.folded(0, (30,))
    bare = replace(event.molecules[0], truth="." * 30, predicted="." * 30, pairs=[])
    event = replace(event, molecules=[bare])
    begun = next(structured.structured_run("structure"))
    views = feed([begun, event]).views
    assert "finds 0 of 0" in views["arcs"].describe()
    assert "0 true base pairs" in views["dots"].describe()
    assert views["dots"].table_data()[1] == []


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
