"""The file of the history: damaged, newer, older, read-only, full, or in the hands of others."""

import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from core.errors import UnusableError
from core.space import Axis
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History

AXES = (Axis("C", "Trust", "float", 0.01, 100.0, log=True, default=1.0),)
FACTS = RunMetadata("svm", "binary", "accuracy", True, statistics_of(100, 4, 2), "gp", AXES)


def opened(path: Path) -> History:
    return History(path, starter=False)


def remember(path: Path, *values: float) -> str:
    with opened(path) as history:
        id = history.begin_dataset(FACTS)
        for number, value in enumerate(values or (1.0, 2.0, 3.0)):
            history.add_trial(id, number, {"C": value}, value / 10)
    return id


def remembered(path: Path) -> list[tuple]:
    with opened(path) as history:
        return [one.settings for one in history.datasets_for(FACTS)]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "data" / "history.sqlite3"


# -------------------------------------------------------------------------------------- versions


def test_a_file_of_the_first_version_is_brought_up_to_date(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as old:
        old.execute(
            "CREATE TABLE datasets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
            "began TEXT NOT NULL, model TEXT NOT NULL, task TEXT NOT NULL, metric TEXT NOT NULL, "
            "maximize INTEGER NOT NULL, strategy TEXT NOT NULL, log_rows REAL NOT NULL, "
            "log_features REAL NOT NULL, classes REAL NOT NULL)"
        )
        old.execute(
            "CREATE TABLE trials (dataset INTEGER NOT NULL, number INTEGER NOT NULL, setting TEXT "
            "NOT NULL, score REAL NOT NULL, PRIMARY KEY (dataset, number)) WITHOUT ROWID"
        )
        about = ("2026-01-02T03:04:05+00:00", "svm", "binary", "accuracy", 1, "gp", 5.0, 1.4, 2.0)
        for number, id in ((1, "aa"), (2, "bb")):
            old.execute("INSERT INTO datasets VALUES (?,?,?,?,?,?,?,?,?,?,?)", (number, id, *about))
        trials = [(1, 0, {"C": 1.5, "k": "a"}, 0.5), (1, 1, {"k": "b", "C": 2.5}, 0.6)]
        for at, number, setting, score in [*trials, (2, 4, {"C": 9.0, "k": "a"}, 0.7)]:
            row = (at, number, json.dumps(setting), score)
            old.execute("INSERT INTO trials VALUES (?,?,?,?)", row)
        old.execute("PRAGMA application_id = 1416982117")
        old.execute("PRAGMA user_version = 1")
    old.close()
    both = RunMetadata(
        **{**vars(FACTS), "axes": (*AXES, Axis("k", "", "choice", choices=("a", "b")))}
    )
    with opened(path) as history:
        first, second = history.datasets_for(both)
        assert history.notices == []
        assert history.enabled
    assert first.settings == ({"C": 1.5, "k": "a"}, {"C": 2.5, "k": "b"})
    assert (second.settings, second.scores) == (({"C": 9.0, "k": "a"},), (0.7,))
    assert first.statistics == (5.0, 1.4, 2.0)


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(path):
    remember(path)
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(UnusableError, match=r"newer version \(99\)"):
        opened(path)
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 2")
    newer.close()
    assert len(remembered(path)) == 1


def test_another_program_s_database_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()
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
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE trials")
    database.close()


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


def test_a_folder_in_its_place_is_a_sentence(path):
    path.mkdir(parents=True)
    with pytest.raises(UnusableError, match="a folder where the history should be"):
        opened(path)


def test_a_place_that_cannot_be_a_folder_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableError, match="cannot be kept here"):
        opened(tmp_path / "file" / "history.sqlite3")


def test_values_changed_by_hand_are_passed_over(path):
    remember(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE trials SET setting = '[1.0' WHERE number = 1")
        database.execute("UPDATE trials SET setting = '{}' WHERE number = 2")
    database.close()
    assert remembered(path) == [({"C": 1.0},)]


# ---------------------------------------------------------------------- what may not be written

AS_ANOTHER = """
import os, sys
from pathlib import Path
from core.errors import UnusableError
from core.tuning.history.store import History, RunMetadata
from test_database import FACTS
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
    run = subprocess.run(
        [sys.executable, "-c", AS_ANOTHER, str(path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def public():
    """A path that others may reach, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data" / "history.sqlite3"
        (Path(folder) / "data").chmod(0o755)


@pytest.fixture
def locked_folder(public):
    remember(public)
    public.chmod(0o444)
    public.parent.chmod(0o555)
    return public


def test_a_read_only_history_is_used_and_says_that_nothing_is_added(locked_folder):
    said = as_another(locked_folder)
    assert "begun ''" in said
    assert "read [({'C': 1.0}, {'C': 2.0}, {'C': 3.0})] 1" in said
    assert "nothing is added" in said
    assert "kept" in said
    assert len(remembered(locked_folder)) == 1


def test_a_read_only_file_in_a_folder_of_ones_own_is_read(public):
    remember(public)
    public.chmod(0o444)
    public.parent.chmod(0o777)
    said = as_another(public)
    assert "read [({'C': 1.0}, {'C': 2.0}, {'C': 3.0})] 1" in said
    assert "begun ''" in said


def test_trials_of_a_program_that_still_runs_are_read_from_a_read_only_folder(public):
    history = opened(public)
    history.add_trial(history.begin_dataset(FACTS), 0, {"C": 4.0}, 0.5)
    for file in public.parent.iterdir():
        file.chmod(0o444)
    public.parent.chmod(0o555)
    said = as_another(public)
    history.close()
    assert "read [({'C': 4.0},)] 1" in said


def test_a_history_that_may_not_even_be_read_is_a_sentence(public):
    remember(public)
    public.chmod(0o000)
    public.parent.chmod(0o555)
    said = as_another(public)
    assert said.startswith("refused")


def test_a_damaged_file_that_cannot_be_renamed_is_a_sentence(locked_folder):
    locked_folder.chmod(0o644)
    foreign(locked_folder)
    locked_folder.chmod(0o444)
    said = as_another(locked_folder)
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
    with opened(path) as history:
        id = history.begin_dataset(FACTS)
        history.add_trial(id, 0, {"C": 1.0}, 0.5)
        history._file.database.execute("PRAGMA max_page_count = 8")
        names = tuple(Axis(f"{'x' * 2000}{place}", "", "float") for place in range(20))
        assert history.begin_dataset(RunMetadata(**{**vars(FACTS), "axes": names})) == ""
        (notice,) = history.notices
        assert "the disk is full" in notice
        assert "Nothing is added to the history." in notice
        assert [one.id for one in history.datasets_for(FACTS)] == [id]
