"""The views of what models show: topics as cards of words, pictures in shades of grey."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontInfo, QImage

from app.views.pictures_view import grey_picture
from core.datasets.task import Task
from core.tuning.events import (
    DatasetFacts,
    ImagesDrawn,
    RunStarted,
    Topic,
    TopicsFound,
    TrialFinished,
)
from core.wording import percent


def topics(number=4, count=50, shown=12):
    """Topic k has 1/(k + 2) of the words; word w of it comes with 0.2/(w + 1)."""
    found = [
        Topic(
            share=round(1 / (k + 2) / 4, 4),
            words=[f"word{k}{letter}" for letter in "abcdefghij"],
            weights=[round(0.2 / (w + 1), 4) for w in range(10)],
        )
        for k in range(shown)
    ]
    return TopicsFound(number=number, count=count, documents=11314, topics=found)


def images(number=2, height=5, width=4, each=8, classes=3):
    """Pictures of one bright column, the class; reconstructions are half as bright."""
    originals = []
    for at in range(each):
        picture = np.zeros((height, width))
        picture[:, at % classes] = 1.0
        originals.append(picture.ravel())
    rng = np.random.default_rng(0)
    return ImagesDrawn(
        number=number,
        height=height,
        width=width,
        samples=rng.random((each, height * width)).round(3).tolist(),
        originals=[picture.tolist() for picture in originals],
        reconstructions=[(0.5 * picture).tolist() for picture in originals],
        labels=[f"c{at % classes}" for at in range(each)],
    )


def run(*events, task="topics", name="one", **given):
    yield RunStarted(
        run=name, plan={"strategy": "random"}, dataset=DatasetFacts(task=Task(task), **given)
    )
    yield TrialFinished(number=0, score=0.5)
    yield from events


def pictured(*events, judged="cv"):
    dataset = DatasetFacts(task=Task.MULTICLASS, pictures=True)
    yield RunStarted(run="two", plan={"strategy": "random"}, dataset=dataset, judged=judged)
    yield from events


# -- topics --------------------------------------------------------------------------------------


def test_topics_are_cards_of_words_that_shrink_with_their_weight(feed, board, qapp):
    cards = feed(run(topics())).views["topics"].cards.cards
    assert len(cards) == 12
    wide = board.views["topics"].page.viewport().width()
    for k, card in enumerate(cards):
        assert [word for word, _, _ in card.words] == topics().topics[k].words
        assert 0 <= card.outline.left() < card.outline.right() <= wide
        assert all(card.outline.contains(box) for _, _, box in card.words)
    places = [card.outline for card in cards]
    for at, place in enumerate(places):
        assert not any(place.intersects(other) for other in places[at + 1 :])
    card = cards[0]
    boxes = [box for _, _, box in card.words]
    for at, box in enumerate(boxes):
        assert not any(box.intersects(other) for other in boxes[at + 1 :])
    sizes = [QFontInfo(font).pointSizeF() for _, font, _ in card.words]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1.3 * sizes[-1]
    view = board.views["topics"]
    assert "Trial 4, the best so far: the 12 largest of 50 topics." in view.describe()
    assert f"word0a, word0b, word0c, word0d ({percent(0.125)}); word1a" in view.describe()
    assert "11,314 texts" in view.describe()
    assert view.content.accessibleDescription().startswith(view.describe())
    card = view.cards.cards[1]
    told = view.cards.tooltip_at(card.words[0][2].center())
    assert told == f"word1a: {percent(0.2)}"
    assert view.cards.tooltip_at(QPointF(0, 0)) == ""
    image = view.picture().grab().toImage()
    lengths = [_bar_length(image, card.outline) for card in view.cards.cards[:3]]
    shares = [topic.share for topic in topics().topics[:3]]
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


def test_a_narrow_board_scrolls_and_a_long_word_is_cut(feed, board, qtbot):
    board.resize(560, 480)
    view = feed(run(topics())).views["topics"]
    bar = view.page.verticalScrollBar()
    assert bar.maximum() > 0
    view.page.setFocus()
    qtbot.keyClick(view.page, Qt.Key.Key_PageDown)
    assert bar.value() > 0
    bar.setValue(bar.maximum())
    bottom = bar.value() + view.page.viewport().height()
    assert view.cards.cards[-1].outline.bottom() <= bottom
    assert view.picture().height() >= view.cards.cards[-1].outline.bottom()
    event = topics(count=1, shown=1)
    event.topics[0].words[0] = "donaudampfschifffahrt" * 12
    view = feed(run(event)).views["topics"]
    card = view.cards.cards[0]
    assert all(card.outline.contains(box) for _, _, box in card.words)
    assert card.words[0][0].endswith("…") or len(card.words[0][0]) == 21 * 12
    assert "its topics, the largest first" in view.describe()
    headers, rows = feed(run(topics(shown=3))).views["topics"].table_data()
    assert headers == ["topic", "share of all words", "word", "probability in the topic"]
    assert len(rows) == 30
    assert rows[11] == [2, 0.0833, "word1b", 0.1]


# -- pictures ------------------------------------------------------------------------------------


def test_grey_values_become_shades():
    image = grey_picture([0.0, 0.25, 0.5, 1.0, 2.0, -1.0], 2, 3)
    assert (image.width(), image.height()) == (3, 2)
    shades = [image.pixelColor(x, y).red() for y in range(2) for x in range(3)]
    assert shades == [0, 64, 128, 255, 255, 0]


@pytest.mark.parametrize("size", [(1060, 720), (540, 620), (1500, 950)])
def test_every_picture_has_a_place_of_its_own(feed, board, size):
    board.resize(*size)
    view = feed(pictured(images())).views["pictures"]
    rows = view.pictures.rows
    assert [len(placed.boxes) for placed in rows] == [8, 8, 8]
    boxes = [box for placed in rows for box in placed.boxes]
    captions = [placed.caption for placed in rows]
    wide = view.page.viewport().width()
    for at, box in enumerate(boxes):
        assert 0 <= box.left() < box.right() <= wide + 1
        assert box.width() / box.height() == pytest.approx(4 / 5)
        assert not any(box.intersects(other) for other in [*boxes[at + 1 :], *captions])
    # Reconstructions stand below what they reconstruct.
    for original, seen in zip(rows[0].boxes, rows[1].boxes, strict=True):
        assert original.left() == seen.left()
        assert original.bottom() < seen.top()


def test_points_are_drawn_sharp_and_said_and_tabled(feed, board, qapp):
    view = feed(pictured(images())).views["pictures"]
    image = view.picture().grab().toImage()
    ratio = image.devicePixelRatio()
    for placed, full in zip(view.pictures.rows[:2], (255, 128), strict=True):
        for at in range(3):
            box = placed.boxes[at]
            for column in range(4):
                place = box.topLeft() + QPointF(box.width() * (column + 0.5) / 4, box.height() / 2)
                grey = image.pixelColor(int(place.x() * ratio), int(place.y() * ratio)).red()
                assert grey == (full if column == at else 0)
    assert "Trial 2, the best so far: 8 pictures of the data" in view.describe()
    assert "8 generated pictures; 5 by 4 points" in view.describe()
    captions = [placed.row.caption for placed in view.pictures.rows]
    assert captions[0] == "Pictures that the model was not trained on, with their labels"
    told = view.pictures.tooltip_at(view.pictures.rows[0].boxes[1].center())
    assert told == f"{captions[0]}: c1"
    headers, rows = view.table_data()
    assert headers[:4] == ["row", "column", "data 1 c0", "data 2 c1"]
    assert headers[-1] == "generated 8"
    assert len(rows) == 20
    assert all(len(row) == len(headers) for row in rows)
    assert rows[5][:5] == [2, 2, 0.0, 1.0, 0.0]
    assert rows[5][-1] == images().samples[7][5]


def test_generated_pictures_stand_beside_where_there_is_room_and_say_their_rows(feed, board):
    board.resize(1060, 620)
    first, _, last = feed(pictured(images())).views["pictures"].pictures.rows
    assert last.boxes[0].left() > first.boxes[-1].right()
    assert last.boxes[0].top() == first.boxes[0].top()
    board.resize(540, 1400)
    first, seen, last = feed([]).views["pictures"].pictures.rows
    assert last.boxes[0].left() == first.boxes[0].left()
    assert last.boxes[0].top() > seen.boxes[0].bottom()
    view = feed(pictured(images(), judged="training")).views["pictures"]
    caption = view.pictures.rows[0].row.caption
    assert caption == "Pictures that the model was trained on, with their labels"


# -- both ----------------------------------------------------------------------------------------

STREAMS = {"topics": lambda: run(topics()), "pictures": lambda: pictured(images())}


@pytest.mark.parametrize("name", list(STREAMS))
def test_dark_and_large_text(feed, board, dark, monkeypatch, name):
    from app.look import appearance

    view = feed(STREAMS[name]()).views[name]
    light = view.page.grab().toImage().pixelColor(3, 3).lightness()
    needed = view.page.needed_height
    dark()
    feed([])
    assert view.page.grab().toImage().pixelColor(3, 3).lightness() < light - 100
    monkeypatch.setattr(appearance._state, "text_percent", 200)
    view.paint_theme()
    assert name == "pictures" or view.page.needed_height > 1.5 * needed


@pytest.mark.parametrize("name", list(STREAMS))
def test_a_replay_goes_back_and_another_run_begins_empty(feed, board, name):
    events = list(STREAMS[name]())
    view = feed(events).views[name]
    assert view.has_content()
    feed(events[:1])
    assert not view.has_content()
    feed(events[1:])
    later = topics(9) if name == "topics" else images(9)
    feed([later])
    assert view.describe().startswith("Trial 9")
