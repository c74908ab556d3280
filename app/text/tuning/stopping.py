"""A run that is stopped or was interrupted: the best so far, what is kept, and what can be done."""

from __future__ import annotations

from app.text.numbers import plain
from app.text.scores import metric_as_noun
from app.text.settings import in_a_sentence
from app.text.units import units
from core.tuning.events import HyperGradientStep
from core.tuning.runs.state import RunState


def stopping(run: RunState) -> tuple[str, ...]:
    """What is known before the results are there, and what happens meanwhile."""
    if run.ended is not None and run.exclusion is None:
        return ("The model that you took is fitted and tested. Its results come next.",)
    if not run.done:
        return (f"The run stops before its first {_kind(run)} has ended.", *_leaving(run))
    rows = units(str(run.started.dataset.get("task", "")))
    return (
        f"The run stops. The model is fitted on all training {rows} and tested on {rows} that "
        "tuning never saw.",
        *_best(run),
        *_leaving(run),
    )


def interrupted(run: RunState) -> tuple[str, ...]:
    """What is kept of a run that nobody waited for, or whose process was lost."""
    if not run.done:
        return (
            f"The run was interrupted before its first {_kind(run)} had ended. “Go on” begins "
            "again.",
        )
    return (
        f"The run was interrupted. {_kept(run)}. “Go on” continues with the next one; “Keep what "
        "there is” tries nothing more, but fits and tests the best so far.",
        *_best(run),
    )


def _kind(run: RunState) -> str:
    return "step" if run.learns_penalties else "trial"


def _kept(run: RunState) -> str:
    kind = _kind(run)
    return f"1 {kind} is kept" if run.done == 1 else f"{run.done} {kind}s are kept"


def _leaving(run: RunState) -> tuple[str, ...]:
    if not run.done:
        return ("“Do not wait” ends it at once: nothing is lost but what it was doing.",)
    return (f"“Do not wait” leaves that for later: {_kept(run)}.",)


def _best(run: RunState) -> tuple[str, ...]:
    """The best so far, which no test has judged yet."""
    if run.best is not None:
        noun = metric_as_noun(run.started.metric)
        setting = in_a_sentence(run.started, run.best.setting)
        said = f"The best so far, not tested yet: {noun} {plain(run.best.score)} in validation"
        return (f"{said}, with {setting}." if setting else f"{said}.",)
    step = run.step
    if step is None:
        return ()
    held_out = isinstance(step, HyperGradientStep)
    value = run.gradients[-1].holdout_loss if held_out else run.steps[-1].objective
    what = "a held-out error" if held_out else "an objective"
    return (
        f"The penalties so far, not tested yet, are those of step {step.step}, with {what} of "
        f"{plain(value, 4)}.",
    )
