"""Titles of changes on the Data page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from core.tuning.plan import DataPlan

_NAMES = {
    "target": "what is predicted",
    "task": "what is predicted",
    "test_file": "the test set",
    "test_size": "the test set",
    "latest": "which rows test",
    "together": "which rows stay together",
    "leaks": "columns that leak the target",
    "other_letters": "letters that are no bases",
    "vocabulary": "the words that count",
    "stop_words": "the words that count",
}


def change_title(old_data: DataPlan, new_data: DataPlan) -> str:
    """What differs: "the role of “age”"."""
    for field in fields(old_data):
        before, after = getattr(old_data, field.name), getattr(new_data, field.name)
        if before == after or field.name in ("roles", "kinds", "readings"):
            continue
        return _NAMES.get(field.name, "the data")
    if old_data.kinds != new_data.kinds:
        return _of_columns(old_data.kinds, new_data.kinds, "what “{name}” holds", "kinds")
    if old_data.readings != new_data.readings:
        before, after = old_data.readings, new_data.readings
        return _of_columns(before, after, "how “{name}” is read", "readings")
    if old_data.roles != new_data.roles:
        return _of_columns(old_data.roles, new_data.roles, "the role of “{name}”", "roles")
    return "the groups"


def _of_columns(
    before: Mapping[str, Any], after: Mapping[str, Any], single: str, several: str
) -> str:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if len(names) > 1:
        return f"the {several} of {len(names):,} columns"
    name = " ".join(names[0].split())
    return single.format(name=name if len(name) <= 40 else f"{name[:38]} …")
