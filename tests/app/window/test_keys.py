"""The keys of the window: each in a real window, told in the help; Enter, drops, and tops."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QPushButton, QToolButton

from app.pages.use_page import UsePage
from app.text import key_names
from app.window.window import PAGES, Window
from app.window.window_sides import STEPS
from app.worker import messages as m
from core.tuning.events import RunFinished
from core.tuning.guidance.guidance_records import RunEstimate
from core.tuning.run_results import Results

HELP = Path(__file__).parents[3] / "resources" / "help" / "keyboard.md"


@pytest.fixture
def window(with_data, qtbot):
    made = Window(with_data)
    idle = lambda _: with_data._set_state("idle")  # noqa: E731  it closes without a question
    qtbot.addWidget(made, before_close_func=idle)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


@pytest.fixture
def worker(with_data):
    return with_data.worker


@pytest.fixture
def press(window, qtbot):
    def press(sequence):
        combined = QKeySequence(sequence)[0]
        qtbot.keyClick(window, combined.key(), combined.keyboardModifiers())
        QApplication.processEvents()

    return press


def test_the_keys_are_those_that_the_help_tells(window):
    text = HELP.read_text(encoding="utf-8")
    for key in key_names.TOLD:
        assert re.search(rf"\| (.*, )?{re.escape(key)}[ ,]", text), key
    own = Qt.FindChildOption.FindDirectChildrenOnly
    told = [keys.key().toString() for keys in window.findChildren(QShortcut, options=own)]
    assert set(key_names.TOLD) <= set(told)
    assert len(set(told)) == len(told)


def test_next_previous_and_locked_steps(window, press):
    window.show_page("data")
    for step in ("model", "strategy"):
        press(key_names.NEXT)
        assert window.here == step
    for step in ("model", "data", "data"):
        press(key_names.BEFORE)
        assert window.here == step
    for number in range(1, 5):
        press(f"Ctrl+{number}")
        assert window.here == STEPS[number - 1]
    for key in (key_names.NEXT, key_names.EXPORT):  # nothing was tuned yet
        press(key)
        assert window.here == "tune"
        assert "in step 4" in window.rail._why.text()


def test_start_pause_and_stop(window, press, worker):
    session = window.session
    press(key_names.PAUSE)
    assert "No run is in progress" in window.rail._why.text()
    session.estimate = RunEstimate("Too few rows.", unusable=True)
    press(key_names.START)
    assert not worker.all_of(m.Tune)
    assert window.notice.isVisible()
    session.estimate = None
    window.show_page("tune")
    page = window.pages["tune"]
    assert page.primary.toolTip() == f"Start tuning ({key_names.START})"
    for _ in range(2):
        press(key_names.START)
        assert window.here == "tune"
        assert len(worker.all_of(m.Tune)) == 1
    assert page.primary.toolTip() == f"Pause ({key_names.PAUSE})"
    assert page.stop_button.toolTip() == f"Stop and keep best ({key_names.STOP})"
    assert "in progress already" in window.rail._why.text()
    press(key_names.PAUSE)
    assert worker.asked[-1] == m.Pause()
    session._set_state("paused")
    assert not window.rail._why.text()  # which is true no longer
    press(key_names.PAUSE)
    assert worker.asked[-1] == m.Resume()
    session._set_state("paused")
    press(key_names.START)
    assert worker.all_of(m.Resume) == [m.Resume()] * 2
    press(key_names.STOP)
    assert worker.asked[-1] == m.StopRun(True)
    assert session.state == "stopping"


def test_stop_leaves_a_file_of_rows(window, press, worker):
    window.show_page("use")
    window.pages["use"].take_model("/m.skops")
    window.pages["use"].predict_file("/rows.csv")
    press(key_names.STOP)
    # An estimate may be asked for meanwhile.
    assert worker.all_of(m.CancelExplanation) == [m.CancelExplanation()]


def test_open_quit_help_and_the_list_of_keys(window, press, worker, monkeypatch):
    monkeypatch.setattr("app.widgets.drop_area.ask_for_file", lambda _: "/data/new.csv")
    press(key_names.OPEN)
    assert worker.data_wanted.file == "/data/new.csv"
    places = []
    monkeypatch.setattr(Window, "show_help", lambda _, place: places.append(place))
    press(key_names.LIST)
    window.setFocus()
    press(key_names.HELP)
    assert places[0] == "keyboard"
    assert len(places) == 2
    press(key_names.QUIT)
    assert not window.isVisible()


def test_save_and_export(window, press, monkeypatch):
    session, saved, said = window.session, [], []
    session.problem.connect(said.append)
    monkeypatch.setattr(UsePage, "_save_predictions", lambda _: saved.append("rows"))
    window.show_page("use")
    press(key_names.SAVE)
    assert "no predictions to save yet" in said[0]
    assert window.notice.isVisible()
    session.rows_predicted.emit(m.RowsPredicted(["prediction"], [["a"]], 1, 0))
    press(key_names.SAVE)
    assert saved == ["rows"]
    session._show_run([RunFinished(results=Results(metric="accuracy"))], None)
    for key in (key_names.SAVE, key_names.EXPORT):
        window.show_page("model")
        press(key)
        assert window.here == "export"
    export = window.pages["export"]
    monkeypatch.setattr(type(export), "_save_first", lambda _: saved.append("model"))
    export.primary.setEnabled(True)
    press(key_names.SAVE)
    assert saved == ["rows", "model"]


# Enter ----------------------------------------------------------------------------------------


def test_enter_presses_the_button_that_has_the_focus_on_every_page(window, qtbot):
    pressed = []
    for place in ("start", "data", "model", "strategy", "tune", "history", "use", "runs"):
        window.show_page(place)
        QApplication.processEvents()
        buttons = [
            one
            for kind in (QPushButton, QToolButton)
            for one in window.stack.currentWidget().findChildren(kind)
            if one.isVisible() and one.isEnabled() and one.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        for button in buttons[:12]:
            button.clicked.disconnect()
            button.clicked.connect(lambda: pressed.append(1))
            button.setFocus()
            if button.hasFocus():
                pressed.clear()
                qtbot.keyClick(button, Qt.Key.Key_Return)
                assert pressed == [1], (place, button.accessibleName())
    # In a field or a box to tick it presses nothing.
    box = QCheckBox(window.stack.currentWidget())
    box.show()
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert not box.isChecked()


# Drops ----------------------------------------------------------------------------------------


def drop(target, path):
    """Drop a file as the system does; Qt asks the widget first, then those around it."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    where, buttons, none = QPointF(5, 5), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    action = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(where.toPoint(), action, mime, buttons, none)
    enter.setAccepted(False)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(target, QDropEvent(where, action, mime, buttons, none))


