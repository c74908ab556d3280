"""Names of any length: no line, log, report or export grows with them more than once."""

from __future__ import annotations

import re

import numpy as np
import pytest

from app.cli.commands import main

COLUMNS, NAME_LETTERS, CLASS_LETTERS = 8, 9_000, 900
MAX_LINE = 700
TUNE = ["tune", "--model", "logistic", "--strategy", "mm", "--groups", "each", "--verbose"]
LONG_RUN = re.compile(r"n{200,}|v{200,}|t{200,}")


@pytest.fixture
def nasty_table(tmp_path):
    """A constant column, one with gaps, ids, and names that differ in their first letters alone."""
    random = np.random.default_rng(0)
    values = random.integers(0, 99, (120, COLUMNS)).astype(str)
    labels = np.where(values[:, 0].astype(int) > 50, "a", "b")
    values[:, 1], values[:40, 2] = "7", ""
    values[:, 3] = [f"id{row}" for row in range(120)]
    names = [f"c{index}" + "n" * NAME_LETTERS for index in range(COLUMNS)]
    lines = [",".join([*names, "y" + "t" * NAME_LETTERS])]
    lines += [
        ",".join([*row, label + "v" * CLASS_LETTERS])
        for row, label in zip(values, labels, strict=True)
    ]
    path = tmp_path / "nasty.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_names_of_any_length_are_short_on_every_line_and_once_in_every_file(
    nasty_table, tmp_path, capsys
):
    run, exported, report = (tmp_path / name for name in ("run", "model.json", "report.html"))
    tuned = [*TUNE, str(nasty_table), "--run-dir", str(run), "--export", str(exported)]
    lines = []
    for command in (
        tuned,
        ["replay", str(run)],
        ["runs"],
        ["report", str(run), "--out", str(report)],
        ["export", str(run), str(tmp_path / "again.json")],
    ):
        assert main(command) == 0, capsys.readouterr().err[-500:]
        written = capsys.readouterr()
        lines += [*written.out.splitlines(), *written.err.splitlines()]
    assert any("c1nnn" in line for line in lines)  # the constant column
    assert max(map(len, lines)) < MAX_LINE
    names_size = COLUMNS * NAME_LETTERS
    events = (run / "events.jsonl").read_text(encoding="utf-8")
    assert events.count('"event": "PenaltyStep"') > 3
    assert len(LONG_RUN.findall(events)) < 30
    assert len(events) < 2 * names_size + 100_000
    assert not LONG_RUN.search(report.read_text(encoding="utf-8"))
    assert exported.stat().st_size < 4 * names_size + 100_000
