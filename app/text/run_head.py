"""The head of the Tune page: what is tuned, how far it is, and what is kept when it stops."""

import math
from collections.abc import Sequence

from app.text.plan_text import setting_text
from core.estimators.model_settings import model_and_values, noun_of
from core.tuning.events import ClusterWorker, EnsembleUpdated, HyperGradientStep, RunStarted
from core.tuning.plan import Plan
from core.tuning.runs.model_runs import average_lead, models_of
from core.tuning.runs.state import RunState, run_seconds, state_from_events
from core.tuning.scores.score import measured_text, metric_as_noun, score_text, signed_difference
from core.tuning.strategies.registry import STRATEGIES
from core.wording import (
    count_text,
    duration_text,
    format_integer,
    format_number,
    rough_duration_text,
)

STALE = 5  # trials without improvement that are mentioned
STILL = 1e-4  # relative change of the objective that counts as none
LATE = 5.0  # seconds over the minutes that are explained


def run_title(run: RunState) -> str:
    """What is being tuned."""
    if not run.started.plan:
        return "Tuning"
    model = noun_of(run.started.run_plan.model)
    if run.tunes_several_models:
        return f"Finding the best of {len(models_of(run.started))} models"
    if run.learns_penalties:
        if len(run.started.groups) > 1:
            if run.started.dataset.task.is_structured:
                return "Learning one penalty for each group of weights"
            return "Learning one penalty for each group of columns"
        return f"Learning the penalty of {model}"
    if run.started.averages:
        return "Averaging over good settings"
    return f"Tuning {model}"


def how_far(run: RunState, elapsed: float) -> str:
    """The budget spent: "3 of 40, 12 s", "Step 3, 12 s", "3 trials, 12 s of 1 min"."""
    # In whole seconds: tenths would flicker.
    minutes, time = run.started.run_plan.minutes, duration_text(int(elapsed))
    # A run on a busy machine may end later than asked; then the limit is no news.
    if minutes and elapsed <= 60 * minutes:
        time = f"{time} of {duration_text(60 * minutes)}"
    return f"{_done_text(run)}, {time}"


def _done_text(run: RunState) -> str:
    if run.learns_penalties:
        return f"Step {run.last_step.step if run.last_step is not None else 0}"
    done = len(run.trials)
    if run.total:
        return f"{format_integer(done)} of {format_integer(run.total)}"
    return count_text(done, "trial")


def before_the_start(plan: Plan | None, elapsed: float) -> str:
    """The progress before the first event: "0 of 40, 2 s"."""
    if plan is None:
        return duration_text(int(elapsed))
    # The words are those of a moment later, when the first event is there.
    learns = plan.strategy in STRATEGIES and STRATEGIES[plan.strategy].kind != "trials"
    total = plan.trials
    if total is None and plan.minutes is None and plan.strategy in STRATEGIES:
        total = STRATEGIES[plan.strategy].default_trials
    started = RunStarted(
        plan={"minutes": plan.minutes},
        kind="penalties" if learns else "trials",
        total=0 if learns else total or 0,
    )
    return how_far(state_from_events([started]), elapsed)


def more_time_text(minutes: float) -> str:
    """What a run is given in addition: "2 more minutes", "50 more seconds"."""
    if minutes >= 1 and minutes == int(minutes):
        return count_text(int(minutes), "more minute")
    seconds = 60 * minutes
    return count_text(round(seconds) if seconds < 10 else 5 * round(seconds / 5), "more second")


def window_title(run: RunState, elapsed: float) -> str:
    """Progress and dataset: "12 of 40 – iris"."""
    name = run.started.dataset.name.removesuffix(".csv")
    far = how_far(run, elapsed)
    if not run.learns_penalties and run.total:
        # A title bar is short.
        far = far.split(",")[0]
    return " – ".join(filter(None, (far, name)))


def done_share(run: RunState, state: str) -> float | None:
    """The share that is done, 0 to 1; None if unknown."""
    if state == "finished":
        return 1.0
    if run.fold is not None:
        return run.fold.fold / run.fold.folds
    seconds_left = run.seconds_left
    # Steps and runs by time have no number to reach: the share is that of the time.
    if run.learns_penalties or not run.total:
        if seconds_left is None or run.seconds + seconds_left <= 0:
            return None
        return run.seconds / (run.seconds + seconds_left)
    return min(1.0, len(run.trials) / run.total)


