"""The tour: offered once, taken again, follows what is there, and leaves without fuss."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest

from app.pages.start_page import TOURED
from app.preferences import preferences as settings
from app.window.tour import MODEL, SAMPLE, START, STOPS, STRATEGY, TUNE, card_position
from app.window.window import Window
from app.worker.messages import Message, Opened
from core.tuning.plan import DataPlan

FILE = f"sample:{SAMPLE}"


@pytest.fixture
def window(still, qtbot, look, monkeypatch):
    monkeypatch.setattr("app.window.window_end.may_close", lambda window, session: True)
    made = Window(still)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.pages["start"].visited()
    return made


@pytest.fixture
def toured(window, clinic):
    """A window whose tour has read the sample."""
    window.take_tour()
    answer(window, clinic, DataPlan(file=FILE))
    return window


def answer(window, clinic, data):
    """The worker has read data."""
    session = window.session
    session.worker.arrived.emit([Message(session._requests.last, Opened(data, *clinic))])
    if window.tour is not None:
        window.tour._follow_control()


def until(window, at):
    while window.tour.index < at:
        window.tour.go_forward()


def test_it_is_offered_at_the_first_start_and_not_again(window, still):
    page = window.pages["start"]
    assert page.offer.isVisible()
    assert page.tour_link.isHidden()
    page.decline.click()
    assert page.offer.isHidden()
    assert page.tour_link.isVisible()
    assert settings.stored_flag(TOURED)
    assert window.tour is None
    assert still.data is None


def test_each_way_to_take_it_begins_it(window, clinic):
    page = window.pages["start"]
    page.take.click()
    assert window.tour.index == 0
    assert settings.stored_flag(TOURED)
    window.tour.end_tour()
    page.tour_link.click()
    assert window.tour.index == 0
    window.tour.end_tour()
    from app.dialogs.help_dialog import HelpDialog

    dialog = HelpDialog("start", window)
    wanted = []
    dialog.tour_wanted.connect(lambda: wanted.append(1))
    dialog.tour.click()
    assert wanted


def test_it_waits_for_the_sample(window, clinic):
    window.take_tour()
    assert "being read" in window.tour.card.message_text
    assert not window.tour.card.next.isEnabled()
    answer(window, clinic, DataPlan(file=FILE))
    assert window.here == "data"
    assert window.tour.card.next.isEnabled()
    assert window.session.summary["name"] in window.tour.card.message_text


def test_it_points_at_real_controls_inside_the_window(toured, qtbot):
    for at in range(TUNE):
        until(toured, at)
        target = toured.current_page.tour_target(STOPS[at].target)
        assert target is not None
        assert target.isVisible()
        place = QRect(target.mapTo(toured, QPoint(0, 0)), target.size())
        assert toured.tour.frame.geometry().intersects(place)
        assert toured.rect().contains(toured.tour.card.geometry())
        assert toured.tour.card.accessibleName() == f"Tour: {STOPS[at].title}"


@pytest.mark.parametrize("percent", [100, 200])
def test_its_words_fit_at_any_size(toured, look, percent):
    look.change_look(percent=percent)
    for at in range(TUNE):
        until(toured, at)
        toured.tour._follow_control()
        card = toured.tour.card
        assert toured.rect().contains(card.geometry())
        assert card.height() >= card.layout().totalHeightForWidth(card.width())
        assert card.next.width() >= card.next.sizeHint().width()


def test_it_chooses_something_quick_and_says_so(toured):
    until(toured, 2)
    assert toured.session.plan.model == MODEL
    until(toured, 4)
    assert toured.session.plan.strategy == STRATEGY
    assert f"{toured.session.plan.trials} trials" in toured.tour.card.message_text
    assert settings.stored_number("choices/trials", -1) == -1  # what a person chose is not changed


def test_keys_step_and_leave(toured):
    card = toured.tour.card
    QTest.keyClick(card.next, Qt.Key.Key_Right)
    assert toured.tour.index == 1
    QTest.keyClick(card.next, Qt.Key.Key_Left)
    assert toured.tour.index == 0
    QTest.keyClick(card.leave, Qt.Key.Key_Escape)
    assert toured.tour is None


def test_a_click_elsewhere_leaves_and_does_what_it_does(toured, qtbot):
    until(toured, 3)
    QTest.mouseClick(toured.rail.steps["model"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: toured.tour is None)
    assert toured.here == "model"


def test_a_click_on_the_control_it_speaks_of_does_not_leave(toured, qtbot):
    until(toured, 4)
    QTest.mouseClick(toured.pages["strategy"].budget, Qt.MouseButton.LeftButton, pos=QPoint(9, 9))
    qtbot.wait(20)
    assert toured.tour.index == 4


def test_another_file_ends_it(toured, clinic):
    toured.session.open_file("mine.csv")
    answer(toured, clinic, DataPlan(file="mine.csv"))
    assert toured.tour is None
    assert toured.session.data.file == "mine.csv"


def test_the_real_button_leads_on_as_next_does(toured):
    until(toured, START)
    toured.pages["strategy"].primary.click()
    assert toured.session.state == "running"
    assert toured.tour.index == TUNE
    assert toured.here == "tune"
    assert not toured.tour.card.next.isEnabled()
    toured.tour.go_forward()
    assert toured.tour.index == TUNE


def test_next_starts_one_run_and_no_second(toured):
    until(toured, TUNE)
    kinds = [type(what).__name__ for what in toured.session.worker.asked]
    assert kinds.count("Tune") == 1
    assert toured.tour.index == TUNE
    toured.tour.go_back()
    assert toured.tour.index == START - 1
    until(toured, TUNE)
    kinds = [type(what).__name__ for what in toured.session.worker.asked]
    assert kinds.count("Tune") == 1


def test_it_never_begins_during_a_run(toured):
    until(toured, TUNE)
    toured.tour.end_tour()
    toured.take_tour()
    assert toured.tour is None
    assert "Stop it first" in toured.notice.sentence


def test_what_was_open_before_comes_back(window, clinic):
    window.session.open_file("mine.csv")
    answer(window, clinic, DataPlan(file="mine.csv"))
    window.session.choose_model("forest")
    plan = window.session.plan
    window.take_tour()
    answer(window, clinic, DataPlan(file=FILE))
    until(window, 4)
    window.tour.end_tour()
    answer(window, clinic, DataPlan(file="mine.csv"))
    assert window.session.data.file == "mine.csv"
    assert window.session.plan == plan


def test_the_plan_of_the_sample_itself_comes_back(window, clinic):
    window.session.open_sample(SAMPLE)
    answer(window, clinic, DataPlan(file=FILE))
    window.session.choose_model("forest")
    plan = window.session.plan
    window.take_tour()
    until(window, 4)
    assert window.session.plan != plan
    window.tour.end_tour()
    assert window.session.plan == plan


# What it says of a run ------------------------------------------------------------------------


def _session(state, results=None, tried=3):
    shown = SimpleNamespace(state=SimpleNamespace(trials=[None] * tried))
    return SimpleNamespace(state=state, results=results, shown=shown)


def test_it_never_claims_what_is_not_there():
    said = {state: STOPS[TUNE].words(_session(state)) for state in ("idle", "interrupted")}
    assert "without results, so the tour ends here" in said["interrupted"]
    assert "No run is in progress" in said["idle"]
    assert "paused after 3 trials" in STOPS[TUNE].words(_session("paused"))
    assert "3 trials so far" in STOPS[TUNE].words(_session("running"))
    assert not STOPS[TUNE].ready(_session("interrupted"))
    assert "no results" in STOPS[TUNE + 1].words(_session("finished"))


def test_where_cards_go():
    room, size = QRect(0, 0, 1000, 700), QSize(300, 200)
    beside_right = card_position(QRect(10, 10, 100, 50), size, room)
    assert beside_right.x() > 110
    assert card_position(QRect(800, 10, 150, 50), size, room).x() + 300 < 800
    assert card_position(QRect(5, 10, 990, 50), size, room).y() > 60
    assert card_position(QRect(5, 600, 990, 50), size, room).y() + 200 < 600
    assert room.contains(QRect(card_position(QRect(0, 0, 1000, 700), size, room), size))
