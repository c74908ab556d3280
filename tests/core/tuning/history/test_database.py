"""The file of the history: damaged, read-only, full, or written by several; no data is in it."""

import contextlib
import itertools
import json
import os
import random
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from history_facts import AXES, FACTS, facts_of, opened, program_output
from run_events import tune_here as tune

from core.errors import UnusableError
from core.space import Axis
from core.tuning.events import RunStarted
from core.tuning.history.database import OURS, _create_tables
from core.tuning.history.run_history import metadata_of
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data


def remember(path: Path, *values: float) -> str:
    with opened(path) as history:
        id = history.begin_dataset(FACTS)
        for number, value in enumerate(values or (1.0, 2.0, 3.0)):
            history.add_trial(id, number, {"C": value}, value / 10)
    return id


def remembered(path: Path) -> list[tuple]:
    with opened(path) as history:
        return [one.settings for one in history.datasets_for(FACTS)]


# -------------------------------------------------------------------------------------- versions


def test_a_file_of_the_first_version_is_brought_up_to_date(path):
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as old:
        _create_tables(old)
        about = ("2026-01-02T03:04:05+00:00", "svm", "binary", "accuracy", 1, "gp", 5.0, 1.4, 2.0)
        for number, id in ((1, "aa"), (2, "bb")):
            old.execute("INSERT INTO datasets VALUES (?,?,?,?,?,?,?,?,?,?,?)", (number, id, *about))
        trials = [(1, 0, {"C": 1.5, "k": "a"}, 0.5), (1, 1, {"k": "b", "C": 2.5}, 0.6)]
        for at, number, setting, score in [*trials, (2, 4, {"C": 9.0, "k": "a"}, 0.7)]:
            row = (at, number, json.dumps(setting), score)
            old.execute("INSERT INTO trials VALUES (?,?,?,?)", row)
        old.execute(f"PRAGMA application_id = {OURS}")
        old.execute("PRAGMA user_version = 1")
    with opened(path) as history:
        choice = Axis("k", "", "choice", choices=("a", "b"))
        first, second = history.datasets_for(facts_of((*AXES, choice)))
        assert history.notices == []
        assert history.enabled
    assert first.settings == ({"C": 1.5, "k": "a"}, {"C": 2.5, "k": "b"})
    assert (second.settings, second.scores) == (({"C": 9.0, "k": "a"},), (0.7,))
    assert first.statistics == (5.0, 1.4, 2.0)


def changed(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path):
    remember(path)
    changed(path, "PRAGMA user_version = 99")
    with pytest.raises(UnusableError, match=r"newer version \(99\)"):
        opened(path)
    changed(path, "PRAGMA user_version = 2")
    assert len(remembered(path)) == 1


def test_another_program_s_database_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    changed(path, "CREATE TABLE theirs (a)")
    before = path.read_bytes()
    with pytest.raises(UnusableError, match="not a history of Tunescope"):
        opened(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


# ---------------------------------------------------------------------------------------- damage


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 100])


def scribbled(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096))


def foreign(path: Path) -> None:
    path.write_bytes(b"This is no database at all, but a longer text. " * 200)


def without_a_table(path: Path) -> None:
    changed(path, "DROP TABLE trials")


@pytest.mark.parametrize("damage", [torn, scribbled, foreign, without_a_table])
def test_a_damaged_file_is_renamed_whole_and_a_new_one_begun(path, damage):
    remember(path)
    damage(path)
    before = path.read_bytes()
    with opened(path) as history:
        (notice,) = history.notices
        assert "damaged" in notice
        assert history.datasets_for(FACTS) == ()
        history.add_trial(history.begin_dataset(FACTS), 0, {"C": 1.0}, 0.5)
    (aside,) = path.parent.glob("history.damaged-*.sqlite3")
    assert aside.name in notice
    assert aside.read_bytes() == before
    assert remembered(path) == [({"C": 1.0},)]


def test_two_damaged_files_of_one_second_are_both_kept(path):
    for _ in range(2):
        path.parent.mkdir(exist_ok=True)
        foreign(path)
        opened(path).close()
    assert len(list(path.parent.glob("history.damaged-*.sqlite3"))) == 2


def test_an_empty_file_is_a_new_history(path):
    path.parent.mkdir()
    path.touch()
    remember(path)
    assert len(remembered(path)) == 1


def test_leftovers_of_a_file_that_is_gone_do_no_harm(path):
    remember(path, 5.0)
    history = opened(path)
    history.add_trial(history.begin_dataset(FACTS), 0, {"C": 7.0}, 0.5)
    kept = {end: path.with_name(path.name + end).read_bytes() for end in ("-wal", "-shm")}
    history.close()
    path.unlink()
    for end, content in kept.items():
        path.with_name(path.name + end).write_bytes(content)
    remember(path, 9.0)
    assert remembered(path) == [({"C": 9.0},)]


