"""What columns, tasks and classes are called in the window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QLocale

from app.text.documents import documents_headline, documents_question, tr, whole
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.evaluation import evaluation_of

ROLES = {
    "target": QT_TRANSLATE_NOOP("Data", "target"),
    "group": QT_TRANSLATE_NOOP("Data", "keeps rows together"),
    "ignore": QT_TRANSLATE_NOOP("Data", "left out"),
    "sequence": QT_TRANSLATE_NOOP("Data", "sequence"),
}
KINDS = {
    "number": QT_TRANSLATE_NOOP("Data", "number"),
    "category": QT_TRANSLATE_NOOP("Data", "category"),
    "yes/no": QT_TRANSLATE_NOOP("Data", "yes/no"),
    "date": QT_TRANSLATE_NOOP("Data", "date"),
    "text": QT_TRANSLATE_NOOP("Data", "text"),
    "identifier": QT_TRANSLATE_NOOP("Data", "identifier"),
    "constant": QT_TRANSLATE_NOOP("Data", "constant"),
}
TASKS = {
    "regression": QT_TRANSLATE_NOOP("Data", "A number"),
    "binary": QT_TRANSLATE_NOOP("Data", "One of two classes"),
    "multiclass": QT_TRANSLATE_NOOP("Data", "One of several classes"),
    "sequence": QT_TRANSLATE_NOOP("Data", "The label of every token"),
    "structure": QT_TRANSLATE_NOOP("Data", "The structure of a molecule"),
}


def test_rows(summary: Mapping[str, Any], data: DataPlan) -> int:
    """How many rows wait for the test: those of the second file, or the share of the test set."""
    return summary["test_rows"] if data.test_file else _share(summary["rows"], data)


def tested(summary: Mapping[str, Any], data: DataPlan) -> tuple[int, int]:
    """How many rows, sequences, molecules or texts test the result, and how many the file holds."""
    structured = summary.get("structured")
    if structured is None:
        return test_rows(summary, data), summary["rows"]
    count = structured["count"]
    if data.test_file:
        return structured["test_count"], count
    return _share(count, data), count


def _share(count: int, data: DataPlan) -> int:
    return round(count * data.share_tested(count))


def every_row_tests(summary: Mapping[str, Any], data: DataPlan) -> bool:
    """Whether learned penalties are judged by every row, as in a table of few rows."""
    plan = Plan(data, "", "")
    return evaluation_of(plan, summary["task"], summary["rows"], "penalties") == "nested"


def unit_words(summary: Mapping[str, Any]) -> tuple[str, str]:
    """What tests: "{count} of {all} rows", and "{count} of them from a second file"."""
    kind = summary.get("structured", {}).get("kind", "row")
    return {
        "row": (tr("{count} of {all} rows"), tr("{count} rows of {file}")),
        "sequence": (tr("{count} of {all} sequences"), tr("{count} sequences of {file}")),
        "molecule": (tr("{count} of {all} molecules"), tr("{count} molecules of {file}")),
        "document": (tr("{count} of {all} texts"), tr("{count} texts of {file}")),
    }[kind]


def column_word(column: Mapping[str, Any]) -> str:
    """What stands under a column's head: its role, or its kind if it is an ordinary feature."""
    if column["role"] == "sequence" and column["kind"] == "text":
        return tr("letters")
    if column["role"] in ROLES:
        return tr(ROLES[column["role"]])
    return tr(KINDS.get(column["kind"], column["kind"]))


def headline(summary: Mapping[str, Any]) -> str:
    """The data in one line: rows, columns, what is predicted, the shares of the classes."""
    structured = summary.get("structured")
    if structured is not None:
        return _structured_headline(summary, structured)
    return tr("{rows} rows · {columns} columns · predicting “{target}”, {what}").format(
        rows=whole(summary["rows"]),
        columns=whole(summary["features"]),
        target=summary["target"],
        what=_what(summary),
    )


