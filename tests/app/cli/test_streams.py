"""Output that nobody reads, or that finds no room: commands end as they should all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SAMPLE = ["tune", "sample:iris", "--model", "logistic"]
TRIALS = [*SAMPLE, "--strategy", "random", "--trials", "2"]
LEARN = [*SAMPLE, "--strategy", "mm", "--evaluation", "test"]


def ran(tmp_path: Path, arguments: list[str], **streams: int) -> subprocess.CompletedProcess[str]:
    """A command with some of its streams led elsewhere."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TUNESCOPE_RUNS": str(tmp_path / "runs")}
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        **(usual | streams),
        text=True,
        env=env,
        cwd=tmp_path,
        timeout=120,
    )


@pytest.fixture
def closed():
    """The end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def full():
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no device that is always full")
    handle = os.open("/dev/full", os.O_WRONLY)
    yield handle
    os.close(handle)


def finished(tmp_path: Path) -> bool:
    (events,) = tmp_path.glob("runs/*/events.jsonl")
    return '"RunFinished"' in events.read_text().splitlines()[-1]


def test_a_run_whose_progress_nobody_reads_goes_on_to_its_result(tmp_path, closed):
    done = ran(tmp_path, [*TRIALS, "--json"], stderr=closed)
    assert done.returncode == 0
    assert done.stdout.startswith('{"run": ')
    assert finished(tmp_path)


def test_a_run_whose_result_nobody_reads_ends_in_order(tmp_path, closed):
    done = ran(tmp_path, [*LEARN, "--events", "/dev/stdout"], stdout=closed)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.count("The copy of the events in /dev/stdout ends here") == 1
    assert finished(tmp_path)


def test_a_result_that_finds_no_room_is_one_sentence(tmp_path, full):
    done = ran(tmp_path, LEARN, stdout=full)
    assert done.returncode == 1
    assert done.stderr.endswith("the output could not be written (No space left on device).\n")
    assert "Traceback" not in done.stderr
    assert finished(tmp_path)


def test_a_list_that_is_read_in_part_alone(tmp_path, closed):
    done = ran(tmp_path, ["models"], stdout=closed)
    assert (done.returncode, done.stderr) == (0, "")
