"""Every reader against a few damaged files; the script beside the benchmarks makes any number."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _fuzzing() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "fuzz_readers.py"
    spec = importlib.util.spec_from_file_location("fuzz_readers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


FUZZING = _fuzzing()


@pytest.mark.parametrize("reader", FUZZING.READERS, ids=lambda reader: reader.name)
def test_damaged_files_end_in_a_sentence_or_a_dataset(reader: object) -> None:
    found = FUZZING.attack(reader, 40, seed=7)
    assert found.findings == {}
    assert found.refused < found.inputs == 40  # some open, and are looked at


def test_what_no_reader_may_do_is_found(tmp_path: Path) -> None:
    def reads(path: Path) -> object:
        return int(path.read_bytes()[:1] or b"x")

    found = FUZZING.attack(FUZZING.Reader("bad", ".x", (b"5 6 7",), reads), 40, seed=1)
    assert any(kind.startswith("ValueError") for kind in found.findings)
