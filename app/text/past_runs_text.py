"""Cells of the list of past runs, and titles of settings."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QDateTime, QLocale, Qt

from app.help.glossary import read_help
from app.text.rail_text import run_strategy_title, state_text
from core.tuning.runs.past_runs import RunSummary
from core.tuning.scores import score
from core.wording import duration_text, format_value

HEADS = (
    *("name", "strategy", "measure", "score", "vs default", "vs baseline"),
    *("date", "time", "note"),
)
TIPS = {
    "measure": "What the score is; for some measures less is better.",
    "score": "On test rows, which tuning never saw.",
    "vs default": "How much better than the model's default setting, on the test rows.",
    "vs baseline": "How much better than always the most frequent class, or the mean.",
    "time": "How long the run took.",
}


def difference_to_baseline(run: RunSummary) -> float | None:
    """By how much the test score beats the baseline."""
    if run.test is None or run.baseline is None:
        return None
    # Positive is better, whatever the measure.
    return run.test - run.baseline if run.maximize else run.baseline - run.test


def model_title(run: RunSummary) -> str:
    """The title of the model of a run."""
    from core.estimators.model_settings import title_of

    return title_of(run.model) if run.model else ""


def day_of(moment: str) -> str:
    """A date in the locale; "–" where it is not known."""
    when = QDateTime.fromString(moment, Qt.DateFormat.ISODate)
    if not when.isValid():
        return "–"
    return QLocale().toString(when.toLocalTime().date(), QLocale.FormatType.ShortFormat)


def file_model_time(run: RunSummary) -> str:
    """What a run is called until a person names it."""
    when = QDateTime.fromString(run.started_at, Qt.DateFormat.ISODate).toLocalTime()
    moment = QLocale().toString(when, QLocale.FormatType.ShortFormat)
    return " · ".join(filter(None, (run.dataset.removesuffix(".csv"), model_title(run), moment)))


def run_name(run: RunSummary) -> str:
    """A person's name for it, else file, model and time."""
    return run.title or file_model_time(run)


def cells_of(run: RunSummary) -> tuple[str, ...]:
    """The cells of a run, in the order of HEADS."""
    has_score = run.test is not None
    return (
        run_name(run),
        # Of several models, it would say what the name says.
        "" if (strategy := run_strategy_title(run)) == model_title(run) else strategy,
        score.metric_in_short(run.metric) if run.metric else "",
        score.score_text(run.test, run.metric) if has_score else state_text(run),
        score.signed_difference(run.gain, run.metric),
        score.signed_difference(difference_to_baseline(run), run.metric),
        day_of(run.started_at),
        duration_text(run.seconds) if run.seconds else "",
        run.note.split("\n", 1)[0],
    )


def keys_of(run: RunSummary, words: tuple[str, ...]) -> tuple[Any, ...]:
    """Sort keys of a run's cells; None sorts last."""
    # Empty cells sort behind all others, as missing numbers do.
    text = [word.casefold() or None for word in words]
    keys: dict[int, Any] = {3: run.test, 4: run.gain, 5: difference_to_baseline(run)}
    # These two are sorted as moments and numbers, the others as text.
    keys |= {6: run.started_at, 7: run.seconds or None}
    return tuple(keys.get(column, text[column]) for column in range(len(HEADS)))


def tip_of(run: RunSummary, column: int) -> str:
    """The tooltip of a cell."""
    head, cell = HEADS[column], cells_of(run)[column]
    if head == "name":
        return "\n".join(filter(None, (run.title, file_model_time(run), f"Folder: {run.path}")))
    if head == "note":
        return run.note
    if head == "measure" and run.metric:
        return f"{score.metric_title(run.metric)}: {'more' if run.maximize else 'less'} is better"
    if head == "date":
        when = QDateTime.fromString(run.started_at, Qt.DateFormat.ISODate).toLocalTime()
        return QLocale().toString(when, QLocale.FormatType.LongFormat) if when.isValid() else ""
    if head in ("vs default", "vs baseline") and cell:
        unit = " points" if run.metric in score.SHARES else ""
        return f"{cell}{unit}. {TIPS[head]}"
    return cell


def setting_name(name: str) -> str:
    """The title of a field of the plan."""
    if name.startswith("best "):
        return f"Best: {name.removeprefix('best ')}"
    if name.startswith("option "):
        return f"Option {name.removeprefix('option ')}"
    # What the Strategy page asks for has its words there.
    if option := read_help("run_options.json").get(name):
        return str(option["label"])
    return str(read_help("plan_fields.json").get(name, {}).get("title", name))


def setting_value(values: Mapping[str, Any], name: str) -> str:
    """Its cell: "–" without the field, "usual" for the default."""
    from core.estimators.model_settings import title_of
    from core.tuning.strategies.registry import STRATEGIES

    if name not in values:
        return "–"
    value = values[name]
    # An empty field leaves the choice to the program.
    if value is None or value in ("", {}, []):
        return "usual"
    if name in ("model", "best model"):
        return title_of(str(value))
    if name == "strategy":
        return STRATEGIES[value].title if value in STRATEGIES else str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {format_value(entry)}" for key, entry in value.items())
    return format_value(value)
