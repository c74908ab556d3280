"""Text about the plan: model, strategy, ranges and settings."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QLocale

from core.estimators.facts import uncapitalized
from core.estimators.model_settings import labels_of, model_and_values, noun_of, title_of
from core.space import Axis, axis_title
from core.tuning.events import RunStarted
from core.tuning.plan import Plan
from core.tuning.ranges import setting_value_text, shortest_number
from core.tuning.runs.trial_table import tunes_several
from core.tuning.strategies.registry import STRATEGIES
from core.wording import format_value


def tunes_several_models(strategy: str) -> bool:
    """Whether a strategy tunes several models in one run."""
    entry = STRATEGIES.get(strategy)
    return entry is not None and entry.several


def proposed_by(strategy: str) -> str:
    """Who proposed a setting, in short."""
    if strategy == "hand":
        return "entered by you"
    entry = STRATEGIES.get(strategy)
    return entry.why_short or strategy if entry is not None else strategy


def learns_held_out(started: RunStarted) -> bool:
    """Whether a run's penalties are learned from held-out rows."""
    return started.kind == "penalties" and holds_out(started.run_plan.strategy)


def holds_out(strategy: str) -> bool:
    """Whether a strategy learns penalties from held-out rows."""
    entry = STRATEGIES.get(strategy)
    return entry is not None and entry.holds_out


def lists_values(strategy: str) -> bool:
    """Whether a strategy lists its values in advance."""
    entry = STRATEGIES.get(strategy)
    return entry is not None and entry.values is not None


def surrogate_of(started: RunStarted) -> str:
    """The surrogate of a run of trials, or ""."""
    name = started.run_plan.strategy
    # Views that are made before there is a run have none, for which no extension is looked through.
    strategy = STRATEGIES.get(name) if name and started.kind == "trials" else None
    return "" if strategy is None else strategy.surrogate


def what_is_held_out(started: RunStarted) -> str:
    """Which rows score the settings, or ""."""
    if not started.run_plan.strategy:
        return ""
    task, aside = started.dataset.task, started.dataset.test_set_text
    # Nested evaluation has no test set of its own.
    if folds := started.dataset.outer_folds:
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = f"{aside} are the test set; tuning never sees them."
    units = task.items
    if started.kind == "penalties" and not learns_held_out(started):
        words = f"The penalty comes from the training {units} themselves: no validation is needed."
    elif started.kind == "penalties":
        return aside
    elif started.judged == "training" and not task.has_target:
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = (
            f"Each score says how well the model explains the training {units} themselves: "
            "no validation is needed."
        )
    elif started.judged == "validation":
        words = f"Each score comes from one part of the training {units} that is held out."
    else:
        folds, repeats = started.run_plan.folds, started.repeats
        times = {2: "twice", 3: "three times"}.get(repeats, f"{repeats} times")
        often = f", which are divided {times}" if repeats > 1 else ""
        words = f"Each score is the mean over {folds} parts of the training {units}{often}."
    return f"{words} {aside}".strip()


LEARNED = (
    "The penalty is learned from the data, not searched: there is no range to set. Choose a "
    "strategy that tries settings to search ranges."
)
OF_SEVERAL = (
    "Every model is searched over its own usual ranges. To change ranges, choose one model in "
    "step 2."
)


def changed_ranges_text(plan: Plan) -> list[str]:
    """A sentence for each changed range."""
    ranges = [
        f"{name} is searched from {editable_number(ends[0])} to {editable_number(ends[1])}, not "
        "over its usual range."
        for name, ends in plan.ranges.items()
        if len(ends) == 2  # its row shows what is invalid
    ]
    fixed = plan.fixed.items()
    return ranges + [f"{name} stays at {setting_value_text(value)}." for name, value in fixed]


def waiting_settings_text(count: int) -> str:
    """That entered settings are tried afterwards, or ""."""
    subject = "The setting that you entered is" if count == 1 else f"{count} settings of yours are"
    return f" {subject} tried then." if count else ""


def scale_of(axis: Axis) -> str:
    """The scale on which a setting is searched."""
    integer_note = ", whole numbers" if axis.kind == "int" else ""
    return f"{'log' if axis.log else 'linear'}{integer_note}"


def editable_number(number: float) -> str:
    """A number for a field, in the locale: three digits of what nobody would type."""
    text = shortest_number(number) if isinstance(number, int | float) else str(number)
    if isinstance(number, float) and len(text) > MAX_DIGITS:
        text = f"{number:.3g}"
    point = QLocale().decimalPoint()
    # Powers of ten are read with a point in every locale.
    return text if "e" in text else text.replace(".", point)


def with_decimal_point(text: str) -> str:
    """A number of the locale with a decimal point."""
    bare = text.strip()
    try:
        float(bare)
    except ValueError:
        # A number that Python reads is taken as it is; any other may be one of the locale.
        number, fine = QLocale().toDouble(bare)
        return shortest_number(number) if fine else text
    return bare


MAX_DIGITS = 10  # letters of a number in a field
MAX_VALUES = 3  # values of a setting, in a sentence


def setting_text(started: RunStarted, setting: Mapping[str, Any]) -> str:
    """Such as "cost of a wrong row (C) = 0.27", after its model where several are tuned."""
    model, model_values = model_and_values(started.run_plan.model, setting)
    if tunes_several(started):
        values = _values_text(model_values, labels_of(model, started.dataset.task))
        return f"{noun_of(model)} ({values})" if values else noun_of(model)
    # Runs of one model name the settings that were searched, in the order of their axes.
    labels = {axis.name: axis.label for axis in started.space}
    return _values_text(model_values, labels or dict.fromkeys(model_values, "")) or "the setting"


def _values_text(setting: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    titles = {
        name: uncapitalized(axis_title(label, name)) if label else name
        for name, label in labels.items()
        if name in setting
    }
    values = [f"{title} = {format_value(setting[name])}" for name, title in titles.items()]
    return ", ".join([*values[:MAX_VALUES], *["…"] * (len(values) > MAX_VALUES)])


def setting_cells(started: RunStarted, setting: Mapping[str, Any]) -> tuple[str, str]:
    """The model of a setting and its values."""
    model, model_values = model_and_values(started.run_plan.model, setting)
    values = ", ".join(f"{name} = {format_value(value)}" for name, value in model_values.items())
    return title_of(model), values


def setting_lines(started: RunStarted, setting: Mapping[str, Any]) -> list[str]:
    """A labelled value a line; of several models the title first."""
    model, model_values = model_and_values(started.run_plan.model, setting)
    labels: Mapping[str, str] = {axis.name: axis.label for axis in started.space}
    lines = []
    if tunes_several(started):
        labels, lines = labels_of(model, started.dataset.task), [title_of(model)]
    for name, value in model_values.items():
        lines.append(f"{axis_title(labels.get(name, ''), name)} = {format_value(value)}")
    return lines


def setting_title(axis: Axis) -> str:
    """Such as "Cost of a wrong row (C)"."""
    return axis_title(axis.label, axis.name)
