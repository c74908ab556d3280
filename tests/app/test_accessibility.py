"""Every control has a name, a size, a place in the order of Tab; colours stand out."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QPushButton,
    QSlider,
    QWidget,
)

from app.dialogs.help_dialog import HelpDialog
from app.dialogs.optuna_dialog import OptunaDialog
from app.dialogs.settings_dialog import SettingsDialog
from app.dialogs.target_dialog import TargetDialog
from app.session.session_history import SessionHistory
from app.window.window import Window
from resources.theme import DARK, LIGHT

PAGES = ("start", "data", "model", "strategy", "history")


@pytest.fixture
def window(with_data, show):
    return show(Window(with_data))


@pytest.mark.parametrize("percent", [100, 200])
def test_controls_have_names_and_sizes_and_pages_fit_their_place(
    window, look, qtbot, percent, assert_accessible
):
    window.resize(1024, 700)
    look.change_look(percent=percent)
    for page in PAGES:
        window.show_page(page)
        if page == "strategy":
            window.pages[page].advanced.section.button.click()
        qtbot.wait(20)
        assert_accessible(window)
        scroll = window.pages[page].scroll_area
        assert scroll.widget().width() <= scroll.viewport().width()
        if percent == 100:
            assert_tab_goes_from_top_to_bottom(scroll.widget())


def assert_tab_goes_from_top_to_bottom(scrolled):
    tops = []
    control = scrolled
    while (control := control.nextInFocusChain()) is not scrolled:
        reached = bool(control.focusPolicy() & Qt.FocusPolicy.TabFocus) and control.isVisible()
        if reached and scrolled.isAncestorOf(control):
            card = control
            while card.parentWidget() is not scrolled:
                card = card.parentWidget()
            tops.append(card.y())
    assert tops
    assert tops == sorted(tops)


def test_dialogs_are_accessible(look, show, qtbot, assert_accessible):
    columns = [f"column {i}" for i in range(20)]
    optuna = OptunaDialog("svm", None, SessionHistory().import_wanted.emit)
    for dialog in (HelpDialog("groups"), SettingsDialog(), TargetDialog(columns), optuna):
        show(dialog)
        qtbot.wait(20)
        assert_accessible(dialog)


def test_the_check_itself_finds_a_nameless_small_button(look, show, assert_accessible):
    button = QPushButton()
    button.setStyleSheet("min-height: 0; padding: 0;")
    button.setFixedSize(10, 10)
    with pytest.raises(AssertionError, match="no accessible name"):
        assert_accessible(show(button))


def test_the_wheel_never_changes_a_number(window):
    def values():
        at = [c.currentIndex() if isinstance(c, QComboBox) else c.value() for c in controls]
        return window.session.plan, at

    window.show_page("strategy")
    window.session.choose_model("svm")
    page = window.pages["strategy"]
    page.advanced.section.button.click()
    data = window.make_page("data")
    kinds = (QAbstractSpinBox, QComboBox, QSlider)
    controls = [c for p in (page, data) for c in p.findChildren(QWidget) if isinstance(c, kinds)]
    assert len(controls) > 8
    before = values()
    for control in controls:
        control.setFocus()
        for turn in (120, -120):
            QApplication.sendEvent(control, _wheel(control, turn))
    assert values() == before


def _wheel(control, turn):
    middle = QPointF(control.rect().center())
    return QWheelEvent(
        middle, control.mapToGlobal(middle), QPoint(0, 0), QPoint(0, turn),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip


def contrast(one, other):
    """WCAG 2.2: (lighter + 0.05) / (darker + 0.05) of two relative luminances."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_lines_and_series_stand_out(theme):
    for ground in (theme.paper, theme.canvas, theme.selected):
        for token in ("ink", "muted", "accent", "good", "warning", "bad"):
            assert contrast(getattr(theme, token), ground) >= 4.5, token
        for token in ("control", "focus", "model", "observed"):
            assert contrast(getattr(theme, token), ground) >= 3.0, token
    assert contrast(theme.accent_text, theme.accent) >= 4.5
    for colour in theme.series:
        assert contrast(colour, theme.paper) >= 3.0 or colour in theme.outlined
