"""What plots are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from app.views.plot.items import _unique_pixels


@pytest.mark.parametrize("count", [1, 5, 3_000])
@pytest.mark.parametrize("spread", [0.0, 9.0, 300.0, 1e7])
def test_every_pixel_with_a_point_is_there_once(count, spread):
    points = np.random.default_rng(count).normal(-40.0, spread, (count, 2))
    wanted = sorted({(float(np.round(x)), float(np.round(y))) for x, y in points})
    assert [tuple(row) for row in _unique_pixels(points).tolist()] == wanted
