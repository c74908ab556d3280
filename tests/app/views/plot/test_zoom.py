from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from core.tuning.events import TrialFinished


@pytest.fixture
def view(feed, streams):
    return feed(streams.trials(strategy="random")).views["best"]


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


def test_drags_and_keys_zoom_and_move_but_the_wheel_does_not(view):
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
    middle = QPointF(view.canvas.rect().center())
    turned = QWheelEvent(
        middle, middle, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    view.canvas.wheelEvent(turned)
    assert not turned.isAccepted()
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


def test_a_drag_with_shift_moves_what_is_under_the_pointer_along(view):
    before = ranges(view)
    drag(view, QPoint(60, 0), Qt.KeyboardModifier.ShiftModifier)
    now = ranges(view)
    assert (now[0] < before[0]).all()
    assert np.allclose(now[0, 1] - now[0, 0], before[0, 1] - before[0, 0])


def test_another_run_begins_with_the_whole_range(view, feed, streams):
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    feed(streams.trials(strategy="random"))
    assert not view.canvas.zoom.is_zoomed
    assert not view.whole_button.isVisible()
