from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from app.session.shown_run import ShownRun
from app.views.sequence_view import Geometry
from core.datasets.molecules import bracket_pairs

# -- a sequence ----------------------------------------------------------------------------------


def test_a_sequence_is_drawn_tabled_and_chosen(feed, structured, board):
    view = feed(structured.structured_run("sequence")).views["sequence"]
    example, shown = structured.labelled(5).sequences[0], view.grid.shown
    assert shown.labels == structured.TAGS
    assert [shown.labels[at] for at in shown.true] == example.truth
    assert [shown.labels[at] for at in shown.predictions] == example.labels
    assert np.allclose(shown.probabilities, example.marginals)
    wrong = [a != b for a, b in zip(example.truth, example.labels, strict=True)]
    assert shown.is_wrong == wrong
    assert any(wrong)
    headers, rows = view.table_data()
    example = structured.labelled(5).sequences[0]
    assert headers[4:] == list(structured.TAGS)
    assert len(rows) == 25
    assert rows[3][0] == example.tokens[3]
    assert rows[3][4:] == example.marginals[3]
    assert view.which.count() == 3
    assert view.which.itemText(1) == "13 (7 tokens)"
    view.which.setCurrentIndex(2)
    view.which.activated.emit(2)
    feed([structured.labelled(6)])
    assert len(view.grid.shown.tokens) == 40
    assert view.describe().startswith("Step 6, sequence 14:")


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


def test_words_have_room_and_forty_tokens_scroll(feed, board, structured, qapp):
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


def test_few_labels_fill_the_width_and_of_many_the_likely_are_shown(feed, structured):
    run = structured.structured_run("sequence", classes=("coin", "dice"), lengths=(10,))
    view = feed(run).views["sequence"]
    grid = view.grid
    assert grid.shown.labels == ("coin", "dice")
    assert grid.horizontalScrollBar().maximum() == 0
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
    called = {(i + 1, j + 1) for i, j in bracket_pairs(example.predicted)}
    true = {(i + 1, j + 1) for i, j in bracket_pairs(example.truth)}
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


def test_both_views_of_a_molecule(feed, structured, board, qapp):
    view = feed(structured.structured_run("structure")).views["dots"]
    example = structured.folded(5).molecules[0]
    assert (view.likely.x > view.likely.y).all()
    assert (view.true.x < view.true.y).all()
    assert view.likely.shares.tolist() == [p for _, _, p in example.pairs]
    assert len(view.true.x) == example.truth.count("(")
    rows = view.table_data()[1]
    assert rows[0][3] == example.pairs[0][2]
    assert {row[4] for row in rows} == {"yes", "no"}
    view = board.views["arcs"]
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
    arcs, dots = board.views["arcs"], board.views["dots"]
    arcs.which.setCurrentIndex(2)
    arcs.which.activated.emit(2)
    feed([])
    name = structured.folded().molecules[2].name
    assert name in arcs.describe()
    assert name in dots.describe()
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


# -- both ----------------------------------------------------------------------------------------


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
