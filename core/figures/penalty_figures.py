"""The figures of learned penalties: over the steps, of every group, and what they minimize."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.figures import figure as plot
from core.figures.scales import Scale
from core.penalties.penalty_order import order_text
from core.penalties.penalty_problem import GradientOptions
from core.tuning.runs.state import RunState
from core.wording import format_number

SERIES = 8  # colours that tell groups apart
PENALTY = "penalty (λ)"  # larger holds the weights back more; scikit-learn's C runs against it
MARKED_STEPS = 40  # steps up to which each has a dot on a group's line
MIN_SPAN = 0.4  # of the values: all alike at step 0, they still get ticks that mean something
NEAR = 1.0  # powers of ten: closer than this to a bound, the bound is drawn
BEYOND = 0.15  # share of the range, and powers of ten: bars of what is switched off are longer
RANGES = "Line: by single folds; where two overlap, their order may be chance."
NAMED = 12  # of many groups, the most extreme, which have a name and a colour


# Over the steps ---------------------------------------------------------------------------------


def penalty_path_figure(run: RunState, max_names: int = NAMED) -> plot.Figure:
    """A line a group over the steps, λ on a log axis; of many, only the most extreme."""
    steps = run.gradients or run.steps
    names = list(steps[-1].penalties)
    numbers = np.array([step.step for step in steps], dtype=float)
    ordered = [[step.penalties.get(name, np.nan) for name in names] for step in steps]
    values = np.array(ordered, dtype=float)
    scale = Scale("log")
    heights = scale.positions_of(values.ravel()).reshape(values.shape)
    chosen = list(range(len(names)))
    if len(names) > max_names:
        # Not all names would fit: the most and the least penalized groups are asked for.
        chosen = [int(column) for column in _most_extreme(heights[-1], max_names)]
    other_columns = [column for column in range(len(names)) if column not in set(chosen)]
    bounds = _near_bounds(run, heights)
    low, high = plot.range_of(heights)
    # Where no penalty is known yet, NaN stays NaN.
    alike = max(0.0, MIN_SPAN - (high - low)) / 2
    low, high = plot.range_of([low - alike, high + alike], bounds)
    last = float(numbers[-1])
    named = [column for column in chosen if np.isfinite(heights[-1, column])]
    is_over = run.ended is not None
    shown = max(5.0, last if is_over else 1.25 * last)
    end_names = [names[column] for column in named]
    lines = _group_lines(run, numbers, heights, {names[column]: column for column in chosen})
    other_lines = plot.joined(heights[:, other_columns].T, numbers)
    return plot.Figure(
        "Path of the penalties" if run.gradients else "Regularization trajectory",
        plot.FigureAxis("step", Scale("whole"), None, -0.1, shown, is_over, air=0.02),
        plot.FigureAxis(PENALTY, scale, None, low, high),
        (
            *(plot.Level(f"bound {bound:.1f}", bound, "") for bound in bounds),
            plot.Lines("others", *other_lines, "control", 1.0),
            plot.EndNames("names", [last] * len(named), heights[-1, named], end_names),
            *lines,
        ),
        _path_text(run, names, numbers, values[-1]),
        lambda: _path_table(run, names, numbers, values),
    )


def _group_lines(
    run: RunState, numbers: np.ndarray, heights: np.ndarray, chosen: Mapping[str, int]
) -> list[plot.Mark]:
    marks = list[plot.Mark]()
    # Dots of many steps would melt into a line.
    dotted = slice(None) if len(numbers) <= MARKED_STEPS else slice(-1, None)
    for name, position in _positions(run, chosen).items():
        colour, is_repeated = f"series{position % SERIES}", position // SERIES % 2 == 1
        line = heights[:, chosen[name]]
        dots = (f"dots {name}", numbers[dotted], line[dotted], colour, plot.OWN, 6, 1.2)
        marks += [
            plot.Lines(f"line {name}", numbers, line, colour, dashed=is_repeated, label=name),
            plot.Dots(*dots, label=name),
        ]
    return marks


def _positions(run: RunState, names: Iterable[str]) -> dict[str, int]:
    rank = {name: position for position, name in enumerate(run.started.groups)}
    return {name: rank.setdefault(name, len(rank)) for name in names}


def _near_bounds(run: RunState, heights: np.ndarray) -> list[float]:
    if not run.gradients:
        return []
    least, most = plot.range_of(heights)
    options = GradientOptions.from_values(run.started.run_plan.options)
    low, high = (end / math.log(10) for end in (options.low, options.high))
    return [low] * (least < low + NEAR) + [high] * (most > high - NEAR)


def _most_extreme(last: np.ndarray, count: int) -> np.ndarray:
    # The columns of the largest and smallest values, half each.
    order = np.argsort(np.where(np.isfinite(last), last, np.nanmedian(last)), kind="stable")
    top_count = count // 2
    return np.sort(np.concatenate([order[: count - top_count], order[-top_count:]]))


def _path_text(run: RunState, names: list[str], numbers: np.ndarray, last: np.ndarray) -> str:
    step = int(numbers[-1])
    if not np.isfinite(last).any():
        return f"Step {step}."
    low, high = int(np.nanargmin(last)), int(np.nanargmax(last))
    text = f"Step {step}: λ {format_number(last[0])}."
    if len(names) > 1:
        largest = f"largest λ {format_number(last[high])} for {names[high]}"
        text = f"Step {step}: {largest}, smallest {format_number(last[low])} for {names[low]}."
    at_bound = run.gradients[-1].at_bound if run.gradients else ()
    return text + (f" At a bound: {', '.join(at_bound)}." if at_bound else "")


def _path_table(
    run: RunState, names: list[str], numbers: np.ndarray, values: np.ndarray
) -> plot.Table:
    off = set((run.gradients or run.steps)[-1].switched_off or ())
    last = (PenaltyRow(n, float(values[-1, column]), n in off) for column, n in enumerate(names))
    ranked = [row.name for row in by_penalty(last)]
    columns = values[:, [names.index(name) for name in ranked]].tolist()
    rows = [[int(n), *row] for n, row in zip(numbers, columns, strict=True)]
    if not run.gradients:
        return ["step", *ranked], rows
    pairs = zip(rows, run.gradients, strict=True)
    return ["step", *ranked, "at a bound"], [[*row, ", ".join(s.at_bound)] for row, s in pairs]


def descent_figure(run: RunState) -> plot.Figure:
    """What a penalty learner lowers: its objective, or the loss on held-out data."""
    quantity, beside = "objective", "loss"
    rows = [[s.step, s.objective, s.loss, s.iterations, s.fits] for s in run.steps]
    if run.gradients:
        quantity, beside = "held-out loss", "gradient norm"
        steps = run.gradients
        rows = [[s.step, s.holdout_loss, s.gradient_norm, s.iterations, s.fits] for s in steps]
    x, y = np.array([row[:2] for row in rows], dtype=float).T
    marked = slice(None) if len(x) <= plot.MARKED else slice(-1, None)
    low, high = plot.range_of(y)
    end = max(5.0, float(x[-1])) + 0.3
    return plot.Figure(
        quantity.capitalize(),
        plot.FigureAxis("step", Scale("whole"), None, -0.3, end, run.ended is not None),
        plot.FigureAxis(quantity, Scale(), False, low, high),
        (
            plot.Lines("line", x, y, width=2.2),
            plot.Dots("steps", x[marked], y[marked], "model", "model", 6, 1.2),
        ),
        f"{quantity.capitalize()} {format_number(y[-1], 4)} at step {int(x[-1])}, from "
        f"{format_number(y[0], 4)} at the start.",
        lambda: (["step", quantity, beside, "solver iterations", "fits so far"], rows),
    )


# Penalties of groups ---------------------------------------------------------------------------


@dataclass(frozen=True)
class PenaltyRow:
    """A group with its λ, and the range of those that single folds would choose."""

    name: str
    penalty: float
    is_off: bool = False  # switched off
    low: float = math.nan
    high: float = math.nan

    @property
    def penalty_text(self) -> str:
        """Such as "λ = 0.4"."""
        return "switched off" if self.is_off else f"λ = {format_number(self.penalty)}"


def by_penalty(rows: Iterable[PenaltyRow]) -> list[PenaltyRow]:
    """By λ, then NaN, then switched off."""
    return sorted(rows, key=lambda row: (row.is_off, math.isnan(row.penalty), row.penalty))


def penalty_rows(run: RunState) -> list[PenaltyRow]:
    """The groups after the last step, by λ."""
    step = run.last_step
    assert step is not None  # callers have asked for content
    off, ranges = set(step.switched_off or ()), getattr(step, "ranges", None) or {}
    # The weights of what is switched off are nearly 0 at any penalty.
    return by_penalty(
        PenaltyRow(name, penalty, name in off, *(() if name in off else ranges.get(name, ())))
        for name, penalty in step.penalties.items()
    )


def penalties_figure(run: RunState, max_bars: int | None = None) -> plot.Figure:
    """A bar for each group; of too many, those of both ends."""
    state = penalty_rows(run)
    shown = state
    if max_bars is not None and len(state) > max_bars:
        shown = [*state[: max_bars // 2], *state[-max_bars // 2 :]]
    # Those without a bar have an infinite or unknown logarithm.
    bars = {k: row for k, row in enumerate(shown) if 0 < row.penalty < math.inf or row.is_off}
    ends, lows, highs = (
        np.log10([math.nan if row.is_off else getattr(row, end) for row in bars.values()])
        for end in ("penalty", "low", "high")
    )
    low, high = plot.range_of(ends, lows, highs)
    if not math.isfinite(high):
        low, high = 0.0, 0.0
    # Half a decade at a time, so that the lower end seldom moves.
    low = math.floor((low - 0.15) * 2) / 2
    # What counts for nothing has the longest bar, however small its penalty has stayed.
    is_off = [row.is_off for row in bars.values()]
    ends = np.where(is_off, high + BEYOND * (1.0 + high - low), ends)
    high = max(high, *ends.tolist(), low + 0.4)
    positions = _positions(run, (row.name for row in bars.values()))
    colours = [f"series{position % SERIES}" for position in positions.values()]
    words = [row.penalty_text for row in bars.values()]
    range_rows, range_ends = plot.whiskers(list(bars), lows, highs)
    return plot.Figure(
        "Learned group penalties",
        plot.FigureAxis(PENALTY, Scale("log"), None, low, high),
        plot.FigureAxis("", Scale("choice", tuple(row.name for row in shown))),
        (
            plot.Bars("bars", list(map(float, bars)), low, ends.tolist(), colours, is_off, "ink"),
            plot.Lines("ranges", range_ends, range_rows, "ink", 2.4),
            plot.Labels("penalties", np.fmax(ends, highs), [*bars], words, reserved="switched off"),
        ),
        _penalties_text(state),
        lambda: _penalties_table(run, state),
    )


def _penalties_text(state: list[PenaltyRow]) -> str:
    # λ of what is switched off is as large as it happened to become.
    alive = [row for row in state if not row.is_off]
    text = f"{len(state)} groups"
    if alive:
        (first, *_, last) = (alive[0], alive[-1])
        text += f"; λ from {format_number(first.penalty)} ({first.name}) to "
        text += f"{format_number(last.penalty)} ({last.name})"
    text += f". {len(state) - len(alive)} switched off." if len(alive) < len(state) else "."
    order = order_text({r.name: [r.low, r.high] for r in alive if math.isfinite(r.low)})
    return f"{text} {order}".strip()


def _penalties_table(run: RunState, state: list[PenaltyRow]) -> plot.Table:
    norms = run.steps[-1].norms if run.steps else {}
    groups = run.started.groups
    between = [f"{PENALTY}, {end} of folds" for end in ("lowest", "highest")]
    has_ranges = any(math.isfinite(row.low) for row in state)
    headers = ["group", PENALTY, *(between if has_ranges else ()), "norm of weights", "parameters"]
    return [*headers, "note"], [
        [
            row.name,
            row.penalty,
            *((row.low, row.high) if has_ranges else ()),
            norms.get(row.name),
            groups.get(row.name),
            "switched off" if row.is_off else "",
        ]
        for row in state
    ]
