"""Workers of a cluster on the Tune page: who does what, in words and for screen readers."""

from __future__ import annotations

from app.pages.tune.workers_panel import MAX_TILES, WorkersPanel, activity_text, headline
from core.tuning.payloads import ClusterWorker


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
