"""Ways in where there is no display, one that does not answer, or not all that Qt needs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.diagnostics.displays import PACKAGES

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="displays are reached otherwise there")
NOISE = ("qt.qpa", "Traceback", "Aborted", "core dumped")


def start(tmp_path, *arguments, before=(), **variables):
    """The program started as a person does, on a machine without a display."""
    place = os.pathsep.join(map(str, (*before, ROOT)))
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "app", *arguments],
        env={**env, "PYTHONPATH": place, **variables},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not any(noise in ended.stderr for noise in NOISE), ended.stderr
    return ended


HOW = "Without a window, tunescope tune FILE tunes in the terminal; try tunescope tune sample:clin"


@linux
@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({}, "there is no display here"),
        ({"DISPLAY": ":77"}, "the display :77 does not answer"),
        ({"WAYLAND_DISPLAY": "wayland-77"}, "the display wayland-77 does not answer"),
        ({"QT_QPA_PLATFORM": "nothing"}, "Qt cannot open a window on the platform “nothing”"),
    ],
)
def test_the_window_says_what_to_do_instead(tmp_path, variables, why):
    ended = start(tmp_path, **variables)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"tunescope: {why}")
    assert HOW in ended.stderr
    assert ended.stderr.count("\n") == 2


@linux
def test_a_file_is_tuned_in_the_terminal(tmp_path):
    (tmp_path / "few.csv").write_text(
        "a,b,ill\n", encoding="utf-8"
    )  # a header alone: it is refused
    ended = start(tmp_path, "few.csv")
    assert ended.returncode == 2
    assert "tunescope: there is no display here.\n" in ended.stderr
    assert "Without a window, few.csv is tuned in the terminal.\n" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("tunescope: few.csv")


@linux
def test_a_model_file_is_not_tuned(tmp_path):
    (tmp_path / "best.skops").touch()
    ended = start(tmp_path, "best.skops")
    assert ended.returncode == 2
    assert "tunescope predict best.skops FILE predicts with this model.\n" in ended.stderr


@linux
def test_a_library_of_the_system_is_named_with_the_command_that_brings_it(tmp_path):
    fake = tmp_path / "fake" / "PySide6"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("__version__ = '6.11.3'\n")
    lacking = "libEGL.so.1: cannot open shared object file: No such file or directory"
    (fake / "QtWidgets.py").write_text(f"raise ImportError({lacking!r})\n")
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    shutil.copy("/bin/true", apt)
    ended = start(tmp_path, before=[fake.parent], DISPLAY=":0", PATH=str(apt.parent))
    assert ended.returncode == 2
    first = ended.stderr.splitlines()[0]
    assert "needs libEGL.so.1, a library of the system that is missing here; install it" in first
    assert f"sudo apt-get update && sudo apt-get install -y {PACKAGES}" in first


@linux
def test_a_plugin_that_lacks_a_library_is_told_from_a_display_that_is_gone(tmp_path):
    import PySide6

    real = Path(PySide6.__file__).parent
    fake = tmp_path / "fake" / "PySide6"
    (fake / "Qt" / "plugins" / "platforms").mkdir(parents=True)
    (fake / "Qt" / "plugins" / "platforms" / "libqxcb.so").write_text("no library")
    for part in real.iterdir():
        if part.name not in ("Qt", "__init__.py"):
            (fake / part.name).symlink_to(part)
    (fake / "Qt" / "lib").symlink_to(real / "Qt" / "lib")
    shutil.copy(real / "__init__.py", fake)
    ended = start(tmp_path, before=[fake.parent], DISPLAY=":77")
    assert "libqxcb.so, a library of the system that is missing here" in ended.stderr


@linux
def test_without_pyside_the_command_line_still_works(tmp_path):
    fake = tmp_path / "fake" / "PySide6"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ModuleNotFoundError(name='PySide6')\n")
    ended = start(tmp_path, before=[fake.parent], DISPLAY=":0")
    assert ended.returncode == 2
    assert "-m pip install PySide6-Essentials==" in ended.stderr
    assert start(tmp_path, "samples", before=[fake.parent]).returncode == 0


def test_the_set_up_script_installs_the_same_packages():
    script = (ROOT / "packaging" / "environment.sh").read_text(encoding="utf-8")
    (listed,) = re.findall(r"QT_PACKAGES=\"(.*?)\"", script, flags=re.DOTALL)
    assert listed.replace("\\\n", " ").split() == PACKAGES.split()
