"""The report's figures, from the same data as the window's."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from core.export.report.figure_svg import figure_svg
from core.export.report.svg import svg_number
from core.figures.penalty_figures import penalties_figure, penalty_path_figure
from core.figures.penalty_figures import trajectory_steps as steps_of
from core.figures.run_figures import best_so_far_figure
from core.tuning.events import PenaltyStep, RunStarted, TrialFailed, TrialFinished
from core.tuning.runs.state import RunState


def state_of(*events: object) -> RunState:
    state = RunState()
    for event in events:
        state.consume(event)  # type: ignore[arg-type]
    return state


def searched(scores: list[float | None], maximize: bool = True) -> RunState:
    trials = [
        TrialFailed(number=n, reason="it failed")
        if score is None
        else TrialFinished(number=n, score=score)
        for n, score in enumerate(scores)
    ]
    return state_of(RunStarted(kind="trials", metric="accuracy", maximize=maximize), *trials)


def learned(penalties: list[dict[str, float]], off: list[str]) -> RunState:
    groups = dict.fromkeys(penalties[-1], 1)
    steps = [PenaltyStep(step=n, penalties=p, switched_off=off) for n, p in enumerate(penalties)]
    return state_of(RunStarted(kind="penalties", groups=groups), *steps)


@pytest.mark.parametrize(
    ("value", "words"), [(0, "0"), (0.05, "0.05"), (1500, "1,500"), (2e-7, "2e-7"), (3e9, "3e9")]
)
def test_numbers_as_people_write_them(value: float, words: str) -> None:
    assert svg_number(value) == words


def test_best_so_far_is_a_staircase() -> None:
    """Every piece of the line is level or upright."""
    drawing = figure_svg(best_so_far_figure(searched([0.5, 0.8, 0.7, None, 0.9]), crops=True))
    path = re.search(r'<path class="curve s-ink"[^>]* d="M([^"]+)"', drawing)
    assert path is not None
    points = [tuple(map(float, pair.split(","))) for pair in path.group(1).split("L")]
    assert all(x0 == x1 or y0 == y1 for (x0, y0), (x1, y1) in pairwise(points))
    assert "Best 90.0\u00a0% after 5 trials" in drawing


def test_less_is_better_when_minimizing() -> None:
    drawing = figure_svg(best_so_far_figure(searched([3.0, 1.0, 2.0], maximize=False)))
    assert "Best 100.0\u00a0% after 3 trials" in drawing


def test_a_hopeless_trial_flattens_no_other() -> None:
    figure = best_so_far_figure(searched([0.8, 0.81, 0.82, 0.83, -90.0]), crops=True)
    assert figure.y.low > 0.7
    assert 'class="f-none s-control"' in figure_svg(figure)


def test_groups_at_their_cap_get_no_number() -> None:
    figure = penalties_figure(learned([{"blood": 0.4, "noise": 126.28}], ["noise"]))
    drawing = figure_svg(figure)
    assert "switched off" in drawing
    assert ">λ = 126" not in drawing
    assert drawing.count('class="hatched"') == 1


def test_hundreds_of_groups_stay_readable() -> None:
    steps = [{f"g{i}": 1.0 + i * t for i in range(300)} for t in range(5)]
    drawing = figure_svg(penalty_path_figure(steps_of(learned(steps, []))))
    assert drawing.count('class="curve s-control"') == 288
    assert drawing.count('class="curve s-series') == 12
