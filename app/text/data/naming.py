"""What columns, tasks and classes are called in the window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QLocale

from app.text.data.documents import documents_headline, documents_question, whole
from core.tuning.evaluation import evaluation_of
from core.tuning.plan import DataPlan, Plan

ROLES = {
    "target": "target",
    "group": "keeps rows together",
    "ignore": "left out",
    "sequence": "sequence",
}
MOST_FINDINGS = 40  # that the panel says
KINDS = {
    "number": "number",
    "category": "category",
    "yes/no": "yes/no",
    "date": "date",
    "text": "text",
    "identifier": "identifier",
    "constant": "constant",
}
TASKS = {
    "regression": "A number",
    "binary": "One of two classes",
    "multiclass": "One of several classes",
    "sequence": "The label of every token",
    "structure": "The structure of a molecule",
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
        "row": ("{count} of {all} rows", "{count} rows of {file}"),
        "sequence": ("{count} of {all} sequences", "{count} sequences of {file}"),
        "molecule": ("{count} of {all} molecules", "{count} molecules of {file}"),
        "document": ("{count} of {all} texts", "{count} texts of {file}"),
    }[kind]


def column_word(column: Mapping[str, Any]) -> str:
    """What stands under a column's head: its role, or its kind if it is an ordinary feature."""
    if column["role"] == "sequence" and column["kind"] == "text":
        return "letters"
    if column["role"] in ROLES:
        return ROLES[column["role"]]
    return KINDS.get(column["kind"], column["kind"])


def headline(summary: Mapping[str, Any]) -> str:
    """The data in one line: rows, columns, what is predicted, the shares of the classes."""
    structured = summary.get("structured")
    if structured is not None:
        return _structured_headline(summary, structured)
    rows, sampled = whole(summary["rows"]), summary.get("sampled")
    if sampled:
        rows = "{rows} of {all}".format(rows=rows, all=whole(sampled["of"]))
    return "{rows} rows · {columns} columns · predicting “{target}”, {what}".format(
        rows=rows,
        columns=whole(summary["features"]),
        target=summary["target"],
        what=_what(summary),
    )


def _structured_headline(summary: Mapping[str, Any], structured: Mapping[str, Any]) -> str:
    if structured["kind"] == "document":
        return documents_headline(structured)
    if structured["kind"] == "molecule":
        return "{items}, {mean} on average · {pairs} base pairs · predicting “{target}”".format(
            items=structured["items"],
            mean=QLocale().toString(float(structured["mean"]), "f", 0),
            pairs=whole(structured["pairs"]),
            target=summary["target"],
        )
    return "{items} · {columns} columns · predicting “{target}”, {what}".format(
        items=structured["items"],
        columns=whole(summary["features"]),
        target=summary["target"],
        what=_what(summary),
    )


def _what(summary: Mapping[str, Any]) -> str:
    if summary["task"] == "regression":
        return "a number"
    classes = summary["classes"]
    total = sum(entry["count"] for entry in classes) or 1
    if len(classes) == 2:
        shares = ", ".join(
            f"{entry['label']} {100 * entry['count'] / total:.0f}\u00a0%" for entry in classes
        )
        if summary["task"] == "sequence":
            return f"two labels ({shares})"
        return f"two classes ({shares})"
    largest = max(classes, key=lambda entry: entry["count"])
    words = "{count} classes (the most frequent, {label}, {share}\u00a0%)"
    if summary["task"] == "sequence":
        words = "{count} labels (the most frequent, {label}, {share}\u00a0%)"
    return words.format(
        count=len(classes),
        label=largest["label"],
        share=f"{100 * largest['count'] / total:.0f}",
    )


def found(summary: Mapping[str, Any], data: DataPlan) -> list[str]:
    """What the panel says about the data: how it was read, the task, the test set, findings."""
    sentences = []
    if summary["described"]:
        sentences.append("The file was read as: {how}.".format(how=summary["described"]))
    sentences.append(_question(summary))
    sentences.append(_test_sentence(summary, data))
    ordered = sorted(summary["findings"], key=lambda finding: not finding["serious"])
    sentences.extend(finding["sentence"] for finding in ordered[:MOST_FINDINGS])
    if (more := len(ordered) - MOST_FINDINGS) > 0:
        sentences.append(f"{whole(more)} more findings are not shown.")
    return sentences


def _question(summary: Mapping[str, Any]) -> str:
    """What is predicted from what, or looked for."""
    if summary["task"] == "topics":
        return documents_question(summary["structured"])
    question = {
        "regression": "The target “{target}” holds numbers: a number is predicted.",
        "sequence": (
            "Every row is a token, and rows with the same “{sequence}” are one sequence. The label"
            " in “{target}” is predicted for every token, with its neighbours in view."
        ),
        "structure": (
            "Every row is a molecule. Which bases of “{sequence}” pair with each other is learned"
            " from the brackets in “{target}”."
        ),
        "binary": "The target “{target}” has two values: this is a yes/no question.",
        "multiclass": "The target “{target}” has {count} values: one of them is predicted.",
    }[summary["task"]]
    sequences = [column["name"] for column in summary["columns"] if column["role"] == "sequence"]
    question = question.format(
        target=summary["target"], count=len(summary["classes"]), sequence="".join(sequences)
    )
    if summary["task"] != "structure":
        question = f"{question} You can pick another target."
    return question


def _test_sentence(summary: Mapping[str, Any], data: DataPlan) -> str:
    kind = summary.get("structured", {}).get("kind", "row")
    if data.test_file:
        words = {
            "row": "{count} rows of the second file test the result honestly at the end.",
            "sequence": "{count} sequences of the second file test the result honestly at the end.",
            "molecule": "{count} molecules of the second file test the result honestly at the end.",
            "document": "{count} texts of the second file test the result honestly at the end.",
        }[kind]
    elif every_row_tests(summary, data):
        words = {
            "row": "{count} rows are the test set: tuning never sees them, and they test the result"
            " at the end. Where penalties are learned, every row is tested once instead,"
            " by a model fitted without it: there are few rows."
        }[kind]
    else:
        words = {
            "row": (
                "{count} rows are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
            "sequence": (
                "{count} whole sequences are the test set: tuning never sees them, and they test"
                " the result at the end."
            ),
            "molecule": (
                "{count} molecules are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
            "document": (
                "{count} texts are the test set: tuning never sees them, and they test the"
                " result at the end."
            ),
        }[kind]
    return words.format(count=whole(tested(summary, data)[0]))
