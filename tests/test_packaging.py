"""The set-up scripts on machines that lack something, and the files that describe the program."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = (
    *("packaging/run", "packaging/test", "packaging/build", "packaging/release"),
    *("packaging/test-wheel", "packaging/linux/install", "packaging/linux/uninstall"),
    *("packaging/linux/refresh", ".ci/run"),
)
TOOLS = (
    *("sh", "env", "dirname", "readlink", "cat", "cksum", "find", "head", "ldd", "rm", "sed"),
    *("sort", "tr", "tail", "uname"),
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for a POSIX shell")


@pytest.fixture
def checkout(tmp_path):
    """A folder with the set-up scripts and nothing that could be installed."""
    project = tmp_path / "tunescope"
    shutil.copytree(ROOT / "packaging", project / "packaging")
    shutil.copy(ROOT / "pyproject.toml", project)
    return project


@pytest.fixture
def machine(tmp_path):
    """A machine's programs: `machine(name, script)` adds one; a few plain tools are there."""
    programs = tmp_path / "bin"
    programs.mkdir()

    def add(name, script):
        program = programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    # Files of their own, never links: a test that replaces one must not reach the real one.
    for tool in TOOLS:
        add(tool, f'exec {shutil.which(tool)} "$@"')
    add("id", "echo 1000")
    return add


def start(checkout, tmp_path, *arguments, script="run", **variables):
    """Run a set-up script there as an ordinary person without a display."""
    return subprocess.run(
        [tmp_path / "bin" / "sh", checkout / "packaging" / script, *arguments],
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


# A Python that is new enough, and whose environments are programs that write down their calls.
PYTHON = """
case "$*" in
  *"version_info[:2]"*) echo python3.12-venv ;;
  *version_info*) exit 0 ;;
  *"import ensurepip"*) exit {ensurepip} ;;
  "-m pip --version") exit {pip} ;;
  --version) echo Python 3.12.1 ;;
  "-m venv"*)
    for folder in "$@"; do :; done
    /bin/mkdir -p "$folder/bin"
    /bin/cp "$0" "$folder/bin/python"
    printf '#!/bin/sh\\necho started "$@" >>"$HOME/calls"\\n' >"$folder/bin/tunescope"
    /bin/chmod +x "$folder/bin/tunescope" ;;
esac
echo "$@" >>"$HOME/calls"
"""


@posix
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_executable_and_parse(script):
    path = ROOT / script
    assert path.stat().st_mode & stat.S_IXUSR
    shell = "bash" if script == ".ci/run" else "sh"
    assert subprocess.run([shell, "-n", path], check=False).returncode == 0


@posix
@pytest.mark.parametrize("script", ["run", "test"])
def test_an_old_python_is_called_so_before_anything_is_installed(
    checkout, machine, tmp_path, script
):
    machine("python3", "[ $1 = --version ] && echo Python 3.9.2")
    machine("apt-get", "echo apt-get >>~/calls")
    machine("id", "echo 0")
    ended = start(checkout, tmp_path, script=script, DISPLAY=":0")
    assert ended.returncode == 1
    assert "Python 3.9 is too old: Tunescope needs Python 3.11 or newer." in ended.stderr
    assert not (tmp_path / "calls").exists()


@posix
@pytest.mark.parametrize(("person", "sudo"), [("0", ""), ("1000", "sudo ")])
def test_without_a_python_the_command_that_brings_it_is_told(
    checkout, machine, tmp_path, person, sudo
):
    machine("id", f"echo {person}")
    ended = start(checkout, tmp_path)
    assert ended.returncode == 1
    command = f"    {sudo}apt-get update && {sudo}apt-get install -y python3 python3-venv"
    assert command in ended.stderr.splitlines()


@posix
def test_a_python_without_venv_and_pip_names_the_package(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=1, pip=1))
    ended = start(checkout, tmp_path)
    assert ended.returncode == 1
    wanted = "sudo apt-get update && sudo apt-get install -y python3.12-venv"
    assert f"    {wanted}\n" in ended.stderr


