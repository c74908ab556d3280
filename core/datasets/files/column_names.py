"""The names of a table's columns: in one Unicode form, without blanks around, each one once."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from core.datasets.finding import Finding

_MAX_FINDINGS = 5
_MAX_SHOWN = 5


def unique_names(names: Sequence[str], where: str) -> tuple[list[str], list[Finding]]:
    """Names, repeated ones numbered ("price (2)"), "" as "Unnamed: 3" (from 0), and findings."""
    bare = [unicodedata.normalize("NFC", str(name)).strip() for name in names]
    bare = [name or f"Unnamed: {i}" for i, name in enumerate(bare)]
    taken, last_number = set(bare), dict.fromkeys(bare, 0)
    unique: list[str] = []
    positions: dict[str, list[int]] = {}  # of names that stand several times
    for i, name in enumerate(bare):
        last_number[name] += 1
        if last_number[name] == 1:
            positions[name] = [i]
            unique.append(name)
            continue
        while (numbered := f"{name} ({last_number[name]})") in taken:
            last_number[name] += 1
        taken.add(numbered)
        positions[name].append(i)
        unique.append(numbered)
    repeated = {name: columns for name, columns in positions.items() if len(columns) > 1}
    findings = [
        Finding(_repeated_sentence(name, columns, [unique[i] for i in columns[1:]]), name)
        for name, columns in list(repeated.items())[:_MAX_FINDINGS]
    ]
    if (left := len(repeated) - len(findings)) > 0:
        others = "1 other name of" if left == 1 else f"{left:,} other names of"
        sentence = f"{others} columns in {where} stand several times and are numbered too."
        findings.append(Finding(sentence))
    return unique, findings


def _repeated_sentence(name: str, columns: Sequence[int], numbered: Sequence[str]) -> str:
    places = _enumeration([str(i + 1) for i in columns])
    read_as = _enumeration([f"“{new}”" for new in numbered])
    pair = len(columns) == 2
    count, later = ("Two", "second one is") if pair else (f"{len(columns):,}", "later ones are")
    return f"{count} columns are called “{name}” (columns {places}): the {later} read as {read_as}."


def _enumeration(words: Sequence[str]) -> str:
    if len(words) > _MAX_SHOWN:
        return ", ".join(words[:_MAX_SHOWN]) + " …"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
