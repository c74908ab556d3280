"""The figures of learned penalties: over the steps, of every group, and what they minimize."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.figures.figure import (
    MARKED,
    OWN,
    Bars,
    Dots,
    EndNames,
    Figure,
    FigureAxis,
    Labels,
    Level,
    Lines,
    Mark,
    Table,
    joined,
    range_of,
)
from core.figures.scales import Scale
from core.penalties.penalty_problem import GradientOptions
from core.tuning.runs.state import RunState
from core.wording import format_number

SERIES = 8  # colours that tell groups apart
PENALTY = "penalty (λ)"  # larger holds the weights back more; scikit-learn's C runs against it
MARKED_STEPS = 40  # steps up to which each has a dot on a group's line
MIN_SPAN = 0.4  # of the values: all alike at step 0, they still get ticks that mean something
NEAR = 2.0  # of log λ: closer than this to a bound, the bound is drawn
NAMED = 12  # of many groups, the most extreme, which have a name and a colour


# Over the steps ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PenaltySteps:
    """Values of every group at every step.

    Attributes:
        groups: all of the run, in the order of their colours.
        values: λ, or log λ where the learner moves that within `bounds`.
        notes: of every step, a column of the table; may be empty.
    """

    title: str
    groups: list[str]
    numbers: list[int]
    values: list[dict[str, float]]
    is_log: bool = False
    bounds: tuple[float, float] | None = None
    switched_off: frozenset[str] = frozenset()
    notes: list[list[str]] | None = None
    is_over: bool = False

    def table(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Groups, steps, and values (steps, groups), NaN where unknown."""
        names = list(self.values[-1])
        rows = [_in_order(step_values, names) for step_values in self.values]
        return names, np.array(self.numbers, dtype=float), np.array(rows, dtype=float)


def _in_order(values: Mapping[str, float], names: list[str]) -> list[float]:
    if list(values) == names:
        return list(values.values())
    return [values.get(name, np.nan) for name in names]


def trajectory_steps(run: RunState) -> PenaltySteps:
    """The penalties of a run whose learner is mm, evidence, loo or direct."""
    return PenaltySteps(
        "Regularization trajectory",
        list(run.started.groups),
        [step.step for step in run.steps],
        [step.penalties for step in run.steps],
        switched_off=frozenset(run.steps[-1].switched_off),
        is_over=run.ended is not None,
    )


def path_steps(run: RunState) -> PenaltySteps:
    """The log penalties of a run that follows the gradient of a held-out loss."""
    options = GradientOptions.from_values(run.started.run_plan.options)
    return PenaltySteps(
        "Path of the penalties",
        list(run.started.groups),
        [step.step for step in run.gradients],
        [step.d for step in run.gradients],
        is_log=True,
        bounds=(options.low, options.high),
        notes=[list(step.at_bound) for step in run.gradients],
        is_over=run.ended is not None,
    )


def penalty_path_figure(steps: PenaltySteps, max_names: int = NAMED) -> Figure:
    """A line a group over the steps; of many, only the most extreme."""
    names, numbers, values = steps.table()
    scale = Scale() if steps.is_log else Scale("log")
    heights = scale.positions_of(values.ravel()).reshape(values.shape)
    chosen = list(range(len(names)))
    if len(names) > max_names:
        # Not all names would fit: the most and the least penalized groups are asked for.
        chosen = [int(column) for column in most_extreme(heights[-1], max_names)]
    other_columns = [column for column in range(len(names)) if column not in set(chosen)]
    bounds = _near_bounds(steps, values)
    low, high = range_of(heights)
    # Where no penalty is known yet, NaN stays NaN.
    alike = max(0.0, MIN_SPAN - (high - low)) / 2
    low, high = range_of([low - alike, high + alike], bounds)
    last = float(numbers[-1])
    named = [column for column in chosen if np.isfinite(heights[-1, column])]
    shown = max(5.0, last if steps.is_over else 1.25 * last)
    return Figure(
        steps.title,
        FigureAxis("step", Scale("whole"), None, -0.1, shown, steps.is_over, air=0.02),
        FigureAxis("log of the penalty (λ)" if steps.is_log else PENALTY, scale, None, low, high),
        (
            *(Level(f"bound {bound:g}", bound, "") for bound in bounds),
            Lines("others", *joined(heights[:, other_columns].T, numbers), "control", 1.0),
            EndNames(
                "names",
                np.full(len(named), last),
                heights[-1, named],
                [names[column] for column in named],
            ),
            *_group_lines(steps, numbers, heights, {names[column]: column for column in chosen}),
        ),
        _path_text(steps, names, numbers, values[-1]),
        lambda: _path_table(steps, names, numbers, values),
    )


