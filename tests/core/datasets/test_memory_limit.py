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


def test_trials_together_take_their_share_and_fewer_run_where_it_is_small(system, monkeypatch):
    monkeypatch.setattr(processes, "memory_in_use", lambda pids: 10**9)
    allotted = [memory_limit.TrialMemory.allot(workers, None) for workers in (1, 2, 6, 200)]
    free = 8_000_000 * 1024
    assert [memory.workers for memory in allotted[:3]] == [1, 2, 6]
    assert allotted[0].share == int(memory_limit.TRIAL_SHARE * free)
    for memory in allotted:
        assert memory.share * memory.workers <= memory_limit.ALL_TRIALS_SHARE * free
    assert memory_limit.TrialMemory.allot(8, 2 * 10**9).workers == 2
    # What the variable names was free before this process took a gigabyte of it.
    monkeypatch.setenv(memory_limit.VARIABLE, str(2 * 10**9))
    assert memory_limit.TrialMemory.allot(8, None).free == 10**9
    assert memory_limit.run_bytes() == memory_limit.RUN_SHARE * 10**9
    assert memory_limit.TrialMemory.allot(8, 2 * 10**9).workers == 1


def test_memory_is_short_where_less_than_the_reserve_is_left(system):
    proc, _ = system
    memory = memory_limit.TrialMemory.allot(2, None)
    assert not memory.is_short(10**12)
    (proc / "meminfo").write_text("MemAvailable: 300000 kB\n")
    assert memory.is_short(0)


def test_refused_memory_is_recognized_in_words_of_other_libraries():
    assert memory_limit.is_memory_error(RuntimeError("std::bad_alloc"))
    assert memory_limit.is_memory_error(MemoryError())
    assert not memory_limit.is_memory_error(ValueError("bad shape"))
