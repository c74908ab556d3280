"""The window: its pages, its rail and panel, its notices, and what is told of a crash."""

from __future__ import annotations

import faulthandler
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMainWindow,
    QMessageBox,
    QPushButton,
    QWidget,
)

from app.diagnostics.crash_reports import CrashReporter, FaultFile, details
from app.dialogs.help_dialog import HelpDialog
from app.dialogs.settings_dialog import SettingsDialog
from app.help.help_pages import FOLDER, GENERATED_TOPICS, TOPICS, pages_by_key
from app.look import appearance, icons
from app.preferences import preferences as settings
from app.preferences.preferences import TELLS_ENDS
from app.session.shown_run import ShownRun
from app.widgets import buttons
from app.widgets.buttons import ActionTile
from app.widgets.text_labels import ElidedLabel
from app.window import notices
from app.window.notices import LONG, BusyNotice, EndNotice
from app.window.open_window import START_TIMES, tell_painted
from app.window.window import PAGES, Window
from app.window.window_sides import STEPS, SidePanel, StepState, step_states
from app.worker.messages import (
    FolderMade,
    InputRefused,
    OpenData,
    Opened,
    PredictRows,
    RowsPredicted,
    RunEnded,
    SavePredictions,
    Tune,
)
from core.datasets.finding import SuggestedChange
from core.datasets.samples import SAMPLES
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished
from core.tuning.plan import DataPlan
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from resources.theme import DARK, LIGHT


@pytest.fixture
def window(still, show):
    return show(Window(still))


@pytest.fixture
def filled(with_data, show):
    return show(Window(with_data))


def test_eight_clicks_lead_from_opening_a_file_to_predictions_on_disk(
    filled, tmp_path, monkeypatch
):
    worker, clicks = filled.session.worker, []

    def click(name):
        visible = (b for b in filled.findChildren(QPushButton) if b.isVisible())
        button = next(b for b in visible if b.text() == name)
        assert button.isEnabled()
        clicks.append(name)
        button.click()

    clicks.append("Open a file…")  # whose dialog is not counted, nor are those below
    filled.show_page("data")
    for name in ("Choose a model", "Choose a strategy", "Start tuning"):
        click(name)
    folder = RunFolder.create(filled.session.plan, root=tmp_path / "runs")
    folder.close()
    finished = RunFinished(results=Results(metric="accuracy"))
    worker.answer(FolderMade(str(folder.path)), RunStarted(), finished, RunEnded(), to=Tune)
    click("See the results")
    click("Use the model")
    answer = str(tmp_path / "new.csv"), ""
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: answer)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    click("Open a file of rows…")
    worker.answer(RowsPredicted(["prediction"], [["yes"]], 1, 0), to=PredictRows)
    click("Save the table…")
    assert worker.all_of(SavePredictions) == [SavePredictions(answer[0])]
    assert len(clicks) <= 8


def test_a_double_click_does_not_press_the_primary_button_of_the_next_page(
    filled, qtbot, monkeypatch
):
    left, presses = Qt.MouseButton.LeftButton, []
    for page_name, seconds in (("model", 60.0), ("strategy", 60.0), ("model", 0.0)):
        monkeypatch.setattr(buttons, "DEAF_SECONDS", seconds)
        filled.show_page(page_name)
        qtbot.mouseClick(filled.current_page.findChild(buttons.PrimaryButton), left)
        presses.append(filled.here)
    assert presses == ["model", "strategy", "strategy"]