def progress_text(run: RunState, state: str, elapsed: float | None = None) -> str:
    """Progress, scores and time; `elapsed` in seconds, None for those of the last event."""
    over = state == "finished" and run.ended is not None
    far = _done_text(run) if over else how_far(run, run.seconds if elapsed is None else elapsed)
    phrases = [far, *(_of_steps(run) if run.learns_penalties else _of_trials(run))]
    # The outer folds repeat the tuning: its own progress says nothing then.
    if run.fold is not None and run.ended is None:
        phrases.insert(0, f"Testing every row, part {run.fold.fold} of {run.fold.folds} done")
    elif state == "running" and run.tuning_ended is not None and run.ended is None:
        # Tuning has ended, the last fits go on: “running” would not tell.
        phrases.insert(0, _state_text("stopping"))
        phrases += _time_left(run, elapsed) if run.ending_seconds else []
    elif state == "running":
        phrases += _time_left(run, elapsed)
    elif state == "stopping" and not run.done_count:
        phrases.insert(0, "Stopping")
    elif state in ("paused", "stopping", "interrupted", "running elsewhere"):
        phrases.insert(0, _state_text(state))
    elif over:
        seconds = run.results.seconds if run.results is not None else run.seconds
        phrases.append(f"took {duration_text(seconds)}")
    return " · ".join(phrases)


def _of_trials(run: RunState) -> list[str]:
    if run.tunes_several_models:
        return _of_several(run)
    if run.ensemble is not None:
        return [*_of_average(run, run.ensemble), *_of_baseline(run)]
    phrases = _of_best(run)
    if run.default_trial is not None:
        phrases.append(f"default setting {score_text(run.default_trial.score, run.started.metric)}")
    phrases += _of_baseline(run)
    return phrases + _of_patience(run)


def _of_patience(run: RunState) -> list[str]:
    count = run.without_improvement
    return [f"no improvement for {count_text(count, 'trial')}"] if count >= STALE else []


def _of_baseline(run: RunState) -> list[str]:
    baseline = run.started.baseline
    if baseline is None or run.best_trial is None:
        return []
    return [f"baseline {score_text(baseline, run.started.metric)}"]


def _of_best(run: RunState) -> list[str]:
    if run.best_trial is None:
        return []
    return [f"best {measured_text(run.best_trial.score, run.started.metric)}"]


def _of_several(run: RunState) -> list[str]:
    if run.best_trial is None:
        count, total = len(run.looks), len(models_of(run.started))
        return [f"screening: {count} of {total} models"] if count else []
    model, _ = model_and_values(run.started.run_plan.model, run.best_trial.setting)
    metric = run.started.metric
    count, untried = len(models_of(run.started)), run.results.untried if run.results else None
    phrases = [f"{count - len(untried)} of {count} models tried"] if untried else []
    phrases += [f"{phrase} by {noun_of(model)}" for phrase in _of_best(run)]
    lead = average_lead(run)
    if lead is not None and run.ensemble is not None:
        lead_text = signed_difference(lead, metric, unit=True)
        phrases.append(f"average of {len(run.ensemble.members)} models {lead_text}")
    return phrases + _of_patience(run)


def _of_average(run: RunState, ensemble: EnsembleUpdated) -> list[str]:
    count = sum(weight > 0 for weight in ensemble.weights)
    words = "one model in the average" if count == 1 else f"{count} models in the average"
    if ensemble.average is None:
        return [words, *_of_best(run)]
    return [words, measured_text(ensemble.average, run.started.metric)]


def _of_steps(run: RunState) -> list[str]:
    last = run.last_step
    if last is None:
        return []
    by_gradient = isinstance(last, HyperGradientStep)
    losses = [step.holdout_loss for step in run.gradients[-2:]]
    values = losses if by_gradient else [step.objective for step in run.steps[-2:]]
    words = f"{'held-out error' if by_gradient else 'objective'} {format_number(values[-1], 4)}"
    if len(values) > 1 and run.ended is None:
        before, value = values
        still = abs(before - value) <= STILL * abs(before)
        moving = "falling" if value < before else "rising"
        words = f"{words}, {'hardly moving' if still else moving}"
    return [words] if by_gradient else [words, "no validation data needed"]


def _time_left(run: RunState, elapsed: float | None) -> list[str]:
    seconds = run_seconds(run, elapsed)
    if run.seconds_left is None and not (run.tunes_several_models and seconds.remaining):
        return []
    if seconds.remaining < 1:
        return ["nearly done"]
    ending = rough_duration_text(seconds.kept) if seconds.free and seconds.kept >= 1 else ""
    last = f", the last {ending} for finishing" if ending else ""
    now = run.seconds if elapsed is None else max(elapsed, run.seconds)
    limit = 60 * (run.started.run_plan.minutes or math.inf)
    # Its fits are given longer than planned where other programs take the processor.
    why = ", longer because the computer is busy" if now + seconds.remaining > limit + LATE else ""
    return [f"about {rough_duration_text(seconds.remaining)} left{last}{why}"]


