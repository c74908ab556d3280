"""How the program starts: what it imports by then, what its words open, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import PySide6
import pytest
from PySide6.QtWidgets import QLabel

import app.__main__ as program
import app.cli
from app.cli.commands import build_parser
from app.diagnostics.crash_reports import FaultFile
from app.diagnostics.displays import BAD, GOOD, refuse_bad_qt
from app.preferences import preferences
from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.run_folder import RunFolder

ROOT = Path(__file__).parents[2]

SHOW = """
import sys
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication
from pathlib import Path
from app.look import appearance
from app.preferences import preferences as settings
settings.use_file(Path(sys.argv[1]))
app = QApplication([])
appearance.start(app)
from app.session.session import Session
class Still(QObject):
    arrived = Signal(list)
    def start(self): pass
    def ask(self, request): pass
    def leave(self): pass
    def shutdown(self): pass
session = Session(runs_root=Path(sys.argv[1]).parent / "runs", worker=Still())
from app.window.window import Window
window = Window(session)
window.show()
window.grab()
print(*sys.modules)
"""


def printed(code, *arguments):
    """The words that a process prints which runs this code."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_first_paint_needs_nothing_heavy(tmp_path):
    heavy = {"numpy", "pandas", "sklearn", "optuna", "scipy", "pyqtgraph"}
    assert not heavy & set(printed(SHOW, str(tmp_path / "settings.ini")))


def test_processes_limit_their_threads_before_numpy_comes():
    code = "import sys, app.worker.worker_process, app.worker.evaluator_process"
    assert "numpy" not in printed(f"{code}; print(*sys.modules)")


def test_the_worker_is_ready_and_reads_without_compilers_and_columns():
    code = """
import sys
from app.worker import engine, messages
from core.tuning.plan import DataPlan
made = engine.Engine()
made.warm_up()
made.answer(messages.OpenData(DataPlan("sample:iris")))
print(*sys.modules)
"""
    assert not {"numba", "llvmlite", "python_calamine", "sqlalchemy"} & set(printed(code))


def test_the_worker_reads_a_table_of_numbers_before_it_imports_scikit_learn(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n" + "".join(f"{n},{n * n % 7},{3 * n + 1}\n" for n in range(60)))
    code = """
import sys
from app.worker import engine, messages
from core.tuning.plan import DataPlan
opened = engine.Engine().answer(messages.OpenData(DataPlan(sys.argv[1], target="y")))
print(type(opened).__name__)
print(*sys.modules)
"""
    answer, *modules = printed(code, str(table))
    assert answer == "Opened"
    assert not {"sklearn", "scipy.stats"} & set(modules)


def test_penalties_are_tuned_without_what_only_trials_need():
    code = """
import sys
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.tune import tune
plan = Plan(DataPlan("sample:clinic"), "logistic", "mm")
for event in tune(plan, read_data(plan.data)):
    if type(event).__name__ == "TuningEnded":
        break
print(type(event).__name__, *sys.modules)
"""
    last, *modules = printed(code)
    assert last == "TuningEnded"
    assert not {"optuna", "sqlalchemy", "skops"} & set(modules)


def test_known_commands_go_to_the_command_line(monkeypatch):
    given = []
    monkeypatch.setattr(app.cli, "main", lambda arguments: given.append(arguments) or 7)
    assert program.main(["tune", "heart.csv"]) == 7
    assert program.main(["--help"]) == 7
    assert given == [["tune", "heart.csv"], ["--help"]]
    actions = [a for a in build_parser()._actions if getattr(a, "choices", None)]
    assert set(actions[0].choices) == set(program.COMMANDS)


def test_everything_else_opens_the_window_but_two_files_at_once(monkeypatch, tmp_path, capsys):
    opened = []
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("age,ill\n", encoding="utf-8")
    monkeypatch.setattr(program, "open_window", lambda file: opened.append(file) or 0)
    assert program.main([]) == 0
    assert program.main(["a.csv"]) == 0
    assert program.main(["a.csv", "b.csv"]) == 2
    assert opened == ["", "a.csv"]
    assert capsys.readouterr().err.count("\n") == 1


def test_bad_versions_of_qt_are_refused_with_reason_and_cure():
    for (version, pythons), why in BAD.items():
        python = tuple(map(int, pythons[0].split("."))) if pythons else (3, 11)
        with pytest.raises(UnusableError, match=GOOD.replace(".", r"\.")) as caught:
            refuse_bad_qt(version, python)
        assert why in caught.value.sentence
    refuse_bad_qt(PySide6.__version__)
    refuse_bad_qt("6.12.0", (3, 13))


def test_void_calls_keep_the_references_to_none(qapp):
    label = QLabel()
    before = sys.getrefcount(None)
    for _ in range(1000):
        label.setText("x")
    assert abs(sys.getrefcount(None) - before) < 100


def test_an_old_python_is_told(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert program.main(["models"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("tunescope: it needs Python 3.11 or newer, and this is Python 3.9 (")
    assert said.count("\n") == 1


def test_a_process_that_ends_at_once_ends_in_order():
    code = """
import atexit, concurrent.futures, sys, threading, time, app.__main__ as program
concurrent.futures.ThreadPoolExecutor().submit(int).result()
atexit.register(print, "at its end")
threading.Thread(target=lambda: (time.sleep(.1), print("of a thread"))).start()
sys.stdout.write("not written yet, ")
program.end_process(3)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == "not written yet, of a thread\nat its end\n"


def test_half_an_installation_is_told(tmp_path):
    (tmp_path / "pandas.py").write_text("raise ModuleNotFoundError(name='pandas')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "app", "tune", "sample:iris"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "tunescope: the installation is not whole, pandas is missing in " in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_needed_is_what_is_installed_with_the_program():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=]", one)[0].replace("-", "_") for one in listed["dependencies"]}
    other_names = {"scikit_learn": "sklearn", "markdown_it_py": "markdown_it"}
    modules = {other_names.get(name, name) for name in names}
    assert modules - {"PySide6_Essentials"} == {*program.NEEDED} - {"core", "resources"}
    assert listed["requires-python"] == f">={program.MIN_PYTHON[0]}.{program.MIN_PYTHON[1]}"


def test_a_home_that_cannot_be_written_is_told_and_the_window_opens(monkeypatch):
    def refuse():
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(preferences, "settings_folder", refuse)
    faults = FaultFile()
    assert "cannot be written (Permission denied); it is forgotten" in faults.fault
    faults.watch_crashes()
    assert faults.earlier_crash_text() == ""
    faults.close()


def test_runs_that_cannot_be_kept_name_the_place_and_the_cure(monkeypatch, tmp_path):
    place = tmp_path / "home" / "runs"
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("TUNESCOPE_RUNS", str(place))
    with pytest.raises(UnusableError) as refused:
        RunFolder.create(Plan(DataPlan("sample:iris"), "svm", "random"))
    assert refused.value.sentence.startswith(f"{place}: the run cannot be")
    assert "TUNESCOPE_RUNS" in refused.value.sentence
