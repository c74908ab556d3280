"""What the rows of a dataset are called: rows of a table, tokens, molecules, or texts."""

from __future__ import annotations

from typing import Any


def units(task: str) -> str:
    """Many of them: "tokens"."""
    words = {"sequence": "tokens", "structure": "molecules", "topics": "texts"}
    return words.get(task, "rows")


def counted(task: str, count: int) -> str:
    """So many of them: "2,310 rows", "1 row"."""
    many = units(task)
    return f"1 {many.removesuffix('s')}" if count == 1 else f"{count:,} {many}"


def size_of_test_set(dataset: dict[str, Any]) -> str:
    """How much tuning never sees: "60 sequences (600 tokens)"; "" if nothing.

    Args:
        dataset: as in RunStarted.
    """
    task, rows = dataset.get("task", ""), int(dataset.get("test_rows", 0))
    sequences = int(dataset.get("test_sequences", 0))
    if task == "sequence" and sequences:
        words = "{sequences} sequences ({tokens})"
        return words.format(sequences=sequences, tokens=counted(task, rows))
    return counted(task, rows) if rows else ""


def task_of(results: dict[str, Any]) -> str:
    """The task that results are of, as far as words differ: sequence, structure, topics or ""."""
    if results.get("documents"):
        return "topics"
    if results.get("sequences"):
        return "sequence"
    return "structure" if results.get("pairs") else ""
