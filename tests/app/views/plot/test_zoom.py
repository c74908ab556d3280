from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from core.tuning.events import TrialFinished

SCORES = (0.70, 0.70, None, 0.71, 0.80)  # all of them near the best


@pytest.fixture
def view(feed, streams):
    return feed(streams.trials(SCORES, strategy="random")).views["best"]


def turn_wheel(view, steps):
    """Turns the wheel over the middle; whether the plot took it."""
    middle = QPointF(view.canvas.rect().center())
    turned = QWheelEvent(
        middle, middle, QPoint(), QPoint(0, 120 * steps), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    view.canvas.wheelEvent(turned)
    return turned.isAccepted()


def ranges(view):
    return np.array(view.plot.vb.viewRange())


def drag(view, by, modifiers=Qt.KeyboardModifier.NoModifier):
    area = view.plot.vb.sceneBoundingRect().toRect()
    start = area.topLeft() + QPoint(area.width() // 4, area.height() // 4)
    port, left = view.canvas.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(port, left, modifiers, start)
    QTest.mouseMove(port, start + by / 2)
    QTest.mouseMove(port, start + by)
    QTest.mouseRelease(port, left, modifiers, start + by)


def test_drags_and_keys_zoom_and_move_but_the_wheel_only_after_a_click(view, monkeypatch):
    before = ranges(view)
    area = view.plot.vb.sceneBoundingRect().toRect()
    drag(view, QPoint(area.width() // 2, area.height() // 2))
    now = ranges(view)
    width = before[:, 1] - before[:, 0]
    assert np.allclose(now[:, 1] - now[:, 0], width / 2, rtol=0.03)
    assert np.allclose((now[0, 0] - before[0, 0]) / width[0], 0.25, atol=0.02)
    assert view.whole_button.isVisible()
    QTest.keyClick(view.canvas, Qt.Key.Key_Home)
    assert np.allclose(ranges(view), before)
    assert not view.whole_button.isVisible()
    monkeypatch.setattr(view.canvas, "hasFocus", lambda: False)
    assert not turn_wheel(view, 1)
    assert np.allclose(ranges(view), before)
    drag(view, QPoint(2, 1))
    assert np.allclose(ranges(view), before)
    QTest.keyClick(view.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    moved = ranges(view)
    assert (moved[0] > before[0]).all()
    assert np.allclose(moved[1], before[1])


def test_what_arrives_while_one_looks_closely_moves_nothing(view, feed, streams):
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    closer = ranges(view)
    low = TrialFinished(number=8, setting=streams.setting(8), score=0.1)
    feed([low])
    assert np.allclose(ranges(view), closer)
    view.whole_button.click()
    assert ranges(view)[1, 0] <= 0.1


def test_the_wheel_shows_all_and_leaves_the_page_what_it_cannot_use(feed, streams, monkeypatch):
    view = feed(streams.trials((*SCORES, 0.141), strategy="random")).views["best"]
    monkeypatch.setattr(view.canvas, "hasFocus", lambda: True)
    usual = ranges(view)
    assert usual[1, 0] > 0.141
    assert view.whole_button.isVisible()
    assert turn_wheel(view, -1)
    assert ranges(view)[1, 0] <= 0.141
    assert view.whole_button.isChecked()
    assert not turn_wheel(view, -1)  # there is no more
    feed([TrialFinished(number=9, setting=streams.setting(9), score=0.05)])
    assert ranges(view)[1, 0] <= 0.05  # all stays all
    QTest.keyClick(view.canvas, Qt.Key.Key_Home)
    assert ranges(view)[1, 0] > 0.141
    closer = [turn_wheel(view, 1) and ranges(view)[:, 1] - ranges(view)[:, 0] for _ in range(3)]
    assert (closer[2] < closer[0]).all()
    for _ in range(3):
        assert turn_wheel(view, -1)
    assert not view.canvas.zoom.is_zoomed


def test_a_drag_with_shift_moves_what_is_under_the_pointer_along(view):
    before = ranges(view)
    drag(view, QPoint(60, 0), Qt.KeyboardModifier.ShiftModifier)
    now = ranges(view)
    assert (now[0] < before[0]).all()
    assert np.allclose(now[0, 1] - now[0, 0], before[0, 1] - before[0, 0])


def test_another_run_begins_with_the_whole_range(view, feed, streams):
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    feed(streams.trials(SCORES, strategy="random"))
    assert not view.canvas.zoom.is_zoomed
    assert not view.whole_button.isVisible()
