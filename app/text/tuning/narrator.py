"""What is happening, in plain words, in the present tense, about this very run."""

from __future__ import annotations

import math

from app.text.numbers import plain
from app.text.past.datasets import history_in_use, measured_against
from app.text.settings import in_a_sentence
from app.text.strategies import how_it_works, what_is_held_out, why_proposed
from app.text.tuning.averaging import (
    of_which_models,
    where_they_differ,
    which_is_ahead,
    who_is_in,
    who_is_left_out,
    why_drawn,
)
from app.text.tuning.generative import of_pictures, of_topics
from app.text.tuning.models import what_failed, what_is_next, who_leads
from app.text.tuning.structured import of_molecules, of_sequences, what_is_learned
from app.text.tuning.trials import ended_early
from app.text.units import units
from core.estimators.several import MODEL
from core.tuning.events import (
    FoldTested,
    HyperGradientStep,
    PenaltyStep,
    RunFailed,
    RunFinished,
    RunStopped,
    TrialStarted,
)
from core.tuning.patience import left_of
from core.tuning.runs.competition import Trial
from core.tuning.runs.state import RunState

PATIENCE = 8  # trials without improvement that are worth a sentence
HARDER = 3.0  # how many times harder a group must be penalized to be worth a sentence
STILL = 1e-3  # relative change of the objective below which it hardly moves
STRUCTURED = ("sequence", "structure")  # tasks whose groups are of weights, not of columns
LISTED = 4  # groups that are named in a sentence


def sentences(run: RunState) -> tuple[str, ...]:
    """How the strategy works, what it has found, and what happens just now."""
    found = (*_how(run), *_found(run), *_found_by_learning(run), *_found_by_averaging(run))
    return tuple(sentence for sentence in (*found, *_now(run)) if sentence)


def _how(run: RunState) -> tuple[str, ...]:
    strategy, options = str(run.started.plan.get("strategy", "")), run.started.plan.get("options")
    proposing = run.surrogate is not None and run.surrogate.proposes
    fitted = run.common or (run.surrogate if proposing else None)
    tried, task = fitted.trials if fitted else 0, _task(run)
    how = how_it_works(strategy, dict(options or {}), tried, task, len(run.started.groups))
    return (what_is_learned(task), how)


def _task(run: RunState) -> str:
    return str(run.started.dataset.get("task", ""))


def _found(run: RunState) -> list[str]:
    """What is known of the data and from the history, and how good the best trial is."""
    said = [what_is_held_out(run.started)]
    if run.history is not None:
        said.append(history_in_use(run.history, run.common))
    if run.common is not None:
        said.append(measured_against(run.common, run.history))
    if _first_is_from_history(run):
        said.append("The first trial was the setting that looked best on earlier datasets.")
    said += run.notices
    if run.several:
        return [*said, who_leads(run), *what_failed(run), what_is_next(run)]
    best, default = run.best, run.default
    if best is not None and default is not None and best.number != default.number:
        words = "The best so far is trial {number} with {best}; the default setting has {other}."
        values = {"best": plain(best.score), "other": plain(default.score)}
        said.append(words.format(number=best.number, **values))
    if run.without_improvement >= PATIENCE:
        words = "No improvement for {count} trials: the best may have been found."
        said.append(words.format(count=run.without_improvement) + _when_it_stops(run))
    return said


def _when_it_stops(run: RunState) -> str:
    """After how many such trials the run stops; "" where its budget is spent before."""
    left = left_of(run) if run.tuning_ended is None and run.ended is None else 0
    if not left or (run.total and run.done + left >= run.total):
        return ""
    return f" After {left} more without a better one the run stops."


def _first_is_from_history(run: RunState) -> bool:
    first = run.pending.get(0) or run.trial(0)
    return first is not None and first.reason == "past"


def _found_by_learning(run: RunState) -> list[str]:
    """Which penalties a learner has found, and what its models show."""
    said, task = [], _task(run)
    if isinstance(run.step, PenaltyStep):
        said.append(_contrast(run.step.penalties, run.step.switched_off, task))
        said.append(_switched_off(run.step.switched_off, task))
    elif run.step is not None:
        penalties = {group: math.exp(d) for group, d in run.step.d.items()}
        said.append(_contrast(penalties, run.step.at_bound, task))
        said.append(_at_bound(run.step.at_bound))
    if run.labelled is not None:
        said.append(of_sequences(run.labelled))
    if run.folded is not None:
        said.append(of_molecules(run.folded))
    if run.topics is not None:
        said.append(of_topics(run.topics))
    if run.images is not None:
        said.append(of_pictures(run.images))
    return said


def _found_by_averaging(run: RunState) -> list[str]:
    """Who is in the average, and where the members differ."""
    ensemble, said = run.ensemble, []
    if ensemble is not None:
        said.append(who_is_in(ensemble))
        said.append(of_which_models(ensemble, run))
        said.append(which_is_ahead(ensemble, run.started))
        said.append(who_is_left_out(ensemble))
    if run.disagreement is not None and (ensemble is None or len(ensemble.members) > 1):
        said.append(where_they_differ(run.disagreement))
    return said


def _now(run: RunState) -> list[str]:
    """What happens just now."""
    excluded = _excluded(run)
    match run.ended:
        case RunFailed():
            return [run.ended.sentence, *excluded]
        case RunFinished() | RunStopped():
            return [f"The run has ended: {run.ended.because}.", *excluded]
    if run.fold is not None:
        return [_folds(run.fold), *excluded]
    if run.resumed is not None:
        after = f" after {run.resumed.done} that are done already" if run.resumed.done else ""
        return [f"The run goes on{after}.", *excluded]
    if run.learns_penalties:
        return [_step_in_words(run)]
    last = [] if run.latest is None else [_ended(run, run.latest)]
    begun = run.begun
    following = [] if begun is None else [_following(run, begun)]
    return [*last, *excluded, *following]