@pytest.mark.parametrize("size", [(1024, 700), (1280, 800)])
def test_what_ends_or_lengthens_a_run_never_stands_where_a_page_leads_on(filled, size, qapp):
    def place(button):
        return QRect(button.mapTo(filled, QPoint()), button.size())

    filled.resize(*size)
    session, tune = filled.session, filled.make_page("tune")
    harmful = (tune.stop_button, tune.keep_button, tune.more_button, tune.discard_button)
    plan = session.plan.changed(model="svm", strategy="random").as_dict()
    begun = [RunStarted(plan=plan, total=9), TrialFinished(number=0, score=0.5, setting={})]
    harmless_places, harmful_places = [], []
    for state in ("idle", "running", "paused", "stopping", "interrupted", "finished"):
        session._show_run([] if state == "idle" else begun, None)
        session._set_state(state)
        for key in PAGES:
            filled.show_page(key)
            qapp.processEvents()
            page = filled.current_page
            shown = [*page.findChildren(buttons.PrimaryButton), tune.leave_button]
            harmless_places += [(key, state, place(b)) for b in shown if b.isVisible()]
            for button in harmful:
                if button.isVisible():
                    harmful_places.append((button.text(), state, place(button)))
    assert {text for text, _, _ in harmful_places} >= {"Discard", "20 more trials"}
    for text, state, harmful_place in harmful_places:
        for key, other_state, harmless_place in harmless_places:
            told = (text, state, key, other_state)
            assert not harmful_place.intersects(harmless_place), told


def test_the_first_page_offers_a_file_and_locked_steps_say_why(window, qtbot):
    page = window.pages["start"]
    assert window.here == "start"
    assert page.drop.button.isVisible()
    assert not page._continue.isVisible()
    titles = [tile.accessibleName() for tile in page.findChildren(ActionTile)]
    assert titles == [sample.title for sample in SAMPLES.values()]
    step, why = window.rail.steps["strategy"], window.rail._why
    qtbot.mouseClick(step, Qt.MouseButton.LeftButton)
    assert window.here == "start"
    assert why.isVisible()
    assert "Open a file first" in why.text()
    assert step.toolTip() == why.text()
    assert "Locked" in step.accessibleDescription()


