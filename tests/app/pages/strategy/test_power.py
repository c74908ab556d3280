"""The Strategy page tells before the start how large a gain must be to be shown."""

from __future__ import annotations

from app.pages.strategy.strategy_page import StrategyPage
from core.tuning.guidance.guidance_records import RunEstimate


def test_the_power_is_told_before_the_start(with_data, qtbot):
    page = StrategyPage(with_data)
    qtbot.addWidget(page)
    power = "With 60 test rows, only gains above some 13 points can be shown."
    assert power not in page.words[1]
    with_data.estimate = RunEstimate("soon", 1.0, power=power)
    with_data.estimate_changed.emit()
    assert power in page.words[1]
