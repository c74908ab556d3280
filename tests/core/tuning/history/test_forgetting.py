"""Forgetting means gone: from every file, while others read or write it, and whatever befell it."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from history_facts import facts_of, opened, program_output

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.space import Axis
from core.tuning.events import (
    HistoryDataset,
    HistoryRead,
    JointSurfaceFitted,
    RunStarted,
    TrialFinished,
)
from core.tuning.history.database import OURS
from core.tuning.history.run_history import RunHistory
from core.tuning.history.store import History, forget_everything
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.runs.run_folder import RunFolder

AXES = (Axis("kind", "Kind", "choice", choices=("secretsetting", "other")),)
FACTS = facts_of(AXES)


def remember(history, trials=200):
    id = history.begin_dataset(FACTS)
    for number in range(trials):
        history.add_trial(id, number, {"kind": "secretsetting"}, 0.5)
    return id


def traces(folder, *marks):
    """The files of a folder that hold a mark."""
    found = [file for file in folder.rglob("*") if file.is_file()]
    return [f.name for f in found if any(mark.encode() in f.read_bytes() for mark in marks)]


@contextlib.contextmanager
def reader(path):
    """Another program that goes on reading the history as it is now."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN")
        database.execute("SELECT count(*) FROM trials").fetchall()
        yield database


@pytest.mark.parametrize("everything", [True, False])
def test_nothing_is_left_in_the_file_even_while_another_program_reads_it(path, everything):
    with opened(path) as history:
        id = remember(history)
        with reader(path) as database:
            history.forget_all() if everything else history.forget_dataset(id)
            assert traces(path.parent, id, "secretsetting") == []
            assert database.execute("SELECT count(*) FROM trials").fetchone() == (200,)
        assert traces(path.parent, id, "secretsetting") == []
        assert (history.notices, history.entries()) == ([], [])
        remember(history, 1)
        assert [entry.trials for entry in history.entries()] == [1]


def test_a_program_that_still_has_the_old_file_writes_the_new_one(path):
    with opened(path) as history, opened(path) as running:
        secret, kept = remember(history), running.begin_dataset(FACTS)
        running.add_trial(kept, 0, {"kind": "other"}, 0.25)
        with reader(path):
            history.forget_dataset(secret)
        running.add_trial(kept, 1, {"kind": "other"}, 0.75)
        running.add_trial(secret, 201, {"kind": "secretsetting"}, 0.5)
        assert {entry.id: entry.trials for entry in history.entries()} == {kept: 2}
        assert running.entries() == history.entries()
    assert traces(path.parent, secret, "secretsetting") == []


def damaged(path):
    """A history whose trials cannot be read any more."""
    with opened(path) as history:
        id = remember(history)
        history.set_enabled(False)
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096] = 0xFF
    path.write_bytes(content)
    return id


@pytest.mark.parametrize("name", ["history.sqlite3", "history", "my [old]*.db"])
def test_renamed_copies_go_too_where_they_hold_it(path, name):
    path = path.with_name(name)
    id = damaged(path)
    with opened(path) as history:
        assert "damaged" in history.notices[0]
        assert traces(path.parent, id) != []
        history.forget_dataset("0" * 32)
        assert traces(path.parent, id) != []
        history.forget_dataset(id)
    assert traces(path.parent, id, "secretsetting") == []


def test_everything_can_be_deleted_of_a_damaged_file_and_it_stays_switched_off(path):
    id = damaged(path)
    forget_everything(path)
    assert traces(path.parent, id, "secretsetting") == []
    with History(path) as history:
        assert history.entries() == []


LOCKS = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
input()
"""


def test_everything_can_be_deleted_of_a_file_that_a_program_keeps_locked(path, monkeypatch):
    monkeypatch.setattr("core.tuning.history.store.WAITS", 0.2)
    with opened(path) as history:
        id = remember(history)
        history.set_enabled(False)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", LOCKS, str(path)], **pipes) as other:
        assert other.stdout.readline() == "locked\n"
        assert forget_everything(path).datasets is None
        assert traces(path.parent, id, "secretsetting") == []
        other.communicate("\n")
    with History(path) as history:
        assert history.entries() == []
        assert not history.enabled


def test_everything_can_be_deleted_of_a_newer_version_but_not_of_another_program(path):
    with opened(path) as history:
        remember(history)

    def pragma(text):
        with contextlib.closing(sqlite3.connect(path)) as database:
            return database.execute(f"PRAGMA {text}").fetchone()

    pragma("user_version = 99")
    forget_everything(path)
    assert traces(path.parent, "secretsetting") == []
    assert pragma("application_id") == (OURS,)
    pragma("application_id = 7")
    before = path.read_bytes()
    with pytest.raises(UnusableError, match="not a history of Tunescope"):
        forget_everything(path)
    assert path.read_bytes() == before


# -------------------------------------------------------------------------- what runs have read


def read_of(id, starter=False):
    values, scores = [["secret" + id]] * 3, [0.1, 0.2, 0.3]
    return HistoryDataset(id, [5.0, 1.0, 2.0], values, scores, True, starter, 0.5)


@pytest.fixture
def run():
    """A run that read of three datasets, and went on."""
    folder = RunFolder.create(Plan(DataPlan("sample:iris"), "svm", "transfer"))
    past = HistoryRead(axes=["kind"], datasets=[read_of("a"), read_of("b"), read_of("c", True)])
    told = [[0.11], [0.22], [0.33]]
    surface = JointSurfaceFitted(trials=1, neighbours=[1, 2, 0], past_responses=told)
    with contextlib.closing(folder):
        for event in (RunStarted(run="r"), past, surface, TrialFinished(number=0, score=0.5)):
            folder.append(event)
    return folder


@pytest.mark.parametrize(
    ("forget", "datasets", "neighbours", "responses"),
    [
        (lambda history: history.forget_dataset("b"), ["a", "c"], [1, 0], [[0.22], [0.33]]),
        (History.forget_all, ["c"], [0], [[0.22]]),  # the starter history stays
    ],
)
def test_what_is_forgotten_leaves_what_runs_read_of(
    path, run, forget, datasets, neighbours, responses
):
    with opened(path) as history:
        forget(history)
    events = run.all_events()
    assert [dataset.id for dataset in events[1].datasets] == datasets
    assert (events[2].neighbours, events[2].past_responses) == (neighbours, responses)
    assert events[3] == TrialFinished(number=0, score=0.5)
    gone = {"a", "b", "c"} - {*datasets}
    assert traces(run.path, *(f"secret{id}" for id in gone), *(f'"{id}"' for id in gone)) == []


def test_a_run_that_is_being_written_goes_on(path, run):
    with run.hold_lock():
        run.append(TrialFinished(number=1, score=0.6))
        with opened(path) as history:
            history.forget_dataset("b")
        run.append(TrialFinished(number=2, score=0.7))
    assert [event.number for event in run.all_events()[3:]] == [0, 1, 2]
    assert traces(run.path, "secretb") == []


def test_a_run_that_read_others_is_not_touched(path, run):
    before = (run.path / "events.jsonl").read_bytes()
    (run.path.parent / "odd").mkdir()
    os.mkfifo(run.path.parent / "odd" / "events.jsonl")
    with opened(path) as history:
        history.forget_dataset("d")
    assert (run.path / "events.jsonl").read_bytes() == before


def moved(run, place):
    """The run in a folder of its own, as `--run-dir` makes it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    run.path.rename(place)
    return RunFolder.open(place)


