import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app.diagnostics.crash_reports import CrashReporter, FaultFile, details
from app.preferences import preferences as settings
from app.session.shown_run import ShownRun
from app.widgets.text_labels import ElidedLabel
from app.window.window import Window
from app.window.window_sides import STEPS, StepState, step_states
from app.worker.messages import Message, OpenData, Opened
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished
from core.tuning.run_results import Results
from resources.theme import DARK, LIGHT


@pytest.fixture
def window(still, qtbot):
    made = Window(still)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def filled(with_data, qtbot):
    made = Window(with_data)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_first_page_offers_a_file_and_locked_steps_say_why(window, qtbot):
    page = window.pages["start"]
    assert window.here == "start"
    assert page.drop.button.isVisible()
    assert not page._continue.isVisible()
    step = window.rail.steps["strategy"]
    qtbot.mouseClick(step, Qt.MouseButton.LeftButton)
    assert window.here == "start"
    assert window.rail._why.isVisible()
    assert "Open a file first" in window.rail._why.text()
    assert step.toolTip() == window.rail._why.text()
    assert "Locked" in step.accessibleDescription()


def test_every_sample_of_the_registry_is_offered():
    from app.pages.start_page import OFFERED
    from core.datasets.samples import SAMPLES

    assert list(OFFERED) == list(SAMPLES)
    assert [title for title, _ in OFFERED.values()] == [s.title for s in SAMPLES.values()]


