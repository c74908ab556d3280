"""Ways in where there is no display, one that does not answer, or not all that Qt needs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest

from app.diagnostics.displays import PACKAGES

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="displays are reached otherwise there")
NOISE = ("qt.qpa", "Traceback", "Aborted", "core dumped")


def start(tmp_path, *arguments, before=(), status=2, **variables):
    """What the program says that is started as a person does, on a machine without a display."""
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
    assert ended.returncode == status
    return ended.stderr


@pytest.fixture
def fake(tmp_path):
    """A PySide6 of a few files that is found before the real one."""

    def make(**files):
        folder = tmp_path / "fake" / "PySide6"
        folder.mkdir(parents=True)
        for name, code in files.items():
            (folder / f"{name}.py").write_text(f"{code}\n")
        return folder

    return make


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
    said = start(tmp_path, **variables)
    assert said.startswith(f"tunescope: {why}")
    assert HOW in said
    assert said.count("\n") == 2


@linux
def test_a_file_is_tuned_in_the_terminal_and_a_model_is_not(tmp_path):
    # A header alone is refused, so that nothing is tuned.
    (tmp_path / "few.csv").write_text("a,b,ill\n", encoding="utf-8")
    said = start(tmp_path, "few.csv")
    assert "tunescope: there is no display here.\n" in said
    assert "Without a window, few.csv is tuned in the terminal.\n" in said
    assert said.splitlines()[-1].startswith("tunescope: few.csv")
    (tmp_path / "best.skops").touch()
    said = start(tmp_path, "best.skops")
    assert "tunescope predict best.skops FILE predicts with this model.\n" in said


@linux
def test_a_library_of_the_system_is_named_with_the_command_that_brings_it(tmp_path, fake):
    lacking = "libEGL.so.1: cannot open shared object file: No such file or directory"
    folder = fake(__init__="__version__ = '6.11.3'", QtWidgets=f"raise ImportError({lacking!r})")
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    shutil.copy("/bin/true", apt)
    first, *_ = start(
        tmp_path, before=[folder.parent], DISPLAY=":0", PATH=str(apt.parent)
    ).splitlines()
    assert "needs libEGL.so.1, a library of the system that is missing here; install it" in first
    sudo = "" if os.geteuid() == 0 else "sudo "
    assert f"with: {sudo}apt-get update && {sudo}apt-get install -y {PACKAGES}" in first
    # The self-test asks before it imports what cannot be imported.
    said = start(tmp_path, "--self-test", before=[folder.parent], status=1)
    assert said.startswith("tunescope: the window needs libEGL.so.1")


@linux
def test_a_plugin_that_lacks_a_library_is_told_from_a_display_that_is_gone(tmp_path, fake):
    real, folder = Path(PySide6.__file__).parent, fake()
    plugin = folder / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("no library")
    for part in real.iterdir():
        if part.name not in ("Qt", "__init__.py"):
            (folder / part.name).symlink_to(part)
    (folder / "Qt" / "lib").symlink_to(real / "Qt" / "lib")
    shutil.copy(real / "__init__.py", folder)
    said = start(tmp_path, before=[folder.parent], DISPLAY=":77")
    assert "libqxcb.so, a library of the system that is missing here" in said


@linux
def test_without_pyside_the_command_line_still_works(tmp_path, fake):
    before = [fake(__init__="raise ModuleNotFoundError(name='PySide6')").parent]
    said = start(tmp_path, before=before, DISPLAY=":0")
    assert "-m pip install PySide6-Essentials==" in said
    start(tmp_path, "samples", before=before, status=0)


def test_the_set_up_script_installs_the_same_packages():
    script = (ROOT / "packaging" / "environment.sh").read_text(encoding="utf-8")
    (listed,) = re.findall(r"QT_PACKAGES=\"(.*?)\"", script, flags=re.DOTALL)
    assert listed.replace("\\\n", " ").split() == PACKAGES.split()
