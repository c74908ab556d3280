"""The Tune page: a run from its start to its results, its bar, replay and workers."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMessageBox

from app.pages.run_bar import (
    MAX_TILES,
    Replay,
    RunBar,
    Stopwatch,
    WorkersPanel,
    activity_text,
    headline,
)
from app.pages.tune_page import TunePage
from app.session.shown_run import ShownRun
from app.text.run_head import before_the_start, done_share, progress_text, run_title, window_title
from app.worker.messages import Message
from core.tuning.events import (
    ClusterWorker,
    DatasetFacts,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFinished,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.state import state_from_events


def reach(qtbot, session, state):
    qtbot.waitUntil(lambda: session.state == state, timeout=30_000)


def trials(count, total=10):
    plan = Plan(DataPlan("x.csv"), "svm", "random", trials=total).as_dict()
    yield RunStarted(plan=plan, total=total, metric="accuracy")
    for n in range(count):
        yield TrialStarted(number=n, reason="improve" if n else "default")
        yield TrialFinished(seconds=n + 1.0, number=n, score=0.8 if n != 1 else 0.86)
        yield Progress(seconds=n + 1.0, seconds_left=40.0)


@pytest.fixture
def page(opened, qtbot):
    made = TunePage(opened)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def visible(page):
    buttons = (page.discard_button, page.more_button, page.keep_button, page.pause_button,
               page.resume_button)  # fmt: skip
    return {button.text() for button in buttons if button.isVisible()}


@pytest.fixture
def quiet_page(with_data, qtbot):
    """The same without a process."""
    made = TunePage(with_data)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    return made


def test_before_the_start_it_says_what_will_happen(quiet_page):
    page = quiet_page
    assert page.title == "Ready to tune"
    assert page.before.isVisible()
    assert page.primary.text() == "Start tuning"
    assert visible(page) == set()


def test_a_run_from_start_to_results(page, opened, qtbot):
    opened.set_plan(trials=40, options={"trial_seconds": 0.03})
    page.primary.click()
    reach(qtbot, opened, "running")
    assert visible(page) == {"Discard", "Pause"}
    assert page.primary.text() == "Stop and keep best"
    qtbot.waitUntil(lambda: len(opened.events) > 4, timeout=30_000)
    page.pause_button.click()
    reach(qtbot, opened, "paused")
    assert visible(page) == {"Discard", "Resume"}
    assert page.words[1][0].startswith("The run is paused")
    page.resume_button.click()
    page.primary.click()
    reach(qtbot, opened, "finished")
    assert "20 more trials" in visible(page)
    wanted = []
    page.step_wanted.connect(wanted.append)
    page.primary.click()
    assert wanted == ["results"]


def test_what_arrives_together_is_shown_once(still, qtbot, monkeypatch):
    page = TunePage(still)
    qtbot.addWidget(page)
    shown = []
    monkeypatch.setattr(page, "_show_words", lambda: shown.append(page.board.record.run.done_count))
    still.plan = Plan(DataPlan("x.csv"), "svm", "random", trials=300)
    still.start()
    shown.clear()
    told = [Message(still._requests.last, event) for event in trials(300, total=300)]
    still.worker.arrived.emit(
        [*told, Message(still._requests.last, RemarkMade(sentence="Look here."))]
    )
    assert shown == [300]
    assert still.shown.state.done_count == 300
    assert len(still.events) == 902


def test_other_buttons_find_their_place_without_a_resize(quiet_page, qapp):
    page = quiet_page
    page.resize(620, 600)
    qapp.processEvents()
    page.set_head("Tuning a support vector machine", "Trial 14 of 40 · best accuracy 0.868")
    for button in (page.discard_button, page.more_button, page.pause_button, page.resume_button):
        button.show()
    qapp.processEvents()
    qapp.processEvents()
    assert page.primary.y() > page._title.y() + page._title.height() - 2
    assert page._title.width() > page.width() // 2


def test_twenty_more_trials(page, opened, qtbot):
    opened.set_plan(trials=2)
    opened.start()
    reach(qtbot, opened, "finished")
    page.more_button.click()
    reach(qtbot, opened, "finished")
    assert "22 of 22 · " in page._subtitle.text()


def test_discarding_asks_and_esc_keeps_the_run(page, opened, qtbot, monkeypatch):
    opened.set_plan(trials=2)
    opened.start()
    reach(qtbot, opened, "finished")
    monkeypatch.setattr(QMessageBox, "exec", lambda box: None)
    page.discard_button.click()
    assert opened.state == "finished"
    monkeypatch.setattr(
        QMessageBox, "clickedButton",
        lambda box: next(b for b in box.buttons() if b.text() == "Discard"),
    )  # fmt: skip
    page.discard_button.click()
    assert opened.state == "idle"
    assert page.title == "Ready to tune"


def test_a_lost_worker_is_said_and_the_run_can_go_on(page, opened, qtbot):
    opened.set_plan(trials=5, options={"killed_at": 2})
    opened.start()
    reach(qtbot, opened, "interrupted")
    assert "2 trials are kept" in page.words[1][0]
    assert visible(page) == {"Discard", "Keep what there is"}
    page.primary.click()
    reach(qtbot, opened, "finished")


def test_the_slider_shows_earlier_moments_in_the_same_views(page, opened, qtbot):
    opened.set_plan(trials=6)
    opened.start()
    reach(qtbot, opened, "finished")
    assert page.replay.isVisible()
    page.replay.slider.setValue(2)
    assert len(page.board.record.run.trials) == 2
    assert page.run.done_count == 2
    page.replay.slider.setValue(6)
    assert len(page.board.record.run.trials) == 6
    assert opened.results is not None


def test_playing_again_ends_where_it_stood(qtbot):
    replay = Replay()
    qtbot.addWidget(replay)
    run = ShownRun(trials(8), None)
    events, counts = run.events, []
    replay.moved.connect(counts.append)
    replay.load_run(events, run.stops, of_trials=True)
    assert counts == []
    replay._timer.setInterval(1)
    replay.play()
    replay._timer.setInterval(1)
    qtbot.waitUntil(lambda: not replay._timer.isActive(), timeout=10_000)
    assert counts[-1] == len(events)
    assert counts == sorted(counts)


def test_the_line_says_how_far_how_good_and_how_long():
    run = state_from_events(trials(7, total=40))
    assert progress_text(run, "running") == (
        "7 of 40, 7 s · best accuracy 86.0\u00a0% · default setting 80.0\u00a0% · "
        "no improvement for 5 trials · about 40 s left"
    )
    assert progress_text(run, "paused").startswith("Paused · 7 of 40, 7 s")
    assert done_share(run, "running") == pytest.approx(7 / 40)
    assert run_title(run) == "Tuning a support vector machine"


def test_a_run_bounded_by_time_counts_time():
    run = state_from_events(trials(4, total=0))
    assert progress_text(run, "running").startswith("4 trials, 4 s · ")
    assert done_share(run, "running") == pytest.approx(4 / 44)


def test_steps_say_the_objective_and_its_direction():
    plan = Plan(DataPlan("x.csv"), "logistic", "mm").as_dict()
    run = state_from_events([
        RunStarted(plan=plan, kind="penalties", groups={"a": 1, "b": 2}),
        PenaltyStep(step=7, objective=420.0),
        PenaltyStep(step=8, objective=411.3),
    ])  # fmt: skip
    assert progress_text(run, "running") == (
        "Step 8, 0 s · objective 411.3, falling · no validation data needed"
    )
    assert run_title(run) == "Learning one penalty for each group of columns"
    run.consume(RunFinished(seconds=3.0))
    assert progress_text(run, "finished").endswith("took 3 s")


def test_a_plan_of_minutes_says_how_much_of_them_is_spent():
    plan = Plan(DataPlan("iris.csv"), "svm", "random", minutes=1.0)
    timed = [RunStarted(plan=plan.as_dict(), dataset=DatasetFacts(name="iris.csv"))]
    assert progress_text(state_from_events(timed), "running", 12.4) == "0 trials, 12 s of 60 s"
    assert before_the_start(plan, 2.0) == "0 trials, 2 s of 60 s"
    assert window_title(state_from_events(timed), 12.4) == "0 trials, 12 s of 60 s – iris"


def test_how_far_it_is_stands_there_from_the_first_second():
    plan = Plan(DataPlan("iris.csv"), "svm", "random", trials=40)
    assert before_the_start(plan, 1.2) == "0 of 40, 1 s"
    begun = RunStarted(plan=plan.as_dict(), total=40, dataset=DatasetFacts(name="iris.csv"))
    assert progress_text(state_from_events([begun]), "running", 2.0) == "0 of 40, 2 s"
    ended = [TrialFinished(number=n, score=0.5) for n in range(12)]
    assert window_title(state_from_events([begun, *ended]), 20.0) == "12 of 40 – iris"


def test_the_head_compares_with_the_baseline():
    run = state_from_events(
        [RunStarted(total=9, baseline=0.33), TrialFinished(number=0, score=0.9)]
    )
    assert "best accuracy 90.0\u00a0% · baseline 33.0\u00a0%" in progress_text(run, "running")


def test_the_stopwatch_goes_on_and_never_back(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.pages.run_bar.time.monotonic", lambda: now[0])
    watch = Stopwatch()
    watch.set_running(True, 5.0)
    now[0] += 3.0
    assert watch.seconds == 8.0
    watch.set_seconds(7.0)  # an event tells of a moment before
    assert watch.seconds == 8.0
    watch.set_running(False, 7.5)
    now[0] += 60.0
    assert watch.seconds == 7.5
    watch.set_running(True, 7.5)
    assert watch.seconds == 7.5


def test_excluding_while_paused_shows_at_once(still, qtbot, monkeypatch):
    page = TunePage(still)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    still._show_run(list(trials(3)), None)
    still._set_state("paused")
    told = []
    monkeypatch.setattr(still, "exclude_trial", lambda number, out: told.append((number, out)))
    table = page.board.views["trials"]
    page.board.select_trial(1)
    page.board.redraw_now()
    assert table.exclude_button.isVisible()
    assert table.exclude_button.text() == "Exclude trial 1"
    table.exclude_button.click()
    page.board.redraw_now()
    assert told == [(1, True)]
    assert page.run.best_trial.number != 1
    row = table.model.row_of(1)
    assert table.model.note_text(table.model.trial_at(row)) == "excluded by you"
    assert table.exclude_button.text() == "Include trial 1 again"


def test_the_bar_tells_what_the_time_of_several_models_is_for(qtbot, look, race):
    bar = RunBar()
    qtbot.addWidget(bar)
    told = [
        *race.run(ends=False, minutes=0.5),
        Progress(seconds=8.0, seconds_left=12.0, ending=10.0),
    ]
    bar.show_run(state_from_events(told), "running", 8.0)
    bar.resize(300, bar.sizeHint().height())
    bar.show()
    assert [name for name, *_ in bar.parts] == ["screening", "trials", "free", "kept"]
    assert bar.toolTip() == "screening 0 s, trials 7 s, kept for finishing 10 s"
    picture, theme = bar.grab().toImage(), look.current()
    ratio = picture.devicePixelRatio()
    colours = [picture.pixelColor(int(x * ratio), int(4 * ratio)).name().upper() for x in (50, 150)]
    assert colours == [theme.accent.upper(), theme.line.upper()]
    assert bar.maximum() > 0  # and no animation of an unknown length
    bar.show_run(state_from_events(trials(3)), "running", 3.0)
    assert (bar.parts, bar.toolTip()) == ([], "")
    assert bar.sizeHint().height() < 10


def test_a_run_of_several_models_is_told_to_those_who_do_not_see_it(quiet_page, race):
    page, opened = quiet_page, quiet_page.session
    opened.shown = ShownRun(race.run(ends=False, minutes=0.5), None)
    opened.state = "running"
    opened.run_replaced.emit()
    opened.run_changed.emit()
    assert page.title == "Finding the best of 3 models"
    assert page.bar.accessibleName() == "Progress of the run"
    description = page.bar.accessibleDescription()
    assert "left. screening 0 s, trials" in description
    opened.state = "idle"


def worker(name, trials=(), threads=1, load=None, usable=True, host="a"):
    load = float(bool(trials)) if load is None else load
    return ClusterWorker(name, host, threads, load, list(trials), usable)


def test_the_headline_counts_workers_computers_and_trials():
    two = [worker("0", [3], threads=2), worker("1", host="b")]
    assert headline(two) == "2 workers on 2 computers, 1 at work, 3 trials at a time."
    assert headline(two[:1]) == "1 worker on 1 computer, 1 at work, 2 trials at a time."
    left_out = [*two, worker("2", usable=False)]
    assert headline(left_out).endswith("3 trials at a time. 1 cannot be used.")
    assert headline([]) == "No worker of the cluster can be reached; the run waits for one."


def test_what_a_worker_does():
    assert activity_text(worker("0")) == "idle"
    assert activity_text(worker("0", load=1.0)) == "at work for others"
    assert activity_text(worker("0", [7])) == "trial 7"
    assert activity_text(worker("0", [7, 9])) == "trials 7, 9"
    assert activity_text(worker("0", [-2])) == "a screening"
    assert activity_text(worker("0", [7], usable=False)) == "cannot be used"


def test_tiles_follow_the_workers(qtbot):
    shown = WorkersPanel()
    qtbot.addWidget(shown)
    assert shown.isHidden()
    shown.show_workers([worker(str(i), [i]) for i in range(3)])
    assert not shown.isHidden()
    assert [tile.toolTip() for tile in shown.tiles] == [f"{i} · a: trial {i}" for i in range(3)]
    shown.show_workers([worker("0")])
    assert [not tile.isHidden() for tile in shown.tiles] == [True, False, False]
    assert "0: idle." in shown.accessibleDescription()


def test_of_a_thousand_workers_the_rest_is_counted(qtbot):
    shown = WorkersPanel()
    qtbot.addWidget(shown)
    shown.show_workers([worker(str(i)) for i in range(1000)])
    assert len(shown.tiles) == MAX_TILES
    assert shown.more_label.text() == f"and {1000 - MAX_TILES} more"
