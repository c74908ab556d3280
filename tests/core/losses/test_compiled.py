"""Where compiled loops are kept when the program is frozen."""

from __future__ import annotations

import sys
import types

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
