"""The Tune page: a run from start to results, its bar, replay, workers, settings by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from app.pages.run_bar import MAX_TILES, Replay, RunBar, Stopwatch, WorkersPanel
from app.pages.tune_page import ManualTrials, SettingDialog, TunePage
from app.session.shown_run import ShownRun
from app.text.run_head import (
    activity_text,
    before_the_start,
    done_share,
    more_time_text,
    progress_text,
    run_title,
    window_title,
    workers_text,
)
from app.widgets import buttons
from app.worker import messages as m
from app.worker.messages import (
    FolderMade,
    Pause,
    Paused,
    Resume,
    RunEnded,
    StopRun,
    Tune,
    WorkerDied,
)
from core.estimators.multi_model import MODEL
from core.space import Axis
from core.tuning.events import (
    ClusterWorker,
    DatasetFacts,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFinished,
    RunStarted,
    SettingRequested,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

PLAN = Plan(DataPlan("x.csv"), "svm", "random", trials=10)
ENDED = RunFinished(results=Results())
OTHER_BUTTONS = ("stop", "keep", "leave", "more", "discard")


def trials(count, total=10):
    plan = PLAN.changed(trials=total).as_dict()
    yield RunStarted(plan=plan, total=total, metric="accuracy")
    for n in range(count):
        yield TrialStarted(number=n, reason="improve" if n else "default")
        yield TrialFinished(seconds=n + 1.0, number=n, score=0.8 if n != 1 else 0.86)
        yield Progress(seconds=n + 1.0, seconds_left=40.0)


@pytest.fixture
def page(with_data, show):
    return show(TunePage(with_data), 900, 700)


@pytest.fixture
def begun(page, tmp_path):
    """The page, its worker, and the folder of a run of which the worker has told two trials."""
    folder = RunFolder.create(PLAN, root=tmp_path / "runs")
    folder.close()
    page.primary.click()
    worker = page.session.worker
    worker.answer(FolderMade(str(folder.path)), *trials(2), to=Tune)
    return page, worker, folder.path


def visible(page):
    shown = (getattr(page, f"{name}_button") for name in OTHER_BUTTONS)
    return {button.text() for button in shown if button.isVisible()}


def head_buttons(page):
    """{button: its label, and its rectangle in the page} of those that can be pressed."""
    buttons = (*(getattr(page, f"{name}_button") for name in OTHER_BUTTONS), page.primary)
    return {
        button: (button.text(), QRect(button.mapTo(page, QPoint()), button.size()))
        for button in buttons
        if button.isVisible() and button.isEnabled()
    }


def test_a_second_click_never_presses_what_came_to_its_place(page, tmp_path, monkeypatch, qapp):
    monkeypatch.setattr(buttons, "DEAF_SECONDS", 60.0)
    worker, asked_to_go, pressed_places = page.session.worker, [], 0
    page.step_wanted.connect(asked_to_go.append)
    folder = str(tmp_path / "run")
    steps = (
        page.primary.click,
        lambda: worker.answer(FolderMade(folder), *trials(2), to=Tune),
        page.primary.click,
        lambda: worker.answer(Paused(), to=Tune),
        page.primary.click,
        page.stop_button.click,
        lambda: worker.answer(ENDED, RunEnded(), to=Tune),
    )
    for step in steps:
        before = head_buttons(page)
        step()
        qapp.processEvents()
        asked = len(worker.asked)
        for button, (label, place) in head_buttons(page).items():
            for old_label, old_place in before.values():
                if label != old_label and place.intersects(old_place):
                    at = button.mapFrom(page, place.intersected(old_place).center())
                    QTest.mouseDClick(button, Qt.MouseButton.LeftButton, pos=at)
                    QTest.keyClick(button, Qt.Key.Key_Return)
                    pressed_places += 1
        assert (len(worker.asked), asked_to_go) == (asked, []), page.primary.text()
    assert pressed_places  # “Pause” came where “Start tuning” was
    monkeypatch.setattr(buttons, "DEAF_SECONDS", 0.0)
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    assert asked_to_go == ["results"]


def test_before_the_start_it_says_what_will_happen(page):
    assert page.title == "Ready to tune"
    assert page.before.isVisible()
    assert page.primary.text() == "Start tuning"
    assert visible(page) == set()


def test_a_run_from_start_to_results_and_twenty_more_trials(begun):
    page, worker, folder = begun
    assert visible(page) == {"Discard", "Stop and keep best"}
    assert page.primary.text() == "Pause"
    page.primary.click()
    worker.answer(Paused(), to=Tune)
    assert visible(page) == {"Discard", "Stop and keep best"}
    assert page.primary.text() == "Resume"
    assert page.words[1][0].startswith("The run is paused")
    page.primary.click()
    page.stop_button.click()
    assert worker.asked[-3:] == [Pause(), Resume(), StopRun(True)]
    worker.answer(ENDED, RunEnded(), to=Tune)
    assert "20 more trials" in visible(page)
    wanted = []
    page.step_wanted.connect(wanted.append)
    page.primary.click()
    assert wanted == ["results"]
    page.more_button.click()
    again = worker.all_of(Tune)[-1]
    assert (again.folder, again.more_trials) == (str(folder), 2 + 20 - 10)


def test_a_lost_worker_is_said_and_the_run_can_go_on(begun):
    page, worker, folder = begun
    worker.answer(WorkerDied("The worker was killed."), to=Tune)
    assert "2 trials are kept" in page.words[1][0]
    assert visible(page) == {"Discard", "Keep what there is"}
    page.primary.click()
    assert page.session.state == "running"
    assert worker.all_of(Tune)[-1].folder == str(folder)


def test_a_run_of_another_process_is_only_looked_at_and_followed(page, tmp_path, qtbot):
    folder = RunFolder.create(PLAN, root=tmp_path / "runs")
    for event in trials(2):
        folder.append(event)
    session = page.session

    def open_run():
        with qtbot.waitSignal(session.run_replaced, timeout=60_000):
            (page.primary.click if session.events else lambda: session.open_run(folder.path))()
        return list_runs(tmp_path / "runs").runs[0].state

    def follow():
        with (
            qtbot.waitSignal(session.run_replaced, timeout=60_000),
            qtbot.assertNotEmitted(session.run_opened),
        ):
            page._follower.timeout.emit()

    with folder.hold_lock():  # another description of the file, as another process has
        assert open_run() == "running"
        assert session.state == "running elsewhere"
        assert not visible(page)
        assert page.primary.text() == "Look again"
        assert "another program" in page.words[1][0]
        folder.append(TrialFinished(number=2, score=0.9))
        page.board.record.selected = 1
        follow()
        assert session.shown.state.finished == 3
        assert page.board.record.selected == 1  # the views go on
        assert page._follower.isActive()
        view = page.board.views["trials"]
        view.draw()
        assert not view.exclude_button.isEnabled()
        assert "another program" in view.exclude_button.toolTip()
        page.replay.slider.setValue(1)
        page._follower.timeout.emit()
        assert not session.run_loader.goes_on
        assert page._follower.isActive()
        page.replay.slider.setValue(page.replay.slider.maximum())
    assert open_run() == session.state == "interrupted"
    assert page.primary.text() == "Resume"
    assert visible(page) == {"Discard", "Keep what there is"}
    assert not page._follower.isActive()
    view.draw()
    assert view.exclude_button.isEnabled()


def test_discarding_asks_and_esc_keeps_the_run(begun, monkeypatch):
    page, worker, folder = begun
    worker.answer(ENDED, RunEnded(), to=Tune)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    page.discard_button.click()
    assert page.session.state == "finished"
    monkeypatch.setattr(
        QMessageBox, "clickedButton",
        lambda box: next(b for b in box.buttons() if b.text() == "Discard"),
    )  # fmt: skip
    page.discard_button.click()
    assert page.session.state == "idle"
    assert page.title == "Ready to tune"
    assert not folder.exists()
    page.session.runs.undo_change()  # out of the bin
    assert folder.exists()


def test_the_slider_shows_earlier_moments_in_the_same_views(page):
    page.session._show_run([*trials(6), ENDED], None)
    assert page.replay.isVisible()
    page.replay.slider.setValue(2)
    assert len(page.board.record.run.trials) == 2
    assert page.run.done_count == 2
    page.replay.slider.setValue(6)
    assert len(page.board.record.run.trials) == 6
    assert page.session.results is not None


def test_what_arrives_together_is_shown_once(begun, monkeypatch):
    page, worker, _ = begun
    shown = []
    monkeypatch.setattr(page, "_show_words", lambda: shown.append(page.board.record.run.done_count))
    more = list(trials(300, total=300))[7:]  # but the two that are there
    worker.answer(*more, RemarkMade(sentence="Look here."), to=Tune)
    assert shown == [300]
    assert page.session.shown.state.done_count == 300
    assert len(page.session.events) == 902


def test_playing_again_ends_where_it_stood(qtbot):
    replay = Replay()
    qtbot.addWidget(replay)
    run = ShownRun(trials(8), None)
    events, counts = run.events, []
    replay.moved.connect(counts.append)
    replay.load_run(events, run.stops, of_trials=True)
    assert counts == []
    replay.play()
    replay._timer.setInterval(1)
    qtbot.waitUntil(lambda: not replay._timer.isActive(), timeout=10_000)
    assert counts[-1] == len(events)
    assert counts == sorted(counts)


# What the head says ---------------------------------------------------------------------------

STEPS = [
    RunStarted(
        plan=Plan(DataPlan("x.csv"), "logistic", "mm").as_dict(),
        kind="penalties",
        groups={"a": 1, "b": 2},
    ),
    PenaltyStep(step=7, objective=420.0),
    PenaltyStep(step=8, objective=411.3),
]
IN_MINUTES = Plan(DataPlan("iris.csv"), "svm", "random", minutes=1.0)
TIMED = [RunStarted(plan=IN_MINUTES.as_dict(), dataset=DatasetFacts(name="iris.csv"))]
COUNTED = [
    RunStarted(plan=PLAN.as_dict(), total=40, dataset=DatasetFacts(name="iris.csv")),
    *(TrialFinished(number=n, score=0.5) for n in range(12)),
]


@pytest.mark.parametrize(
    ("events", "state", "seconds", "said"),
    [
        (
            trials(7, total=40),
            "running",
            None,
            "7 of 40, 7 s · best accuracy 86.0\u00a0% · default setting 80.0\u00a0% · "
            "no improvement for 5 trials · about 40 s left",
        ),
        (trials(7, total=40), "paused", None, "Paused · 7 of 40, 7 s"),
        (trials(4, total=0), "running", None, "4 trials, 4 s · "),  # bounded by time
        (
            STEPS,
            "running",
            None,
            "Step 8, 0 s · objective 411.3, falling · no validation data needed",
        ),
        (
            [*STEPS, RunFinished(seconds=3.0)],
            "finished",
            None,
            "Step 8 · objective 411.3 · no validation data needed · took 3 s",
        ),
        (TIMED, "running", 12.4, "0 trials, 12 s of 1 min"),
        (
            [*TIMED, Progress(seconds=13.0, seconds_left=60.0, ending=60.0)],
            "running",
            13.0,
            "0 trials, 13 s of 1 min · about 2 min left, the last 1 min for finishing, longer "
            "because the computer is busy",
        ),
        (COUNTED[:1], "running", 2.0, "0 of 40, 2 s"),
        (
            [RunStarted(total=9, baseline=0.33), TrialFinished(number=0, score=0.9)],
            "running",
            None,
            "1 of 9, 0 s · best accuracy 90.0\u00a0% · baseline 33.0\u00a0%",
        ),
    ],
)
def test_the_line_says_how_far_how_good_and_how_long(events, state, seconds, said):
    assert progress_text(state_from_events(events), state, seconds).startswith(said)


def test_the_title_says_what_is_done_and_how_far_it_is_from_the_first_second():
    run = state_from_events(trials(7, total=40))
    assert done_share(run, "running") == pytest.approx(7 / 40)
    assert done_share(state_from_events(trials(4, total=0)), "running") == pytest.approx(4 / 44)
    assert run_title(run) == "Tuning a support vector machine"
    assert run_title(state_from_events(STEPS)) == "Learning one penalty for each group of columns"
    assert before_the_start(IN_MINUTES, 2.0) == "0 trials, 2 s of 1 min"
    assert before_the_start(PLAN, 1.2) == "0 of 10, 1 s"
    assert window_title(state_from_events(TIMED), 12.4) == "0 trials, 12 s of 1 min – iris"
    assert window_title(state_from_events(COUNTED), 20.0) == "12 of 40 – iris"


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(0.8, "50 more seconds"), (1.0, "1 more minute"), (1.5, "90 more seconds"),
     (20.0, "20 more minutes"), (0.1, "6 more seconds")],
)  # fmt: skip
def test_more_time_is_a_round_number(minutes, text):
    assert more_time_text(minutes) == text


def test_the_stopwatch_goes_on_and_never_back(monkeypatch):
    clock = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr("app.pages.run_bar.AWAKE", clock)
    watch = Stopwatch()
    watch.set_running(True, 5.0)
    clock.seconds += 3.0
    assert watch.seconds == 8.0
    watch.set_seconds(7.0)  # an event tells of a moment before
    assert watch.seconds == 8.0
    watch.set_running(False, 7.5)
    clock.seconds += 60.0
    assert watch.seconds == 7.5
    watch.set_running(True, 7.5)
    assert watch.seconds == 7.5


def test_excluding_while_paused_shows_at_once(page, monkeypatch):
    session, board = page.session, page.board
    session._show_run(list(trials(3)), None)
    session._set_state("paused")
    told = []
    monkeypatch.setattr(session, "exclude_trial", lambda number, out: told.append((number, out)))
    table = board.views["trials"]
    board.select_trial(1)
    board.redraw_now()
    assert table.exclude_button.isVisible()
    assert table.exclude_button.text() == "Exclude trial 1"
    table.exclude_button.click()
    board.redraw_now()
    assert told == [(1, True)]
    assert page.run.best_trial.number != 1
    assert table.model.note_text(table.model.trial_at(table.model.row_of(1))) == "excluded by you"
    assert table.exclude_button.text() == "Include trial 1 again"


def test_the_bar_tells_what_the_time_of_several_models_is_for(show, look, race):
    bar = RunBar()
    left = Progress(seconds=8.0, seconds_left=12.0, ending=10.0)
    told = [*race.run(ends=False, minutes=0.5), left]
    bar.show_run(state_from_events(told), "running", 8.0)
    show(bar, 300, bar.sizeHint().height())
    assert [name for name, *_ in bar.spans] == ["screening", "trials", "free", "kept"]
    assert bar.toolTip() == "screening 0 s, trials 7 s, kept for finishing 10 s"
    picture, theme = bar.grab().toImage(), look.current()
    ratio = picture.devicePixelRatio()
    colours = [picture.pixelColor(int(x * ratio), int(4 * ratio)).name().upper() for x in (50, 150)]
    assert colours == [theme.accent.upper(), theme.line.upper()]
    assert bar.maximum() > 0  # and no animation of an unknown length
    bar.show_run(state_from_events(trials(3)), "running", 3.0)
    assert (bar.spans, bar.toolTip()) == ([], "")
    assert bar.sizeHint().height() < 10


def test_a_run_of_several_models_is_told_to_those_who_do_not_see_it(page, race):
    page.session._show_run(list(race.run(ends=False, minutes=0.5)), None)
    page.session._set_state("running")
    assert page.title == "Finding the best of 3 models"
    assert page.bar.accessibleName() == "Progress of the run"
    assert "left. screening 0 s, trials" in page.bar.accessibleDescription()
    page.session._set_state("idle")


# The workers of a cluster ---------------------------------------------------------------------


def worker(name, trials=(), threads=1, load=None, usable=True, host="a"):
    load = float(bool(trials)) if load is None else load
    return ClusterWorker(name, host, threads, load, list(trials), usable)


def test_the_headline_counts_workers_computers_and_trials():
    two = [worker("0", [3], threads=2), worker("1", host="b")]
    assert workers_text(two) == "2 workers on 2 computers, 1 at work, 3 trials at a time."
    assert workers_text(two[:1]) == "1 worker on 1 computer, 1 at work, 2 trials at a time."
    left_out = [*two, worker("2", usable=False)]
    assert workers_text(left_out).endswith("3 trials at a time. 1 cannot be used.")
    assert workers_text([]) == "No worker of the cluster can be reached; the run waits for one."


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "idle"),
        ({"load": 1.0}, "at work for others"),
        ({"trials": [7]}, "trial 7"),
        ({"trials": [7, 9]}, "trials 7, 9"),
        ({"trials": [7, 9], "threads": 4}, "trials 7, 9 (2 of 4)"),
        ({"trials": [-2]}, "a screening"),
        ({"trials": [7], "usable": False}, "cannot be used"),
    ],
)
def test_what_a_worker_does(given, words):
    assert activity_text(worker("0", **given)) == words


def test_tiles_follow_the_workers_and_of_a_thousand_the_rest_is_counted(qtbot):
    shown = WorkersPanel()
    qtbot.addWidget(shown)
    assert shown.isHidden()
    shown.show_workers([worker(str(i), [i]) for i in range(3)])
    assert not shown.isHidden()
    assert [tile.toolTip() for tile in shown.tiles] == [f"{i} · a: trial {i}" for i in range(3)]
    shown.show_workers([worker("0")])
    assert [not tile.isHidden() for tile in shown.tiles] == [True, False, False]
    assert "0: idle." in shown.accessibleDescription()
    shown.show_workers([worker(str(i)) for i in range(1000)])
    assert len(shown.tiles) == MAX_TILES
    assert shown.more_label.text() == f"and {1000 - MAX_TILES} more"


@pytest.mark.parametrize(
    ("host", "words"), [("node-7.lab.example.org", "w · node-7"), ("10.0.0.7", "w · 10.0.0.7")]
)
def test_a_tile_names_the_computer_without_its_domain(qtbot, host, words):
    shown = WorkersPanel()
    qtbot.addWidget(shown)
    shown.show_workers([worker("w", load=1.0, usable=False, host=host)])
    (tile,) = shown.tiles
    assert tile._name == words
    assert tile.toolTip() == f"w · {host}: cannot be used"
    assert tile._load == 0.0


# A setting that a person enters ---------------------------------------------------------------


C = Axis("C", "Cost of a wrong row", "float", 0.01, 1000, log=True, default=1.0)
TREES = Axis("trees", "Trees", "int", 10, 500, log=True, default=100)
KERNEL = Axis("kernel", "Kernel", "choice", choices=("rbf", "linear"), default="rbf")
FIXED = Axis("tol", "Tolerance", "float", 0.5, 0.5, default=0.5)
AXES = (C, TREES, KERNEL, FIXED)
INITIAL = {"C": 3.0, "trees": 50, "kernel": "linear", "tol": 0.5}


@pytest.fixture
def dialog(look, show):
    return show(SettingDialog(AXES, INITIAL))


def enter(field, text):
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)


def test_it_begins_with_a_setting_and_gives_what_was_entered(dialog):
    assert dialog.fields["C"].text() == "3"
    assert dialog.fields["kernel"].currentText() == "linear"
    assert not dialog.fields["tol"].isEnabled()
    enter(dialog.fields["C"], "0.25")
    enter(dialog.fields["trees"], "77")
    dialog.fields["kernel"].setCurrentIndex(0)
    dialog.try_button.click()
    assert dialog.setting == {"C": 0.25, "trees": 77, "kernel": "rbf", "tol": 0.5}
    assert not dialog.isVisible()


def test_return_tries_and_esc_does_not(dialog):
    QTest.keyClick(dialog.fields["C"], Qt.Key.Key_Return)
    assert dialog.setting == INITIAL
    again = SettingDialog(AXES, INITIAL)
    again.show()
    QTest.keyClick(again.fields["C"], Qt.Key.Key_Escape)
    assert (again.setting, again.isVisible()) == ({}, False)
    again.deleteLater()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("C", "", "C: a number is missing"),
        ("C", "much", "C: “much” is not a number"),
        ("C", "2000", "lies outside of what this run searches, from 0.01 to 1000"),
        ("trees", "20.5", "trees: 20.5 is not a whole number"),
        ("trees", "nan", "trees: nan has no end"),
    ],
)
def test_what_cannot_be_tried_is_said_under_its_field(dialog, name, text, says):
    enter(dialog.fields[name], text)
    dialog.try_button.click()
    assert dialog.isVisible()
    assert dialog.setting == {}
    assert says in dialog.faults[name].text()
    assert [n for n, fault in dialog.faults.items() if fault.isVisible()] == [name]
    enter(dialog.fields[name], "50")
    dialog.try_button.click()
    assert dialog.setting[name] == 50


def run_of(ended=True, several=False, kind="trials"):
    plan = Plan(DataPlan("x.csv"), "auto" if several else "svm", "race" if several else "random")
    space = [C] if kind == "trials" else []
    if several:
        space = [Axis(MODEL, "Model", "choice", choices=("svm", "forest"))]
    events = [RunStarted(plan=plan.as_dict(), total=9, space=space, kind=kind)]
    events += [TrialFinished(number=n, setting={"C": 1.0 + n}, score=0.1 * n) for n in range(3)]
    return [*events, RunFinished(because="done", results=Results())] if ended else events


def test_it_begins_with_the_best_or_with_the_trial_that_is_selected(still, qtbot, monkeypatch):
    still._show_run(run_of(), None)
    by_hand = ManualTrials(still)
    qtbot.addWidget(by_hand.button)
    begun, tried = [], []
    monkeypatch.setattr(still, "try_setting", tried.append)

    def enter_and_try(dialog):
        begun.append(dialog.fields["C"].text())
        dialog.fields["C"].setText("12")
        dialog.try_button.click()
        return dialog.result()

    monkeypatch.setattr(SettingDialog, "exec", enter_and_try)
    by_hand.show_run(still.shown.state)
    by_hand.button.click()
    by_hand.take_trial(1)
    by_hand.button.click()
    by_hand.take_trial(99)  # that is not there
    by_hand.button.click()
    assert begun == ["3", "2", "3"]
    assert tried == [{"C": 12.0}] * 3


@pytest.mark.parametrize(
    ("events", "offered"),
    [(run_of(), True), (run_of(several=True), False), (run_of(kind="penalties"), False)],
)
def test_it_is_there_for_runs_that_search_the_settings_of_one_model(still, show, events, offered):
    still._show_run(events, None)
    assert show(TunePage(still)).manual_trials.button.isHidden() is not offered


@pytest.mark.slow
def test_a_running_and_a_paused_run_are_told_and_it_becomes_a_trial(opened, show, qtbot):
    page = show(TunePage(opened))
    opened.set_plan(trials=12, options={"trial_seconds": 0.05})
    page.primary.click()
    qtbot.waitUntil(lambda: len(opened.events) > 3, timeout=30_000)
    opened.try_setting({"C": 0.5})
    wanted = lambda: [e.setting for e in opened.events if isinstance(e, SettingRequested)]  # noqa: E731
    qtbot.waitUntil(lambda: wanted() == [{"C": 0.5}], timeout=30_000)
    page.primary.click()
    qtbot.waitUntil(lambda: opened.state == "paused", timeout=30_000)
    opened.try_setting({"C": 0.25})
    page.manual_trials.entered.emit()
    assert page.words[1][0].endswith("The setting that you entered is tried then.")
    page.primary.click()
    qtbot.waitUntil(lambda: wanted() == [{"C": 0.5}, {"C": 0.25}], timeout=30_000)
    opened.stop()
    qtbot.waitUntil(lambda: opened.state == "finished", timeout=30_000)


def test_a_run_that_ended_goes_on_for_it_alone(still, tmp_path):
    still._show_run(run_of(), tmp_path)
    still.try_setting({"C": 7.5})
    asked = still.worker.all_of(m.Tune)[-1]
    assert asked.settings == ({"C": 7.5},)
    assert asked.more_trials == 3 - 9  # what was done, and what is wanted beyond that
    assert asked.folder == str(tmp_path)


def test_what_was_not_tried_when_the_worker_died_comes_first_when_the_run_goes_on(still, tmp_path):
    still._show_run(run_of(ended=False), tmp_path)
    still.state = "running"
    still.try_setting({"C": 7.5})
    still.try_setting({"C": 8.5})
    assert [one.setting for one in still.worker.asked] == [{"C": 7.5}, {"C": 8.5}]
    still.shown.add_events([SettingRequested(setting={"C": 7.5})])  # recorded: the folder keeps it
    still.state = "interrupted"
    still.resume()
    assert still.worker.all_of(m.Tune)[-1].settings == ({"C": 8.5},)
    still.shown.add_events([SettingRequested(setting={"C": 8.5})])
    assert still.shown.wanted == []