def test_a_log_of_nonsense_beside_the_file_is_passed_over(path):
    remember(path)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).write_bytes(os.urandom(40_000))
    assert len(remembered(path)) == 1


def test_what_is_no_file_or_has_no_place_is_a_sentence(path, tmp_path):
    path.mkdir(parents=True)
    with pytest.raises(UnusableError, match="a folder where the history should be"):
        opened(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableError, match="cannot be kept here"):
        opened(tmp_path / "file" / "history.sqlite3")


# ---------------------------------------------------------------------- what may not be written

AS_ANOTHER = """
import os, sys
from pathlib import Path
from core.errors import UnusableError
from core.tuning.history.store import History
from history_facts import FACTS
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    history = History(Path(sys.argv[1]), starter=False)
except UnusableError as error:
    print("refused", error.sentence)
    sys.exit()
print("begun", repr(history.begin_dataset(FACTS)))
history.add_trial("", 0, {"C": 1.0}, 0.5)
history.add_trial("ab", 0, {"C": 1.0}, 0.5)
print("read", [one.settings for one in history.datasets_for(FACTS)], len(history.entries()))
print("notices", history.notices)
try:
    history.forget_all()
except UnusableError as error:
    print("kept", error.sentence)
"""


def as_another(path: Path) -> str:
    """What one who may not write there is told; root becomes nobody for it."""
    return program_output(AS_ANOTHER, path)


@pytest.fixture
def public():
    """A path that others may reach, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data" / "history.sqlite3"
        (Path(folder) / "data").chmod(0o755)


def lock(path: Path, file: int, folder: int) -> None:
    path.chmod(file)
    path.parent.chmod(folder)


@pytest.mark.parametrize("folder", [0o555, 0o777])
def test_a_read_only_history_is_used_and_says_that_nothing_is_added(public, folder):
    remember(public)
    lock(public, 0o444, folder)
    said = as_another(public)
    assert "begun ''" in said
    assert "read [({'C': 1.0}, {'C': 2.0}, {'C': 3.0})] 1" in said
    assert "nothing is added" in said
    assert "kept" in said
    assert len(remembered(public)) == 1


def test_trials_of_a_program_that_still_runs_are_read_from_a_read_only_folder(public):
    with opened(public) as history:
        history.add_trial(history.begin_dataset(FACTS), 0, {"C": 4.0}, 0.5)
        for file in public.parent.iterdir():
            file.chmod(0o444)
        public.parent.chmod(0o555)
        assert "read [({'C': 4.0},)] 1" in as_another(public)


def test_a_history_that_may_not_be_read_or_is_damaged_and_cannot_be_renamed_is_a_sentence(public):
    remember(public)
    lock(public, 0o000, 0o555)
    assert as_another(public).startswith("refused")
    lock(public, 0o644, 0o755)
    foreign(public)
    lock(public, 0o444, 0o555)
    said = as_another(public)
    assert said.startswith("refused")
    assert "damaged and cannot be renamed" in said


def test_a_full_database_is_said_once_to_be_a_full_disk_and_what_was_written_stays(path):
    with opened(path) as history:
        id, numbers = history.begin_dataset(FACTS), itertools.count()
        history._file.database.execute("PRAGMA max_page_count = 8")  # SQLite's own full disk
        with pytest.raises(UnusableError, match="disk is full"):
            all(history.add_trial(id, next(numbers), {"C": 1.0}, 0.5) is None for _ in range(5000))
        history.add_trial(id, 5000, {"C": 1.0}, 0.5)
        assert history.begin_dataset(FACTS) == ""
    assert len(remembered(path)[0]) == next(numbers) - 1 > 0


def test_a_disk_that_is_full_from_the_start_leaves_what_is_known_to_be_read(path):
    id = remember(path, 1.0)
    with opened(path) as history:
        history._file.database.execute("PRAGMA max_page_count = 8")
        names = tuple(Axis(f"{'x' * 2000}{place}", "", "float") for place in range(20))
        assert history.begin_dataset(facts_of(names)) == ""
        (notice,) = history.notices
        assert "the disk is full" in notice
        assert "Nothing is added to the history." in notice
        assert [one.id for one in history.datasets_for(FACTS)] == [id]


# Every writer is forked from one process that has read the modules, so that a kill falls into the
# writing and not into the start. A writer tells of every trial once it is committed.
KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from core.tuning.history.store import History
from history_facts import FACTS

path, kills = Path(sys.argv[1]), int(sys.argv[2])
random.seed(20141)
done, told = 0, 0
while done < kills or told <= kills:  # on a busy computer the first ones come before any trial
    done += 1
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
    time.sleep(random.uniform(0.0, 0.04) * max(1, done - kills))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(ours, "rb") as output:
        for line in output.read().split(b"\\n")[:-1]:  # the last one may be torn
            print(line.decode())
            told += 1
    with History(path, starter=False) as history:  # opens after every single kill
        assert history.notices == [], history.notices
        assert history.enabled
print(done)
"""

