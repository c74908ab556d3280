"""The report: well-formed, self-contained, honest in its headline, with the plots' words in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from core.export.exporters import export_from_folder
from core.export.finished_run import finished_run
from core.export.report.report_page import page_html
from core.json_reading import read_as
from core.records import to_plain
from core.tuning.run_results import Results

KINDS = [
    ("binary", "logistic", False, ["Best score so far", "Calibration", "What was tried"]),
    ("multiclass", "logistic", True, ["Regularization trajectory", "Learned group penalties"]),
    ("regression", "boosting", False, ["How near are its predictions?", "The tuned setting"]),
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
    text = export_from_folder(made.folder, tmp_path / "report.html").read_text()
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
    text = page_html(replace(run, takeaway=sly))
    assert "<script>" not in text
    as_tree(text)


def changed(run: Any, **results: Any) -> Any:
    return replace(run, results=read_as(Results, to_plain(run.results) | results))


def test_the_baseline_is_in_the_table_and_in_the_headline(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    over = {"metric": "accuracy", "difference": 0.1, "low": 0.0, "high": 0.2, "real": False}
    scores = {"baseline_test": {"accuracy": 0.5432}, "baseline_interval": [0.4, 0.6]}
    scores |= {"baseline": "the most frequent class"}
    text = page_html(changed(run, gain_over_baseline=over, **scores))
    as_tree(text)
    assert text.count("54.3\N{NO-BREAK SPACE}%") >= 3  # in short, in the picture, in the table
    worse = changed(
        run, setting={"C": 2.0}, gain_over_baseline=over | {"difference": -0.01}, **scores
    )
    title = "<h1>The tuned model is not better than the most frequent class"
    assert title in page_html(worse)


def test_a_second_file_is_called_the_test_file(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    assert "On the test set of" in page_html(run)
    assert "On the test file of" in page_html(changed(run, second_file=True))
    older = replace(run, takeaway=replace(run.takeaway, test_source=run.takeaway.source))
    assert "On the test file of" in page_html(older)


def test_errors_are_told_by_recall_and_precision(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    confusion = {"labels": ["no", "yes"], "tuned": [[30, 10], [5, 55]], "default": []}
    text = page_html(changed(run, confusion=confusion))
    assert "Recall: the share of a class that is found." in text
    for share in (30 / 40, 55 / 60, 30 / 35, 55 / 65):  # two of recall, two of precision
        assert f"{100 * share:.1f}\N{NO-BREAK SPACE}%" in text


def test_light_dark_and_paper(make_run: Callable[..., Any]) -> None:
    text = page_html(finished_run(make_run().folder))
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
