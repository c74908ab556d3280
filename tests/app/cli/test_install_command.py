"""Extras are installed where this very program runs, or a sentence says why they cannot be."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app.cli import install_command as command
from app.cli import main
from core import extras
from core.extras import EXTRAS, install_command

ROOT = Path(__file__).parents[3]


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """What would be run, in an environment where nothing of an extra is there."""
    ran = []

    def run(command, **given):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(command.subprocess, "run", run)
    monkeypatch.setattr(command, "is_there", lambda name: bool(ran))
    monkeypatch.setattr(command, "_is_managed", lambda: False)
    monkeypatch.setattr(command.sysconfig, "get_path", lambda name: str(tmp_path))
    return ran


def test_the_extras_are_those_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["optional-dependencies"]

    def whole(wanted):
        for one in wanted:
            if one.startswith("tunescope["):
                names = one.partition("[")[2].rstrip("]").split(",")
                yield from (inner for name in names for inner in whole(listed[name]))
            else:
                yield one

    assert {name: tuple(whole(listed[name])) for name in listed if name != "test"} == EXTRAS


def test_pip_gets_the_specifiers_in_this_environment(pip, capsys):
    assert main(["install", "lightgbm", "columnar", "more"]) == 0
    (command,) = pip
    wanted = ["lightgbm>=4.5", "pyarrow>=19", "xgboost>=2.1", "catboost>=1.2.7"]
    assert command == [sys.executable, "-m", "pip", "install", *wanted]
    told = capsys.readouterr().out
    assert "Installed: lightgbm, columnar, more." in told


def test_a_dry_run_says_it_and_runs_nothing(pip, capsys):
    assert main(["install", "deep", "--dry-run"]) == 0
    assert pip == []
    assert "-m pip install 'jax>=0.4.35'" in capsys.readouterr().out


def test_what_is_there_is_not_installed_but_can_be_repaired(pip, capsys, monkeypatch):
    monkeypatch.setattr(command, "is_there", lambda name: True)
    assert main(["install", "onnx"]) == 0
    assert capsys.readouterr().out == "onnx is installed already.\n"
    assert pip == []
    assert main(["install", "onnx", "--again"]) == 0
    assert pip[0][4:] == ["--force-reinstall", "--no-deps", *EXTRAS["onnx"]]


def test_a_failure_says_how_it_goes_on(pip, capsys, monkeypatch):
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(command.subprocess, "run", lambda *given, **named: failed)
    assert main(["install", "deep"]) == 1
    assert "It needs a network connection" in capsys.readouterr().err


def test_without_a_name_the_extras_are_listed(pip, capsys):
    assert main(["install"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {name} " in told for name in EXTRAS)


def test_a_mistyped_extra_is_named(pip, capsys):
    assert main(["install", "lightbgm"]) == 2
    assert "there is no extra “lightbgm”; did you mean lightgbm?" in capsys.readouterr().err


def test_where_nothing_can_be_written_the_exact_line_is_printed(pip, capsys, monkeypatch):
    monkeypatch.setattr(command.os, "access", lambda place, mode: False)
    assert main(["install", "deep"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{sys.executable} -m pip install 'jax>=0.4.35'." in said
    assert pip == []


def test_a_python_of_the_system_is_left_alone(pip, capsys, monkeypatch):
    monkeypatch.setattr(command, "_is_managed", lambda: True)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert main(["install", "deep"]) == 2
    assert "this Python belongs to the system" in capsys.readouterr().err


def test_a_program_in_one_folder_cannot_be_added_to(pip, capsys, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert main(["install", "deep"]) == 2
    assert "was built as one folder" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["venv", "pipx"])
def test_an_environment_without_pip_says_what_brings_it(pip, capsys, monkeypatch, tmp_path, kind):
    place = tmp_path / kind / "venvs" / "tunescope"
    monkeypatch.setattr(command.sysconfig, "get_path", lambda name: str(place))
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert main(["install", "deep"]) == 2
    said = capsys.readouterr().err
    wanted = {"venv": "-m ensurepip.", "pipx": "pipx inject tunescope 'jax>=0.4.35'."}
    assert wanted[kind] in said


@pytest.mark.parametrize("on_path", ["ours", "other", "none"])
def test_the_command_is_the_one_that_reaches_this_program(monkeypatch, tmp_path, on_path):
    for folder in ("env", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tunescope").write_text("#!/bin/sh\n")
        (tmp_path / folder / "tunescope").chmod(0o755)
    monkeypatch.setattr(extras.sys, "executable", str(tmp_path / "env" / "python"))
    link = tmp_path / "bin" / "tunescope"  # as pipx makes it
    link.parent.mkdir()
    link.symlink_to(tmp_path / "env" / "tunescope")
    places = {"ours": link.parent, "other": tmp_path / "other", "none": tmp_path / "nowhere"}
    monkeypatch.setenv("PATH", str(places[on_path]))
    own = "tunescope" if on_path == "ours" else str(tmp_path / "env" / "tunescope")
    assert install_command("deep") == f"{own} install deep"
