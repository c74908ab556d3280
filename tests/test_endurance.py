"""The short form of packaging/endurance: some inputs of attacks without tests of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import endurance
import fuzz_models
import fuzz_readers
import hostile_folders
import pytest
from endurance import Attack, AttackRecord, run_attacks
from fuzzing import attack

FORMATS = (*fuzz_readers.FORMATS, *fuzz_models.FORMATS)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bounds of memory are Linux's")


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_changed_files_are_read_or_refused_with_a_sentence(fmt, tmp_path):
    result = attack(fmt, range(60), tmp_path)
    assert result.findings == {}
    assert 0 < result.refused < result.count == 60


def test_each_attack_has_its_share_and_its_end_before_time_is_a_finding(tmp_path, capsys):
    def harmless(batch):
        yield AttackRecord("first", batch.size, max_seconds=0.5, max_bytes=10**6)

    def deadly(batch):
        os.kill(os.getpid(), signal.SIGKILL)
        yield AttackRecord("second", batch.size)

    attacks = (Attack("first", 0.5, 3, harmless), Attack("second", 0.5, 7, deadly))
    table = run_attacks(attacks, hours=0, seed=4, keep=tmp_path)
    assert table.records["first"].count == 3
    [finding] = table.records["second"].findings
    assert "ended with -9" in finding
    assert finding in capsys.readouterr().out
    assert "first" in (tmp_path / "table.txt").read_text()


def test_hostile_files_end_in_a_sentence():
    words = [sys.executable, hostile_folders.__file__, "--short"]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
def test_a_window_lives_through_a_cycle():
    script = Path(endurance.__file__).with_name("window_endurance.py")
    words = [sys.executable, str(script), "--cycles", "1", "--trials", "300"]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
