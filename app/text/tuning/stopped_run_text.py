"""Stopped and interrupted runs."""

from __future__ import annotations

from app.text.number_format import format_number
from app.text.score_text import metric_as_noun
from app.text.setting_text import setting_text
from core.tuning.events import HyperGradientStep
from core.tuning.runs.state import RunState


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


def _unit_name(run: RunState) -> str:
    return "step" if run.learns_penalties else "trial"


def _kept_text(run: RunState) -> str:
    kind = _unit_name(run)
    return f"1 {kind} is kept" if run.done_count == 1 else f"{run.done_count} {kind}s are kept"


def _leaving(run: RunState) -> tuple[str, ...]:
    if not run.done_count:
        return ("“Do not wait” ends it at once: nothing is lost but what it was doing.",)
    return (f"“Do not wait” leaves that for later: {_kept_text(run)}.",)


def _best_sentences(run: RunState) -> tuple[str, ...]:
    if run.best_trial is not None:
        noun = metric_as_noun(run.started.metric)
        setting = setting_text(run.started, run.best_trial.setting)
        score = format_number(run.best_trial.score)
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
