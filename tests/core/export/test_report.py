"""The report: well-formed, self-contained, honest in its headline, with the plots' words in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from core.export.exporters import export
from core.export.finished_run import finished_run
from core.export.report import headline, page

KINDS = [
    ("binary", "logistic", False, ["Best score so far", "Calibration", "What was tried"]),
    ("multiclass", "logistic", True, ["Regularization trajectory", "Learned group penalties"]),
    ("regression", "boosting", False, ["Predicted against actual", "The tuned setting"]),
    ("regression", "linear", True, ["Objective", "switched off"]),
]


def as_tree(text: str) -> ElementTree.Element:
    """The page as XML: whatever is not closed or escaped fails here."""
    body = text.replace("<!DOCTYPE html>", "")
    return ElementTree.fromstring(re.sub(r"<(meta[^>]*|br)>", r"<\1/>", body))


@pytest.mark.parametrize(("task", "model", "learned", "words"), KINDS)
def test_is_one_well_formed_page(
    make_run: Callable[..., Any],
    tmp_path: Path,
    task: str,
    model: str,
    learned: bool,
    words: list[str],
) -> None:
    made = make_run(task, model, learned=learned)
    text = export(made.folder, tmp_path / "report.html").read_text()
    tree = as_tree(text)
    for word in words:
        assert word in text
    assert not re.search(r"(src|href)=|url\(|@import|<script", text)
    for drawing in tree.iter("svg"):
        assert drawing.find("title").text
        assert drawing.find("desc").text
        assert drawing.get("role") == "img"
    assert "nan" not in " ".join(drawing.get("d", "") for drawing in tree.iter("path"))


def test_names_from_the_file_are_escaped(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    sly = replace(run.takeaway, dataset="<script>alert(1)</script>.csv")
    text = page(replace(run, takeaway=sly))
    assert "<script>" not in text
    as_tree(text)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ({"metric": "accuracy", "difference": 0.037, "real": True}, "Tuning gained 3.7 points"),
        ({"metric": "accuracy", "difference": 0.037, "real": False}, "made no clear difference"),
        ({"metric": "log_loss", "difference": 0.12, "real": True}, "gained 0.12 in log loss"),
        ({"metric": "accuracy", "difference": -0.02, "real": True}, "Tuning lost 2.0 points"),
        ({"metric": "r2", "difference": 0.0, "real": False}, "ended where the default"),
    ],
)
def test_the_headline_promises_no_more_than_was_found(
    make_run: Callable[..., Any], gain: dict[str, Any], words: str
) -> None:
    run = finished_run(make_run().folder)
    assert words in headline(replace(run, results={**run.results, "gain": gain}))


def test_light_dark_and_paper(make_run: Callable[..., Any]) -> None:
    text = page(finished_run(make_run().folder))
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
