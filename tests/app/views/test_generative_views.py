"""The views of what models show: topics as cards of words, pictures in shades of grey."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontInfo, QImage

from app.look import appearance
from app.views.pictures_view import grey_picture
from core.wording import percent


def assert_apart(boxes):
    """No two boxes meet."""
    for box, other in itertools.combinations(boxes, 2):
        assert not box.intersects(other)


def test_topics_are_cards_of_words_that_shrink_with_their_weight(generative, feed, board, qapp):
    cards = feed(generative.run()).views["topics"].cards.cards
    assert len(cards) == 12
    wide = board.views["topics"].page.viewport().width()
    for k, card in enumerate(cards):
        assert [word for word, _, _ in card.words] == generative.topics().topics[k].words
        assert 0 <= card.outline.left() < card.outline.right() <= wide
        assert all(card.outline.contains(box) for _, _, box in card.words)
    assert_apart([card.outline for card in cards])
    assert_apart([box for _, _, box in cards[0].words])
    sizes = [QFontInfo(font).pointSizeF() for _, font, _ in cards[0].words]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1.3 * sizes[-1]
    view = board.views["topics"]
    largest = f"word0a, word0b, word0c, word0d ({percent(0.125)}); word1a"
    for words in ("Trial 4, the best", "the 12 largest of 50 topics.", largest, "11,314 texts"):
        assert words in view.describe()
    told = view.cards.tooltip_at(view.cards.cards[1].words[0][2].center())
    assert told == f"word1a: {percent(0.2)}"
    assert view.cards.tooltip_at(QPointF(0, 0)) == ""
    image = view.picture().grab().toImage()
    lengths = [_bar_length(image, card.outline) for card in view.cards.cards[:3]]
    shares = [topic.share for topic in generative.topics().topics[:3]]
    np.testing.assert_allclose(np.array(lengths) / lengths[0], np.array(shares) / shares[0],
                               atol=0.03)  # fmt: skip


def _bar_length(image: QImage, place) -> int:
    """Pixels of the model's blue in the line of a card's bar."""
    best, ratio = 0, image.devicePixelRatio()
    for y in range(int(place.top() * ratio), int((place.top() + 30) * ratio)):
        row = [image.pixelColor(x, y).name()
               for x in range(int(place.left() * ratio), int(place.right() * ratio))]  # fmt: skip
        best = max(best, row.count("#0072b2"))
    return best


def test_a_narrow_board_scrolls_and_a_long_word_is_cut(generative, feed, board, qtbot):
    board.resize(560, 480)
    view = feed(generative.run()).views["topics"]
    bar = view.page.verticalScrollBar()
    assert bar.maximum() > 0
    view.page.setFocus()
    qtbot.keyClick(view.page, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    bar.setValue(bar.maximum())
    bottom = bar.value() + view.page.viewport().height()
    assert view.cards.cards[-1].outline.bottom() <= bottom
    assert view.picture().height() >= view.cards.cards[-1].outline.bottom()
    event = generative.topics(count=1, shown=1)
    event.topics[0].words[0] = "donaudampfschifffahrt" * 12
    view = feed(generative.run(event)).views["topics"]
    card = view.cards.cards[0]
    assert all(card.outline.contains(box) for _, _, box in card.words)
    assert card.words[0][0].endswith("…") or len(card.words[0][0]) == 21 * 12
    assert "its topics, the largest first" in view.describe()
    _, rows = feed(generative.run(generative.topics(shown=3))).views["topics"].table_data()
    assert (len(rows), rows[11]) == (30, [2, 0.0833, "word1b", 0.1])


def test_grey_values_become_shades():
    image = grey_picture([0.0, 0.25, 0.5, 1.0, 2.0, -1.0], 2, 3)
    assert (image.width(), image.height()) == (3, 2)
    shades = [image.pixelColor(x, y).red() for y in range(2) for x in range(3)]
    assert shades == [0, 64, 128, 255, 255, 0]


@pytest.mark.parametrize("size", [(1060, 720), (540, 620), (1500, 950)])
def test_every_picture_has_a_place_of_its_own(generative, feed, board, size):
    board.resize(*size)
    view = feed(generative.run(generative.images())).views["pictures"]
    rows = view.pictures.rows
    assert [len(placed.boxes) for placed in rows] == [8, 8, 8]
    boxes = [box for placed in rows for box in placed.boxes]
    wide = view.page.viewport().width()
    assert all(0 <= box.left() < box.right() <= wide + 1 for box in boxes)
    assert [box.width() / box.height() for box in boxes] == pytest.approx([4 / 5] * 24)
    assert_apart([*boxes, *(placed.caption for placed in rows)])
    # Reconstructions stand below what they reconstruct.
    for original, seen in zip(rows[0].boxes, rows[1].boxes, strict=True):
        assert original.left() == seen.left()
        assert original.bottom() < seen.top()


def test_points_are_drawn_sharp_and_said_and_tabled(generative, feed, board, qapp):
    view = feed(generative.run(generative.images())).views["pictures"]
    image = view.picture().grab().toImage()
    ratio = image.devicePixelRatio()
    for placed, full in zip(view.pictures.rows[:2], (255, 128), strict=True):
        for at in range(3):
            box = placed.boxes[at]
            for column in range(4):
                place = box.topLeft() + QPointF(box.width() * (column + 0.5) / 4, box.height() / 2)
                grey = image.pixelColor(int(place.x() * ratio), int(place.y() * ratio)).red()
                assert grey == (full if column == at else 0)
    for words in ("Trial 2, the best so far: 8 pictures", "8 generated pictures; 5 by 4 points"):
        assert words in view.describe()
    captions = [placed.row.caption for placed in view.pictures.rows]
    assert captions[0] == "Pictures that the model was not trained on, with their labels"
    told = view.pictures.tooltip_at(view.pictures.rows[0].boxes[1].center())
    assert told == f"{captions[0]}: c1"
    headers, rows = view.table_data()
    assert [*headers[:4], headers[-1]] == ["row", "column", "data 1 c0", "data 2 c1", "generated 8"]
    assert len(rows) == 20
    assert rows[5][:5] == [2, 2, 0.0, 1.0, 0.0]
    assert rows[5][-1] == generative.images().samples[7][5]


def test_generated_pictures_stand_beside_where_there_is_room_and_say_their_rows(
    generative, feed, board
):
    board.resize(1060, 620)
    first, _, last = feed(generative.run(generative.images())).views["pictures"].pictures.rows
    assert last.boxes[0].left() > first.boxes[-1].right()
    assert last.boxes[0].top() == first.boxes[0].top()
    board.resize(540, 1400)
    first, seen, last = feed([]).views["pictures"].pictures.rows
    assert last.boxes[0].left() == first.boxes[0].left()
    assert last.boxes[0].top() > seen.boxes[0].bottom()
    view = feed(generative.run(generative.images(), judged="training")).views["pictures"]
    caption = view.pictures.rows[0].row.caption
    assert caption == "Pictures that the model was trained on, with their labels"


def test_topics_take_more_room_for_larger_text(generative, feed, monkeypatch):
    view = feed(generative.run()).views["topics"]
    needed = view.page.needed_size.height()
    monkeypatch.setattr(appearance._state, "text_percent", 200)
    view.redraw()
    assert view.page.needed_size.height() > 1.5 * needed
