"""Several runs side by side: their curves, differing settings, and whether comparison is fair.

A curve is the best validation score up to each moment of a run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.errors import UnusableError
from core.estimators.multi_model import MODEL
from core.tuning.plan import Plan
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState
from core.wording import list_text

PICKED = (
    "These runs are compared by their test scores. The one picked after seeing test scores looks "
    "better than it is. To know how good it is, test it once more on a fresh split."
)
LEFT_OUT = ("seed", "workers", "minutes", "time_limit")  # last: they change what it takes


@dataclass(frozen=True)
class BestSoFarCurve:
    """The best score of one run, at every improvement and at the end."""

    path: str
    trials: list[int] = field(default_factory=list)  # how many had ended, n
    seconds: list[float] = field(default_factory=list)  # since the run began, n
    best: list[float] = field(default_factory=list)  # the best validation score then, n
    metric: str = ""
    maximize: bool = True
    steps: int = 0  # of a penalty learner, which has no scores of trials; 0 for other runs
    plan: Plan | None = None  # None where it cannot be read
    values: dict[str, object] = field(default_factory=dict)  # of the plan and the best setting
    problem: str = ""  # why nothing of the run can be shown; "" where it can

    @property
    def draws_test_rows(self) -> bool:
        return self.plan is None or not (self.plan.data.test_file or self.plan.data.latest)


def curve_of(folder: Path, wanted: Callable[[], bool] = lambda: True) -> BestSoFarCurve:
    """The curve of a run, or its beginning where `wanted` turns false."""
    try:
        run = RunFolder.open(folder)
        plan, state = run.plan, RunState()
        for events in run.read_blocks(beats=False):
            if not wanted():
                break
            for event in events:
                state.consume(event)
    except UnusableError as error:
        return BestSoFarCurve(str(folder), problem=error.sentence)
    started = state.started
    if not started.run and not state.trials and not state.steps:
        problem, values = "It has not begun yet.", settings_of(plan, {})
        return BestSoFarCurve(str(folder), plan=plan, values=values, problem=problem)
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
    """(trials ended, seconds, best score) at the first score, every improvement, and the end."""
    sign = 1.0 if state.started.maximize else -1.0
    scores = np.where(state.competing, sign * state.scores, -np.inf)
    if not np.isfinite(scores).any():
        return [], [], []
    ended = np.array([trial.ended for trial in state.trials])
    best = np.maximum.accumulate(scores)
    better = np.flatnonzero(np.diff(best, prepend=-np.inf) > 0)
    # The curve goes on to the last trial, though it improved nothing.
    rows = better if better[-1] == len(best) - 1 else np.append(better, len(best) - 1)
    return (
        [int(row) + 1 for row in rows],
        [float(seconds) for seconds in ended[rows]],
        [float(score) for score in sign * best[rows]],
    )


def settings_of(plan: Plan, best: Mapping[str, object]) -> dict[str, object]:
    """All options of a run, flat, then its best setting."""
    plain = plan.as_dict()
    data, options = plain.pop("data"), plain.pop("options")
    last = {name: plain.pop(name) for name in LEFT_OUT}
    best_settings = {f"best {name}": value for name, value in best.items() if name != MODEL}
    if MODEL in best:
        best_settings = {"best model": best[MODEL], **best_settings}
    flat = {f"option {name}": value for name, value in options.items()}
    return {**{f"data {n}": v for n, v in data.items()}, **plain, **flat, **last, **best_settings}


def differing_names(columns: Sequence[Mapping[str, object]]) -> list[str]:
    """Keys of differing values, in order of first appearance."""
    names = dict.fromkeys(name for column in columns for name in column)
    absent = object()

    def value_text(column: Mapping[str, object], name: str) -> str:
        value = column.get(name, absent)
        return "absent" if value is absent else json.dumps(value, sort_keys=True, default=str)

    return [name for name in names if len({value_text(column, name) for column in columns}) > 1]


def are_comparable(first: RunSummary, second: RunSummary) -> bool:
    """Whether scores may be compared: the same file, target and metric."""
    # Runs of earlier versions lack the fingerprint: the name has to do.
    is_same_data = bool(first.fingerprint) or first.dataset == second.dataset
    fields = ("fingerprint", "target", "metric")
    return is_same_data and all(getattr(first, name) == getattr(second, name) for name in fields)


def refusal_text(runs: Sequence[RunSummary]) -> str:
    """Why scores cannot be compared, a sentence; "" where they can."""
    first = runs[0]
    if all(are_comparable(first, run) for run in runs[1:]):
        return ""
    names = {"fingerprint": "data", "target": "columns to predict", "metric": "measures"}
    words = list_text(w for n, w in names.items() if len({getattr(run, n) for run in runs}) > 1)
    return f"These runs have other {words or 'data'}, so that their scores cannot be compared."


def cautions(runs: Sequence[RunSummary]) -> list[str]:
    """Warnings for comparable runs side by side."""
    tested = [run for run in runs if run.test is not None]
    if len(tested) < 2:
        return []
    sentences = [PICKED]
    if len({run.split for run in tested}) > 1:
        rows = "They were not all tested on the same rows"
        sentences.append(f"{rows}: a part of the difference is the split's.")
    spans = [run.interval for run in tested if run.interval]
    if len(spans) == len(tested) and max(s[0] for s in spans) <= min(s[1] for s in spans):
        sentences.append("The intervals of all of them overlap: the difference may be chance.")
    return sentences
