"""What the rail says: titles of the plan, and past runs; it imports nothing slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.tuning.guidance.guidance_records import Advice
from core.tuning.plan import Plan

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary


def model_title(plan: Plan | None, advice: Advice | None) -> str:
    """The planned model's title, "" without one."""
    if plan is None or advice is None:
        return ""
    titles = {entry.name: entry.title for entry in advice.models}
    return titles.get(plan.model, plan.model)


def strategy_title(plan: Plan | None, advice: Advice | None) -> str:
    """The planned strategy's title, "" without one."""
    if plan is None or advice is None:
        return ""
    titles = {entry.name: entry.title for entry in advice.strategies.get(plan.model, [])}
    return titles.get(plan.strategy, plan.strategy)


SHOWN_RUNS = 6  # at most, in the rail


def run_text(run: RunSummary) -> str:
    """A past run in one line."""
    from core.tuning.scores.score import score_text, signed_difference

    line = f"{_run_title(run)} · {run_strategy_title(run)} · {_score_text(run)}"
    if run.baseline is not None:
        line += f" · baseline {score_text(run.baseline, run.metric)}"
    if run.gain is None:
        return line
    return f"{line} · {signed_difference(run.gain, run.metric, unit=True)} over the default"


def run_lines(run: RunSummary) -> tuple[str, str, str]:
    """Data, strategy, and score of a past run."""
    from core.tuning.scores.score import signed_difference

    gain = "" if run.gain is None else f" ({signed_difference(run.gain, run.metric)})"
    return _run_title(run), run_strategy_title(run), f"{_score_text(run)}{gain}"


def runs_of_one_dataset(runs: Sequence[RunSummary]) -> list[str]:
    """Labels for runs of one dataset."""
    from core.estimators.registry import MODELS

    # The model tells nothing apart where all runs have the same.
    if len({run.model for run in runs}) == 1:
        return [run_strategy_title(run) for run in runs]
    models = [MODELS[run.model].title if run.model in MODELS else run.model for run in runs]
    titles = [run_strategy_title(run) for run in runs]
    pairs = zip(models, titles, strict=True)
    return [title if title == model else f"{model} · {title}" for model, title in pairs]


def left_out_text(left_out: Iterable[str]) -> str:
    """The names of run folders that cannot be read."""
    return f"Left out: {', '.join(left_out)}"


def _run_title(run: RunSummary) -> str:
    return run.title or run.dataset.removesuffix(".csv")


def run_strategy_title(run: RunSummary) -> str:
    """The title of a run's strategy, or of its several models."""
    # The rail is painted first; models are imported after it.
    from core.estimators.model_settings import title_of
    from core.estimators.multi_model import SEVERAL
    from core.tuning.strategies.registry import STRATEGIES

    if run.model == SEVERAL:
        return title_of(run.model)
    # The code of an extension runs no earlier than its run is opened.
    strategy = STRATEGIES.own_entries.get(run.strategy)
    return strategy.title if strategy is not None else run.strategy


def state_text(run: RunSummary) -> str:
    """Why a run has no score, in the command line's words."""
    return "no score" if run.state == "finished" else run.state


def _score_text(run: RunSummary) -> str:
    if run.test is None:
        return state_text(run)
    from core.tuning.scores.score import score_text

    return score_text(run.test, run.metric)
