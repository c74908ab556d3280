"""Reports on sequences and molecules: well-formed, with their own numbers, words and drawings."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from structured_runs import Run, crf_run, rna_run

from core.export.exporters import export_from_folder
from core.export.report.example_figures import pair_arcs, token_strip
from core.export.report.figure_svg import figure_svg
from core.figures.score_figures import PAIRS
from core.tuning.run_results import PairCurves, Results


def page_of(run: Run, path: Path) -> tuple[str, dict[str, ElementTree.Element]]:
    """The page's text, and its drawings by their titles."""
    text = export_from_folder(run.folder, path).read_text()
    body = re.sub(r"<(meta[^>]*|br)>", r"<\1/>", text.replace("<!DOCTYPE html>", ""))
    tree = ElementTree.fromstring(body)
    return text, {str(drawing.findtext("title")): drawing for drawing in tree.iter("svg")}


def test_a_report_on_sequences(tmp_path: Path) -> None:
    run = crf_run(tmp_path / "run")
    text, drawings = page_of(run, tmp_path / "report.html")
    assert f"{len(run.table)} tokens, 3 columns, 3 labels" in text
    assert "On the test set of 40 sequences (160 tokens), the tuned model is right on 130" in text
    assert "It labels 17 of 40 sequences without any error" in text
    assert "81.2\N{NO-BREAK SPACE}%" in text
    assert "the tokens of the test set." in text
    assert "&lt;b&gt;" in text
    assert {"Learned group penalties", "One labelled sequence"} <= set(drawings)
    description = drawings["Learned group penalties"].findtext("desc")
    assert description == "4 groups; λ from 0.5 (initial) to 4 (length)."
    assert "1/C, as in scikit-learn" not in text


def test_a_report_on_molecules(tmp_path: Path) -> None:
    run = rna_run(tmp_path / "run")
    text, drawings = page_of(run, tmp_path / "report.html")
    assert "8 molecules, base pairs" in text
    assert "31 of the 37 pairs that it calls are right." in text
    assert "29 of the 41 it calls are right." in text
    assert {"Does it find the pairs, and only them?", "One folded molecule"} <= set(drawings)
    curve = drawings["Does it find the pairs, and only them?"]
    assert str(curve.findtext("desc")).startswith("tuned: 66.0 % of the true pairs found")
    assert len(list(curve.iter("circle"))) == 30  # and a star and a diamond, where scores are of
    assert len(list(drawings["One folded molecule"].iter("path"))) >= 8


def test_a_strip_names_the_true_label_where_the_model_is_wrong() -> None:
    drawing = ElementTree.fromstring(
        token_strip(["a", "b" * 80], ["X", "Y"], ["X", "Z"], [0.5, 1.0])
    )
    assert drawing.findtext("desc", "").startswith("1 of 2 tokens are labelled rightly: a/X bbb")
    words = [(text.get("class"), text.text) for text in drawing.iter("text")]
    assert words == [
        ("name", "a"), ("tick", "X"), ("name", "b" * 23 + "…"), ("tick", "Y"), ("wrong", "Z"),
    ]  # fmt: skip
    bars = [
        float(b.get("width", "")) for b in drawing.iter("rect") if b.get("class") == "f-series0"
    ]
    boxes = [float(b.get("width", "")) for b in drawing.iter("rect") if b.get("height") == "68.0"]
    assert bars[0] == pytest.approx((boxes[0] - 8) / 2, abs=0.1)


def test_a_strip_breaks_into_lines() -> None:
    drawing = ElementTree.fromstring(token_strip(["word"] * 60, ["A"] * 60, ["A"] * 60, [1.0] * 60))
    right = max(float(b.get("x", "")) + float(b.get("width", "")) for b in drawing.iter("rect"))
    low = max(float(b.get("y", "")) + float(b.get("height", "")) for b in drawing.iter("rect"))
    _, _, width, height = map(float, drawing.get("viewBox", "").split())
    assert (right <= width, low <= height) == (True, True)


def test_arcs_above_are_predicted_and_below_true() -> None:
    drawing = ElementTree.fromstring(pair_arcs("GGAAACC", "((...))", "(.[.].)"))
    assert drawing.findtext("desc") == "7 bases; 2 pairs predicted, 2 true, 1 in both."
    kinds = [arc.get("class") for arc in drawing.iter("path")]
    assert kinds == ["arc s-series2", "arc apart s-series1", "arc s-series2", "arc apart s-series1"]
    turns = [re.search(r" 0 0 (\d) ", arc.get("d", "")).group(1) for arc in drawing.iter("path")]
    assert turns == ["1", "1", "0", "0"]
    assert "".join(t.text for t in drawing.iter("text") if t.get("class") == "base") == "GGAAACC"


def test_a_long_molecule_is_a_line_without_letters() -> None:
    drawing = ElementTree.fromstring(pair_arcs("A" * 500, "." * 500, "." * 500))
    assert not [t for t in drawing.iter("text") if t.get("class") == "base"]
    assert len(list(drawing.iter("line"))) == 1


def test_a_curve_leaves_out_what_has_no_number() -> None:
    points = [[1024.0, 0.9, 0.4], [0.0625, 0.0, float("nan")], [0.03125, 0.0, None]]
    figure = PAIRS.figure(Results(curve=PairCurves(tuned=points)))
    drawing = ElementTree.fromstring(figure_svg(figure))
    assert len(list(drawing.iter("circle"))) == 1