@posix
def test_root_gets_the_package_installed(checkout, machine, tmp_path):
    machine(
        "python3",
        PYTHON.format(ensurepip="$([ -e ~/venv ]; echo $?)", pip="$([ -e ~/venv ]; echo $?)"),
    )
    machine("id", "echo 0")
    machine("mktemp", 'echo "$HOME/log"')
    machine(
        "apt-get", 'echo apt-get "$@" >>~/calls; case "$*" in *python3.12-venv) : >~/venv;; esac'
    )
    (tmp_path / "lib").mkdir()
    start(checkout, tmp_path, "models", TUNESCOPE_LIBRARIES=str(tmp_path / "lib"))
    calls = (tmp_path / "calls").read_text()
    assert "libegl1" not in calls  # of the window, for which there is no display
    assert "apt-get update" in calls
    assert "apt-get install -y --no-install-recommends python3.12-venv" in calls
    assert f"-m venv --clear {checkout}/.venv" in calls
    assert calls.strip().endswith("started models")


@posix
def test_pip_alone_is_enough_and_the_second_start_installs_nothing(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=1, pip=0))
    first = start(checkout, tmp_path, "models")
    assert first.returncode == 0, first.stderr
    calls = (tmp_path / "calls").read_text()
    assert f"-m pip --python {checkout}/.venv/bin/python install" in calls
    assert "--editable ." in calls
    start(checkout, tmp_path, "runs")
    again = (tmp_path / "calls").read_text().removeprefix(calls)
    assert "install" not in again
    assert again.strip().endswith("started runs")
    (checkout / "pyproject.toml").write_text("# changed\n")
    start(checkout, tmp_path, "runs")
    assert "--editable ." in (tmp_path / "calls").read_text().removeprefix(calls + again)


@posix
def test_without_a_display_a_sample_is_tuned_into_a_report(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    ended = start(checkout, tmp_path)
    calls = (tmp_path / "calls").read_text()
    assert "started tune sample:groups" in calls
    assert "--export tunescope-report.html" in calls
    assert f"The report: {os.getcwd()}/tunescope-report.html" in ended.stderr


def ready(checkout, machine, tmp_path):
    """An environment that one start has made; returns the calls so far."""
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    assert start(checkout, tmp_path, "models").returncode == 0
    return (tmp_path / "calls").read_text()


@posix
def test_a_moved_checkout_gets_a_new_environment(checkout, machine, tmp_path):
    before = ready(checkout, machine, tmp_path)
    moved = checkout.rename(tmp_path / "elsewhere here")
    ended = start(moved, tmp_path, "models")
    assert ended.returncode == 0
    assert f"cannot be used (it was made for {checkout}/.venv); it is made anew." in ended.stderr
    after = (tmp_path / "calls").read_text().removeprefix(before)
    assert f"-m venv --clear {moved}/.venv" in after
    assert "--editable ." in after


@posix
def test_an_environment_of_another_python_is_made_anew(checkout, machine, tmp_path):
    before = ready(checkout, machine, tmp_path)
    newer = PYTHON.format(ensurepip=0, pip=0).replace("Python 3.12.1", "Python 3.13.0")
    machine("python3", newer)
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{newer}\n")
    ended = start(checkout, tmp_path, "models")
    assert "it was made for Python 3.12, and there is Python 3.13 now" in ended.stderr
    assert "-m venv --clear" in (tmp_path / "calls").read_text().removeprefix(before)
    python.unlink()
    assert "its Python is gone" in start(checkout, tmp_path, "models").stderr


@posix
def test_an_installation_that_was_broken_off_goes_on(checkout, machine, tmp_path):
    failing = PYTHON.replace(
        '"-m pip --version")', '*"--editable"*) exit 1 ;;\n  "-m pip --version")'
    )
    machine("python3", failing.format(ensurepip=0, pip=0))
    ended = start(checkout, tmp_path, "models")
    assert ended.returncode == 1
    assert "needs a network connection" in ended.stderr
    assert "it continues from there" in ended.stderr
    working = PYTHON.format(ensurepip=0, pip=0)
    (checkout / ".venv" / "bin" / "python").write_text(f"#!/bin/sh\n{working}\n")
    ended = start(checkout, tmp_path, "models")
    assert ended.returncode == 0
    assert "made anew" not in ended.stderr
    assert (tmp_path / "calls").read_text().strip().endswith("started models")


@posix
def test_a_folder_that_is_no_environment_is_left_alone(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    precious = tmp_path / "precious" / "work.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    ended = start(checkout, tmp_path, TUNESCOPE_VENV=str(precious.parent))
    assert ended.returncode == 1
    assert "holds something that is no Python environment" in ended.stderr
    assert precious.read_text() == "mine"


@posix
def test_all_that_is_missing_is_asked_for_at_once_and_first(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=1, pip=1))
    machine("apt-get", "exit 1")
    nothing = tmp_path / "lib"
    nothing.mkdir()
    ended = start(checkout, tmp_path, script="test", TUNESCOPE_LIBRARIES=str(nothing))
    assert ended.returncode == 1
    (command,) = [line for line in ended.stderr.splitlines() if "apt-get" in line]
    assert command.startswith("    sudo apt-get update && sudo apt-get install -y python3.12-venv")
    assert "libegl1" in command
    assert command.endswith("fonts-dejavu-core xvfb xauth")
    assert not (checkout / ".venv").exists()


@posix
def test_with_a_display_the_missing_libraries_are_told_before_anything_is_made(
    checkout, machine, tmp_path
):
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    machine("apt-get", "exit 1")
    (tmp_path / "lib").mkdir()
    ended = start(checkout, tmp_path, DISPLAY=":0", TUNESCOPE_LIBRARIES=str(tmp_path / "lib"))
    assert ended.returncode == 1
    assert "sudo apt-get install -y libegl1" in ended.stderr
    assert not (checkout / ".venv").exists()


@posix
@pytest.mark.parametrize("relative", [True, False])
def test_a_symbolic_link_starts_it_too(checkout, machine, tmp_path, relative):
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    links = tmp_path / "links" / "deeper"
    links.mkdir(parents=True)
    target = Path("../../tunescope") if relative else checkout
    (links / "first").symlink_to(target / "packaging" / "run")
    (links.parent / "second").symlink_to(links / "first")
    command = [tmp_path / "bin" / "sh", links.parent / "second", "models"]
    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "calls").read_text().strip().endswith("started models")
    assert (checkout / ".venv").is_dir()


