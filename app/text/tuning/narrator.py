"""What happens in the current run."""

from __future__ import annotations

import math

from app.text.number_format import format_number
from app.text.past.earlier_dataset_text import history_use_text, measured_against
from app.text.setting_text import setting_text
from app.text.strategy_text import how_it_works, what_is_held_out, why_proposed
from app.text.tuning.average_progress_text import (
    of_which_models,
    where_they_differ,
    which_is_ahead,
    who_is_in,
    who_is_left_out,
    why_drawn,
)
from app.text.tuning.generative import pictures_text, topics_text
from app.text.tuning.model_progress_text import what_failed, what_is_next, who_leads
from app.text.tuning.structured_progress_text import molecule_examples_text, sequence_examples_text
from app.text.tuning.trial_text import ended_early
from core.datasets.task import Task
from core.estimators.multi_model import MODEL
from core.tuning.events import (
    FoldTested,
    HyperGradientStep,
    PenaltyStep,
    RunFailed,
    RunFinished,
    RunStopped,
    TrialStarted,
)
from core.tuning.patience import trials_before_stop
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial

PATIENCE = 8  # trials without improvement that are mentioned
HARDER = 3.0  # ratio of penalties that is mentioned
STILL = 1e-3  # relative change of an objective that hardly moves
MAX_LISTED_GROUPS = 4  # in a sentence


