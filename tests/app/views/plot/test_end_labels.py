from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from scipy.optimize import minimize

from app.views.plot.labels import emptiest_box, spread_apart

places = st.lists(st.floats(0, 200), min_size=1, max_size=12)


@given(places)
def test_labels_keep_their_distance_and_order(wanted):
    placed = spread_apart(wanted, 12.0, -1e6, 1e6)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(placed[order]) >= 12.0 - 1e-9).all()


@given(places)
def test_labels_stay_inside_where_they_fit(wanted):
    placed = spread_apart(wanted, 12.0, 0.0, 200.0)
    assert placed.min() >= 0.0
    assert placed.max() <= 200.0 + 1e-9


def test_labels_that_are_apart_stay_where_they_are():
    assert spread_apart([50.0, 10.0, 90.0], 12.0, 0.0, 100.0).tolist() == [50.0, 10.0, 90.0]


def test_moves_are_the_least_squares_ones():
    wanted = np.array([10.0, 12.0, 13.0, 40.0, 41.0])
    apart = [{"type": "ineq", "fun": lambda p, i=i: p[i + 1] - p[i] - 12.0} for i in range(4)]
    best = minimize(lambda p: np.sum((p - wanted) ** 2), np.arange(5) * 20.0, constraints=apart)
    assert np.allclose(spread_apart(wanted, 12.0, -100.0, 200.0), best.x, atol=1e-3)


def test_words_at_a_line_go_where_nothing_is():
    area = QRectF(0, 0, 400, 200)
    crowd = np.column_stack([np.linspace(150, 400, 200), np.full(200, 110.0)])
    box = emptiest_box(area, 100.0, (80.0, 14.0), crowd)
    inside = [box.contains(x, y) for x, y in crowd]
    assert not any(inside)
    assert area.contains(box)
