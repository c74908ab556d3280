"""The models of a run of several as text."""

from core.estimators.facts import uncapitalized
from core.estimators.model_settings import noun_of, title_of
from core.estimators.multi_model import MODEL
from core.tuning.events import LeaderboardEntry, ModelsCompared
from core.tuning.runs import model_runs
from core.tuning.runs.state import RunState
from core.tuning.scores.score import SHARES, difference_text, metric_in_short, score_text
from core.wording import PERCENT, percent, rough_duration_text

MIN_GAIN = 0.0005  # of a share; a smaller expected gain is "hardly any"
MOST = 0.95  # of the rows, from which on they are "all"


def score_of(row: model_runs.LeaderboardRow, metric: str) -> str:
    """The best score with its standard error, or an estimate."""
    # Trials that were ended early have an estimate from the folds that they had.
    if row.best is None and row.estimate is not None:
        return f"about {score_text(row.estimate, metric)}"
    if row.best is None:
        return "–" if row.look is None else f"screening {score_text(row.look, metric)}"
    best_score = score_text(row.best, metric)
    if row.error is None:
        return best_score
    return f"{best_score.removesuffix(PERCENT)} ± {score_text(row.error, metric)}"


def trials_of(row: model_runs.LeaderboardRow) -> str:
    """Trials; behind a plus those that ended early."""
    return f"{row.trials} + {row.early}" if row.early else str(row.trials)


def gain_text(row: LeaderboardEntry, metric: str) -> str:
    """The expected gain of its next trial."""
    if row.state == "failed" or row.gain <= 0:
        return "–"
    # Less would be told as 0.0 points.
    if metric in SHARES and row.gain < MIN_GAIN:
        return "hardly any"
    return difference_text(metric, row.gain)


def standing_text(row: model_runs.LeaderboardRow, run: RunState) -> str:
    """How a model stands, in a word or two."""
    is_over = run.tuning_ended is not None or run.ended is not None
    if row.state in ("failed", "slow"):
        return model_runs.STATES[row.state]
    if row.model == leading_model(run):
        return "leads"
    if not row.model:
        return "not ahead"
    if any(begun.setting.get(MODEL) == row.model for begun in run.pending.values()):
        return "tuning"
    if not is_over and run.compared is not None and run.compared.next == row.model:
        return "next"
    if row.state == "behind":
        return model_runs.STATES["behind"]
    if row.state == "waiting" and row.why:
        return "screening failed"
    return model_runs.STATES[row.state] if is_over or (row.trials and row.gain <= 0) else "waits"


def leading_model(run: RunState) -> str | None:
    """The model that leads; "" where the average does, None without a score."""
    average = model_runs.average_row(run)
    if average is not None and average.state == "leads":
        return average.model
    return None if run.best_trial is None else run.best_trial.setting.get(MODEL)


def explained_standing(row: model_runs.LeaderboardRow, run: RunState) -> str:
    """How a model stands and why, for tooltips and screen readers."""
    state, average = standing_text(row, run), run.ensemble
    if row.why:
        return row.why
    if not row.model and average is not None and average.single is not None:
        single = score_text(average.single, run.started.metric)
        reason = f"measured on rows that chose none of its members, where the best has {single}"
    elif run.compared is not None and run.compared.next == row.model and what_is_next(run):
        reason = _because(run.compared, run)
    else:
        return state
    return f"{state}: {reason}"


def seen_text(row: model_runs.LeaderboardRow, run: RunState) -> str:
    """Share of a fold's training rows, and folds: "all · 5", "33 % · 1"."""
    if not row.rows:
        return ""
    share = row.rows / max(1, model_runs.fit_rows(run))
    # Stratified folds differ by a few rows: nearly all of them are all.
    rows = "all" if share > MOST else percent(share)
    return f"{rows} · {row.folds}" if row.folds else rows


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
    model_count = len(model_runs.model_leaderboard(run))
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
        takes = f" in about {rough_duration_text(next_row.takes)}"
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
    rows = model_runs.model_leaderboard(run)
    scored_rows = [row for row in rows if row.best is not None]
    if run.compared is None or not scored_rows:
        return ""
    metric, lead = run.started.metric, model_runs.average_lead(run)
    first, rivals = scored_rows[0], scored_rows[1:2]
    sentence = f"{title_of(first.model)} leads with {score_text(first.best, metric)}"
    if leading_model(run) == "" and lead is not None:
        rivals, size = [first], f" by {difference_text(metric, abs(lead))}" if lead else ""
        sentence = f"The average leads{size}"
    for row in rivals:
        sentence += f", before {noun_of(row.model)} with {score_text(row.best, metric)}"
    sentence += "."
    behind = [uncapitalized(title_of(row.model)) for row in rows if row.state == "behind"]
    return f"{sentence} Clearly behind: {', '.join(behind)}." if behind else sentence


def baseline_text(run: RunState) -> str:
    """Such as "56.7 %", or ""."""
    baseline = run.started.baseline
    return "" if baseline is None else score_text(baseline, run.started.metric)