def narration(run: RunState) -> tuple[str, ...]:
    """Method, findings, and the current activity."""
    sentences = (
        *_method_sentences(run),
        *_finding_sentences(run),
        *_learning_sentences(run),
        *_averaging_sentences(run),
        *_current_sentences(run),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _method_sentences(run: RunState) -> tuple[str, ...]:
    plan, group_count = run.started.run_plan, len(run.started.groups)
    proposing = run.surrogate is not None and run.surrogate.proposes
    fitted = run.common or (run.surrogate if proposing else None)
    trial_count, task = fitted.trials if fitted else 0, run.started.dataset.task
    method = how_it_works(plan.strategy, plan.options, trial_count, task, group_count)
    return (task.learning_text, method)


def _finding_sentences(run: RunState) -> list[str]:
    sentences = [what_is_held_out(run.started)]
    if run.history is not None:
        sentences.append(history_use_text(run.history, run.common))
    if run.common is not None:
        sentences.append(measured_against(run.common, run.history))
    if _first_is_from_history(run):
        sentences.append("The first trial was the setting that looked best on earlier datasets.")
    sentences += run.notices
    if run.tunes_several_models:
        return [*sentences, who_leads(run), *what_failed(run), what_is_next(run)]
    best, default = run.best_trial, run.default_trial
    if best is not None and default is not None and best.number != default.number:
        words = "The best so far is trial {number} with {best}; the default setting has {other}."
        values = {"best": format_number(best.score), "other": format_number(default.score)}
        sentences.append(words.format(number=best.number, **values))
    if run.without_improvement >= PATIENCE:
        words = "No improvement for {count} trials: the best may have been found."
        sentences.append(words.format(count=run.without_improvement) + _when_it_stops(run))
    return sentences


def _when_it_stops(run: RunState) -> str:
    trials_left = trials_before_stop(run) if run.tuning_ended is None and run.ended is None else 0
    if not trials_left or (run.total and run.done_count + trials_left >= run.total):
        return ""
    return f" After {trials_left} more without a better one the run stops."


def _first_is_from_history(run: RunState) -> bool:
    first = run.pending.get(0) or run.find_trial(0)
    return first is not None and first.reason == "past"


def _learning_sentences(run: RunState) -> list[str]:
    sentences, task = [], run.started.dataset.task
    if isinstance(run.last_step, PenaltyStep):
        sentences.append(_contrast(run.last_step.penalties, run.last_step.switched_off, task))
        sentences.append(_switched_off(run.last_step.switched_off, task))
    elif run.last_step is not None:
        penalties = {group: math.exp(d) for group, d in run.last_step.d.items()}
        sentences.append(_contrast(penalties, run.last_step.at_bound, task))
        sentences.append(_at_bound(run.last_step.at_bound))
    if run.labelled is not None:
        sentences.append(sequence_examples_text(run.labelled))
    if run.folded is not None:
        sentences.append(molecule_examples_text(run.folded))
    if run.topics is not None:
        sentences.append(topics_text(run.topics))
    if run.images is not None:
        sentences.append(pictures_text(run.images))
    return sentences


def _averaging_sentences(run: RunState) -> list[str]:
    ensemble, sentences = run.ensemble, []
    if ensemble is not None:
        sentences.append(who_is_in(ensemble))
        sentences.append(of_which_models(ensemble, run))
        sentences.append(which_is_ahead(ensemble, run.started))
        sentences.append(who_is_left_out(ensemble))
    if run.disagreement is not None and (ensemble is None or len(ensemble.members) > 1):
        sentences.append(where_they_differ(run.disagreement))
    return sentences


def _current_sentences(run: RunState) -> list[str]:
    excluded = _excluded(run)
    match run.ended:
        case RunFailed():
            return [run.ended.sentence, *excluded]
        case RunFinished() | RunStopped():
            return [f"The run has ended: {run.ended.because}.", *excluded]
    if run.fold is not None:
        return [_folds_text(run.fold), *excluded]
    if run.resumed is not None:
        after = f" after {run.resumed.done} that are done already" if run.resumed.done else ""
        return [f"The run continues{after}.", *excluded]
    if run.learns_penalties:
        return [_step_text(run)]
    last = [] if run.latest is None else [_ended_trial_text(run, run.latest)]
    following = [] if run.begun is None else [_following(run, run.begun)]
    return [*last, *excluded, *following]


def _following(run: RunState, trial: TrialStarted) -> str:
    setting = setting_text(run.started, trial.setting)
    if run.tunes_several_models and trial.reason == "default":
        return f"Now: the default setting of {setting} is tried, to have a comparison."
    return _reason_text(trial).format(setting=setting)


def _folds_text(event: FoldTested) -> str:
    return (
        f"Now every row is tested once: the tuning is repeated {event.folds} times, each time "
        f"without the rows that test it. {event.fold} of {event.folds} parts are done."
    )


def _excluded(run: RunState) -> list[str]:
    if run.exclusion is None:
        return []
    words = "Trial {number} counts again."
    if run.exclusion.excluded:
        words = "Trial {number} is excluded: it cannot become the best."
    return [words.format(number=run.exclusion.number)]


def _ended_trial_text(run: RunState, trial: Trial) -> str:
    if trial.failure:
        words = "Trial {number} failed: {reason} The run continues without it."
        return words.format(number=trial.number, reason=_as_sentence(trial.failure))
    if trial.behind:
        early = ended_early(trial, run.started)
        return f"Just now: {setting_text(run.started, trial.setting)} was {early}."
    words = "Just now: {setting} scores {score}, not as good as the best."
    if trial.number in run.excluded:
        words = "Just now: {setting} scores {score}; it does not count."
    elif run.best_trial is None or run.best_trial.number == trial.number:
        words = "Just now: {setting} scores {score}. That is the best so far."
        if run.finished == 1:
            words = "Just now: {setting} scores {score}; the first score there is."
    elif run.best_trial.score == trial.score:
        words = "Just now: {setting} scores {score}, the same as the best."
    setting = setting_text(run.started, trial.setting)
    return words.format(setting=setting, score=format_number(trial.score))


def _reason_text(event: TrialStarted) -> str:
    """Why a setting is tried, with a placeholder for it."""
    if event.reason == "explore" and event.uncertainty is not None:
        words = "Now: {setting} is tried because little is known there (give or take {sd})."
        return words.replace("{sd}", format_number(event.uncertainty, 2))
    if event.reason == "improve" and event.expected is not None:
        words = "Now: {setting} is tried because it may be better; about {score} is expected."
        return words.replace("{score}", format_number(event.expected))
    if event.reason == "sample":
        return why_drawn(event)
    reasons = {
        "default": "Now: the default setting ({setting}) is tried, to have a comparison.",
        "past": "Now: {setting} is tried first, because settings like it did best on earlier "
        "datasets.",
        "hand": "Now: {setting} is tried, because you asked for it.",
        "start": "Now: {setting} is tried, to get a first picture.",
        "explore": "Now: {setting} is tried because nothing is known there.",
        "improve": "Now: {setting} is tried because it may be better than the best.",
    }
    if event.reason == "past" and MODEL in event.setting:
        return (
            "Now: {setting} is tried, because it did best on an earlier dataset and well at the "
            "screening."
        )
    if event.reason == "past" and event.number > 0:
        return "Now: {setting} is tried, because it did best on an earlier dataset like this one."
    return reasons.get(event.reason) or why_proposed(event.reason)


def _contrast(penalties: dict[str, float], switched_off: list[str], task: Task) -> str:
    alive = {g: c for g, c in penalties.items() if g not in switched_off and c > 0}
    if len(alive) < 2:
        return ""
    hardest, softest = max(alive, key=alive.__getitem__), min(alive, key=alive.__getitem__)
    times = alive[hardest] / alive[softest]
    if times < HARDER:
        return "All groups have about the same penalty so far."
    words = "“{hard}” is penalized {times} times harder than “{soft}”: its columns add little."
    if task.is_structured:
        words = "“{hard}” is penalized {times} times harder than “{soft}”: it adds little."
    return words.format(hard=hardest, soft=softest, times=format_number(times, 2))


def _switched_off(groups: list[str], task: Task) -> str:
    if not groups:
        return ""
    if len(groups) == 1:
        words = "“{group}” is switched off: its columns no longer count."
        if task.is_structured:
            words = "“{group}” is switched off: it no longer counts."
        return words.format(group=groups[0])
    words = "{count} groups are switched off, their columns no longer count: {names}."
    if task.is_structured:
        words = "{count} groups are switched off and no longer count: {names}."
    return words.format(count=len(groups), names=_group_list_text(groups))


def _at_bound(groups: list[str]) -> str:
    if not groups:
        return ""
    words = "The penalty of {names} is at the end of its range."
    if len(groups) > 1:
        words = "The penalties of {names} are at the ends of their range."
    return words.format(names=_group_list_text(groups))


def _step_text(run: RunState) -> str:
    if isinstance(run.last_step, HyperGradientStep):
        return _gradient_step(run)
    if run.last_step is None:
        return ""
    event, before = run.last_step, run.steps[-2].objective if len(run.steps) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        return "At the start all penalties are equal; the model is fitted once."
    start, end = format_number(before, 4), format_number(event.objective, 4)
    decrease = before - event.objective
    if abs(decrease) <= STILL * abs(before):
        return f"Step {event.step}: the objective hardly moves any more ({end})."
    verb = "falls" if decrease > 0 else "rises"
    return f"Step {event.step}: the objective {verb} from {start} to {end}."


def _gradient_step(run: RunState) -> str:
    event = run.gradients[-1]
    before = run.gradients[-2].holdout_loss if len(run.gradients) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        words = "At the start the error on held-out {units} is {loss}."
    elif event.holdout_loss < before:
        words = "Step {step}: the error on held-out {units} falls to {loss}."
    else:
        words = "Step {step}: the error on held-out {units} stays at {loss}."
    loss = format_number(event.holdout_loss, 4)
    return words.format(step=event.step, loss=loss, units=run.started.dataset.task.units)


def _group_list_text(names: list[str]) -> str:
    quoted = ", ".join(f"“{name}”" for name in names[:MAX_LISTED_GROUPS])
    if len(names) <= MAX_LISTED_GROUPS:
        return quoted
    return f"{quoted} and {len(names) - MAX_LISTED_GROUPS} more"


def _as_sentence(reason: str) -> str:
    text = reason.strip() or "no reason was given"
    return text if text.endswith((".", "!", "?")) else f"{text}."
