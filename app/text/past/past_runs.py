"""Past runs in one line or three: data, strategy, score and gain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

SHOWN_RUNS = 6  # at most, in the rail
_STATES = {
    "running": "not finished",
    "interrupted": "not finished",
    "failed": "failed",
    "stopped": "stopped",
    "finished": "finished",
}


def run_in_words(run: Any) -> str:
    """A past run in one line: data, strategy, score on test rows, gain over the default."""
    line = f"{_named(run)} · {strategy_title(run)} · {_score(run)}"
    if run.baseline is not None:
        line += f" · knowing nothing {_shown(run, run.baseline)}"
    if run.gain is None:
        return line
    share = _is_share(run)
    said = "{gain} points over the default" if share else "{gain} over the default"
    return f"{line} · {said.format(gain=_gain(run))}"


def run_in_lines(run: Any) -> tuple[str, str, str]:
    """A past run for a narrow place: data, strategy, then score and gain."""
    gain = "" if run.gain is None else f" ({_gain(run)})"
    nothing = "" if run.baseline is None else f", nothing {_rounded(run, run.baseline)}"
    return _named(run), strategy_title(run), f"{_score(run)}{gain}{nothing}"


def runs_of_one_dataset(runs: Sequence[Any]) -> list[str]:
    """What tells runs of one dataset apart: their strategies, and their models if they differ."""
    from core.estimators.registry import MODELS

    if len({run.model for run in runs}) == 1:
        return [strategy_title(run) for run in runs]
    models = [MODELS[run.model].title if run.model in MODELS else str(run.model) for run in runs]
    titles = [strategy_title(run) for run in runs]
    return [
        title if title == model else f"{model} · {title}"
        for model, title in zip(models, titles, strict=True)
    ]


def left_out_in_words(left_out: Iterable[str]) -> str:
    """The names of folders that are in no list because they cannot be read."""
    return f"Left out: {', '.join(left_out)}"


def _named(run: Any) -> str:
    """The name that a person gave the run, or that of its data."""
    return str(getattr(run, "title", "")) or _data(run)


def _data(run: Any) -> str:
    return str(run.dataset).removesuffix(".csv")


def strategy_title(run: Any) -> str:
    """What the strategy of a run is called; its name where it is not installed.

    Of a run of several models what these are called together: there is one strategy for them.
    """
    from core.estimators.settings import title_of  # not needed for the first paint
    from core.estimators.several import SEVERAL
    from core.tuning.strategies.registry import STRATEGIES

    if run.model == SEVERAL:
        return title_of(run.model)
    known = STRATEGIES.get(run.strategy)
    return known.title if known is not None else str(run.strategy)


def _score(run: Any) -> str:
    if run.test is None:
        return _STATES.get(run.state, run.state)
    return _shown(run, run.test)


def _shown(run: Any, score: float) -> str:
    from app.text.numbers import fixed, plain  # not needed for the first paint

    return f"{fixed(100 * score, 1)}\u00a0%" if _is_share(run) else plain(score)


def _rounded(run: Any, score: float) -> str:
    """A score in a narrow place, beside others that have more digits."""
    from app.text.numbers import fixed, plain  # not needed for the first paint

    return f"{fixed(100 * score, 0)}\u00a0%" if _is_share(run) else plain(score, 2)


def _gain(run: Any) -> str:
    from app.text.numbers import fixed, plain

    gain = fixed(100 * run.gain, 1) if _is_share(run) else plain(run.gain)
    return f"+{gain}" if run.gain >= 0 else gain


def _is_share(run: Any) -> bool:
    from core.tuning.scores.metrics import METRICS

    return run.metric in METRICS and METRICS[run.metric].share
