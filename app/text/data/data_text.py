"""Text about the data: columns, target, classes, test set."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from app.text.data.document_text import documents_headline, documents_question, format_integer
from core.datasets.dataset_summary import ColumnSummary, DatasetSummary
from core.tuning.evaluation import evaluation_of
from core.tuning.plan import DataPlan, Plan

_ROLE_TITLES = {
    "target": "target",
    "group": "keeps rows together",
    "ignore": "left out",
    "sequence": "sequence",
}
MAX_FINDINGS = 40  # that the panel says


def test_set_size(summary: DatasetSummary, data: DataPlan) -> tuple[int, int]:
    """Sizes of the test set and of the file."""
    structured = summary.structured
    count = summary.rows if structured is None else structured.count
    if data.test_file:
        return (summary.test_rows if structured is None else structured.test_count), count
    return round(count * data.share_tested(count)), count


def every_row_tests(summary: DatasetSummary, data: DataPlan) -> bool:
    """Whether learned penalties are tested on every row."""
    plan = Plan(data, "", "")
    return evaluation_of(plan, summary.task, summary.rows, "penalties") == "nested"


def column_word(column: ColumnSummary) -> str:
    """The role of a column, or its kind and unit."""
    if column.role == "sequence" and column.kind == "text":
        return "letters"
    return _ROLE_TITLES.get(column.role, column.kind_text)


def headline(summary: DatasetSummary) -> str:
    """The data in one line."""
    if not summary.task.has_target:
        return documents_headline(summary.documents)
    structured, size = summary.structured, f"{format_integer(summary.rows)} rows"
    if structured is not None:
        size = structured.items
    elif summary.file_rows:
        size = f"{format_integer(summary.rows)} of {format_integer(summary.file_rows)} rows"
    if structured is not None and structured.pairs is not None:
        mean = QLocale().toString(float(structured.mean), "f", 0)
        pairs = format_integer(structured.pairs)
        return f"{size}, {mean} on average · {pairs} base pairs · predicting “{summary.target}”"
    columns = format_integer(summary.features)
    return f"{size} · {columns} columns · predicting “{summary.target}”, {_target_text(summary)}"


def _target_text(summary: DatasetSummary) -> str:
    if summary.task.has_numbers:
        return "a number"
    classes, noun = summary.classes, summary.task.class_nouns
    total = sum(entry.count for entry in classes) or 1
    if len(classes) == 2:
        shares = (f"{entry.label} {100 * entry.count / total:.0f}\u00a0%" for entry in classes)
        return f"two {noun} ({', '.join(shares)})"
    largest = max(classes, key=lambda entry: entry.count)
    share = f"{100 * largest.count / total:.0f}\u00a0%"
    return f"{len(classes)} {noun} (the most frequent, {largest.label}, {share})"


def data_summary(summary: DatasetSummary, data: DataPlan) -> list[str]:
    """Sentences for the panel."""
    sentences = []
    if summary.described:
        sentences.append(f"The file was read as: {summary.described}.")
    sentences.append(_question(summary))
    sentences.append(_test_sentence(summary, data))
    ordered = sorted(summary.findings, key=lambda finding: not finding.serious)
    sentences.extend(finding.sentence for finding in ordered[:MAX_FINDINGS])
    if (more := len(ordered) - MAX_FINDINGS) > 0:
        sentences.append(f"{format_integer(more)} more findings are not shown.")
    return sentences


def _question(summary: DatasetSummary) -> str:
    if not summary.task.has_target:
        return documents_question(summary.documents)
    question = summary.task.question.format(
        target=summary.target,
        count=len(summary.classes),
        sequence="".join(column.name for column in summary.columns if column.role == "sequence"),
    )
    return question if summary.task.has_pairs else f"{question} You can pick another target."


def _test_sentence(summary: DatasetSummary, data: DataPlan) -> str:
    count, items = format_integer(test_set_size(summary, data)[0]), summary.task.items
    if data.test_file:
        return f"{count} {items} of the second file test the result honestly at the end."
    sentence = (
        f"{count} {'whole ' if summary.task.has_sequences else ''}{items} are the test set: tuning "
        "never sees them, and they test the result at the end."
    )
    if not every_row_tests(summary, data):
        return sentence
    return (
        f"{sentence} Where penalties are learned, every row is tested once instead, by a model "
        "fitted without it: there are few rows."
    )
