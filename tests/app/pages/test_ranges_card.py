"""The ranges on the Strategy page: shown, changed, fixed, refused in a sentence, and reset."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.pages.strategy_page import StrategyPage
from app.text.plan_text import MAX_DIGITS
from core.estimators.registry import MODELS
from core.tuning.guidance.guidance_records import RunEstimate
from core.tuning.patience import DEFAULT_PATIENCE
from core.tuning.strategies.registry import STRATEGIES


@pytest.fixture
def page(with_data, show):
    with_data.choose_model("svm")
    with_data.choose_strategy("gp")
    return show(StrategyPage(with_data), 900, 800)


def enter(field, text):
    """What a person does: all of it is replaced, and Return ends it."""
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_every_setting_of_every_model_stands_with_the_range_that_is_searched(page):
    shown = 0
    for model, offered in page.session.advice["strategies"].items():
        trials = [one["name"] for one in offered if one["kind"] == "trials"]
        if model == "auto" or not trials:
            continue
        page.session.choose_model(model)
        page.session.choose_strategy(trials[0])
        axes = {axis.name: axis for axis in MODELS[model].space_of("binary")}
        assert list(page.ranges.rows) == list(axes)
        assert page.ranges.fault == ""
        for name, row in page.ranges.rows.items():
            assert not row.reset.isVisible()
            if axes[name].kind != "choice":
                ends = float(row.low.text()), float(row.high.text())
                # Three digits of numbers such as exp(−5).
                assert ends == pytest.approx((axes[name].low, axes[name].high), rel=5e-3)
                assert max(map(len, (row.low.text(), row.high.text()))) <= MAX_DIGITS
        shown += 1
    assert shown > 8
    assert not page.ranges.reset.isEnabled()


def test_a_range_that_is_entered_is_in_the_plan(page):
    row = page.ranges.rows["C"]
    enter(row.low, "0.5")
    enter(row.high, "2e5")
    axis = next(axis for axis in MODELS["svm"].space_of("binary") if axis.name == "C")
    assert page.session.plan.ranges == {"C": [0.5, 2e5]}
    assert "C is searched from 0.5 to 200000, not over its usual range." in page.words[1]
    page.session.set_plan(ranges={"C": [axis.low, 0.946999085467]})
    assert row.high.text() == "0.947"
    enter(row.low, "0.5")
    assert page.session.plan.ranges == {"C": [0.5, 0.946999085467]}
    enter(row.low, str(axis.low))
    enter(row.high, str(axis.high))
    assert page.session.plan.ranges == {}  # the usual range says nothing


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        ("5", "0.1", "begins at 5, above its end at 0.1"),
        ("3", "3", "is one value; fix it to that"),
        ("", "3", "a number is missing"),
        ("few", "3", "“few” is not a number"),
        ("0", "3", "0 is not above 0"),
        ("1", "inf", "inf has no end"),
        ("1", "1e300", "1e+300 is too far from 0"),
    ],
)
def test_what_cannot_be_searched_is_said_under_its_row_and_nothing_starts(page, low, high, says):
    row = page.ranges.rows["C"]
    enter(row.low, low)
    enter(row.high, high)
    assert says in row.fault_label.text()
    assert row.fault_label.isVisible()
    assert not page.primary.isEnabled()
    assert page.primary.accessibleDescription() == row.fault
    assert all(low < high for low, high in page.session.plan.ranges.values())
    row.reset.click()
    assert (row.fault, page.session.plan.ranges) == ("", {})
    assert page.primary.isEnabled()
    assert not row.fault_label.isVisible()


def test_a_setting_is_fixed_and_freed_again(page):
    row = page.ranges.rows["gamma"]
    row.fix.click()
    usual = row.axis.default
    assert page.session.plan.fixed == {"gamma": usual}
    assert not row.high.isEnabled()
    enter(row.low, "0.125")
    assert page.session.plan.fixed == {"gamma": 0.125}
    assert "gamma stays at 0.125." in page.words[1]
    row.fix.click()
    assert (page.session.plan.fixed, page.session.plan.ranges) == ({}, {})
    assert row.high.isEnabled()


def test_something_must_be_left_to_search(page):
    for row in page.ranges.rows.values():
        row.fix.click()
    assert "every setting is fixed" in page.ranges.fault
    assert not page.primary.isEnabled()
    page.ranges.reset.click()
    assert page.session.plan.fixed == {}
    assert page.primary.isEnabled()


def test_a_choice_is_fixed_to_one_of_its_values(page):
    page.session.choose_model("knn")
    row = page.ranges.rows["weights"]
    words = [row.box.itemText(at) for at in range(row.box.count())]
    assert words[0].startswith("all: ")
    row.box.setCurrentIndex(2)
    value = row.axis.choices[1]
    assert words[2] == f"only {value}"
    assert page.session.plan.fixed == {"weights": value}
    row.box.setCurrentIndex(0)
    assert page.session.plan.fixed == {}


def test_ranges_of_other_models_and_strategies(page):
    session, ranges = page.session, page.ranges
    enter(ranges.rows["C"].low, "0.5")
    session.choose_strategy("random")
    assert list(session.plan.ranges) == ["C"]
    session.choose_model("forest")
    assert session.plan.ranges == {}
    session.choose_model("logistic")
    session.choose_strategy("mm")
    assert "The penalty is learned" in ranges.notice.text()
    assert ranges.rows == {}
    session.choose_model("auto")
    assert "its own usual ranges" in ranges.notice.text()


@pytest.mark.parametrize(
    ("ranges", "fixed", "says"),
    [
        ({"C": []}, {}, ""),
        ({"C": [1.0]}, {}, ""),
        ({"C": [1.0, 2.0, 3.0]}, {}, ""),
        ({"C": [float("nan"), 1.0]}, {}, ""),
        ({"C": [7.0, 1.0]}, {}, "begins at 7, above its end at 1"),
        ({"treez": [1.0, 2.0]}, {}, "no setting “treez”"),
        ({}, {"C": {"a": 1}}, ""),
        ({}, {"C": [[]]}, ""),
        ({}, {"C": 10**400}, ""),
        ({"gamma": [1e-3, 1.0]}, {"gamma": 1.0}, ""),
    ],
)
def test_a_strangers_ranges_are_a_sentence_and_no_crash(page, ranges, fixed, says):
    page.session.set_plan(ranges=ranges, fixed=fixed)
    assert says in page.ranges.fault
    assert 0 < len(page.ranges.fault) < 300
    assert not page.primary.isEnabled()
    page.ranges.reset.click()
    assert (page.session.plan.ranges, page.session.plan.fixed) == ({}, {})
    assert page.primary.isEnabled()


def test_ranges_of_the_data_stand_once_they_are_known_and_what_is_being_entered_stays(page):
    row = page.ranges.rows["C"]
    enter(row.low, "few")
    first, second, *others = MODELS["svm"].space_of("binary")
    axes = (first, replace(second, high=77.0, default=0.0123), *others)
    page.session.estimate = RunEstimate("soon", 1.0, 40, axes=axes)
    page.session.estimate_changed.emit()
    assert page.ranges.rows["C"] is row
    assert row.low.text() == "few"
    assert row.fault_label.isVisible()
    other = page.ranges.rows["gamma"]
    assert other.high.text() == "77"
    other.fix.click()
    assert page.session.plan.fixed == {"gamma": 0.0123}


def test_a_narrow_page_or_large_text_takes_two_lines_and_nothing_is_cut(page, look, qapp):
    row = page.ranges.rows["C"]
    enter(row.low, "few")
    for width, percent, narrow in ((1000, 100, False), (560, 100, True), (1000, 200, True)):
        look.change_look(percent=percent)
        page.resize(width, 800)
        for _ in range(4):
            qapp.processEvents()
        assert row.isVisible() is narrow  # the second line
        below = row.low.mapTo(page, row.low.rect().topLeft()).y()
        beside = row.name.mapTo(page, row.name.rect().bottomLeft()).y()
        assert (below > beside) is narrow
        assert row.low.width() == look.pixels(110)
        for part in (row.low, row.high, row.fix, row.reset, row.fault_label):
            assert part.isVisible()
            right = part.mapTo(page.scroll_area.viewport(), part.rect().topRight()).x()
            assert right <= page.scroll_area.viewport().width()
        assert row.low.text() == "few"
        assert page.scroll_area.widget().width() <= page.scroll_area.viewport().width()


# When nothing improves ----------------------------------------------------------------------------


def test_when_it_stops_is_told_and_can_be_changed(page):
    budget, session = page.budget, page.session
    assert budget.patience.value() == DEFAULT_PATIENCE
    assert f"{DEFAULT_PATIENCE} trials in a row" in budget.ends.text()
    assert session.plan.patience is None
    budget.patience.setValue(12)
    assert session.plan.patience == 12
    assert "12 trials in a row" in budget.ends.text()
    budget.patience.setValue(0)
    assert budget.patience.text() == "never"
    assert "however many" in budget.ends.text()
    budget.patience.setValue(DEFAULT_PATIENCE)
    assert session.plan.patience is None  # so that another strategy has its own
    session.choose_strategy("grid")
    assert (budget.patience.value(), STRATEGIES["grid"].patience) == (0, 0)
    session.choose_model("auto")
    assert budget.patience.value() == STRATEGIES["race"].patience > DEFAULT_PATIENCE
    session.choose_model("logistic")
    session.choose_strategy("mm")
    assert not budget.ends.isVisible()
    assert not budget.patience.isVisible()
