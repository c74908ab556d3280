"""The page about Python: its examples run, and it names everything that is public."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tunescope

PAGE = (Path(tunescope.__file__).parent / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
EXAMPLES = {
    title: "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    for title, text in SECTIONS.items()
}


@pytest.mark.parametrize("title", EXAMPLES)
def test_examples_run(title, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("RUNS", "HISTORY", "KEY"):
        monkeypatch.setenv(f"TUNESCOPE_{name}", str(tmp_path / name.lower()))
    assert EXAMPLES[title]
    exec(compile(EXAMPLES[title], title, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out


def test_everything_public_is_named():
    named = {*re.findall(r"`(?:tunescope\.)?(\w+)", PAGE), *re.findall(r"tunescope\.(\w+)", PAGE)}
    left_out = {"TunedRun", "GpOptions", "VariableOptions", "EbHypOptions"}
    assert set(tunescope.__all__) - named == left_out
