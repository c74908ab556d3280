"""The models of a run of several as text."""

from __future__ import annotations

from app.text.number_format import format_duration, format_number
from app.text.score_text import PERCENT, difference_text, metric_in_short, score_text
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import noun_of, title_of
from core.tuning.events import ModelsCompared
from core.tuning.payloads import LeaderboardEntry
from core.tuning.runs.model_leaderboard import LeaderboardRow, model_leaderboard, state_text
from core.tuning.runs.state import RunState
from core.tuning.scores.metrics import METRICS

MIN_GAIN = 0.0005  # of a share; a smaller expected gain is "hardly any"


def score_of(row: LeaderboardRow, metric: str) -> str:
    """The best score with its standard error, or an estimate."""
    if row.best is None and row.estimate is not None:
        return f"about {score_text(row.estimate, metric)}"
    if row.best is None:
        return "–" if row.look is None else f"screening {score_text(row.look, metric)}"
    best_score = score_text(row.best, metric)
    if row.error is None:
        return best_score
    return f"{best_score.removesuffix(PERCENT)} ± {score_text(row.error, metric)}"


def above_baseline(row: LeaderboardRow, run: RunState) -> str:
    """By how much the best score beats the baseline, or "–"."""
    baseline, score = run.started.baseline, row.best_known_score
    if baseline is None or score is None:
        return "–"
    better = score - baseline if run.started.maximize else baseline - score
    sign = "+" if better >= 0 else ""
    return f"{sign}{difference_text(run.started.metric, better)}"


def trials_of(row: LeaderboardRow) -> str:
    """Trials; behind a plus those that ended early."""
    return f"{row.trials} + {row.early}" if row.early else str(row.trials)


def gain_text(row: LeaderboardEntry, metric: str) -> str:
    """The expected gain of its next trial."""
    if row.state == "failed" or row.gain <= 0:
        return "–"
    if _is_share(metric) and row.gain < MIN_GAIN:
        return "hardly any"
    return difference_text(metric, row.gain)


def standing_text(row: LeaderboardRow, run: RunState) -> str:
    """How a model stands, in a few words."""
    if row.state not in ("failed", "slow") and _is_tried(row.model, run):
        return "being tried"
    if row.state == "behind" and row.best is None and row.estimate is not None:
        return "ended early, behind"  # why the score is an estimate
    return state_text(row)


def _is_tried(model: str, run: RunState) -> bool:
    return any(begun.setting.get("model") == model for begun in run.pending.values())


def what_is_next(run: RunState) -> str:
    """Which model is tried next and why, or ""."""
    compared = run.compared
    if run.ended is not None or run.tuning_ended is not None:
        return ""
    if compared is None:
        return _looking(run)
    if not compared.next:
        return ""
    return f"Next: {noun_of(compared.next)}, because {_because(compared, run)}."


def _looking(run: RunState) -> str:
    model_count = len(model_leaderboard(run))
    if not run.started.run and not run.looks:
        return ""
    which = "its default setting"
    if any(read.datasets for read in run.histories.values()):
        which += " and with what was best on earlier datasets"
    return (
        f"Screening: each model once with {which}, on part of the rows: "
        f"{len(run.looks)} of {model_count} done."
    )


def _because(compared: ModelsCompared, run: RunState) -> str:
    next_row = next((s for s in compared.models if s.model == compared.next), None)
    takes = ""
    if next_row is not None and next_row.takes > 0:
        takes = f" in about {format_duration(next_row.takes)}"
    match compared.why:
        case "first":
            return "its default setting has not been tried on all training rows yet"
        case "floor":
            return "every model gets a few trials, so that none is given up on one bad draw"
        case "turn":
            return "it may still lead and has had the least time of all that may"
    metric = metric_in_short(run.started.metric)
    if next_row is None or next_row.gain <= 0:
        return f"its best {metric} may still rise"
    gain = gain_text(next_row, run.started.metric)
    if gain == "hardly any":
        return f"it promises most for its time, though hardly any gain is expected{takes}"
    return f"the best {metric} is expected to rise most for the time: by {gain}{takes}"


def who_leads(run: RunState) -> str:
    """The leader, and the models clearly behind, or ""."""
    rows = model_leaderboard(run)
    scored_rows = [row for row in rows if row.best is not None]
    if run.compared is None or not scored_rows:
        return ""
    metric, first = run.started.metric, scored_rows[0]
    sentence = f"{title_of(first.model)} leads with {score_text(first.best, metric)}"
    if len(scored_rows) > 1:
        runner_up = scored_rows[1]
        sentence += f", before {noun_of(runner_up.model)} with {score_text(runner_up.best, metric)}"
    sentence += "."
    behind = [uncapitalized(title_of(row.model)) for row in rows if row.state == "behind"]
    return f"{sentence} Clearly behind: {', '.join(behind)}." if behind else sentence


def what_failed(run: RunState) -> list[str]:
    """A sentence for each model that could not be used."""
    return [f"{title_of(row.model)}: {row.why}" for row in model_leaderboard(run) if row.why]


def _is_share(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].share


def baseline_text(run: RunState) -> str:
    """Such as "56.7 %", or ""."""
    baseline = run.started.baseline
    return "" if baseline is None else score_text(baseline, run.started.metric)


def screening_rows_text(run: RunState) -> str:
    """The number of rows in the screening, or ""."""
    rows = max((look.rows for look in run.looks.values()), default=0)
    return format_number(float(rows), 6) if rows else ""
