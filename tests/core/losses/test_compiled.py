"""Where compiled loops are kept, and that those kept are of the code that is there."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from core.losses.compiled import compiled


def test_frozen_code_names_its_file_in_full(tmp_path, monkeypatch):
    path = tmp_path / "inside" / "loops.py"
    path.parent.mkdir()
    source = "def twice(x):\n    return 2 * x\n"
    path.write_text(source)
    module = types.ModuleType("frozen_loops")
    module.__file__ = str(path)
    exec(compile(source, "core/loops.py", "exec"), module.__dict__)  # as PyInstaller names it
    monkeypatch.setitem(sys.modules, "frozen_loops", module)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    twice = compiled(module.twice)
    assert twice.py_func.__code__.co_filename == str(path)
    assert twice(21) == 42


CALLER = """
from core.losses.compiled import compiled
from parts import FACTOR, inner

@compiled
def outer(x):
    return below(x)

@compiled
def below(x):
    return FACTOR * inner(x)

print(outer(1.0), sum(outer.stats.cache_hits.values()))
"""
PARTS = """
from core.losses.compiled import compiled

FACTOR = {factor}

@compiled
def inner(x):
    return x + {more}
"""


@pytest.mark.slow
def test_a_change_of_what_it_takes_from_another_file_is_compiled_anew(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}

    def run(factor: int, more: int) -> list[str]:
        (tmp_path / "parts.py").write_text(PARTS.format(factor=factor, more=more))
        command = [sys.executable, "-B", str(tmp_path / "caller.py")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert run(10, 1) == ["20.0", "0"]
    assert run(10, 1) == ["20.0", "1"]  # kept
    assert run(10, 2) == ["30.0", "0"]
    assert run(100, 2) == ["300.0", "0"]