def _group_lines(
    steps: PenaltySteps, numbers: np.ndarray, heights: np.ndarray, chosen: Mapping[str, int]
) -> list[Mark]:
    rank, marks = {name: position for position, name in enumerate(steps.groups)}, list[Mark]()
    for name, column in chosen.items():
        position = rank.setdefault(name, len(rank))
        colour, is_repeated = group_colour(position), position // SERIES % 2 == 1
        line = heights[:, column]
        # Dots of many steps would melt into a line.
        marked = line if len(numbers) <= MARKED_STEPS else line[-1:]
        marks += [
            Lines(f"line {name}", numbers, line, colour, dashed=is_repeated, label=name),
            Dots(f"dots {name}", numbers[-len(marked) :], marked, colour, OWN, 6, 1.2, label=name),
        ]
    return marks


def group_colour(position: int) -> str:
    """The colour of the group at a position of a run's groups."""
    return f"series{position % SERIES}"


def _near_bounds(steps: PenaltySteps, values: np.ndarray) -> list[float]:
    if steps.bounds is None:
        return []
    least, most = range_of(values)
    low, high = steps.bounds
    return [low] * (least < low + NEAR) + [high] * (most > high - NEAR)


def most_extreme(last: np.ndarray, count: int) -> np.ndarray:
    """The columns of the largest and smallest values, half each."""
    order = np.argsort(np.where(np.isfinite(last), last, np.nanmedian(last)), kind="stable")
    top_count = count // 2
    return np.sort(np.concatenate([order[: count - top_count], order[-top_count:]]))


def _path_text(steps: PenaltySteps, names: list[str], numbers: np.ndarray, last: np.ndarray) -> str:
    step, quantity = int(numbers[-1]), "log λ" if steps.is_log else "λ"
    if not np.isfinite(last).any():
        return f"Step {step}."
    low, high = int(np.nanargmin(last)), int(np.nanargmax(last))
    text = f"Step {step}: {quantity} {format_number(last[0])}."
    if len(names) > 1:
        largest = f"largest {quantity} {format_number(last[high])} for {names[high]}"
        text = f"Step {step}: {largest}, smallest {format_number(last[low])} for {names[low]}."
    at_bound = steps.notes[-1] if steps.notes else []
    return text + (f" At a bound: {', '.join(at_bound)}." if at_bound else "")


def _path_table(
    steps: PenaltySteps, names: list[str], numbers: np.ndarray, values: np.ndarray
) -> Table:
    off = steps.switched_off
    last = [(name, float(values[-1, column]), name in off) for column, name in enumerate(names)]
    ranked = by_importance(last)
    order = [names.index(name) for name in ranked]
    rows = [[int(n), *map(float, row[order])] for n, row in zip(numbers, values, strict=True)]
    if steps.notes is None:
        return ["step", *ranked], rows
    pairs = zip(rows, steps.notes, strict=True)
    return ["step", *ranked, "at a bound"], [[*row, ", ".join(groups)] for row, groups in pairs]


def step_figure(title: str, quantity: str, numbers: Sequence[int], values: Sequence[float], *,
                is_over: bool, table: Table) -> Figure:  # fmt: skip
    """One quantity over the steps, which is to fall."""
    x, y = np.array(numbers, dtype=float), np.array(values, dtype=float)
    marked = slice(None) if len(x) <= MARKED else slice(-1, None)
    low, high = range_of(y)
    value = f"{quantity.capitalize()} {format_number(y[-1], 4)}"
    return Figure(
        title,
        FigureAxis("step", Scale("whole"), None, -0.3, max(5.0, float(x[-1])) + 0.3, is_over),
        FigureAxis(quantity, Scale(), False, low, high),
        (
            Lines("line", x, y, width=2.2),
            Dots("steps", x[marked], y[marked], "model", "model", 6, 1.2),
        ),
        f"{value} at step {int(x[-1])}, from {format_number(y[0], 4)} at the start.",
        lambda: table,
    )


