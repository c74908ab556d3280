"""Several programs write the history at once, and are killed at any moment: nothing is lost."""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

from core.space import Axis
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History

AXES = (Axis("C", "Trust", "float", 0.01, 100.0, log=True, default=1.0),)
FACTS = RunMetadata("svm", "binary", "accuracy", True, statistics_of(100, 4, 2), "gp", AXES)

# Every writer is forked from one process that has read the modules, so that a kill falls into the
# writing and not into the start. A writer tells of every trial once it is committed.
KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from core.tuning.history.store import History
from test_programs import FACTS

path, kills = Path(sys.argv[1]), int(sys.argv[2])
random.seed(20141)
for _ in range(kills):
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        history, trials = History(path, starter=False), 0
        while True:
            id = history.begin_dataset(FACTS)
            for number in range(5):
                history.add_trial(id, number, {"C": 1.0 + number}, 0.5)
                os.write(theirs, f"{id} {number}\\n".encode())
    os.close(theirs)
    time.sleep(random.uniform(0.0, 0.04))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(ours, "rb") as told:
        for line in told.read().split(b"\\n")[:-1]:  # the last one may be torn
            print(line.decode())
    with History(path, starter=False) as history:  # opens after every single kill
        assert history.notices == [], history.notices
        assert history.enabled
"""

EIGHT = """
import os, sys
from pathlib import Path
from core.tuning.history.store import History
from test_programs import FACTS

path, programs, trials = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
children = []
for _ in range(programs):
    child = os.fork()
    if child == 0:
        with History(path) as history:  # all of them create it at once
            for first in range(0, trials, 100):
                id = history.begin_dataset(FACTS)
                for number in range(100):
                    history.add_trial(id, number, {"C": 1.0 + (first + number) / 100}, 0.5)
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def run(script: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def trials_in(path: Path) -> Counter:
    """{(id, number): how often}, read by SQLite itself."""
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute(
            "SELECT id, trials.number FROM trials JOIN datasets ON dataset = datasets.number"
        ).fetchall()
        (all_trials,) = database.execute("SELECT count(*) FROM trials").fetchone()
    database.close()
    assert len(rows) == all_trials
    return Counter(rows)


def test_twenty_kills_lose_no_finished_trial_and_double_none(tmp_path):
    path = tmp_path / "history.sqlite3"
    told = [line.split() for line in run(KILLED, path, 20).splitlines()]
    found = trials_in(path)
    assert len(told) > 20
    assert {(id, int(number)) for id, number in told} <= found.keys()
    assert set(found.values()) == {1}
    # A kill falls at most between a commit and its being told.
    assert len(found) - len(told) <= 20


def test_eight_programs_with_two_hundred_trials_each_lose_and_double_nothing(tmp_path):
    path = tmp_path / "history.sqlite3"
    run(EIGHT, path, 8, 200)
    with History(path) as history:
        starter = sum(entry.trials for entry in history.entries() if entry.starter)
        own = [entry for entry in history.entries() if not entry.starter]
        datasets = [entry.id for entry in history.entries() if entry.starter]
        past = [one for one in history.datasets_for(FACTS) if not one.starter]
    assert len(own) == 16
    assert len(datasets) == len(set(datasets))
    found = trials_in(path)
    assert set(found.values()) == {1}
    assert len(found) - starter == 1600
    values = Counter(setting["C"] for one in past for setting in one.settings)
    assert len(values) == 200
    assert set(values.values()) == {8}
