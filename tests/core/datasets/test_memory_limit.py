"""How much memory there is: what the system says, within the limits of control groups."""

from __future__ import annotations

import pytest

from core.datasets import memory_limit
from core.errors import UnusableError


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system of 8 GB free without limits, whose files a test may change."""
    monkeypatch.delenv(memory_limit.VARIABLE, raising=False)
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    monkeypatch.setattr(memory_limit, "_PROC", proc)
    monkeypatch.setattr(memory_limit, "_GROUPS", groups)
    return proc, groups


def test_what_the_system_says(system):
    assert memory_limit.available_memory() == 8_000_000 * 1024
    assert memory_limit.max_data_bytes() == 1_000_000 * 1024


def test_limits_of_groups_of_version_2_and_of_those_above(system):
    proc, groups = system
    own = groups / "user/job"
    own.mkdir(parents=True)
    (proc / "self/cgroup").write_text("0::/user/job\n")
    (own / "memory.max").write_text("max\n")
    assert memory_limit.available_memory() == 8_000_000 * 1024
    above = groups / "user"
    (above / "memory.max").write_text("3000000000\n")
    (above / "memory.current").write_text("2500000000\n")
    (above / "memory.stat").write_text("anon 1\ninactive_file 1500000000\n")
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


def test_the_environment_outweighs_it(system, monkeypatch):
    monkeypatch.setenv(memory_limit.VARIABLE, "4096")
    assert memory_limit.available_memory() == 4096
    monkeypatch.setenv(memory_limit.VARIABLE, "much")
    assert memory_limit.available_memory() == 8_000_000 * 1024


def test_this_computer_has_some():
    assert memory_limit.available_memory() > 2**20


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 gib", 3 * 2**29),
        ("500M", 500 * 10**6),
        ("800000 kB", 8 * 10**8),
        ("1e9", "“1e9” is no size of memory; write for example 500MB or 2GB."),
        ("much", "“much” is no size of memory; write for example 500MB or 2GB."),
        ("100MB", "“100MB” is out of range; give at least 300 MB."),
    ],
)
def test_a_size_is_read_or_refused_in_a_sentence(text, size):
    if isinstance(size, int):
        assert memory_limit.size_in_bytes(text) == size
    else:
        with pytest.raises(UnusableError) as error:
            memory_limit.size_in_bytes(text)
        assert error.value.sentence == f"memory: {size}"
