import subprocess
import sys
from pathlib import Path

import PySide6
import pytest
from PySide6.QtWidgets import QLabel

import app.__main__ as program
from app.diagnostics.qt_versions import BAD, GOOD, refuse_bad_qt
from core.errors import UnusableError

ROOT = Path(__file__).parents[2]
HEAVY = ("pandas", "sklearn", "optuna", "scipy", "pyqtgraph")

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
    def close(self): pass
session = Session(runs_root=Path(sys.argv[1]).parent / "runs", worker=Still())
from app.window.window import Window
window = Window(session)
window.show()
window.grab()
print(sorted(set(sys.modules) & set({heavy!r})))
"""


def test_the_first_paint_needs_nothing_heavy(tmp_path):
    code = SHOW.replace("{heavy!r}", repr(HEAVY))
    command = [sys.executable, "-c", code, str(tmp_path / "settings.ini")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_known_commands_go_to_the_command_line(monkeypatch):
    import app.cli

    given = []
    monkeypatch.setattr(app.cli, "main", lambda arguments: given.append(arguments) or 7)
    assert program.main(["tune", "heart.csv"]) == 7
    assert program.main(["--help"]) == 7
    assert given == [["tune", "heart.csv"], ["--help"]]


def test_everything_else_opens_the_window(monkeypatch, tmp_path):
    opened = []
    monkeypatch.chdir(tmp_path)
    Path("heart.csv").write_text("age,ill\n", encoding="utf-8")
    monkeypatch.setattr(program, "open_window", lambda file: opened.append(file) or 0)
    assert program.main([]) == 0
    assert program.main(["heart.csv"]) == 0
    assert opened == ["", "heart.csv"]


def test_two_files_are_refused_in_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("age,ill\n", encoding="utf-8")
    assert program.main(["a.csv", "b.csv"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_command_of_the_parser_is_known():
    from app.cli.commands import parser

    actions = [a for a in parser()._actions if getattr(a, "choices", None)]
    assert set(actions[0].choices) == set(program.COMMANDS)


def test_bad_versions_of_qt_are_refused_with_reason_and_cure():
    for (version, pythons), why in BAD.items():
        python = tuple(map(int, pythons[0].split("."))) if pythons else (3, 11)
        with pytest.raises(UnusableError, match=GOOD.replace(".", r"\.")) as caught:
            refuse_bad_qt(version, python)
        assert why in caught.value.sentence


def test_the_version_in_use_is_not_a_bad_one():
    refuse_bad_qt(PySide6.__version__)
    refuse_bad_qt("6.12.0", (3, 13))


def test_void_calls_keep_the_references_to_none(qapp):
    label = QLabel()
    before = sys.getrefcount(None)
    for _ in range(1000):
        label.setText("x")
    assert abs(sys.getrefcount(None) - before) < 100