def learning(path, folder):
    """A run that begins to learn from the history at a path."""
    data = DataPlan("sample:iris")
    plan = Plan(data, "svm", "transfer", trials=1, folds=2)
    problem = build_problem(plan, read_dataset(data.file))
    RunHistory(problem, lambda: opened(path), "own", folder.path).close()


def test_a_run_that_lies_elsewhere_forgets_too(path, run, tmp_path, monkeypatch):
    elsewhere = moved(run, tmp_path / "drive" / "overnight")
    learning(path, elsewhere)
    former = RunFolder.create(elsewhere.plan)
    (former.path / "events.jsonl").write_bytes((elsewhere.path / "events.jsonl").read_bytes())
    learning(path, former)
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "another place"))
    with opened(path) as history:
        history.forget_dataset("b")
        assert history.notices == []
    for one in (elsewhere, former):
        assert [dataset.id for dataset in one.all_events()[1].datasets] == ["a", "c"]
        assert traces(one.path, "secretb", '"b"') == []


def test_a_folder_of_runs_that_is_gone_is_named_once(path, run, tmp_path):
    learning(path, moved(run, tmp_path / "drive" / "overnight"))
    (tmp_path / "drive").rename(tmp_path / "unplugged")
    said = forget_everything(path).notices
    assert said == (
        f"The folder {tmp_path / 'drive' / 'overnight'} is gone; what its runs had read of the"
        " history could not be deleted from it.",
    )
    assert forget_everything(path).notices == ()


def test_a_run_that_cannot_be_written_is_named_where_it_holds_something(path, run, monkeypatch):
    usual = Path.open

    def refused(self, mode="r", *given, **more):
        if self.name == "events.jsonl" and "+" in mode:
            raise PermissionError(13, "Permission denied")
        return usual(self, mode, *given, **more)

    monkeypatch.setattr(Path, "open", refused)
    with opened(path) as history:
        history.forget_dataset("d")
        assert history.notices == []
        history.forget_dataset("b")
        (said,) = history.notices
    assert said.startswith(f"What the run {run.path.resolve()} has read of the history could not")


# ---------------------------------------------------------------------------------- switched off


def test_switched_off_counts_from_then_on_and_for_good(path):
    with opened(path) as history, opened(path) as running:
        id = running.begin_dataset(FACTS)
        running.add_trial(id, 0, {"kind": "other"}, 0.5)
        history.set_enabled(False)
        running.add_trial(id, 1, {"kind": "other"}, 0.5)
        history.set_enabled(True)
        for number in range(3):  # as a run that goes on tells all of its trials again
            running.add_trial(id, number, {"kind": "other"}, 0.5)
        assert [entry.trials for entry in history.entries()] == [1]
        other = running.begin_dataset(FACTS)
        running.add_trial(other, 0, {"kind": "other"}, 0.5)
        assert [entry.trials for entry in history.entries()] == [1, 1]
        history.forget_dataset(id)
    assert traces(path.parent, id) == []


FINDS = """
import os, sys
from pathlib import Path
from history_facts import FACTS, opened
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        with opened(Path(sys.argv[1])) as history:
            id = history.begin_dataset(FACTS)
            for number in range(5):
                history.add_trial(id, number, {"C": 1.0}, 0.5)
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def test_four_programs_that_find_it_damaged_at_once_lose_nothing(path):
    id = damaged(path)
    whole = path.read_bytes()
    program_output(FINDS, path)
    (copy,) = path.parent.glob("*.damaged-*.sqlite3")
    assert copy.read_bytes() == whole
    assert traces(path.parent, id) == [copy.name]