@posix
@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ((), ["columnar", "cluster"]),
        (("--extras", "none"), []),
        (
            ("--extras", "all"),
            ["columnar", "cluster", "onnx", "lightgbm", "xgboost", "catboost", "deep"],
        ),
    ],
)
def test_the_tests_get_the_extras_that_were_asked_for(checkout, machine, tmp_path, asked, wanted):
    machine("python3", PYTHON.format(ensurepip=0, pip=0))
    machine("Xvfb", ":")
    ended = start(checkout, tmp_path, *asked, "-k", "x", script="test")
    assert ended.returncode == 0, ended.stderr
    calls = (tmp_path / "calls").read_text()
    assert re.findall(r"started install (\S+)", calls) == wanted
    assert calls.splitlines()[-1].endswith("--dist worksteal -k x")


@posix
def test_an_extra_that_cannot_be_installed_is_named_once(checkout, machine, tmp_path):
    failing = PYTHON.replace("echo started", '[ "$2" != columnar ] || exit 1; echo started')
    machine("python3", failing.format(ensurepip=0, pip=0))
    machine("Xvfb", ":")
    ended = start(checkout, tmp_path, script="test")
    assert ended.returncode == 0
    assert ended.stderr.count("The extra columnar cannot be installed here") == 1


def test_the_desktop_entry_starts_the_command_with_a_file():
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(ROOT / "packaging" / "tunescope.desktop", encoding="utf-8")
    section = entry["Desktop Entry"]
    with (ROOT / "pyproject.toml").open("rb") as file:
        commands = tomllib.load(file)["project"]["scripts"]
    assert section["Exec"].split()[0] in commands
    assert section["Type"] == "Application"
    assert (ROOT / "resources" / "icons" / f"{section['Icon']}.svg").is_file()


def test_the_pages_for_people_link_to_files_that_are_there():
    for page in ("README.md", "CONTRIBUTING.md", "docs/guide.md"):
        folder = (ROOT / page).parent
        text = (ROOT / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
            if not link.endswith(".png"):
                assert (folder / link).is_file(), f"{page}: {link}"


def test_the_guide_shows_commands_and_strategies_that_exist():
    from app.__main__ import COMMANDS
    from core.tuning.strategies.registry import STRATEGIES

    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^    tunescope (\S+)", text, flags=re.MULTILINE))
    assert shown <= set(COMMANDS)
    table = "".join(line for line in text.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([a-z-]+)`", table)) == set(STRATEGIES)
