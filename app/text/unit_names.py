"""What the rows of a dataset are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.datasets.task import Task

if TYPE_CHECKING:
    from core.tuning.payloads import DatasetFacts
    from core.tuning.run_results import Results


def size_of_test_set(facts: DatasetFacts) -> str:
    """Such as "60 sequences (600 tokens)", or ""."""
    size = facts.task.count_text(facts.test_rows)
    if facts.task.has_sequences and facts.test_sequences:
        return f"{facts.test_sequences} sequences ({size})"
    return size if facts.test_rows else ""


def task_of(results: Results) -> Task:
    """The task of results; unknown for tables."""
    if results.documents is not None:
        return Task.TOPICS
    if results.sequences is not None:
        return Task.SEQUENCE
    return Task.UNKNOWN if results.pairs is None else Task.STRUCTURE