def objective_figure(run: RunState) -> Figure:
    """The objective of a penalty learner over its steps."""
    steps = run.steps
    headers = ["step", "objective", "loss", "solver iterations", "fits so far"]
    rows = [[s.step, s.objective, s.loss, s.iterations, s.fits] for s in steps]
    numbers, values = [s.step for s in steps], [s.objective for s in steps]
    is_over = run.ended is not None
    return step_figure("Objective", "objective", numbers, values, is_over=is_over,
                       table=(headers, rows))  # fmt: skip


def holdout_figure(run: RunState) -> Figure:
    """The loss on held-out data over the steps of the gradient."""
    steps = run.gradients
    headers = ["step", "held-out loss", "gradient norm", "solver iterations", "fits so far"]
    rows = [[s.step, s.holdout_loss, s.gradient_norm, s.iterations, s.fits] for s in steps]
    numbers, values = [s.step for s in steps], [s.holdout_loss for s in steps]
    is_over = run.ended is not None
    return step_figure("Held-out loss", "held-out loss", numbers, values, is_over=is_over,
                       table=(headers, rows))  # fmt: skip


# Penalties of groups ---------------------------------------------------------------------------


def by_importance(groups: Sequence[tuple[str, float, bool]]) -> list[str]:
    """Names of (name, λ, switched off): by λ, then NaN, then switched off."""

    def sort_key(row: tuple[str, float, bool]) -> tuple[bool, bool, float]:
        _, penalty, off = row
        unknown = math.isnan(penalty)
        return off, unknown, 0.0 if unknown else penalty

    return [name for name, _, _ in sorted(groups, key=sort_key)]


def penalty_rows(run: RunState) -> list[tuple[str, float, bool]]:
    """(group, λ, switched off), the most important first."""
    if run.steps:
        step = run.steps[-1]
        off = set(step.switched_off)
        groups = [(name, penalty, name in off) for name, penalty in step.penalties.items()]
    else:
        d = run.gradients[-1].d
        # 700: the exponential of more is infinite
        groups = [(name, math.exp(min(value, 700.0)), False) for name, value in d.items()]
    rank = {name: position for position, name in enumerate(by_importance(groups))}
    return sorted(groups, key=lambda row: rank[row[0]])


def penalties_figure(run: RunState, max_bars: int | None = None) -> Figure:
    """A bar for each group; of too many, those of both ends."""
    state = penalty_rows(run)
    shown = state
    if max_bars is not None and len(state) > max_bars:
        shown = [*state[: max_bars // 2], *state[-max_bars // 2 :]]
    # Those without a bar have an infinite or unknown logarithm.
    ends = {row: math.log10(p) for row, (_, p, _) in enumerate(shown) if 0 < p < math.inf}
    low, high = range_of(list(ends.values()) or [0.0])
    # Half a decade at a time, so that the lower end seldom moves.
    low = math.floor((low - 0.15) * 2) / 2
    places = {name: position for position, name in enumerate(run.started.groups)}
    barred = [shown[row] for row in ends]
    colours = [group_colour(places.setdefault(n, len(places))) for n, _, _ in barred]
    words = ["switched off" if off else f"λ = {format_number(p)}" for _, p, off in barred]
    rows, is_off = [float(row) for row in ends], [off for _, _, off in barred]
    return Figure(
        "Learned group penalties",
        FigureAxis(PENALTY, Scale("log"), None, low, max(high, low + 0.4)),
        FigureAxis("", Scale("choice", tuple(name for name, _, _ in shown))),
        (
            Bars("bars", rows, low, list(ends.values()), colours, is_off, "ink"),
            Labels("penalties", list(ends.values()), rows, words, reserved="switched off"),
        ),
        _penalties_text(state),
        lambda: _penalties_table(run, state),
    )


def _penalties_text(state: list[tuple[str, float, bool]]) -> str:
    off = sum(is_off for _, _, is_off in state)
    smallest, largest = (choose(state, key=lambda row: row[1]) for choose in (min, max))
    sentence = f"{len(state)} groups; λ from {format_number(smallest[1])} ({smallest[0]}) to "
    sentence += f"{format_number(largest[1])} ({largest[0]})."
    return sentence + (f" {off} switched off." if off else "")


def _penalties_table(run: RunState, state: list[tuple[str, float, bool]]) -> Table:
    norms = run.steps[-1].norms if run.steps else {}
    groups = run.started.groups
    return ["group", PENALTY, "norm of weights", "parameters", "note"], [
        [name, penalty, norms.get(name), groups.get(name), "switched off" if off else ""]
        for name, penalty, off in state
    ]
