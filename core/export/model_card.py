"""The model card: what an exported model predicts, from what, how well, and what it is not for."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.export.destination import fill_destination
from core.export.exportable_models import TUNED
from core.export.files.model_file import interval_of_run
from core.export.finished_run import FinishedRun, model_noun, without_examples
from core.export.markup import markdown_sentences, markdown_table, plain_text, yaml_text
from core.ordinary_files import read_ordinary
from core.tuning.results.answer import answer_of
from core.tuning.results.result_facts import Fact, result_facts
from core.tuning.results.training_columns import (
    DATE,
    MIN_COMMON,
    TrainingColumn,
    category_text,
    date_text,
)
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.why.answer_types import RegressionDiagnostics, Residuals
from core.tuning.why.answers import kept_answer
from core.tuning.why.questions import ROWS
from core.wording import amount_text, count_text, format_number, list_text, percent, quoted

ENDING = ".card.md"  # behind the name of a model's file
FOLDER_NAME = "README.md"  # in folders
MAX_CATEGORIES, MAX_COLUMNS, MAX_WORST = 5, 200, 3
_LIBRARIES = {"onnx": "onnx", "mlflow": "mlflow", "folder": "numpy", "npz": "numpy"}
_TASKS = {"binary": "tabular-classification", "multiclass": "tabular-classification"}
_TASKS |= {"regression": "tabular-regression", "sequence": "token-classification"}
_QUALITY = ("Tuned", "Default", "Gain", "Baseline", "Expected", "Pairs", "Sequences", "Tested")
_TUNING = ("Best", "Untried", "Average", "Single", "Setting", "Costs", "Cost", "Score", "Note")
_LIMITS = (
    "Rows that lack one of these columns, or have it under another name.",
    "Values in other units, or written with another meaning, than those of the training rows.",
    "Values outside the ranges above, and categories that the training rows did not have: nothing "
    "is known of how well it predicts there.",
    "Rows from elsewhere, or from another time, than those that it was trained and tested on.",
)


def card_text(run: FinishedRun, format: str) -> str:
    """The card in Markdown, with front matter as model hubs read it; it shows no row.

    Of values it has the ends of ranges, and categories of at least MIN_COMMON rows; `format` is
    the name of the exporter.
    """
    full_run, run = run, without_examples(run)
    results, is_tuned = run.results, run.selected_name == TUNED
    facts = result_facts(results, run.started)
    answer = answer_of(results, run.started)  # the words of topics are those of rows
    title = f"{model_noun(run)} for {plain_text(run.takeaway.dataset)}"
    opening = [answer.ability, answer.tuning] if is_tuned else results.remarks[:1]
    blocks = [
        f"---\n{yaml_text(_front_matter(run, format, title))}---",
        f"# {markdown_sentences([title])}",
        *(f"**{markdown_sentences([warning])}**" for warning in _warnings(run)),
        markdown_sentences(opening),
        "## What it predicts",
        markdown_sentences(_target_sentences(run)),
        "## What it predicts from",
        *_column_blocks(run, full_run.allows_examples),
    ]
    if is_tuned:
        scores = [
            (fact.label, fact.score.text, fact.score.interval_phrase().strip(" ()"))
            for fact in facts
            if fact.score is not None
        ]
        blocks += ["## How good it is", markdown_table(("model", "score", "interval"), scores)]
        blocks.append(_fact_list(facts, _QUALITY))
        if worst := [*_worst_sentences(full_run)]:
            blocks += ["## Where it is wrong", markdown_sentences(worst, "- ")]
    blocks += ["## How it was tuned", _fact_list(facts, _TUNING), "## What it is not for"]
    blocks += [markdown_sentences([*_LIMITS, *_limits_of_run(run)], "- ")]
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    strategy = STRATEGIES[run.plan.strategy].title
    origin = f"Made by Tunescope from the run {run.name}: {strategy}, seed {run.plan.seed}."
    blocks.append(markdown_sentences([origin, f"Versions: {versions}."]))
    return "\n\n".join(filter(None, blocks)) + "\n"


def write_beside(run: FinishedRun, path: Path, format: str) -> None:
    """Write the card beside a model's file, over one that was checked."""
    text = card_text(run, format)
    # By the seal a card that nobody has changed is known, and may be replaced.
    content = f"{text}\n{_seal_line(text)}\n".encode()
    fill_destination(_path_beside(path), lambda draft: draft.write_bytes(content))


def check_beside(path: Path) -> None:
    """UnusableError where a card that a person has changed would be lost."""
    card = _path_beside(path)
    if not card.is_file():
        return
    text, _, seal = read_ordinary(card).decode(errors="replace").rstrip().rpartition("\n")
    if seal != _seal_line(text):
        fault = "this model card was changed since it was written, or is no card of Tunescope's"
        raise UnusableError(fault, where=str(card), cure="rename it, or choose another name")


def _path_beside(path: Path) -> Path:
    return path.with_name(f"{path.name}{ENDING}")


def _seal_line(text: str) -> str:
    return f"<!-- sha256 {hashlib.sha256(text.encode()).hexdigest()} -->"