EIGHT = """
import os, sys
from pathlib import Path
from core.tuning.history.store import History
from history_facts import FACTS

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


@pytest.mark.slow
def test_twenty_kills_lose_no_finished_trial_and_double_none(tmp_path):
    path = tmp_path / "history.sqlite3"
    *lines, kills = program_output(KILLED, path, 20).splitlines()
    told, found = [line.split() for line in lines], trials_in(path)
    assert len(told) > 20
    assert {(id, int(number)) for id, number in told} <= found.keys()
    assert set(found.values()) == {1}
    # A kill falls at most between a commit and its being told.
    assert len(found) - len(told) <= int(kills)


@pytest.mark.slow
def test_eight_programs_with_two_hundred_trials_each_lose_and_double_nothing(tmp_path):
    path = tmp_path / "history.sqlite3"
    program_output(EIGHT, path, 8, 200)
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


ROWS = 60


def marked_table(folder, task: str):
    """A file in which every text and number is a mark, and the marks."""
    draw = random.Random(7)
    numbers = [[round(draw.uniform(1e3, 1e7), 3) for _ in range(3)] for _ in range(ROWS)]
    words = [f"word{draw.randrange(10**12):012d}" for _ in range(4)]
    columns = ["colmarkA", "colmarkB", "colmarkC", "colmarkWord", "targetmark"]
    if task == "regression":
        targets: list = [row[0] + 2 * row[1] for row in numbers]
    else:
        targets = ["labelmarkno", "labelmarkyes"] * (ROWS // 2)
    file = folder / "filemark.csv"
    rows = [[*row, words[at % 4], targets[at]] for at, row in enumerate(numbers)]
    file.write_text("\n".join(",".join(map(str, row)) for row in [columns, *rows]) + "\n")
    cells = [cell for row in rows for cell in row]
    values = [cell for cell in cells if isinstance(cell, float)]
    return file, [*columns, "labelmark", "filemark", *map(str, cells)], values


def as_bytes(texts: list[str], values: list[float]) -> Iterator[bytes]:
    for text in texts:
        yield text.encode()
        yield text.encode("utf-16-le")
        yield text.encode("utf-16-be")
    for value in values:
        for order in "<>":
            yield struct.pack(f"{order}d", value)


@pytest.mark.parametrize(("task", "model"), [("binary", "svm"), ("regression", "elastic-net")])
def test_a_dataset_of_marks_leaves_none_in_the_files_or_the_export(tmp_path, task, model):
    file, texts, values = marked_table(tmp_path, task)
    data = DataPlan(str(file), target="targetmark", task=task)
    plan, dataset = Plan(data, model, "random", trials=4, folds=3), read_data(data)
    kept, facts = tmp_path / "kept", metadata_of(build_problem(plan, dataset))
    with opened(kept / "history.sqlite3") as history:
        for event in tune(plan, dataset, history=lambda: opened(history.path)):
            if isinstance(event, RunStarted):
                texts.append(event.dataset["fingerprint"])
        history.export_to(kept / "history.json")
        (past,) = history.datasets_for(facts)
        assert len(past.scores) == 4
        names = {found.name for found in kept.iterdir()}
        assert {"history.sqlite3", "history.sqlite3-wal", "history.json"} <= names
        for found in kept.iterdir():
            content = found.read_bytes()
            assert not [mark for mark in as_bytes(texts, values) if mark in content]
            assert found.name.startswith("history")
    # The search finds what is there: the same marks in the file that holds them.
    held = file.read_bytes()
    assert sum(mark in held for mark in as_bytes(texts, values)) > ROWS


def test_an_export_holds_these_entries_and_no_others(history, tmp_path):
    history.add_trial(history.begin_dataset(facts_of(())), 0, {"age": 77}, 0.5)
    history.export_to(tmp_path / "history.json")
    (dataset,) = json.loads((tmp_path / "history.json").read_text())["datasets"]
    assert dataset.keys() == {
        *("id", "began", "model", "task", "metric", "strategy", "maximize"),
        *("statistics", "axes", "trials"),
    }
    assert dataset["trials"] == [[0, 0.5]]
