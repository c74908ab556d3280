"""The program in a folder full of traps: modules and settings that a download may hold.

Every kind of run is started there, from the checkout and from a wheel: trials one at a time and
several, an average, a penalty learner of sequences, the window's worker and its evaluator.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # whole programs, and a wheel
ROOT = Path(__file__).parents[2]
EXECUTED = "executed"
MODULES = ("core", "numpy", "pandas", "random", "scipy", "sklearn", "optuna", "joblib", "PySide6")
# What Python itself imports before it comes to a program that is started with -m.
EARLY = ("app", "contextlib", "threading", "typing", "__future__", "signal", "pickle", "socket")
NUMBA = "cache_dir: {trap}/cache\ndisable_jit: 1\n"
COMMANDS = """
import json, sys
import app.__main__ as program

def drive(file):
    from PySide6.QtCore import QCoreApplication, QTimer
    from app.session.session import Session
    from app.worker.evaluator_process import EvaluationRequest
    from core.tuning.events import SurrogateFitted
    app, said = QCoreApplication([]), []
    session = Session()

    def begin():
        if said == []:
            said.append("planned")
            session.choose_model("svm")
            session.set_plan(strategy="gp", options={}, trials=2, workers=2, folds=2)
            QTimer.singleShot(0, session.start)

    def look():
        if session.state == "finished" and said == ["planned"]:
            said.append("finished")
            session.evaluate(EvaluationRequest("v", 7, (), SurrogateFitted(), ("x",)))

    def answered(reply):
        said.append(reply.problem or "answer")
        session.shutdown()
        app.quit()

    def trouble(sentence):
        print(sentence, flush=True)
        session.shutdown()
        app.exit(1)

    session.plan_changed.connect(begin)
    session.run_changed.connect(look)
    session.evaluated.connect(answered)
    session.problem.connect(trouble)
    QTimer.singleShot(0, lambda: session.open_sample("iris"))
    status = app.exec()
    print(said)
    return status

program.open_window = drive
if __name__ == "__main__":
    sys.exit(max(program.main(command) for command in [*json.loads(sys.argv[1]), []]))
