"""The models of a run of several in words: how each stands, which is next, and why."""

from __future__ import annotations

from app.text.numbers import plain, seconds
from app.text.scores import (
    PERCENT,
    difference_in_words,
    metric_in_short,
    score_in_words,
)
from core.estimators.facts import uncapitalized
from core.estimators.settings import noun_of, title_of
from core.tuning.events import ModelsCompared
from core.tuning.runs.standings import Standing, standings, state_in_words
from core.tuning.runs.state import RunState
from core.tuning.scores.metrics import METRICS

LEAST = 0.0005  # of a share: a smaller gain that is expected is said as none


def score_of(one: Standing, metric: str) -> str:
    """The best score of a model with its standard error, or what is known of it otherwise."""
    if one.best is None and one.estimate is not None:
        return f"about {score_in_words(one.estimate, metric)}"
    if one.best is None:
        return "–" if one.look is None else f"first look {score_in_words(one.look, metric)}"
    said = score_in_words(one.best, metric)
    if one.error is None:
        return said
    return f"{said.removesuffix(PERCENT)} ± {score_in_words(one.error, metric)}"


def above_baseline(one: Standing, run: RunState) -> str:
    """How far the best score is above that of knowing nothing; "–" where either is not known."""
    baseline, metric = run.started.baseline, run.started.metric
    if baseline is None or one.known is None:
        return "–"
    better = one.known - baseline if run.started.maximize else baseline - one.known
    sign = "+" if better >= 0 else ""
    return f"{sign}{difference_in_words(metric, better)}"


def trials_of(one: Standing) -> str:
    """How many trials it had; behind a plus those that were ended early."""
    return f"{one.trials} + {one.early}" if one.early else str(one.trials)


def gain_in_words(one: Standing, metric: str) -> str:
    """How much its next trial is expected to raise the best score of all."""
    if one.state == "failed" or one.gain <= 0:
        return "–"
    if _is_share(metric) and one.gain < LEAST:
        return "hardly any"
    return difference_in_words(metric, one.gain)


def stands(one: Standing, run: RunState) -> str:
    """How a model stands, in a few words."""
    if one.state not in ("failed", "slow") and _is_tried(one.model, run):
        return "being tried"
    if one.state == "behind" and one.best is None and one.estimate is not None:
        return "ended early, behind"  # why the score is an estimate
    return state_in_words(one)


def _is_tried(model: str, run: RunState) -> bool:
    return any(begun.setting.get("model") == model for begun in run.pending.values())


def what_is_next(run: RunState) -> str:
    """Which model is tried now and why; "" once the run has ended or before the first trial."""
    compared = run.compared
    if run.ended is not None or run.tuning_ended is not None:
        return ""
    if compared is None:
        return _looking(run)
    if not compared.next:
        return ""
    return f"Next: {noun_of(compared.next)}, because {_because(compared, run)}."


def _looking(run: RunState) -> str:
    """What the first look is about, while it is taken."""
    there = len(standings(run))
    if not run.started.run and not run.looks:
        return ""
    which = "its default setting"
    if any(read.datasets for read in run.histories.values()):
        which += " and with what was best on earlier datasets"
    return (
        f"A first look at every model with {which}, on a part of the rows: "
        f"{len(run.looks)} of {there} done."
    )


def _because(compared: ModelsCompared, run: RunState) -> str:
    one = next((s for s in compared.models if s.model == compared.next), None)
    takes = f" in about {seconds(one.takes)}" if one is not None and one.takes > 0 else ""
    match compared.why:
        case "first":
            return "its default setting has not been tried on all training rows yet"
        case "floor":
            return "every model gets a few trials, so that none is given up on one bad draw"
        case "turn":
            return "it may still lead and has had the least time of all that may"
    metric = metric_in_short(run.started.metric)
    if one is None or one.gain <= 0:
        return f"its best {metric} may still rise"
    gain = gain_in_words(one, run.started.metric)
    if gain == "hardly any":
        return f"it promises most for its time, though hardly any gain is expected{takes}"
    return f"the best {metric} is expected to rise most for the time: by {gain}{takes}"


def who_leads(run: RunState) -> str:
    """The leader, and which models are clearly behind; "" before the first score."""
    known = [one for one in standings(run) if one.best is not None]
    if run.compared is None or not known:
        return ""
    metric, first = run.started.metric, known[0]
    said = f"{title_of(first.model)} leads with {score_in_words(first.best, metric)}"
    if len(known) > 1:
        other = known[1]
        said += f", before {noun_of(other.model)} with {score_in_words(other.best, metric)}"
    said += "."
    behind = [uncapitalized(title_of(one.model)) for one in standings(run) if one.state == "behind"]
    return f"{said} Clearly behind: {', '.join(behind)}." if behind else said


def what_failed(run: RunState) -> list[str]:
    """A sentence for each model that could not be used."""
    return [f"{title_of(one.model)}: {one.why}" for one in standings(run) if one.why]


def _is_share(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].share


def baseline_in_words(run: RunState) -> str:
    """The score of knowing nothing: "56.7 %"; "" where it is not known."""
    baseline = run.started.baseline
    return "" if baseline is None else score_in_words(baseline, run.started.metric)


def look_rows(run: RunState) -> str:
    """On how many rows the first look was fitted: "1000"; "" before it."""
    rows = max((look.rows for look in run.looks.values()), default=0)
    return plain(float(rows), 6) if rows else ""