def test_a_new_file_shows_the_data_page_from_its_top(filled, clinic, qtbot, monkeypatch):
    monkeypatch.setattr("app.widgets.drop_area.ask_for_file", lambda _: "/data/other.csv")
    worker = filled.session.worker
    filled.resize(1024, 700)
    filled.activateWindow()
    for page, way in (("data", "file"), ("model", "sample"), ("results", "file")):
        filled.show_page("data")
        scroll = filled.pages["data"].scroll_area.verticalScrollBar()
        qtbot.waitUntil(lambda scroll=scroll: scroll.maximum() > 0)
        scroll.setValue(scroll.maximum())
        filled.show_page(page)
        asked_count = len(worker.all_of(OpenData))
        if way == "file":
            qtbot.keyClick(filled, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
        else:
            filled.session.open_sample("clinic")
        assert len(worker.all_of(OpenData)) == asked_count + 1
        worker.answer(Opened(worker.data_wanted, *clinic), to=OpenData)
        assert filled.here == "data"
        assert scroll.value() == 0


def test_other_roles_and_a_problem_stay_on_their_page(filled, clinic):
    filled.show_page("model")
    session, notice = filled.session, filled.notice
    session.change_data(test_size=0.2)
    session.worker.answer(Opened(session.worker.data_wanted, *clinic))
    assert session.data.test_size == 0.2
    plan = session.plan
    session.problem.emit("heart.csv, line 3: there are 12 values; give every row 14.")
    assert notice.isVisible()
    assert notice.sentence.startswith("heart.csv, line 3")
    assert not any(button.text() for button in notice.findChildren(QPushButton))
    assert (filled.here, session.plan) == ("model", plan)
    notice.hide()
    assert not notice.isVisible()
    # What stopped a run is no longer said when it goes on.
    session.problem.emit("The worker was stopped. 2 trials are kept.")
    for state, told in (("interrupted", True), ("running", False)):
        session._set_state(state)
        assert notice.isVisible() is told
    session.state = "idle"  # nothing to ask about when the window closes


def test_steps_are_visited_in_any_order_by_mouse_and_keys(filled, qtbot):
    assert set(filled.pages) == {"start"}  # a page is made at its first visit
    for key in ("strategy", "data", "model", "data"):
        qtbot.mouseClick(filled.rail.steps[key], Qt.MouseButton.LeftButton)
        assert filled.here == key
        assert filled.panel._title.text() == filled.pages[key].words[0]
    assert set(filled.pages) == {"start", "data", "model", "strategy"}
    qtbot.keyClick(filled.rail.steps["model"], Qt.Key.Key_Return)
    assert filled.here == "model"
    filled.activateWindow()
    qtbot.keyClick(filled, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert filled.here == "strategy"
    qtbot.keyClick(filled, Qt.Key.Key_Escape)
    assert filled.isVisible()
    assert filled.here == "strategy"


def test_the_rail_leads_to_the_history_with_or_without_data(window, filled, qtbot):
    for each in (window, filled):
        qtbot.keyClick(each.rail.history_button, Qt.Key.Key_Space)
        assert each.here == "history"
        assert each.windowTitle() == "History – Tunescope"
        assert each.rail.history_button.accessibleDescription() == "You are here."
        assert not any(step.property("here") for step in each.rail.steps.values())
    filled.show_page("model")
    assert filled.rail.history_button.accessibleDescription() == ""


def test_data_arriving_leads_from_the_first_page_to_the_table(window, clinic):
    window.pages["start"].drop.file_chosen.emit("clinic.csv")
    window.session.worker.answer(Opened(DataPlan("clinic.csv"), *clinic))
    assert window.here == "data"
    assert window.pages["data"].title == "clinic"
    assert settings.recent_files() == ["clinic.csv"]


def test_a_hidden_page_waits_until_it_is_shown(filled, monkeypatch):
    refreshed = []
    for key in ("data", "tune", "results", "export", "use", "history"):
        page = filled.make_page(key)
        monkeypatch.setattr(page, "refresh", lambda key=key: refreshed.append(key))
    session = filled.session
    for signal in (session.run_changed, session.run_replaced, session.plan_changed):
        signal.emit()
    session._emit_events([RunStarted()])
    assert refreshed == []
    session.data_changed.emit()  # which leads from the first page to the data
    assert set(refreshed) == {"data"}
    for key in ("tune", "results", "export", "use"):
        filled.show_page(key)
        assert refreshed[-1] == key


def test_closing_while_a_run_goes_on_asks(filled, monkeypatch):
    filled.session.state = "running"
    monkeypatch.setattr(QMessageBox, "exec", lambda box: 0)  # closed by Esc: keep tuning
    filled.close()
    assert filled.isVisible()
    filled.session.state = "idle"
    filled.close()
    assert not filled.isVisible()


def test_the_window_comes_back_as_large_as_it_was_left(still, show):
    show(Window(still), 1024, 730).close()
    assert show(Window(still)).size().toTuple() == (1024, 730)


def test_a_finished_run_ticks_its_steps(with_data, window):
    with_data._show_run([RunFinished(results=Results())], None)
    states = step_states(with_data)
    assert [states[key].done for key in STEPS] == [True, True, True, True, True, False]
    assert not any(states[key].locked for key in STEPS)
    # A step in front has its number and a done one its tick.
    step = window.rail.steps["data"]
    step.show_state(StepState("heart.csv", done=True), here=True)
    assert step._mark.text() == "1"
    step.show_state(StepState("heart.csv", done=True), here=False)
    assert not step._mark.pixmap().isNull()
    assert "Done." in step.accessibleDescription()


def test_the_rail_names_no_data_but_those_of_the_run_that_is_shown(filled, clinic):
    session, steps = filled.session, filled.rail.steps
    before = [steps[key].state.chosen for key in STEPS[:3]]
    for answer, after in (
        (InputRefused("It is gone."), before),
        (Opened(DataPlan("other.csv"), replace(clinic[0], name="other.csv"), clinic[1]), None),
    ):
        run = ShownRun([RunStarted(), RunFinished(results=Results())], None)
        session._take_past((run, session.plan))
        assert [steps[key].state.chosen for key in STEPS[:3]] == ["being read …", "", ""]
        session.worker.answer(answer, to=OpenData)
        now = [steps[key].state.chosen for key in STEPS[:3]]
        assert now == after or now[0].startswith("other.csv")


class _Run:
    path, dataset, strategy, state = "/runs/1", "heart.csv", "mm", "finished"
    model = "logistic"
    metric, test, gain, baseline = "accuracy", 0.877, 0.037, 0.556
    title = ""


def test_past_runs_show_score_and_gain_and_folders_that_cannot_be_read(window, qapp):
    opened = []
    window.rail.run_pressed.disconnect(window.open_run)
    window.rail.run_pressed.connect(opened.append)
    window.rail.show_runs([_Run])
    button = window.rail._runs.itemAt(0).widget()
    said = "heart · Learn the penalty (MM) · 87.7\u00a0% · baseline 55.6\u00a0%"
    said += " · +3.7 points over the default"
    assert button.accessibleName() == f"Past run: {said}"
    button.click()
    assert opened == ["/runs/1"]
    window.rail.show_runs([_Run], {"odd": "why"})
    below = window.rail._runs.itemAt(window.rail._runs.count() - 1).widget()
    assert below.text() == "Left out: odd"

    class Long(_Run):
        dataset, strategy = "a file with quite a long name indeed.csv", "gradient"

    # The gain of a run is not cut by its long name.
    window.rail.show_runs([Long])
    qapp.processEvents()
    first, second, last = window.rail._runs.itemAt(0).widget().findChildren(ElidedLabel)
    assert last.text() == "87.7\u00a0% (+3.7)"
    assert last.fontMetrics().horizontalAdvance(last.text()) <= last.width()
    assert last.y() >= second.y() + second.height() >= first.y() + first.height()


def test_help_has_a_text_for_every_page_and_a_way_to_every_text(filled, qtbot):
    written = {path.stem for path in FOLDER.glob("*.md")}
    assert set(TOPICS) - set(GENERATED_TOPICS) <= written <= set(pages_by_key())
    assert all(page.text.startswith("# ") for page in pages_by_key().values())
    for key in PAGES:
        assert filled.make_page(key).topic in pages_by_key()
    dialog = HelpDialog("groups")
    qtbot.addWidget(dialog)
    assert dialog.topics.currentItem().text(0) == "Groups of columns"
    assert "penalty" in dialog.text.toPlainText()


def test_every_icon_is_used_and_every_used_icon_is_there(look):
    drawn = {path.stem for path in icons.FOLDER.glob("*.svg")}
    sources = (appearance.RESOURCES.parent / "app").rglob("*.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    style = appearance.stylesheet(LIGHT) + appearance.stylesheet(DARK)
    unused = [name for name in drawn if f'"{name}"' not in code and f"/{name}.svg" not in style]
    assert unused == []
    named = set(re.findall(r'(?:icon|Sign|IconButton)\(\s*"([a-z-]+)"', code))
    named |= set(re.findall(r"icons/([a-z-]+)\.svg", style))
    assert len(named) > 9
    assert named <= drawn


def test_settings_show_at_once_and_are_remembered(filled, look):
    dialog = SettingsDialog(filled)
    dialog.scheme.setCurrentIndex(dialog.scheme.findData("dark"))
    dialog.text_size.setValue(150)
    assert (look.current().name, look.text_percent()) == ("dark", 150)
    assert (settings.colour_scheme(), settings.text_percent()) == ("dark", 150)
    dialog.forget.click()
    assert (settings.colour_scheme(), look.text_percent()) == ("system", 100)


@pytest.mark.parametrize("is_by_system", [True, False])
def test_the_pointer_waits_from_the_first_widget_that_is_styled_anew(look, qtbot, is_by_system):
    class Styled(QWidget):
        def changeEvent(self, event):
            cursor = QApplication.overrideCursor()
            shapes.add(None if cursor is None else cursor.shape())

    shapes, styled = set(), Styled()
    qtbot.addWidget(styled)
    styled.ensurePolished()
    shapes.clear()
    if is_by_system:
        settings.remember(settings.SCHEME, "system")
        look._system_changed()
    else:
        look.change_look(percent=150)
    assert shapes == {Qt.CursorShape.WaitCursor}
    assert QApplication.overrideCursor() is None


# When something unforeseen happens ------------------------------------------------------------


def _raised(text):
    try:
        raise ValueError(text)
    except ValueError as error:
        return type(error), error, error.__traceback__


def test_an_unforeseen_error_is_a_sentence_with_details_that_hold_no_data():
    said = []
    CrashReporter(lambda *words: said.append(words)).report_exception(
        *_raised("row 3 holds secret-name")
    )
    [(sentence, copied)] = said
    assert "Traceback" not in sentence
    assert "secret-name" not in sentence + copied
    assert "ValueError" in copied
    assert "app/window/test_window.py, line" in copied
    assert details(*_raised("x")[::2]).splitlines()[1] == "builtins.ValueError"


def test_a_flood_of_errors_is_said_once_and_counted():
    now = [0.0]
    said = []
    reporter = CrashReporter(lambda *words: said.append(words), clock=lambda: now[0])
    for _ in range(50):
        reporter.report_exception(*_raised("x"))
    assert len(said) == 1
    now[0] = 60.0
    reporter.report_exception(*_raised("x"))
    assert len(said) == 2
    assert "49 more" in said[1][1]


def test_a_crash_is_offered_at_the_next_start_and_an_orderly_end_leaves_nothing(tmp_path):
    crash = tmp_path / "fault-999999999.txt"
    crash.write_text("Fatal Python error: Segmentation fault")
    was, faults = faulthandler.is_enabled(), FaultFile(tmp_path)
    assert "Segmentation fault" in faults.earlier_crash_text()
    assert faults.earlier_crash_text() == ""
    assert not list(tmp_path.iterdir())
    faults.watch_crashes()
    assert list(tmp_path.iterdir())
    faults.close()
    assert not list(tmp_path.iterdir())
    if was:
        faulthandler.enable()


def test_a_past_run_that_takes_long_can_be_left_and_other_waits_cannot(window, monkeypatch, qtbot):
    waiting, loader, stopped = window.waiting, window.session.run_loader, []
    window.session.busy_changed.emit("Saving …")
    qtbot.waitUntil(lambda: waiting.isVisibleTo(window))
    assert not waiting.stop_button.isVisibleTo(window)
    monkeypatch.setattr(type(loader), "goes_on", property(lambda _self: True))
    monkeypatch.setattr(loader, "stop", lambda: stopped.append(True))
    window.session.busy_changed.emit("Reading the run …")
    qtbot.waitUntil(lambda: waiting.stop_button.isVisibleTo(window))
    waiting.stop_button.click()
    assert stopped
    assert not waiting.isVisibleTo(window)


def test_a_long_word_of_the_panel_is_broken_and_others_are_not(show, qapp):
    panel = SidePanel()
    panel.setFixedWidth(240)
    show(panel)
    said = ["A short sentence.", f"“{'resting_electrocardiographic' * 2}” and {'x' * 90}."]
    panel.show_words("What is happening", said)
    qapp.processEvents()
    short, broken = panel._lines
    assert short.text() == said[0]
    assert broken.text().replace("\u200b", "") == said[1]
    assert broken.minimumSizeHint().width() <= 220
    assert panel.accessibleDescription() == " ".join(said)
    panel.fold_button.click()
    panel.fit_width(240)
    assert panel.width() < 60
    assert not panel._title.isVisible()
    panel.show_words("Later", said)
    assert not panel._title.isVisible()
    later = SidePanel()  # the fold is remembered
    assert later.is_folded
    panel.fold_button.click()
    assert panel._title.isVisible()
    later.deleteLater()


class Worker(QObject):
    ready = Signal()


@pytest.mark.parametrize("is_measured", [True, False])
def test_the_marks_of_the_start_are_told_where_somebody_measures(
    show, qtbot, tmp_path, monkeypatch, is_measured
):
    marks, window, worker = tmp_path / "marks", show(QMainWindow()), Worker()
    monkeypatch.setenv(START_TIMES, str(marks) if is_measured else "")
    tell_painted(window, worker.ready)
    assert marks.exists() == is_measured
    worker.ready.emit()
    qtbot.wait(20)
    assert window.isVisible() is not is_measured
    assert not is_measured or marks.read_text() == "painted\nready\n"


def test_the_title_says_how_far_a_run_is_on_every_page(window):
    begun = RunStarted(total=40, dataset=DatasetFacts(name="iris.csv"))
    ended = [TrialFinished(number=n, score=0.5, setting={}) for n in range(12)]
    window.session._show_run([begun, *ended], None)
    window.session._set_state("running")
    assert window.windowTitle() == "12 of 40 – iris – Tunescope"
    window.session._set_state("finished")
    assert "12 of 40" not in window.windowTitle()


# Messages at the top of a page ----------------------------------------------------------------


def test_only_a_long_wait_is_shown(qtbot):
    waiting = BusyNotice()
    qtbot.addWidget(waiting)
    waiting.show_message("Reading a.csv …")
    assert waiting.isHidden()
    waiting.show_message("")
    qtbot.wait(LONG + 100)
    assert waiting.isHidden()
    waiting.show_message("Reading b.csv …")
    qtbot.waitUntil(lambda: not waiting.isHidden(), timeout=LONG + 5000)
    waiting.show_message("")
    assert waiting.isHidden()


def test_a_refusal_offers_what_would_make_the_file_usable(still, show):
    notice = show(Window(still)).notice
    still.open_file("/data/molecules.csv")
    offer = SuggestedChange("Read other letters as N", "", fields={"other_letters": True})
    still.worker.answer(InputRefused("No base.", offer=offer))
    assert notice.sentence == "No base."
    assert notice._button.text() == "Read other letters as N"
    notice._button.click()
    asked = still.worker.data_wanted
    assert (asked.file, asked.other_letters) == ("/data/molecules.csv", True)
    assert notice.isHidden()
    still.worker.answer(InputRefused("Something else."))
    assert notice._button.isHidden()


class Session(QObject):
    run_changed = Signal()
    state = "idle"

    def __init__(self):
        super().__init__()
        begun = RunStarted(dataset=DatasetFacts(name="iris.csv"))
        self.shown = SimpleNamespace(
            state=state_from_events([begun, TrialFinished(number=0, score=0.9)])
        )

    def go(self, *states):
        for self.state in states:
            self.run_changed.emit()


@pytest.fixture
def asked(monkeypatch):
    found = []
    monkeypatch.setattr(notices.QApplication, "alert", lambda window: found.append(window))
    return found


@pytest.fixture
def behind(qtbot):
    """A window that is not in front."""
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_the_end_is_told_once_and_without_a_tray(asked, behind, qapp):
    session = Session()
    notice = EndNotice(behind, session)
    session.go("running", "paused", "running", "stopping")
    assert asked == []
    session.go("finished", "finished")
    assert asked == [behind]
    assert notice.message_text() == "iris: finished. Best accuracy 90.0\u00a0%."


def test_opening_a_past_run_or_an_end_in_front_tells_nothing(asked, behind, monkeypatch):
    session = Session()
    session.go("idle")
    notice = EndNotice(behind, session)
    session.go("finished")
    monkeypatch.setattr(behind, "isActiveWindow", lambda: True)
    session.go("running", "finished")
    assert notice._tray is None
    assert asked == []


@pytest.mark.parametrize("wanted", [True, False])
def test_who_does_not_want_it_is_not_told(asked, behind, wanted, own_settings):
    settings.remember(TELLS_ENDS, wanted)
    session = Session()
    notice = EndNotice(behind, session)
    session.go("running", "interrupted")
    assert asked == ([behind] if wanted else [])
    assert "stopped before its end" in notice.message_text()


def test_where_there_is_a_tray_a_message_says_it(asked, behind, monkeypatch):
    said = []

    class Tray(QObject):
        messageClicked = Signal()
        isSystemTrayAvailable = staticmethod(lambda: True)
        supportsMessages = staticmethod(lambda: True)

        def __init__(self, _icon, parent):
            super().__init__(parent)

        def show(self):
            said.append("shown")

        def hide(self):
            said.append("hidden")

        def showMessage(self, *words):
            said.append(words[1])

    monkeypatch.setattr(notices, "QSystemTrayIcon", Tray)
    session = Session()
    notice = EndNotice(behind, session)
    session.go("running", "finished")
    assert said == ["shown", "iris: finished. Best accuracy 90.0\u00a0%."]
    assert notice._tray is not None