def _front_matter(run: FinishedRun, format: str, title: str) -> dict[str, Any]:
    results, task = run.results, run.takeaway.task
    kind = _TASKS.get(task, "other")
    scores = {name: value for name, value in results.test.items() if value is not None}
    result = {
        "task": {"type": kind},
        "dataset": {"name": plain_text(run.takeaway.dataset), "type": "tabular"},
        "metrics": [{"type": name, "value": value} for name, value in scores.items()],
    }
    return {
        "library_name": _LIBRARIES.get(format, "sklearn"),
        "tags": [kind, "tunescope", run.plan.model],
        "metrics": [*scores],
        "model-index": [{"name": title, "results": [result]}],
    }


def _warnings(run: FinishedRun) -> Iterator[str]:
    results, gain = run.results, run.results.gain_over_baseline
    if gain.real and gain.is_positive and run.selected_name == TUNED:
        return
    if gain.difference is None:
        yield "Whether it is better than knowing nothing was not tested."
    else:
        baseline = f" ({results.baseline})" if results.baseline else ""
        yield (
            f"It is not shown to be better than knowing nothing{baseline}: do not rely on what it "
            "predicts."
        )


def _target_sentences(run: FinishedRun) -> Iterator[str]:
    takeaway, task = run.takeaway, run.takeaway.task
    counts = run.results.confusion
    target = f"“{takeaway.target}”: " if task.has_target else ""
    yield f"{target}{task.target_text.format(count=len(takeaway.classes))}."
    if counts is not None:
        pairs = zip(counts.labels, counts.tuned, strict=True)
        common = [label for label, row in pairs if sum(row) >= MIN_COMMON][:MAX_CATEGORIES]
        if common:
            yield f"Common among test rows: {list_text(quoted(common))}."
    if (interval := interval_of_run(run)) is not None:
        half_width = amount_text(interval.half, run.results.target_unit or "")
        yield f"{percent(interval.coverage)} of the true numbers are within {half_width} of it."
    yield f"It is fitted on {task.count_text(takeaway.kept_rows)} of {takeaway.dataset}."


def _column_blocks(run: FinishedRun, has_ranges: bool) -> Iterator[str]:
    takeaway = run.takeaway
    columns = {column.name: column for column in takeaway.columns}
    training = takeaway.training.columns if takeaway.training and has_ranges else ()
    ranges = {column.name: _range_text(column) for column in training}
    names = takeaway.feature_names[:MAX_COLUMNS]
    rows = [
        (name, column.kind_text, ranges.get(name, ""), column.missing)
        for name in names
        if (column := columns.get(name)) is not None
    ]
    yield markdown_table(("column", "kind", "training rows", "missing"), rows)
    if more := len(takeaway.feature_names) - len(names):
        yield f"And {count_text(more, 'more column')}."


def _range_text(column: TrainingColumn) -> str:
    if column.choices:
        common = [category_text(choice) for choice in column.choices[: column.common or 0]]
        count = len(column.choices)
        listed = f": {list_text(common[:MAX_CATEGORIES])}" if common else ""
        more = " among others" if listed and count > len(common[:MAX_CATEGORIES]) else ""
        return f"{'more than ' if column.more else ''}{count_text(count, 'value')}{listed}{more}"
    if column.low is None or column.high is None:
        return ""
    form = date_text if column.kind == DATE else format_number
    return f"{form(column.low)} to {form(column.high)}"


def _fact_list(facts: Sequence[Fact], labels: Sequence[str]) -> str:
    shown = [fact for fact in facts if fact.label in labels and (fact.sentence or not fact.score)]
    texts = [fact.sentence or f"{fact.label}: {fact.value}." for fact in shown]
    return markdown_sentences(dict.fromkeys(texts), "- ")


def _worst_sentences(run: FinishedRun) -> Iterator[str]:
    counts = run.results.confusion
    pairs = [] if counts is None else list(enumerate(counts.tuned))
    common = [(row[code] / sum(row), code) for code, row in pairs if sum(row) >= MIN_COMMON]
    for recall, code in sorted(common)[:MAX_WORST]:
        if counts is not None and recall < 1:
            rows = run.takeaway.task.count_text(sum(counts.tuned[code]))
            yield f"Of {rows} of “{counts.labels[code]}” it finds {percent(recall)}."
    answer = kept_answer(run.folder, run.results, ROWS)
    if isinstance(answer, RegressionDiagnostics):
        axes = [n for n in answer.residuals.bins if run.allows_examples or not n]
        yield from _residual_sentences(answer.residuals, axes, run.results.target_unit or "")


def _residual_sentences(residuals: Residuals, axes: Sequence[str], unit: str) -> Iterator[str]:
    bins = [(b, name) for name in axes for b in residuals.bins[name] if b.rows >= MIN_COMMON]
    sure = [pair for pair in bins if (pair[0].low or 0) > 0 or (pair[0].high or 0) < 0]
    for b, name in sorted(sure, key=lambda pair: -abs(pair[0].mean))[:MAX_WORST]:
        axis = f"“{name}”" if name else "predictions"
        position = b.at if isinstance(b.at, str) else format_number(b.at)
        size = f"too {'high' if b.mean > 0 else 'low'}, by {amount_text(abs(b.mean), unit)}"
        yield f"Around {position} of {axis} it is {size} on average."


def _limits_of_run(run: FinishedRun) -> Iterator[str]:
    sample, telling = run.takeaway.sampled, run.started.dataset.telling or []
    if sample is not None:
        yield f"Rows that the {sample.rows:,} do not stand for, which were drawn of {sample.of:,}."
    if telling:
        names = list_text(quoted(telling), MAX_CATEGORIES)
        yield f"Rows of which {names} is not known beforehand: it tells the target by itself."
