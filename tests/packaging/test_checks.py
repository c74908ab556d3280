"""The checks of a change: each is run, and each one that fails is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("ruff", "mypy", "lint-imports")

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("git") is None, reason="a script for bash, with git"
)


def script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path):
    """A project whose checks are all well; what they do is written into `done`."""
    root = tmp_path / "checkout"
    (root / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", root / ".ci" / "run")
    for tool in TOOLS:
        script(root / ".venv" / "bin" / tool, f'echo {tool} "$@" | tee -a done')
    script(
        root / "packaging" / "test",
        "echo tests $TUNESCOPE_TEST_PROCESSES >>done; touch .venv/installed",
    )
    program = "mkdir -p dist/tunescope; cp packaging/program dist/tunescope/tunescope"
    script(root / "packaging" / "build", f'echo build "$@" >>done; {program}')
    script(root / "packaging" / "program", 'echo program "$@" >>done')
    return root


def run(root: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {k: v for k, v in os.environ.items() if not k.startswith("TUNESCOPE_")}
    return subprocess.run(
        [root / ".ci" / "run"],
        env=given | {"TUNESCOPE_CHECK_FROZEN": "yes"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def done(root: Path) -> list[str]:
    return sorted((root / "done").read_text().splitlines())


def test_every_check_is_run_and_the_program_tried(checkout):
    ended = run(checkout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("All checks passed.\n")
    processes = os.cpu_count() + 1
    expected = ["build --folder", "lint-imports", "mypy", "program --self-test", "ruff check"]
    assert done(checkout) == [*expected, "ruff format --check", f"tests {processes}"]


def test_every_check_that_fails_is_named_with_what_it_said(checkout):
    for tool in TOOLS:
        script(checkout / ".venv" / "bin" / tool, f"echo {tool} found something; exit 1")
    script(checkout / "packaging" / "test", "touch .venv/installed; exit 1")
    ended = run(checkout)
    assert ended.returncode == 1
    assert all(f"{tool} found something" in ended.stdout for tool in TOOLS)
    assert ended.stdout.splitlines()[-1] == "Failed: tests lint format types imports"
    assert "program --self-test" in done(checkout)  # what fails ends nothing else


def test_without_an_environment_nothing_is_waited_for(checkout):
    script(checkout / "packaging" / "test", "exit 1")
    ended = run(checkout)
    assert ended.returncode == 1
    assert "could not be made" in ended.stdout


@pytest.mark.parametrize("broken", ["build", "program"])
def test_a_program_that_cannot_be_built_or_does_not_work_fails(checkout, broken):
    script(checkout / "packaging" / broken, "echo something is missing; exit 1")
    ended = run(checkout)
    assert ended.returncode == 1
    assert "something is missing" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "Failed: frozen"


@pytest.mark.parametrize(
    ("asked", "processors", "tried"), [("no", 4, False), ("", 2, False), ("", 4, True)]
)
def test_a_small_machine_builds_it_only_where_it_is_asked_for(checkout, asked, processors, tried):
    script(checkout / "bin" / "getconf", f"echo {processors}")
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ended = run(checkout, TUNESCOPE_CHECK_FROZEN=asked, PATH=path)
    assert ended.returncode == 0
    assert ended.stdout.endswith("All checks passed.\n")
    assert ("program --self-test" in done(checkout)) is tried
    assert ("build --folder" in done(checkout)) is tried
    assert ("Left out" in ended.stdout) is not tried