def time_spans(run: RunState, elapsed: float | None = None) -> list[tuple[str, float, str]]:
    """(name, seconds, label) of a run of several models, in order."""
    seconds = run_seconds(run, elapsed)
    memory = f"{format_number(run.memory / 1e9, 2)} GB in use" if run.memory else ""
    kept_text = duration_text(int(seconds.kept))
    kept_label = f"kept for finishing {kept_text}" if seconds.kept >= 1 else ""
    spent = {"screening": seconds.screening, "trials": seconds.trials, "finishing": seconds.ending}
    ended = [(name, s, f"{name} {duration_text(int(s))}") for name, s in spent.items() if s]
    to_come = [("free", seconds.free, memory), ("kept", seconds.kept, kept_label)]
    return ended + (to_come if run.tuning_ended is None else [("kept", seconds.kept, "")])


def _state_text(state: str) -> str:
    return "Working out the results" if state == "stopping" else state.capitalize()


def stopping_sentences(run: RunState) -> tuple[str, ...]:
    """What is known before the results."""
    if run.ended is not None and run.exclusion is None:
        return ("The model that you selected is fitted and tested. Its results come next.",)
    if not run.done_count:
        return (f"The run stops before its first {_unit_name(run)} has ended.", *_leaving(run))
    rows = run.started.dataset.task.units
    return (
        f"The run stops. The model is fitted on all training {rows} and tested on {rows} that "
        "tuning never saw.",
        *_best_sentences(run),
        *_leaving(run),
    )


def interrupted_sentences(run: RunState) -> tuple[str, ...]:
    """What is kept of an interrupted run."""
    if not run.done_count:
        return (
            f"The run was interrupted before its first {_unit_name(run)} had ended. “Resume” "
            "begins again.",
        )
    return (
        f"The run was interrupted. {_kept_text(run)}. “Resume” tries the next one; “Keep "
        "what there is” tries nothing more, but fits and tests the best so far.",
        *_best_sentences(run),
    )


def elsewhere_sentences(run: RunState) -> tuple[str, ...]:
    """What is seen of a run that another process writes."""
    return (
        "This run is running in another program, such as a terminal or another window: pause or "
        "stop it there. This page follows it.",
        *_best_sentences(run),
    )


def _unit_name(run: RunState) -> str:
    return "step" if run.learns_penalties else "trial"


def _kept_text(run: RunState) -> str:
    count = count_text(run.done_count, _unit_name(run))
    return f"{count} {'is' if run.done_count == 1 else 'are'} kept"


def _leaving(run: RunState) -> tuple[str, ...]:
    if not run.done_count:
        return ("“Do not wait” ends it at once: nothing is lost but what it was doing.",)
    return (f"“Do not wait” leaves that for later: {_kept_text(run)}.",)


def _best_sentences(run: RunState) -> tuple[str, ...]:
    if run.best_trial is not None:
        noun = metric_as_noun(run.started.metric)
        setting = setting_text(run.started, run.best_trial.setting)
        score = score_text(run.best_trial.score, run.started.metric)
        sentence = f"The best so far, not tested yet: {noun} {score} in validation"
        return (f"{sentence}, with {setting}." if setting else f"{sentence}.",)
    step = run.last_step
    if step is None:
        return ()
    held_out = isinstance(step, HyperGradientStep)
    value = run.gradients[-1].holdout_loss if held_out else run.steps[-1].objective
    measure = "a held-out error" if held_out else "an objective"
    return (
        f"The penalties so far, not tested yet, are those of step {step.step}, with {measure} of "
        f"{format_number(value, 4)}.",
    )


def workers_text(workers: Sequence[ClusterWorker]) -> str:
    """How many workers and computers, and how many are busy."""
    usable_workers = [worker for worker in workers if worker.usable]
    if not usable_workers:
        return "No worker of the cluster can be reached; the run waits for one."
    count = count_text(len(usable_workers), "worker")
    computers_text = count_text(len({worker.host for worker in usable_workers}), "computer")
    trials_text = count_text(sum(worker.threads for worker in usable_workers), "trial")
    busy_count = sum(bool(worker.trials) for worker in usable_workers)
    unusable_count = len(workers) - len(usable_workers)
    activity = f"{count} on {computers_text}, {busy_count} at work, {trials_text} at a time."
    return f"{activity} {unusable_count} cannot be used." if unusable_count else activity


def activity_text(worker: ClusterWorker) -> str:
    """What a worker does now."""
    if not worker.usable:
        return "cannot be used"
    if not worker.trials:
        return "at work for others" if worker.load else "idle"
    numbers = [str(number) for number in worker.trials if number >= 0]
    words = [f"trial{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"] if numbers else []
    words += ["a screening"] if len(numbers) < len(worker.trials) else []
    share = f" ({len(worker.trials)} of {worker.threads})" if worker.threads > 1 else ""
    return " and ".join(words) + share
