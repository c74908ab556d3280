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
from core.export.report.report_page import headline, page_html
from core.json_reading import read_as
from core.records import to_plain
from core.tuning.run_results import Results

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


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ({"metric": "accuracy", "difference": 0.037, "real": True}, "Tuning gained 3.7 points"),
        ({"metric": "accuracy", "difference": 0.037, "real": False}, "made no clear difference"),
        ({"metric": "log_loss", "difference": 0.12, "real": True}, "gained 0.12 in log loss"),
        ({"metric": "accuracy", "difference": -0.02, "real": True}, "Tuning lost 2.0 points"),
        ({"metric": "r2", "difference": 0.0, "real": False}, "made no clear difference"),
    ],
)
def test_the_headline_promises_no_more_than_was_found(
    make_run: Callable[..., Any], gain: dict[str, Any], words: str
) -> None:
    run = finished_run(make_run().folder)
    apart = {"setting": {"C": 2.0}, "default_setting": {"C": 1.0}}
    assert words in headline(changed(run, **apart, gain=gain))


def changed(run: Any, **results: Any) -> Any:
    return replace(run, results=read_as(Results, to_plain(run.results) | results))


def test_only_equal_settings_end_where_the_default_is(make_run: Callable[..., Any]) -> None:
    """Equal scores at other settings are no such end."""
    run = finished_run(make_run().folder)
    even = {"metric": "accuracy", "difference": 0.0, "low": -0.1, "high": 0.1, "real": False}
    other = changed(run, gain=even, setting={"C": 36.0}, default_setting={"C": 1.0})
    assert headline(other) == "Tuning made no clear difference"
    same = changed(run, gain=even, setting={"C": 1.0}, default_setting={"C": 1.0})
    assert headline(same) == "Tuning ended where the default setting is"


def test_the_baseline_is_in_the_table_and_in_the_headline(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    over = {"metric": "accuracy", "difference": 0.1, "low": 0.0, "high": 0.2, "real": False}
    scores = {"baseline_test": {"accuracy": 0.5432}, "baseline_interval": [0.4, 0.6]}
    scores |= {"baseline": "the most frequent class"}
    text = page_html(changed(run, gain_over_baseline=over, **scores))
    as_tree(text)
    assert text.count("54.3\N{NO-BREAK SPACE}%") >= 3  # in short, in the picture, in the table
    worse = changed(run, gain_over_baseline=over | {"difference": -0.01}, **scores)
    assert headline(worse) == "The tuned model is not better than the baseline"


def test_a_second_file_is_called_the_test_file(make_run: Callable[..., Any]) -> None:
    run = finished_run(make_run().folder)
    assert "of the test set, the tuned model is right on" in page_html(run)
    assert "of the test file, the tuned model is right on" in page_html(
        changed(run, second_file=True)
    )
    older = replace(run, takeaway=replace(run.takeaway, test_source=run.takeaway.source))
    assert "of the test file, the tuned model is right on" in page_html(older)


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
