"""A real walk in a real window under a virtual display, with the real worker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xvfb]
ROOT = Path(__file__).parents[2]
PATIENCE = 280


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


@pytest.fixture
def walked(display, tmp_path):
    """Walks, and gives what was said of the steps."""

    def walk(name):
        done = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "walk.py"), str(tmp_path), name],
            env={**display, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "end.png").stat().st_size > 10_000
        return done.stdout

    return walk


def test_all_six_steps_by_the_mouse_and_a_killed_worker_costs_one_trial_only(walked, tmp_path):
    said = walked("steps")
    pages = ("data: ", "model: ", "strategy: ", "tune: ", "results: ", "export: ", "closed")
    assert [page for page in pages if page not in said] == []
    assert (tmp_path / "taken.skops").stat().st_size > 0
    assert "sklearn" in (tmp_path / "taken.py").read_text(encoding="utf-8")


def test_from_a_file_through_several_models_to_predictions_by_keys_and_by_mouse(walked, tmp_path):
    said = walked("file")
    assert said.count("closed") == 2
    assert "tune: Finding the best of " in said
    report = (tmp_path / "taken.html").read_text(encoding="utf-8")
    assert "Which model is best?" in report
