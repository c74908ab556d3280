"""The page about Python: its examples run, and it names everything that is public."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
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


def examples_of_docstrings() -> dict[str, doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = {"tunescope": tunescope, "np": np, "pd": pd}
    tests = [
        test
        for name in tunescope.__all__
        for test in finder.find(getattr(tunescope, name), name, globs=names)
        if test.examples
    ]
    return {test.name: test for test in tests}


DOCSTRINGS = examples_of_docstrings()
SHOWN = {
    "AutoClassifier", "AutoRegressor", "LogisticMM", "RidgeMM", "TunedRun", "learn_penalties",
    "open_run", "read", "recommended_learner", "tune",
}  # fmt: skip


@pytest.mark.parametrize("name", DOCSTRINGS)
def test_examples_of_docstrings_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write a file
    # Of tune's own, which would start a process for every run.
    monkeypatch.setitem(tunescope.tune.__kwdefaults__, "in_process", True)
    failures, count = doctest.DocTestRunner().run(DOCSTRINGS[name])
    assert count > 0
    assert failures == 0


def test_names_that_begin_a_session_show_an_example():
    assert set(DOCSTRINGS) >= SHOWN


def test_everything_public_is_named():
    named = {*re.findall(r"`(?:tunescope\.)?(\w+)", PAGE), *re.findall(r"tunescope\.(\w+)", PAGE)}
    left_out = {"TunedRun", "GpOptions", "VariableOptions", "EbHypOptions"}
    assert set(tunescope.__all__) - named == left_out