def _following(run: RunState, begun: TrialStarted) -> str:
    """The trial that is going on, and why it is tried."""
    setting = in_a_sentence(run.started, begun.setting)
    if run.several and begun.reason == "default":
        return f"Now: the default setting of {setting} is tried, to have a comparison."
    return _why(begun).format(setting=setting)


def _folds(event: FoldTested) -> str:
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


def _ended(run: RunState, trial: Trial) -> str:
    """What became of the trial that ended last, against the best."""
    if trial.failure:
        words = "Trial {number} failed: {reason} The run goes on without it."
        return words.format(number=trial.number, reason=_as_sentence(trial.failure))
    if trial.behind:
        early = ended_early(trial, run.started)
        return f"Just now: {in_a_sentence(run.started, trial.setting)} was {early}."
    words = "Just now: {setting} scores {score}, not as good as the best."
    if trial.number in run.excluded:
        words = "Just now: {setting} scores {score}; it does not count."
    elif run.best is None or run.best.number == trial.number:
        words = "Just now: {setting} scores {score}. That is the best so far."
        if run.finished == 1:
            words = "Just now: {setting} scores {score}; the first score there is."
    elif run.best.score == trial.score:
        words = "Just now: {setting} scores {score}, the same as the best."
    return words.format(setting=in_a_sentence(run.started, trial.setting), score=plain(trial.score))


def _why(event: TrialStarted) -> str:
    """Why a setting is tried, with a place for the setting."""
    if event.reason == "explore" and event.uncertainty is not None:
        words = "Now: {setting} is tried because little is known there (give or take {sd})."
        return words.replace("{sd}", plain(event.uncertainty, 2))
    if event.reason == "improve" and event.expected is not None:
        words = "Now: {setting} is tried because it may be better; about {score} is expected."
        return words.replace("{score}", plain(event.expected))
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
            "first look."
        )
    if event.reason == "past" and event.number > 0:
        return "Now: {setting} is tried, because it did best on an earlier dataset like this one."
    return reasons.get(event.reason) or why_proposed(event.reason)


def _contrast(penalties: dict[str, float], switched_off: list[str], task: str) -> str:
    """Which group is held back most, against the one that is trusted most."""
    alive = {g: c for g, c in penalties.items() if g not in switched_off and c > 0}
    if len(alive) < 2:
        return ""
    hardest, softest = max(alive, key=alive.__getitem__), min(alive, key=alive.__getitem__)
    times = alive[hardest] / alive[softest]
    if times < HARDER:
        return "All groups have about the same penalty so far."
    words = "“{hard}” is penalized {times} times harder than “{soft}”: its columns add little."
    if task in STRUCTURED:
        words = "“{hard}” is penalized {times} times harder than “{soft}”: it adds little."
    return words.format(hard=hardest, soft=softest, times=plain(times, 2))


def _switched_off(groups: list[str], task: str) -> str:
    if not groups:
        return ""
    if len(groups) == 1:
        words = "“{group}” is switched off: its columns no longer count."
        if task in STRUCTURED:
            words = "“{group}” is switched off: it no longer counts."
        return words.format(group=groups[0])
    words = "{count} groups are switched off, their columns no longer count: {names}."
    if task in STRUCTURED:
        words = "{count} groups are switched off and no longer count: {names}."
    return words.format(count=len(groups), names=_listed(groups))


def _at_bound(groups: list[str]) -> str:
    if not groups:
        return ""
    words = "The penalty of {names} is at the end of its range."
    if len(groups) > 1:
        words = "The penalties of {names} are at the ends of their range."
    return words.format(names=_listed(groups))


def _step_in_words(run: RunState) -> str:
    if isinstance(run.step, HyperGradientStep):
        return _gradient_step(run)
    if run.step is None:
        return ""
    event, before = run.step, run.steps[-2].objective if len(run.steps) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        return "At the start all penalties are alike; the model is fitted once."
    values = {"step": event.step, "now": plain(event.objective, 4), "before": plain(before, 4)}
    moved = before - event.objective
    if abs(moved) <= STILL * abs(before):
        words = "Step {step}: the objective hardly moves any more ({now})."
    elif moved > 0:
        words = "Step {step}: the objective falls from {before} to {now}."
    else:
        words = "Step {step}: the objective rises from {before} to {now}."
    return words.format(**values)


def _gradient_step(run: RunState) -> str:
    event = run.gradients[-1]
    before = run.gradients[-2].holdout_loss if len(run.gradients) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        words = "At the start the error on held-out {units} is {loss}."
    elif event.holdout_loss < before:
        words = "Step {step}: the error on held-out {units} falls to {loss}."
    else:
        words = "Step {step}: the error on held-out {units} stays at {loss}."
    loss = plain(event.holdout_loss, 4)
    return words.format(step=event.step, loss=loss, units=units(_task(run)))


def _listed(names: list[str]) -> str:
    quoted = ", ".join(f"“{name}”" for name in names[:LISTED])
    if len(names) <= LISTED:
        return quoted
    return f"{quoted} and {len(names) - LISTED} more"


def _as_sentence(reason: str) -> str:
    text = reason.strip() or "no reason was given"
    return text if text.endswith((".", "!", "?")) else f"{text}."