def _structured_headline(summary: Mapping[str, Any], structured: Mapping[str, Any]) -> str:
    if structured["kind"] == "document":
        return documents_headline(structured)
    if structured["kind"] == "molecule":
        return tr("{items}, {mean} on average · {pairs} base pairs · predicting “{target}”").format(
            items=structured["items"],
            mean=QLocale().toString(float(structured["mean"]), "f", 0),
            pairs=whole(structured["pairs"]),
            target=summary["target"],
        )
    return tr("{items} · {columns} columns · predicting “{target}”, {what}").format(
        items=structured["items"],
        columns=whole(summary["features"]),
        target=summary["target"],
        what=_what(summary),
    )


def _what(summary: Mapping[str, Any]) -> str:
    if summary["task"] == "regression":
        return tr("a number")
    classes = summary["classes"]
    total = sum(entry["count"] for entry in classes) or 1
    if len(classes) == 2:
        shares = ", ".join(
            f"{entry['label']} {100 * entry['count'] / total:.0f}\u00a0%" for entry in classes
        )
        if summary["task"] == "sequence":
            return tr("two labels ({shares})").format(shares=shares)
        return tr("two classes ({shares})").format(shares=shares)
    largest = max(classes, key=lambda entry: entry["count"])
    words = tr("{count} classes (the most frequent, {label}, {share}\u00a0%)")
    if summary["task"] == "sequence":
        words = tr("{count} labels (the most frequent, {label}, {share}\u00a0%)")
    return words.format(
        count=len(classes),
        label=largest["label"],
        share=f"{100 * largest['count'] / total:.0f}",
    )


def found(summary: Mapping[str, Any], data: DataPlan) -> list[str]:
    """What the panel says about the data: how it was read, the task, the test part, findings."""
    sentences = []
    if summary["described"]:
        sentences.append(tr("The file was read as: {how}.").format(how=summary["described"]))
    sentences.append(_question(summary))
    sentences.append(_test_sentence(summary, data))
    ordered = sorted(summary["findings"], key=lambda finding: not finding["serious"])
    sentences.extend(finding["sentence"] for finding in ordered)
    return sentences


def _question(summary: Mapping[str, Any]) -> str:
    """What is predicted from what, or looked for."""
    if summary["task"] == "topics":
        return documents_question(summary["structured"])
    question = {
        "regression": tr("The target “{target}” holds numbers: a number is predicted."),
        "sequence": tr(
            "Every row is a token, and rows with the same “{sequence}” are one sequence. The label"
            " in “{target}” is predicted for every token, with its neighbours in view."
        ),
        "structure": tr(
            "Every row is a molecule. Which bases of “{sequence}” pair with each other is learned"
            " from the brackets in “{target}”."
        ),
        "binary": tr("The target “{target}” has two values: this is a yes/no question."),
        "multiclass": tr("The target “{target}” has {count} values: one of them is predicted."),
    }[summary["task"]]
    sequences = [column["name"] for column in summary["columns"] if column["role"] == "sequence"]
    question = question.format(
        target=summary["target"], count=len(summary["classes"]), sequence="".join(sequences)
    )
    if summary["task"] != "structure":
        question = tr("{question} You can pick another target.").format(question=question)
    return question


def _test_sentence(summary: Mapping[str, Any], data: DataPlan) -> str:
    kind = summary.get("structured", {}).get("kind", "row")
    if data.test_file:
        words = {
            "row": tr("{count} rows of the second file test the result honestly at the end."),
            "sequence": tr(
                "{count} sequences of the second file test the result honestly at the end."
            ),
            "molecule": tr(
                "{count} molecules of the second file test the result honestly at the end."
            ),
            "document": tr("{count} texts of the second file test the result honestly at the end."),
        }[kind]
    elif every_row_tests(summary, data):
        words = {
            "row": "{count} rows are the test set: tuning never sees them, and they test the result"
            " at the end. Where penalties are learned, every row is tested once instead,"
            " by a model fitted without it: there are few rows."
        }[kind]
    else:
        words = {
            "row": tr(
                "{count} rows are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
            "sequence": tr(
                "{count} whole sequences are the test set: tuning never sees them, and they test"
                " the result at the end."
            ),
            "molecule": tr(
                "{count} molecules are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
            "document": tr(
                "{count} texts are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
        }[kind]
    return words.format(count=whole(tested(summary, data)[0]))
