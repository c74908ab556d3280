"""How much memory there is: what the system says, within the limits of control groups."""

from __future__ import annotations

import pytest

from core import processes
from core.datasets import memory_limit
from core.errors import UnusableError


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system of 8 GB free without limits, whose files a test may change."""
    monkeypatch.delenv(memory_limit.VARIABLE, raising=False)
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    monkeypatch.setattr(processes, "PROC", proc)
    monkeypatch.setattr(processes, "GROUPS", groups)
    return proc, groups


def test_what_the_system_says(system, monkeypatch):
    assert memory_limit.available_memory() == 8_000_000 * 1024
    assert memory_limit.max_data_bytes() == 1_000_000 * 1024
    monkeypatch.setenv(memory_limit.VARIABLE, "4096")  # the environment outweighs it
    assert memory_limit.available_memory() == 4096
    monkeypatch.setenv(memory_limit.VARIABLE, "much")
    assert memory_limit.available_memory() == 8_000_000 * 1024


def test_limits_of_groups_of_version_2_and_of_those_above(system):
    proc, groups = system
    (groups / "user/job").mkdir(parents=True)
    (proc / "self/cgroup").write_text("0::/user/job\n")
    (groups / "user/job/memory.max").write_text("max\n")
    assert memory_limit.available_memory() == 8_000_000 * 1024
    above = {
        "max": "3000000000",
        "current": "2500000000",
        "stat": "anon 1\ninactive_file 1500000000",
    }
    for name, text in above.items():
        (groups / f"user/memory.{name}").write_text(f"{text}\n")
    assert memory_limit.available_memory() == 2_000_000_000  # what is cached can be dropped


def test_limits_of_groups_of_version_1(system):
    proc, groups = system
    own = groups / "memory/job"
    own.mkdir(parents=True)
    (proc / "self/cgroup").write_text("4:cpu:/job\n3:memory:/job\n")
    (own / "memory.limit_in_bytes").write_text("1000\n")
    (own / "memory.usage_in_bytes").write_text("400\n")
    (own / "memory.stat").write_text("total_inactive_file 100\n")
    assert memory_limit.available_memory() == 700


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("1.5 gib", 3 * 2**29), ("500M", 500 * 10**6), ("800000 kB", 8 * 10**8)],
)
def test_a_size_is_read(text, size):
    assert memory_limit.size_in_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "words"), [("1e9", "no size"), ("much", "no size"), ("100MB", "at least 300 MB")]
)
def test_what_is_no_size_is_refused(text, words):
    with pytest.raises(UnusableError, match=f"“{text}” .*{words}"):
        memory_limit.size_in_bytes(text)
