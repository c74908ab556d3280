"""What plots are drawn from: points, and words that cover nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from scipy.optimize import minimize

from app.views.plot.items import _unique_pixels
from app.views.plot.labels import emptiest_box, spread_apart

places = st.lists(st.floats(0, 200), min_size=1, max_size=12)


@given(places)
def test_labels_keep_their_distance_and_order_inside_where_they_fit(wanted):
    placed = spread_apart(wanted, 12.0, 0.0, 200.0)
    assert (np.diff(placed[np.argsort(wanted, kind="stable")]) >= 12.0 - 1e-9).all()
    assert 0.0 <= placed.min() <= placed.max() <= 200.0 + 1e-9


def test_moves_are_the_least_squares_ones():
    assert spread_apart([50.0, 10.0, 90.0], 12.0, 0.0, 100.0).tolist() == [50.0, 10.0, 90.0]
    wanted = np.array([10.0, 12.0, 13.0, 40.0, 41.0])
    apart = [{"type": "ineq", "fun": lambda p, i=i: p[i + 1] - p[i] - 12.0} for i in range(4)]
    best = minimize(lambda p: np.sum((p - wanted) ** 2), np.arange(5) * 20.0, constraints=apart)
    assert np.allclose(spread_apart(wanted, 12.0, -100.0, 200.0), best.x, atol=1e-3)


def test_words_at_a_line_go_where_nothing_is():
    area = QRectF(0, 0, 400, 200)
    crowd = np.column_stack([np.linspace(150, 400, 200), np.full(200, 110.0)])
    box = emptiest_box(area, 100.0, (80.0, 14.0), crowd)
    assert not any(box.contains(x, y) for x, y in crowd)
    assert area.contains(box)


@pytest.mark.parametrize("count", [1, 5, 3_000])
@pytest.mark.parametrize("spread", [0.0, 9.0, 300.0, 1e7])
def test_every_pixel_with_a_point_is_there_once(count, spread):
    points = np.random.default_rng(count).normal(-40.0, spread, (count, 2))
    wanted = sorted({(float(np.round(x)), float(np.round(y))) for x, y in points})
    assert [tuple(row) for row in _unique_pixels(points).tolist()] == wanted