def test_a_file_that_is_dropped_anywhere_opens(window, qtbot, tmp_path, worker):
    for place in ["data", "model", "strategy", "tune", "history", "use", "runs"]:
        window.show_page(place)
        QApplication.processEvents()
        page = window.stack.currentWidget()
        fields = [one for one in page.findChildren(QLineEdit) if one.isVisible()]
        qtbot.waitUntil(lambda all=fields: not any(one.acceptDrops() for one in all))
        for target in [page, window.rail, *fields[:3]]:
            before = len(worker.all_of(m.OpenData))
            drop(target, tmp_path / "new.csv")
            assert len(worker.all_of(m.OpenData)) == before + 1
            assert worker.data_wanted.file == str(tmp_path / "new.csv")


def test_a_model_or_the_folder_of_a_run_that_is_dropped_is_opened(
    window, tmp_path, worker, monkeypatch
):
    drop(window.rail, tmp_path / "m.skops")
    assert window.here == "use"
    model = str(tmp_path / "m.skops")
    assert worker.all_of(m.DescribeModel)[-1] == m.DescribeModel("", model)
    opened = []
    monkeypatch.setattr(type(window.session), "open_run", lambda _, folder: opened.append(folder))
    (tmp_path / "plan.json").write_text("{}")
    drop(window.rail, tmp_path)
    assert opened == [str(tmp_path)]


def test_rows_that_are_dropped_on_many_rows_are_predicted(window, tmp_path, worker):
    window.show_page("use")
    page = window.pages["use"]
    drop(page.file_card, tmp_path / "rows.csv")  # no model is there that could predict them
    assert worker.data_wanted.file == str(tmp_path / "rows.csv")
    page.take_model("/m.skops")
    drop(page.file_card, tmp_path / "more.csv")
    assert worker.all_of(m.PredictRows)[-1].file == str(tmp_path / "more.csv")
    drop(page.file_card, tmp_path / "other.skops")
    assert worker.all_of(m.DescribeModel)[-1].model == str(tmp_path / "other.skops")


# Tops -----------------------------------------------------------------------------------------


def test_a_page_that_is_gone_to_begins_at_its_top(window, qtbot):
    window.resize(1024, 700)
    for place in ["data", "model", "strategy"]:
        window.show_page(place)
        scroll = window.pages[place].scroll_area.verticalScrollBar()
        qtbot.waitUntil(lambda scroll=scroll: scroll.maximum() > 0)
        scroll.setValue(scroll.maximum())
        window.show_page("history")
        window.show_page(place)
        assert scroll.value() == 0


def test_no_part_of_a_page_is_ever_a_window_of_its_own(window, qtbot):
    opened = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            shown = event.type() == QEvent.Type.Show and watched.isWidgetType()
            if shown and watched.isWindow() and watched is not window:
                opened.append(type(watched).__name__)
            return False

    watch = Watch()
    QApplication.instance().installEventFilter(watch)
    for place in PAGES:
        window.show_page(place)
        QApplication.processEvents()
    QApplication.instance().removeEventFilter(watch)
    assert opened == []
    assert window.isActiveWindow()  # it would have lost the keys