"""


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder in which whatever is executed leaves a mark beside it."""
    folder = tmp_path / "download"
    bite = f"open({str(tmp_path / EXECUTED)!r}, 'a').write(__file__ + ' ')\n"
    bite += "raise SystemExit('trap')\n"
    modules = [f"{name}.py" for name in (*MODULES, *EARLY, "sitecustomize", "usercustomize")]
    modules += [f"{name}/__init__.py" for name in ("core", "app", "tunescope")]
    for name in (*modules, "app/__main__.py", "tunescope/__main__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(bite)
    (folder / ".numba_config.yaml").write_text(NUMBA.format(trap=folder))
    return folder


Start = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def start(trap: Path, tmp_path: Path) -> Iterator[Start]:
    """Run a Python command in the trap, with the program in a folder of its own."""
    scratch = tempfile.TemporaryDirectory()  # of a short name: sockets lie in it

    def run(program: Path, *command: str) -> subprocess.CompletedProcess[str]:
        places = {name: str(tmp_path / name) for name in ("runs", "history", "key")}
        env = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
        env |= {f"TUNESCOPE_{name.upper()}": place for name, place in places.items()}
        env |= {"PYTHONPATH": str(program), "TMPDIR": scratch.name}
        env |= {"QT_QPA_PLATFORM": "offscreen"}
        ran = run_python(*command, cwd=trap, env=env)
        mark = tmp_path / EXECUTED
        assert not mark.exists(), mark.read_text()
        assert not (trap / "cache").exists()
        assert "No setting could be scored" not in ran.stderr
        return ran

    with scratch:
        yield run


def run_python(*command: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=env, capture_output=True, text=True, timeout=280
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as a wheel installs it."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed here")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    into = folder / "installed"
    install = [*pip, "install", "--no-deps", "--target", str(into), str(built)]
    subprocess.run(install, check=True, capture_output=True, cwd=folder)
    return into


def script(tmp_path: Path, text: str) -> str:
    """A command as an installation puts it into a folder of its own."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    path = tmp_path / "bin" / "tunescope"
    path.write_text(text)
    return str(path)


def tune(sample: str, model: str, strategy: str, *more: str) -> list[str]:
    return ["tune", f"sample:{sample}", "--model", model, "--strategy", strategy, *more, "--json"]


@pytest.mark.parametrize("place", ["checkout", "wheel"])
def test_every_kind_of_run_on_the_command_line_and_in_the_window(
    place: str, request: pytest.FixtureRequest, start: Start, tmp_path: Path
) -> None:
    program = ROOT if place == "checkout" else request.getfixturevalue("wheel")
    commands = [
        tune("iris", "svm", "gp", "--trials", "2", "--workers", "2", "--option", "folds=2"),
        tune("iris", "logistic", "eb-hyp", "--trials", "2", "--option", "folds=2"),
        tune("iris", "logistic", "mm", "--evaluation", "test"),
    ]
    if place == "checkout":  # an installation that is new compiles for a minute first
        commands.append(tune("tags", "crf", "mm", "--groups", "single"))
    ran = start(program, script(tmp_path, COMMANDS), json.dumps(commands))
    *results, window = ran.stdout.splitlines()
    assert [json.loads(line)["trials"] for line in results] == [2, 2, 0, 0][: len(commands)]
    assert window.startswith("['planned', 'finished', ")


def test_numba_takes_no_settings_from_there(
    start: Start, trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)  # of the tests, strangers have none
    code = "from core.losses.compiled import compiled\nfrom numba.core import config\n"
    code += "add = compiled(lambda a: a + 1.0)\nassert add(1.0) == 2.0\n"
    code += "print([config.CACHE_DIR, config.DISABLE_JIT])\n"
    plain = "from numba.core import config\nprint([config.CACHE_DIR, config.DISABLE_JIT])\n"
    # The environment may name a folder of its own for compiled functions.
    output = start(ROOT, script(tmp_path, code)).stdout
    assert str(trap) not in output
    assert output.endswith(", 0]\n")
    # Without us the settings of the folder count.
    assert start(ROOT, script(tmp_path, plain)).stdout.endswith(", 1]\n")


@pytest.mark.parametrize(
    ("package", "command", "said"),
    [
        ("app", tune("iris", "logistic", "random", "--trials", "1"), '"trials": 1'),
        ("tunescope", ["models"], "svm"),
    ],
)
def test_started_as_a_module(
    start: Start, trap: Path, package: str, command: list[str], said: str
) -> None:
    """Python itself looks into the folder before it comes to the program, but no further."""
    start(ROOT, "-P", "-m", package, "models")
    for name in {*EARLY} - {"app"}:
        (trap / f"{name}.py").unlink()
    if package == "app":
        (trap / "app.py").unlink()
    shutil.rmtree(trap / package)
    assert said in start(ROOT, "-m", package, *command).stdout


def test_a_checkout_may_be_the_working_folder(tmp_path: Path) -> None:
    """There `python -m app` needs no installation, and neither do its processes."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    env |= {"TUNESCOPE_RUNS": str(tmp_path / "runs")}
    command = ("-m", "app", *tune("iris", "logistic", "random", "--trials", "1"))
    assert json.loads(run_python(*command, cwd=ROOT, env=env).stdout)["trials"] == 1


PATHS = """
import os, sys
from app.__main__ import leave_working_folder
leave_working_folder()
print([place for place in sys.path if os.path.realpath(place or '.') == os.getcwd()])
print(os.environ['PYTHONPATH'].split(os.pathsep), os.environ['PYTHONSAFEPATH'])
"""


@pytest.mark.parametrize("given", ["", ":", ".:", "{here}:"])
def test_the_path_loses_the_working_folder_unless_it_is_named(tmp_path: Path, given: str) -> None:
    asked = f"{given}{ROOT}".format(here=tmp_path).replace(":", os.pathsep)
    ran = run_python("-c", PATHS, cwd=tmp_path, env=os.environ | {"PYTHONPATH": asked})
    named = [str(tmp_path)] if "here" in given else []
    assert ran.stdout.splitlines() == [str(named), f"{[*named, str(ROOT)]} 1"]


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_the_working_folder_may_be_gone(tmp_path: Path) -> None:
    code = "import os\nos.rmdir(os.getcwd())\n" + PATHS.split("print")[0] + "print('left')"
    (tmp_path / "gone").mkdir()
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = run_python(script(tmp_path, code), cwd=tmp_path / "gone", env=env)
    assert ran.stdout == "left\n"