def test_a_new_file_shows_the_data_page_from_its_top(filled, clinic, qtbot, monkeypatch):
    monkeypatch.setattr("app.widgets.drop_area.ask_for_file", lambda _: "/data/other.csv")
    requests = filled.session.worker.asked
    filled.resize(1024, 700)
    filled.activateWindow()
    for page, way in (("data", "file"), ("model", "sample"), ("results", "file")):
        filled.show_page("data")
        scroll = filled.pages["data"].scroll_area.verticalScrollBar()
        qtbot.waitUntil(lambda scroll=scroll: scroll.maximum() > 0)
        scroll.setValue(scroll.maximum())
        filled.show_page(page)
        asked_count = sum(isinstance(request, OpenData) for request in requests)
        if way == "file":
            qtbot.keyClick(filled, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
        else:
            filled.session.open_sample("clinic")
        assert sum(isinstance(request, OpenData) for request in requests) == asked_count + 1
        number = max(at for at, asked in enumerate(requests, 1) if isinstance(asked, OpenData))
        opened = Opened(requests[number - 1].data, *clinic)
        filled.session.worker.arrived.emit([Message(number, opened)])
        assert filled.here == "data"
        assert scroll.value() == 0


def test_other_roles_and_past_runs_stay_on_their_page(filled, clinic):
    filled.show_page("model")
    filled.session.change_data(test_size=0.2)
    requests = filled.session.worker.asked
    opened = Opened(requests[-1].data, *clinic)
    filled.session.worker.arrived.emit([Message(len(requests), opened)])
    assert filled.session.data.test_size == 0.2
    assert filled.here == "model"


def test_steps_are_visited_in_any_order_by_mouse_and_keys(filled, qtbot):
    for key in ("strategy", "data", "model", "data"):
        qtbot.mouseClick(filled.rail.steps[key], Qt.MouseButton.LeftButton)
        assert filled.here == key
        assert filled.panel._title.text() == filled.pages[key].words[0]
    qtbot.keyClick(filled.rail.steps["model"], Qt.Key.Key_Return)
    assert filled.here == "model"
    filled.activateWindow()
    qtbot.keyClick(filled, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert filled.here == "strategy"
    for key in ("data", "model", "strategy"):
        filled.show_page(key)
        qtbot.keyClick(filled, Qt.Key.Key_Escape)
        assert filled.isVisible()
        assert filled.here == key


def test_the_rail_leads_to_the_history_with_or_without_data(window, filled, qtbot):
    for each in (window, filled):
        qtbot.keyClick(each.rail.history_button, Qt.Key.Key_Space)
        assert each.here == "history"
        assert each.windowTitle() == "History – Tunescope"
        assert each.rail.history_button.accessibleDescription() == "You are here."
        assert not any(step.property("here") for step in each.rail.steps.values())
    filled.show_page("model")
    assert filled.rail.history_button.accessibleDescription() == ""


def test_data_arriving_leads_from_the_first_page_to_the_table(window, clinic, qtbot):
    from app.worker.messages import Message, Opened
    from core.tuning.plan import DataPlan

    window.pages["start"].drop.file_chosen.emit("clinic.csv")
    window.session.worker.arrived.emit([Message(1, Opened(DataPlan("clinic.csv"), *clinic))])
    assert window.here == "data"
    assert window.pages["data"].title == "clinic"
    assert settings.recent_files() == ["clinic.csv"]


def test_pages_are_made_at_their_first_visit(filled):
    assert set(filled.pages) == {"start"}
    filled.show_page("model")
    assert set(filled.pages) == {"start", "model"}


def test_a_problem_is_one_sentence_and_changes_nothing(filled, qtbot):
    filled.show_page("model")
    plan = filled.session.plan
    filled.session.problem.emit("heart.csv, line 3: there are 12 values; give every row 14.")
    assert filled.notice.isVisible()
    assert filled.notice.sentence.startswith("heart.csv, line 3")
    assert (filled.here, filled.session.plan) == ("model", plan)
    filled.notice.dismiss()
    assert not filled.notice.isVisible()


def test_closing_while_a_run_goes_on_asks(filled, monkeypatch):
    filled.session.state = "running"
    monkeypatch.setattr(QMessageBox, "exec", lambda box: 0)  # closed by Esc: keep tuning
    filled.close()
    assert filled.isVisible()
    filled.session.state = "idle"
    filled.close()
    assert not filled.isVisible()


def test_the_window_comes_back_as_large_as_it_was_left(still, qtbot):
    first = Window(still)
    qtbot.addWidget(first)
    first.show()
    first.resize(1024, 730)
    first.close()
    second = Window(still)
    qtbot.addWidget(second)
    assert (second.width(), second.height()) == (1024, 730)


def test_a_finished_run_ticks_its_steps(with_data):
    with_data.shown = ShownRun([RunFinished(results=Results())], None)
    with_data.state = "finished"
    states = step_states(with_data)
    assert [states[key].done for key in STEPS] == [True, True, True, True, True, False]
    assert not any(states[key].locked for key in STEPS)


def test_a_step_in_front_has_its_number_and_a_done_one_its_tick(window):
    step = window.rail.steps["data"]
    step.show_state(StepState("heart.csv", done=True), here=True)
    assert step._mark.text() == "1"
    step.show_state(StepState("heart.csv", done=True), here=False)
    assert not step._mark.pixmap().isNull()
    assert "Done." in step.accessibleDescription()


class _Run:
    path, dataset, strategy, state = "/runs/1", "heart.csv", "mm", "finished"
    model = "logistic"
    metric, test, gain, baseline = "accuracy", 0.877, 0.037, 0.556
    title = ""


def test_past_runs_show_score_and_gain_and_folders_that_cannot_be_read(window, qtbot):
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


def test_what_stopped_a_run_is_no_longer_said_when_it_goes_on(window):
    window.session.problem.emit("The worker was stopped. 2 trials are kept.")
    window.session.state = "interrupted"
    window.session.run_changed.emit()
    assert not window.notice.isHidden()
    window.session.state = "running"
    window.session.run_changed.emit()
    window.session.state = "idle"  # nothing to ask about when the window closes
    assert window.notice.isHidden()


def test_the_gain_of_a_past_run_is_not_cut_by_a_long_name(window, qapp):
    class Long(_Run):
        dataset, strategy = "a file with quite a long name indeed.csv", "gradient"

    window.rail.show_runs([Long])
    qapp.processEvents()
    lines = window.rail._runs.itemAt(0).widget().findChildren(ElidedLabel)
    last = lines[2]
    assert last.text() == "87.7\u00a0% (+3.7), baseline 55.6\u00a0%"
    assert last.fontMetrics().horizontalAdvance(last.text()) <= last.width()
    assert last.y() >= lines[1].y() + lines[1].height() >= lines[0].y() + lines[0].height()


def test_help_has_a_text_for_every_page(filled, qtbot):
    from app.dialogs.help_dialog import HelpDialog
    from app.help.help_pages import pages_by_key
    from app.window.window import PAGES

    assert all(page.text.startswith("# ") for page in pages_by_key().values())
    for key in PAGES:
        assert filled._open_page(key).topic in pages_by_key()
    dialog = HelpDialog("groups")
    qtbot.addWidget(dialog)
    assert dialog.topics.currentItem().text(0) == "Groups of columns"
    assert "penalty" in dialog.text.toPlainText()


def test_every_icon_is_used_and_every_used_icon_is_there(look):
    from app.look import appearance, icons

    drawn = {path.stem for path in icons.FOLDER.glob("*.svg")}
    sources = [*(appearance.RESOURCES.parent / "app").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    style = appearance.stylesheet(LIGHT) + appearance.stylesheet(DARK)
    assert {
        name for name in drawn if f'"{name}"' not in code and f"/{name}.svg" not in style
    } == set()
    named = set(re.findall(r'(?:icon|Sign|IconButton)\(\s*"([a-z-]+)"', code))
    named |= set(re.findall(r"icons/([a-z-]+)\.svg", style))
    assert len(named) > 9
    assert named <= drawn


def test_every_help_text_can_be_reached():
    from app.help.help_pages import FOLDER, GENERATED_TOPICS, TOPICS, pages_by_key

    written = {path.stem for path in FOLDER.glob("*.md")}
    assert set(TOPICS) - set(GENERATED_TOPICS) <= written <= set(pages_by_key())


def test_settings_show_at_once_and_are_remembered(filled, look, qtbot):
    from app.dialogs.settings_dialog import SettingsDialog

    dialog = SettingsDialog(filled)
    dialog.scheme.setCurrentIndex(dialog.scheme.findData("dark"))
    dialog.text_size.setValue(150)
    assert look.current().name == "dark"
    assert look.text_percent() == 150
    assert (settings.colour_scheme(), settings.text_percent()) == ("dark", 150)
    dialog.forget.click()
    assert (settings.colour_scheme(), look.text_percent()) == ("system", 100)


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


def test_a_crash_is_offered_at_the_next_start_and_only_then(tmp_path):
    (tmp_path / "fault-999999999.txt").write_text("Fatal Python error: Segmentation fault")
    faults = FaultFile(tmp_path)
    assert "Segmentation fault" in faults.earlier_crash_text()
    assert faults.earlier_crash_text() == ""


def test_an_orderly_end_leaves_nothing(tmp_path):
    import faulthandler

    was = faulthandler.is_enabled()
    faults = FaultFile(tmp_path)
    faults.watch_crashes()
    assert list(tmp_path.iterdir())
    faults.close()
    assert not list(tmp_path.iterdir())
    if was:
        faulthandler.enable()


def test_a_past_run_that_takes_long_can_be_left(window, monkeypatch, qtbot):
    reading = window.session.run_loader
    monkeypatch.setattr(type(reading), "goes_on", property(lambda _self: True))
    stopped = []
    monkeypatch.setattr(reading, "stop", lambda: stopped.append(True))
    window.session.busy_changed.emit("Reading the run …")
    qtbot.waitUntil(lambda: window.waiting.stop_button.isVisibleTo(window))
    window.waiting.stop_button.click()
    assert stopped
    assert not window.waiting.isVisibleTo(window)


def test_other_waits_have_no_stop(window, qtbot):
    window.session.busy_changed.emit("Saving …")
    qtbot.waitUntil(lambda: window.waiting.isVisibleTo(window))
    assert not window.waiting.stop_button.isVisibleTo(window)


def test_the_title_says_how_far_a_run_is_on_every_page(window):
    begun = RunStarted(total=40, dataset=DatasetFacts(name="iris.csv"))
    ended = [TrialFinished(number=n, score=0.5, setting={}) for n in range(12)]
    window.session._show_run([begun, *ended], None)
    window.session._set_state("running")
    assert window.windowTitle() == "12 of 40 – iris – Tunescope"
    window.session._set_state("finished")
    assert "12 of 40" not in window.windowTitle()
