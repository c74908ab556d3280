"""The report's figures: those of the window as SVG, and its own of sequences and molecules."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from core.export.report.figure_svg import figure_svg
from core.export.report.html import cell_text
from core.export.report.structured_section import pair_arcs, token_strip
from core.figures.example_figures import LabelPicture, PairPicture
from core.figures.penalty_figures import penalties_figure, penalty_path_figure
from core.figures.run_figures import best_so_far_figure
from core.figures.score_figures import PAIRS
from core.tuning.events import (
    FoldedMolecule,
    LabelledSequence,
    PenaltyStep,
    RunStarted,
    TrialFailed,
    TrialFinished,
)
from core.tuning.run_results import PairCurves, Results
from core.tuning.runs.state import state_from_events


def searched(scores, maximize=True):
    trials = [
        TrialFailed(number=n, reason="it failed")
        if score is None
        else TrialFinished(number=n, score=score)
        for n, score in enumerate(scores)
    ]
    started = RunStarted(kind="trials", metric="accuracy", maximize=maximize)
    return state_from_events([started, *trials])


def learned(penalties, off):
    groups = dict.fromkeys(penalties[-1], 1)
    steps = [PenaltyStep(step=n, penalties=p, switched_off=off) for n, p in enumerate(penalties)]
    return state_from_events([RunStarted(kind="penalties", groups=groups), *steps])


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0"), (0.05, "0.05"), (20628, "20,628"), (2e-7, "2×10⁻⁷"), (3e9, "3×10⁹")],
)
def test_numbers_as_people_write_them(value, words):
    assert cell_text(value) == words


def test_best_so_far_is_a_staircase():
    drawing = figure_svg(best_so_far_figure(searched([0.5, 0.8, 0.7, None, 0.9])))
    path = re.search(r'<path class="curve s-ink"[^>]* d="M([^"]+)"', drawing)
    # Every piece of the line is level or upright.
    points = [tuple(map(float, pair.split(","))) for pair in path.group(1).split("L")]
    assert all(x0 == x1 or y0 == y1 for (x0, y0), (x1, y1) in pairwise(points))
    assert "Best 90.0\u00a0% after 5 trials" in drawing


def test_less_is_better_when_minimizing():
    drawing = figure_svg(best_so_far_figure(searched([3.0, 1.0, 2.0], maximize=False)))
    assert "Best 100.0\u00a0% after 3 trials" in drawing


def test_a_hopeless_trial_flattens_no_other():
    figure = best_so_far_figure(searched([0.8, 0.81, 0.82, 0.83, -90.0]))
    assert figure.y.low > 0.7
    drawing = figure_svg(figure)
    assert "rotate(180)" in drawing
    assert "−9,000.0\u00a0%" in drawing


def test_groups_at_their_cap_get_no_number():
    figure = penalties_figure(learned([{"blood": 0.4, "noise": 126.28}], ["noise"]))
    drawing = figure_svg(figure)
    assert "switched off" in drawing
    assert ">λ = 126" not in drawing
    assert drawing.count('class="hatched"') == 1


def test_hundreds_of_groups_stay_readable():
    steps = [{f"g{i}": 1.0 + i * t for i in range(300)} for t in range(5)]
    drawing = figure_svg(penalty_path_figure(learned(steps, [])))
    assert drawing.count('class="curve s-control"') == 288
    assert drawing.count('class="curve s-series') == 12


def labelled(tokens, truth, shares):
    """A sequence labelled X throughout, with the probabilities of that."""
    marginals = [[share, 1.0 - share] for share in shares]
    sequence = LabelledSequence("s", tokens, truth, ["X"] * len(tokens), marginals)
    return LabelPicture(sequence, ["X", "Z"])


def folded(letters, predicted, truth):
    return PairPicture(FoldedMolecule("m", letters, truth, predicted, []))


def test_a_strip_names_the_true_label_where_the_model_is_wrong():
    strip = token_strip(labelled(["a", "b" * 80], ["X", "Z"], [0.5, 1.0]))
    drawing = ElementTree.fromstring(strip)
    assert re.search(r"\b1 of 2 .*is Z, predicted X\.$", drawing.findtext("desc", ""))
    words = [(text.get("class"), text.text) for text in drawing.iter("text")]
    assert words == [
        ("name", "a"), ("tick", "X"), ("name", "b" * 16 + "…" + "b" * 7), ("tick", "X"),
        ("wrong", "Z"),
    ]  # fmt: skip
    rectangles = list(drawing.iter("rect"))
    bar = next(float(r.get("width")) for r in rectangles if r.get("class") == "f-series0")
    box = next(float(r.get("width")) for r in rectangles if r.get("height") == "68.0")
    assert bar == pytest.approx((box - 8) / 2, abs=0.1)


def test_a_strip_breaks_into_lines():
    drawing = ElementTree.fromstring(token_strip(labelled(["word"] * 60, ["X"] * 60, [1.0] * 60)))
    right = max(float(b.get("x", "")) + float(b.get("width", "")) for b in drawing.iter("rect"))
    low = max(float(b.get("y", "")) + float(b.get("height", "")) for b in drawing.iter("rect"))
    _, _, width, height = map(float, drawing.get("viewBox", "").split())
    assert (right <= width, low <= height) == (True, True)


def test_arcs_above_are_predicted_and_below_true():
    drawing = ElementTree.fromstring(pair_arcs(folded("GGAAACC", "((...))", "(.[.].)")))
    assert re.findall(r"\d+", drawing.findtext("desc", "")) == ["1", "2", "1", "2"]
    kinds = [arc.get("class") for arc in drawing.iter("path")]
    assert kinds == ["arc s-series2", "arc apart s-series1", "arc s-series2", "arc apart s-series1"]
    turns = [re.search(r" 0 0 (\d) ", arc.get("d", "")).group(1) for arc in drawing.iter("path")]
    assert turns == ["1", "1", "0", "0"]
    assert "".join(t.text for t in drawing.iter("text") if t.get("class") == "base") == "GGAAACC"


def test_a_long_molecule_is_a_line_without_letters():
    drawing = ElementTree.fromstring(pair_arcs(folded("A" * 500, "." * 500, "." * 500)))
    assert not [t for t in drawing.iter("text") if t.get("class") == "base"]
    assert len(list(drawing.iter("line"))) == 1


def test_a_curve_leaves_out_what_has_no_number():
    points = [[1024.0, 0.9, 0.4], [0.0625, 0.0, float("nan")], [0.03125, 0.0, None]]
    figure = PAIRS.figure(Results(curve=PairCurves(tuned=points)))
    drawing = ElementTree.fromstring(figure_svg(figure))
    assert len(list(drawing.iter("circle"))) == 1
