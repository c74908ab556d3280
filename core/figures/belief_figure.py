"""What the surrogate of a run expects along one setting, with the trials."""

from dataclasses import fields

import numpy as np

from core.estimators.multi_model import MODEL
from core.figures import figure as plot
from core.figures.run_figures import edge_marks, shown_scores
from core.figures.scales import axis_position, bounds_of, scale_of, score_scale
from core.gp.evaluator import slice_through
from core.gp.regression import Surrogate
from core.space import Axis, axis_title
from core.tuning.runs.model_runs import ModelRunState
from core.tuning.runs.state import RunState
from core.tuning.scores.score import score_limits, score_text
from core.wording import format_value

BELIEF = "What the surrogate expects"
BEYOND = 0.2  # of the range of the scores, for the band
QUESTION = "Where might better settings be? Bands: one and two standard deviations."


def modelled_axes(run: RunState) -> tuple[RunState, list[Axis]]:
    """The run, or that of its best model, and the axes of its surrogate; none without one."""
    if run.tunes_several_models and run.best_trial is not None:
        run = ModelRunState(str(run.best_trial.setting[MODEL]), run).state
    free = [axis for axis in run.started.space if axis.is_free] if run.surrogate else []
    return run, sorted(free, key=lambda axis: axis.kind == "choice")  # numbers have a curve


def belief_figure(run: RunState, name: str = "") -> plot.Figure:
    """Expected scores along a setting through the best one; KeyError: it was not searched."""
    run, axes = modelled_axes(run)
    axis = {axis.name: axis for axis in axes}[name or axes[0].name]
    metric, scale = run.started.metric, scale_of(axis)
    surrogate = Surrogate(**{f.name: getattr(run.surrogate, f.name) for f in fields(Surrogate)})
    expected = slice_through(surrogate, run.started.space, axis.name, limits=score_limits(metric))
    low, high = shown_scores(run)
    room = BEYOND * (high - low)
    low, high = np.clip([low - room, high + room], *score_limits(metric)).tolist()
    x = np.array([axis_position(position, scale) for position in expected.x])
    mean, *ends = np.clip([expected.mean, *expected.wide_band, *expected.band], low, high)
    marks: tuple[plot.Mark, ...] = (
        plot.Band("wide band", x, ends[0], ends[1], opacity=0.16),
        plot.Band("band", x, ends[2], ends[3], opacity=0.26),
        plot.Lines("mean", x, mean),
    )
    if axis.kind == "choice":  # there is nothing between choices
        marks = (
            plot.Lines("band", *plot.whiskers(x, *ends[2:])),
            plot.Dots("mean", x, mean, size=11),
        )
    positions = scale.positions_of([trial.setting.get(axis.name) for trial in run.trials])
    start, end = bounds_of(axis)
    best, title = run.best_trial, axis_title(axis.label, axis.name)
    description = f"Slice along {title} through the best setting."
    if best is not None:
        value = format_value(best.setting.get(axis.name))
        description += f" Best {score_text(best.score, metric)} at {value}."
    return plot.Figure(
        BELIEF,
        plot.FigureAxis(title, scale, None, start, end, exact=True),
        plot.score_axis(metric, run.started.maximize, low, high),
        (
            *marks,
            plot.Dots("trials", positions, run.scores, "observed", "ink"),
            edge_marks(positions, run.scores, (low, high), score_scale(metric)),
        ),
        description,
        lambda: plot.columns_table(
            {
                title: expected.labels or expected.x,
                "expected": expected.mean,
                "standard deviation": expected.sd,
            }
        ),
    )
