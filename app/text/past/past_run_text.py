"""Past runs in one line or three."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary

SHOWN_RUNS = 6  # at most, in the rail
_STATES = {
    "running": "not finished",
    "interrupted": "not finished",
    "failed": "failed",
    "stopped": "stopped",
    "finished": "finished",
}


def run_text(run: RunSummary) -> str:
    """A past run in one line."""
    line = f"{_run_title(run)} · {strategy_title(run)} · {_score_text(run)}"
    if run.baseline is not None:
        line += f" · baseline {_format_score(run, run.baseline)}"
    if run.gain is None:
        return line
    unit = " points" if _is_share(run) else ""
    return f"{line} · {_gain_text(run, run.gain)}{unit} over the default"


def run_lines(run: RunSummary) -> tuple[str, str, str]:
    """Data, strategy, and score of a past run."""
    gain = "" if run.gain is None else f" ({_gain_text(run, run.gain)})"
    baseline = (
        "" if run.baseline is None else f", baseline {_format_score(run, run.baseline, 0, 2)}"
    )
    return _run_title(run), strategy_title(run), f"{_score_text(run)}{gain}{baseline}"


def runs_of_one_dataset(runs: Sequence[RunSummary]) -> list[str]:
    """Labels for runs of one dataset."""
    from core.estimators.registry import MODELS

    if len({run.model for run in runs}) == 1:
        return [strategy_title(run) for run in runs]
    models = [MODELS[run.model].title if run.model in MODELS else run.model for run in runs]
    titles = [strategy_title(run) for run in runs]
    pairs = zip(models, titles, strict=True)
    return [title if title == model else f"{model} · {title}" for model, title in pairs]


def left_out_text(left_out: Iterable[str]) -> str:
    """The names of run folders that cannot be read."""
    return f"Left out: {', '.join(left_out)}"


def _run_title(run: RunSummary) -> str:
    return run.title or run.dataset.removesuffix(".csv")


def strategy_title(run: RunSummary) -> str:
    """The title of a run's strategy, or of its several models."""
    from core.estimators.model_settings import title_of  # not needed for the first paint
    from core.estimators.multi_model import SEVERAL
    from core.tuning.strategies.registry import STRATEGIES

    if run.model == SEVERAL:
        return title_of(run.model)
    strategy = STRATEGIES.get(run.strategy)
    return strategy.title if strategy is not None else run.strategy


def _score_text(run: RunSummary) -> str:
    if run.test is None:
        return _STATES.get(run.state, run.state)
    return _format_score(run, run.test)


def _format_score(run: RunSummary, score: float, decimals: int = 1, digits: int = 3) -> str:
    from app.text.number_format import format_decimals, format_number

    if _is_share(run):
        return f"{format_decimals(100 * score, decimals)}\u00a0%"
    return format_number(score, digits)


def _gain_text(run: RunSummary, gain: float) -> str:
    from app.text.number_format import format_decimals, format_number

    text = format_decimals(100 * gain, 1) if _is_share(run) else format_number(gain)
    return f"+{text}" if gain >= 0 else text


def _is_share(run: RunSummary) -> bool:
    from core.tuning.scores.metrics import METRICS

    return run.metric in METRICS and METRICS[run.metric].share
