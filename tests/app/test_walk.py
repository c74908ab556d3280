"""A real walk in a real window under a virtual display, with the real worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 240


@pytest.fixture(scope="module")
def display():
    """The environment of a virtual display of our own, or a skip with the reason."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("there is no virtual display on this machine (Xvfb is not installed)")
    read, write = os.pipe()
    server = subprocess.Popen(
        [program, "-displayfd", str(write), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    if not number:
        server.wait(10)
        pytest.skip("the virtual display did not start (Xvfb ended at once)")
    yield {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
    server.terminate()
    server.wait(10)


def walked(environment, folder, *words, program="walk.py"):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / program), str(folder), *words],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.xvfb
def test_all_six_steps_in_a_real_window_with_the_real_worker(display, tmp_path):
    said = walked(display, tmp_path)
    for step in ("data: ", "model: ", "strategy: ", "tune: ", "results: ", "export: ", "closed"):
        assert step in said
    assert (tmp_path / "taken.skops").stat().st_size > 0
    assert "sklearn" in (tmp_path / "taken.py").read_text(encoding="utf-8")
    assert (tmp_path / "end.png").stat().st_size > 10_000


def test_a_worker_killed_in_mid_run_costs_the_current_trial_only(tmp_path):
    said = walked({**os.environ, "QT_QPA_PLATFORM": "offscreen"}, tmp_path, "kill")
    assert "killed and gone on" in said
    assert "closed" in said


def test_the_first_button_of_every_page_finds_the_best_of_several_models(tmp_path):
    said = walked({**os.environ, "QT_QPA_PLATFORM": "offscreen"}, tmp_path, "several")
    assert "tune: Finding the best of " in said
    assert "picked another one" in said
    assert "closed" in said
    assert (tmp_path / "taken.skops").stat().st_size > 0
    assert "Which model is best?" in (tmp_path / "taken.html").read_text(encoding="utf-8")


@pytest.mark.xvfb
def test_a_person_walks_from_a_file_to_predictions_and_tidy_runs_by_keys_alone(display, tmp_path):
    said = walked(display, tmp_path, "keys", program="studio_walk.py")
    for step in ("undone, done again", "threshold: ", "predicted 25 rows", "renamed and noted",
                 "compared", "deleted and brought back", "closed"):  # fmt: skip
        assert step in said


def test_the_same_walk_by_the_mouse(tmp_path):
    said = walked(
        {**os.environ, "QT_QPA_PLATFORM": "offscreen"}, tmp_path, program="studio_walk.py"
    )
    assert "undone, done again" in said
    assert "deleted and brought back" in said
    assert "closed" in said
