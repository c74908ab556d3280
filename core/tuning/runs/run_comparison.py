"""Several runs beside each other: their curves, what differs in their settings, what is fair.

A curve is the best validation score until each moment of a run. Scores of two runs may be compared
where they are of the same file, target and measure; what is said where they are not, or where the
choice is made by test scores, is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.errors import UnusableError
from core.estimators.multi_model import MODEL
from core.tuning.plan import Plan
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState

LOOKS = 256  # events between two looks at whether the curves are still wanted
PICKED = (
    "These runs are compared by their test scores. The one picked after seeing test scores looks "
    "better than it is. To know how good it is, test it once more on a fresh split."
)
LEFT_OUT = ("seed", "workers", "minutes", "time_limit")  # last: they change what it takes


@dataclass(frozen=True)
class BestSoFarCurve:
    """The best score so far of one run, at every improvement and at the end.

    Attributes:
        trials: how many had ended, n.
        seconds: since the run began, n.
        best: the best validation score then, n.
        metric: what the score is; maximize: whether more is better.
        steps: of a penalty learner, which has no scores of trials; 0 for other runs.
        plan: None where it cannot be read.
        values: {what is set: its value} of the plan and of the best setting.
        problem: why nothing of the run can be shown; "" where it can.
    """

    path: str
    trials: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    metric: str = ""
    maximize: bool = True
    steps: int = 0
    plan: Plan | None = None
    values: dict[str, object] = field(default_factory=dict)
    problem: str = ""

    @property
    def draws_test_rows(self) -> bool:
        """Whether another seed gives other test rows."""
        return self.plan is None or not (self.plan.data.test_file or self.plan.data.latest)


def curve_of(folder: Path, wanted: Callable[[], bool] = lambda: True) -> BestSoFarCurve:
    """The curve of the run in a folder.

    Args:
        folder: the run's.
        wanted: asked from time to time; where it says no, what was read until then counts.
    """
    try:
        run = RunFolder.open(folder)
        plan, state = run.plan, RunState()
        for count, event in enumerate(run.read_events(beats=False)):
            if count % LOOKS == 0 and not wanted():
                break
            state.consume(event)
    except UnusableError as error:
        return BestSoFarCurve(str(folder), problem=error.sentence)
    started = state.started
    if not started.run and not state.trials and not state.steps:
        return BestSoFarCurve(
            str(folder), plan=plan, values=settings_of(plan, {}), problem="It has not begun yet."
        )
    trials, seconds, best = best_so_far(state)
    setting = dict(state.results.setting) if state.results is not None else {}
    if not setting and state.best_trial is not None:
        setting = dict(state.best_trial.setting)
    return BestSoFarCurve(
        str(folder),
        trials,
        seconds,
        best,
        metric=started.metric,
        maximize=started.maximize,
        steps=len(state.steps) + len(state.gradients),
        plan=plan,
        values=settings_of(plan, setting),
    )


def best_so_far(state: RunState) -> tuple[list[int], list[float], list[float]]:
    """(trials that had ended, seconds, best score): first score, every improvement, the end."""
    sign = 1.0 if state.started.maximize else -1.0
    scores = np.where(state.competing, sign * state.scores, -np.inf)
    if not np.isfinite(scores).any():
        return [], [], []
    ended = np.array([trial.ended for trial in state.trials])
    best = np.maximum.accumulate(scores)
    better = np.flatnonzero(np.diff(best, prepend=-np.inf) > 0)
    rows = better if better[-1] == len(best) - 1 else np.append(better, len(best) - 1)
    return (
        [int(row) + 1 for row in rows],
        [float(seconds) for seconds in ended[rows]],
        [float(score) for score in sign * best[rows]],
    )


def settings_of(plan: Plan, best: Mapping[str, object]) -> dict[str, object]:
    """Everything that was set in a run, flat, then the best setting that it found."""
    plain = plan.as_dict()
    data, options = plain.pop("data"), plain.pop("options")
    last = {name: plain.pop(name) for name in LEFT_OUT}
    best_settings = {f"best {name}": value for name, value in best.items() if name != MODEL}
    if MODEL in best:
        best_settings = {"best model": best[MODEL], **best_settings}
    flat = {f"option {name}": value for name, value in options.items()}
    return {**{f"data {n}": v for n, v in data.items()}, **plain, **flat, **last, **best_settings}


def differing_names(columns: Sequence[Mapping[str, object]]) -> list[str]:
    """What is not the same in all columns, in the order in which it first comes."""
    names = dict.fromkeys(name for column in columns for name in column)
    absent = object()

    def value_text(column: Mapping[str, object], name: str) -> str:
        value = column.get(name, absent)
        return "absent" if value is absent else json.dumps(value, sort_keys=True, default=str)

    return [name for name in names if len({value_text(column, name) for column in columns}) > 1]


def are_comparable(first: RunSummary, second: RunSummary) -> bool:
    """Whether two runs may be compared by score: the same file, target and measure."""
    is_same_data = bool(first.fingerprint) or first.dataset == second.dataset
    fields = ("fingerprint", "target", "metric")
    return is_same_data and all(getattr(first, name) == getattr(second, name) for name in fields)


def refusal_text(runs: Sequence[RunSummary]) -> str:
    """Why the runs cannot be compared by score, a sentence; "" where they can."""
    first = runs[0]
    if all(are_comparable(first, run) for run in runs[1:]):
        return ""
    names = {"fingerprint": "data", "target": "columns to predict", "metric": "measures"}
    differences = [w for n, w in names.items() if len({getattr(run, n) for run in runs}) > 1]
    words = _join_words(differences)
    return f"These runs have other {words}, so that their scores cannot be compared."


def cautions(runs: Sequence[RunSummary]) -> list[str]:
    """What must be said where runs that may be compared stand side by side."""
    tested = [run for run in runs if run.test is not None]
    if len(tested) < 2:
        return []
    sentences = [PICKED]
    if len({run.split for run in tested}) > 1:
        sentences.append(
            "They were not all tested on the same rows: a part of the difference is the split's."
        )
    spans = [run.interval for run in tested if run.interval]
    if len(spans) == len(tested) and max(s[0] for s in spans) <= min(s[1] for s in spans):
        sentences.append("The intervals of all of them overlap: the difference may be chance.")
    return sentences


def _join_words(words: Iterable[str]) -> str:
    *first_words, last = list(words) or ["data"]
    return f"{', '.join(first_words)} and {last}" if first_words else last
