"""What is happening, in plain words, in the present tense, about this very run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from app.text.averaging import (
    where_they_differ,
    which_is_ahead,
    who_is_in,
    who_is_left_out,
    why_drawn,
)
from app.text.generative import of_pictures, of_topics
from app.text.numbers import plain, shown
from app.text.strategies import how_it_works, what_is_held_out, why_proposed
from app.text.structured import of_molecules, of_sequences, what_is_learned
from app.text.transfer import (
    first_from_past,
    measured_against,
    what_is_recalled,
    why_from_past,
)
from app.text.units import units
from core.tuning.events import (
    CommonSurfaceFitted,
    EnsembleUpdated,
    Event,
    FoldTested,
    HyperGradientStep,
    ImagesDrawn,
    MembersDisagree,
    MoleculesFolded,
    Noticed,
    PastRecalled,
    PenaltyStep,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SequencesLabelled,
    SurrogateFitted,
    TopicsFound,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)

PATIENCE = 8  # trials without improvement that are worth a sentence
HARDER = 3.0  # how many times harder a group must be penalized to be worth a sentence
STILL = 1e-3  # relative change of the objective below which it hardly moves
STRUCTURED = ("sequence", "structure")  # tasks whose groups are of weights, not of columns
LISTED = 4  # groups that are named in a sentence
NAMED_AXES = 3  # of a setting, in a sentence


class Narrator:
    """Takes the events of one run in order and says how it stands.

    The sentences come in three parts: how the strategy works, what it has found, and what happens
    just now. `consume` gives them all after each event.
    """

    def __init__(self) -> None:
        self._take: dict[type[Event], Callable[[Any], None]] = {
            RunStarted: self._started,
            RunResumed: self._resumed,
            TrialStarted: self._trial_started,
            TrialFinished: self._trial_finished,
            TrialFailed: self._trial_failed,
            TrialExcluded: self._trial_excluded,
            SurrogateFitted: self._surrogate,
            PastRecalled: self._recalled,
            CommonSurfaceFitted: self._common_surface,
            Noticed: self._noticed,
            PenaltyStep: self._penalty_step,
            HyperGradientStep: self._gradient_step,
            SequencesLabelled: self._sequences,
            MoleculesFolded: self._molecules,
            TopicsFound: self._topics,
            ImagesDrawn: self._pictures,
            EnsembleUpdated: self._ensemble,
            MembersDisagree: self._disagreement,
            FoldTested: self._fold_tested,
            RunFinished: self._ended,
            RunStopped: self._ended,
            RunFailed: self._run_failed,
        }
        self._started(RunStarted())
        self._how: tuple[str, ...] = ()

    def consume(self, event: Event) -> tuple[str, ...]:
        """Take one event in; all sentences as they stand now."""
        take = self._take.get(type(event))
        if take is not None:
            take(event)
        return self.sentences

    @property
    def sentences(self) -> tuple[str, ...]:
        """How it works, what was found, what happens just now."""
        return tuple(s for s in (*self._how, *self._found.values(), *self._now.values()) if s)

    # The run as a whole -----------------------------------------------------------------------

    def _started(self, event: RunStarted) -> None:
        self._run = event
        strategy = str(event.plan.get("strategy", ""))
        self._strategy, self._options = strategy, dict(event.plan.get("options", {}))
        self._found: dict[str, str] = {}
        self._now: dict[str, str] = {}
        self._scores: dict[int, float] = {}
        self._excluded: set[int] = set()
        self._best_at, self._default_at = -1, 0
        self._since_best = 0
        self._objective = math.nan
        self._past: PastRecalled | None = None
        self._task = str(event.dataset.get("task", ""))
        self._how = self._method(0)
        self._found["held out"] = what_is_held_out(event)

    def _method(self, tried: int) -> tuple[str, ...]:
        groups = len(self._run.groups)
        how = how_it_works(self._strategy, self._options, tried, self._task, groups)
        return (what_is_learned(self._task), how)

    def _resumed(self, event: RunResumed) -> None:
        if event.done:
            words = "The run goes on after {done} that are done already."
            self._now = {"run": words.format(done=event.done)}
        else:
            self._now = {"run": "The run goes on."}

    def _ended(self, event: RunFinished | RunStopped) -> None:
        self._now = {"run": f"The run has ended: {event.because}."}

    def _fold_tested(self, event: FoldTested) -> None:
        said = (
            f"Now every row is tested once: the tuning is repeated {event.folds} times, each time "
            "without the rows that test it. "
        )
        self._now = {"folds": f"{said}{event.fold} of {event.folds} parts are done."}

    def _run_failed(self, event: RunFailed) -> None:
        self._now = {"run": event.sentence}

    # Trials -----------------------------------------------------------------------------------

    def _surrogate(self, event: SurrogateFitted) -> None:
        self._how = self._method(event.trials)

    def _recalled(self, event: PastRecalled) -> None:
        self._past = event
        self._found["past"] = what_is_recalled(event, None)

    def _common_surface(self, event: CommonSurfaceFitted) -> None:
        self._how = self._method(event.trials)
        if self._past is not None:
            self._found["past"] = what_is_recalled(self._past, event)
        self._found["standard"] = measured_against(event, self._past)

    def _noticed(self, event: Noticed) -> None:
        self._found[f"notice: {event.sentence}"] = event.sentence

    def _trial_started(self, event: TrialStarted) -> None:
        if event.number == self._default_at and event.reason == "past":
            self._default_at = -1  # the default setting has no trial of its own
            self._found["first"] = first_from_past()
        setting = self.setting_in_words(event.setting)
        self._now["next"] = _why(event).format(setting=setting)
        self._now.pop("run", None)

    def _trial_finished(self, event: TrialFinished) -> None:
        self._now.pop("next", None)
        if not math.isfinite(event.score):
            return
        best = self._best_score()
        self._scores[event.number] = event.score
        better = best is None or self._sign * event.score > self._sign * best
        self._since_best = 0 if better else self._since_best + 1
        if better:
            self._best_at = event.number
        self._now["last"] = self._said_of(event, best)
        self._found["best"] = self._best_in_words()
        self._found["patience"] = self._patience_in_words()

    def _said_of(self, event: TrialFinished, best: float | None) -> str:
        setting, score = self.setting_in_words(event.setting), plain(event.score)
        if best is None:
            words = "Just now: {setting} scores {score}; the first score there is."
        elif self._best_at == event.number:
            words = "Just now: {setting} scores {score}. That is the best so far."
        elif event.score == best:
            words = "Just now: {setting} scores {score}, the same as the best."
        else:
            words = "Just now: {setting} scores {score}, not as good as the best."
        return words.format(setting=setting, score=score)

    def _trial_failed(self, event: TrialFailed) -> None:
        self._now.pop("next", None)
        words = "Trial {number} failed: {reason} The run goes on without it."
        self._now["last"] = words.format(number=event.number, reason=_as_sentence(event.reason))

    def _trial_excluded(self, event: TrialExcluded) -> None:
        if event.excluded:
            self._excluded.add(event.number)
            words = "Trial {number} is excluded: it cannot become the best."
        else:
            self._excluded.discard(event.number)
            words = "Trial {number} counts again."
        competing = {n: s for n, s in self._scores.items() if n not in self._excluded}
        self._best_at = max(competing, key=lambda n: self._sign * competing[n], default=-1)
        self._found["best"] = self._best_in_words()
        self._now["excluded"] = words.format(number=event.number)

    @property
    def _sign(self) -> float:
        return 1.0 if self._run.maximize else -1.0

    def _best_score(self) -> float | None:
        return self._scores.get(self._best_at)

    def _best_in_words(self) -> str:
        best, default = self._best_score(), self._scores.get(self._default_at)
        if best is None or default is None or self._best_at == self._default_at:
            return ""
        words = "The best so far is trial {number} with {best}; the default setting has {other}."
        return words.format(number=self._best_at, best=plain(best), other=plain(default))

    def _patience_in_words(self) -> str:
        if self._since_best < PATIENCE:
            return ""
        words = "No improvement for {count} trials: the best may have been found."
        return words.format(count=self._since_best)

    def setting_in_words(self, setting: dict[str, Any]) -> str:
        """A setting as "C = 0.27, gamma = 0.03"; the first few of many numbers."""
        order = [axis["name"] for axis in self._run.space] or list(setting)
        named = [f"{name} = {shown(setting[name])}" for name in order if name in setting]
        rest = ["…"] if len(named) > NAMED_AXES else []
        return ", ".join(named[:NAMED_AXES] + rest) or "the setting"

    # Penalties --------------------------------------------------------------------------------

    def _penalty_step(self, event: PenaltyStep) -> None:
        before, self._objective = self._objective, event.objective
        self._found["contrast"] = _contrast(event.penalties, event.switched_off, self._task)
        self._found["off"] = _switched_off(event.switched_off, self._task)
        self._now = {"step": _step_in_words(event, before)}

    def _gradient_step(self, event: HyperGradientStep) -> None:
        before, self._objective = self._objective, event.holdout_loss
        penalties = {group: math.exp(d) for group, d in event.d.items()}
        self._found["contrast"] = _contrast(penalties, event.at_bound, self._task)
        self._found["off"] = _at_bound(event.at_bound)
        loss = plain(event.holdout_loss, 4)
        if event.step == 0 or not math.isfinite(before):
            words = "At the start the error on held-out {units} is {loss}."
        elif event.holdout_loss < before:
            words = "Step {step}: the error on held-out {units} falls to {loss}."
        else:
            words = "Step {step}: the error on held-out {units} stays at {loss}."
        said = words.format(step=event.step, loss=loss, units=units(self._task))
        self._now = {"step": said}

    def _sequences(self, event: SequencesLabelled) -> None:
        self._found["examples"] = of_sequences(event)

    def _molecules(self, event: MoleculesFolded) -> None:
        self._found["examples"] = of_molecules(event)

    def _topics(self, event: TopicsFound) -> None:
        self._found["shown"] = of_topics(event)

    def _pictures(self, event: ImagesDrawn) -> None:
        self._found["shown"] = of_pictures(event)

    def _ensemble(self, event: EnsembleUpdated) -> None:
        self._found["ensemble"] = who_is_in(event)
        self._found["ahead"] = which_is_ahead(event, self._run)
        self._found["left out"] = who_is_left_out(event)
        if len(event.members) < 2:
            self._found.pop("disagreement", None)

    def _disagreement(self, event: MembersDisagree) -> None:
        self._found["disagreement"] = where_they_differ(event)


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
        "past": why_from_past(),
        "start": "Now: {setting} is tried, to get a first picture.",
        "explore": "Now: {setting} is tried because nothing is known there.",
        "improve": "Now: {setting} is tried because it may be better than the best.",
    }
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


def _step_in_words(event: PenaltyStep, before: float) -> str:
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


def _listed(names: list[str]) -> str:
    quoted = ", ".join(f"“{name}”" for name in names[:LISTED])
    if len(names) <= LISTED:
        return quoted
    return f"{quoted} and {len(names) - LISTED} more"


def _as_sentence(reason: str) -> str:
    text = reason.strip() or "no reason was given"
    return text if text.endswith((".", "!", "?")) else f"{text}."
