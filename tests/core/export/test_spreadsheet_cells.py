"""Cells that a spreadsheet would calculate, in tables for people and nowhere else."""

from __future__ import annotations

import csv
import io

import pytest

from core.export.bundle.carrier import csv_bytes
from core.export.report.html import html_table
from core.export.spreadsheet_cells import escape_formula

FORMULAS = [
    "=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1",
    "\u22122+cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")', "=1+1", "-a", "+", "-", "\n=1",
    "-1 to =1", "+1(2)", "-1!A1", "\uff1d1",
]  # fmt: skip
PLAIN = ["", "a", "a=1", "blood-pressure", "-1", "+0.5", "-1.5e-7", "\u22120.3 to +0.4",
         "+3.1 points", "\u22123.1 %", "1,500", "-1,500.5 s"]  # fmt: skip


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_become_text(cell: str) -> None:
    text = "'" + cell.replace("\r", "\n")
    assert escape_formula(cell) == text
    header, row = csv.reader(io.StringIO(csv_bytes(["word"], [[cell]]).decode(), newline=""))
    assert (header, row) == (["word"], [text])
    assert not html_table([cell], [[cell]]).count(f">{cell}<")


@pytest.mark.parametrize("cell", [*PLAIN, -1.5, 0, None, float("-inf"), True])
def test_numbers_and_words_stay(cell: object) -> None:
    assert escape_formula(cell) is cell


def test_no_cell_begins_another_row() -> None:
    written = csv_bytes(["word"], [["a\r=cmd|' /C calc'!A0"], ["b\r\n=1"], ["c\n=1"]]).decode()
    assert "\r" not in written
    assert len(list(csv.reader(io.StringIO(written)))) == 4
