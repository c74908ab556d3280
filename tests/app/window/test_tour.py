"""The tour: offered once, taken again, follows what is there, and leaves without fuss."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest

from app.dialogs.help_dialog import HelpDialog
from app.pages.start_page import TOURED
from app.preferences import preferences as settings
from app.session.shown_run import ShownRun
from app.window.tour import MODEL, SAMPLE, START, STOPS, STRATEGY, TUNE, card_position
from app.window.window import Window
from app.worker.messages import OpenData, Opened, Tune
from core.tuning.plan import DataPlan

FILE = f"sample:{SAMPLE}"


@pytest.fixture
def window(still, look, show, monkeypatch):
    monkeypatch.setattr("app.window.window_end.may_close", lambda window, session: True)
    made = show(Window(still), 1280, 800)
    made.pages["start"].visited()
    return made


@pytest.fixture
def toured(window, answer):
    """A window whose tour has read the sample."""
    window.take_tour()
    answer(FILE)
    return window


@pytest.fixture
def answer(window, clinic):
    """The worker has read a file."""

    def read(file):
        window.session.worker.answer(Opened(DataPlan(file=file), *clinic), to=OpenData)
        if window.tour is not None:
            window.tour._follow_control()

    return read


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


def test_each_way_to_take_it_begins_it(window):
    page = window.pages["start"]
    for button in (page.take, page.tour_link):
        button.click()
        assert window.tour.index == 0
        assert settings.stored_flag(TOURED)
        window.tour.end_tour()
    dialog, wanted = HelpDialog("start", window), []
    dialog.tour_wanted.connect(lambda: wanted.append(1))
    dialog.tour.click()
    assert wanted


def test_it_waits_for_the_sample(window, answer):
    window.take_tour()
    card = window.tour.card
    assert "being read" in card.words.text()
    assert not card.next.isEnabled()
    answer(FILE)
    assert window.here == "data"
    assert card.next.isEnabled()
    assert window.session.summary["name"] in card.words.text()


@pytest.mark.parametrize("percent", [100, 200])
def test_it_points_at_real_controls_and_its_words_fit_at_any_size(toured, look, percent):
    look.change_look(percent=percent)
    for at in range(TUNE):
        until(toured, at)
        toured.tour._follow_control()
        target = toured.current_page.tour_target(STOPS[at].target)
        assert target.isVisible()
        place = QRect(target.mapTo(toured, QPoint(0, 0)), target.size())
        assert toured.tour.frame.geometry().intersects(place)
        card = toured.tour.card
        assert toured.rect().contains(card.geometry())
        assert card.accessibleName() == f"Tour: {STOPS[at].title}"
        assert card.height() >= card.layout().totalHeightForWidth(card.width())
        assert card.next.width() >= card.next.sizeHint().width()


def test_it_chooses_something_quick_and_says_so(toured):
    until(toured, 2)
    assert toured.session.plan.model == MODEL
    until(toured, 4)
    assert toured.session.plan.strategy == STRATEGY
    assert f"{toured.session.plan.trials} trials" in toured.tour.card.words.text()
    assert settings.stored_number("choices/trials", -1) == -1  # what a person chose is not changed


def test_keys_step_and_leave_and_a_click_on_the_control_does_not(toured, qtbot):
    card = toured.tour.card
    for key, index in ((Qt.Key.Key_Right, 1), (Qt.Key.Key_Left, 0)):
        QTest.keyClick(card.next, key)
        assert toured.tour.index == index
    until(toured, 4)
    QTest.mouseClick(toured.pages["strategy"].budget, Qt.MouseButton.LeftButton, pos=QPoint(9, 9))
    qtbot.wait(20)
    assert toured.tour.index == 4
    QTest.keyClick(card.leave, Qt.Key.Key_Escape)
    assert toured.tour is None


def test_a_click_elsewhere_leaves_and_does_what_it_does(toured, qtbot):
    until(toured, 3)
    QTest.mouseClick(toured.rail.steps["model"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: toured.tour is None)
    assert toured.here == "model"


def test_another_file_ends_it(toured, answer):
    toured.session.open_file("mine.csv")
    answer("mine.csv")
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
    assert toured.tour.index == TUNE
    toured.tour.go_back()
    assert toured.tour.index == START - 1
    until(toured, TUNE)
    assert len(toured.session.worker.all_of(Tune)) == 1
    # It never begins during a run.
    toured.tour.end_tour()
    toured.take_tour()
    assert toured.tour is None
    assert "Stop it first" in toured.notice.sentence


@pytest.mark.parametrize("file", ["mine.csv", FILE])
def test_what_was_open_before_comes_back(window, answer, file):
    session = window.session
    session.open_sample(SAMPLE) if file == FILE else session.open_file(file)
    answer(file)
    session.choose_model("forest")
    plan = session.plan
    window.take_tour()
    answer(FILE)
    until(window, 4)
    assert session.plan != plan
    window.tour.end_tour()
    answer(file)
    assert session.data.file == file
    assert session.plan == plan


@pytest.mark.parametrize("begins", ["start", "export"])
def test_done_leads_back_to_run_data_and_page(window, answer, begins, race):
    session, finished_run = window.session, ShownRun(race.run(), None)
    if begins == "export":
        session.open_file("mine.csv")
        answer("mine.csv")
        session._replace_run(finished_run)
    window.show_page(begins)
    before = session.data, session.plan, session.shown
    window.take_tour()
    answer(FILE)
    until(window, TUNE)
    # The run changes the focus; nobody needs the arrows and Esc there, so that they are the tour's.
    assert window.tour.card.leave.hasFocus()
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Left)
    assert window.tour.index == START - 1
    session._replace_run(finished_run)
    window.tour._go_to(len(STOPS) - 1)
    assert window.tour.card.next.hasFocus()
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Right)
    assert window.tour is None
    assert window.here == begins
    if begins == "export":
        assert session.shown is before[2]
        answer("mine.csv")
        assert (session.data, session.plan, session.shown) == before


# What it says of a run ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "stop", "said"),
    [
        ("interrupted", TUNE, "without results, so the tour ends here"),
        ("idle", TUNE, "No run is in progress"),
        ("paused", TUNE, "paused after 3 trials"),
        ("running", TUNE, "3 trials so far"),
        ("finished", TUNE + 1, "no results"),
    ],
)
def test_it_never_claims_what_is_not_there(state, stop, said):
    shown = SimpleNamespace(state=SimpleNamespace(trials=[None] * 3))
    session = SimpleNamespace(state=state, results=None, shown=shown)
    assert said in STOPS[stop].words(session)
    assert not STOPS[TUNE].ready(session)


def test_where_cards_go():
    room, size = QRect(0, 0, 1000, 700), QSize(300, 200)
    beside_right = card_position(QRect(10, 10, 100, 50), size, room)
    assert beside_right.x() > 110
    assert card_position(QRect(800, 10, 150, 50), size, room).x() + 300 < 800
    assert card_position(QRect(5, 10, 990, 50), size, room).y() > 60
    assert card_position(QRect(5, 600, 990, 50), size, room).y() + 200 < 600
    assert room.contains(QRect(card_position(QRect(0, 0, 1000, 700), size, room), size))
