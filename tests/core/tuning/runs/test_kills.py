"""A few rounds of the benchmark that kills programs, workers and trial processes (SIGKILL)."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
@pytest.mark.timeout(900)
def test_a_few_kills_lose_and_double_nothing():
    script = Path(__file__).parents[3] / "benchmarks" / "bench_kills.py"
    few = ["--rounds", "3", "--strategy", "random", "--strategy", "evidence", "--seed", "1"]
    ran = subprocess.run([sys.executable, script, *few], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
