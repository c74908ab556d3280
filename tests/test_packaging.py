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
SCRIPTS = ("packaging/run", "packaging/test", ".ci/run")
TOOLS = ("bash", "env", "dirname", "cat", "cksum", "find", "ldd", "rm", "sed", "sort", "uname")

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


def start(checkout, tmp_path, *arguments, script="run"):
    """Run a set-up script there as an ordinary person without a display."""
    return subprocess.run(
        [tmp_path / "bin" / "bash", checkout / "packaging" / script, *arguments],
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
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
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0


@posix
def test_an_old_python_is_not_enough(checkout, machine, tmp_path):
    machine("python3", "exit 1")  # what it says of its version
    ended = start(checkout, tmp_path)
    assert ended.returncode == 1
    assert "Python 3.11 or newer" in ended.stderr
    assert "sudo apt-get install python3 python3-venv" in ended.stderr


@posix
def test_a_python_without_venv_and_pip_names_the_package(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=1, pip=1))
    ended = start(checkout, tmp_path)
    assert ended.returncode == 1
    assert "    sudo apt-get install python3.12-venv\n" in ended.stderr


@posix
def test_root_gets_the_package_installed(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip="$([ -e ~/venv ]; echo $?)", pip=0))
    machine("id", "echo 0")
    machine("mktemp", 'echo "$HOME/log"')
    machine(
        "apt-get", 'echo apt-get "$@" >>~/calls; case "$*" in *python3.12-venv) : >~/venv;; esac'
    )
    start(checkout, tmp_path, "models")
    calls = (tmp_path / "calls").read_text()
    assert "apt-get update" in calls
    assert "apt-get install -y --no-install-recommends python3.12-venv" in calls
    assert "-m venv --clear .venv" in calls
    assert calls.strip().endswith("started models")


@posix
def test_pip_alone_is_enough_and_the_second_start_installs_nothing(checkout, machine, tmp_path):
    machine("python3", PYTHON.format(ensurepip=1, pip=0))
    first = start(checkout, tmp_path, "models")
    assert first.returncode == 0, first.stderr
    calls = (tmp_path / "calls").read_text()
    assert "-m pip --python .venv/bin/python install" in calls
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
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
            if not link.endswith(".png"):
                assert (ROOT / link).is_file(), f"{page}: {link}"


def test_the_read_me_shows_commands_and_strategies_that_exist():
    from app.__main__ import COMMANDS
    from core.tuning.strategies.registry import STRATEGIES

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^    tunescope (\S+)", text, flags=re.MULTILINE))
    assert shown <= set(COMMANDS)
    table = "".join(line for line in text.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([a-z-]+)`", table)) == set(STRATEGIES)
